//! `footnote-rest`: the operations over HTTP and JSON.
//!
//! Every row of `OPERATIONS` at the routes that the contract gives it. Deliberately left out: operations, which the
//! contract defines; who may come in, which is the door's (`edge`); and starting the daemon: a gateway that finds none
//! says `core_unavailable`.

use std::future::Future;

use edge::Front;
use proto::Failure;
use proto::client::Client;
use proto::line::{Absent, Line};
use proto::metadata::Surface;

use crate::answer::Tagged;
use crate::config::Config;

mod accept;
mod answer;
mod body;
pub mod config;
mod etag;
pub mod openapi;
mod parameters;
mod prefer;
mod problem;
mod question;
mod routes;

/// This gateway as the door knows it.
pub const FRONT: Front = Front {
    name: "footnote-rest",
    surface: Surface::Rest,
    variables: "FOOTNOTE_REST",
    port: 7412,
    content_types: &["application/json"],
    refuse: problem::refuse,
};

/// What every route needs.
#[derive(Debug)]
struct Rest {
    /// Asks the daemon.
    client: Client,
    /// The collection of those who name none.
    collection: Option<String>,
    /// `/openapi.json`.
    description: Tagged,
}

/// Why the gateway does not serve.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A place cannot be opened.
    #[error(transparent)]
    Door(#[from] edge::Error),
    /// The routes cannot be described, which a test rules out.
    #[error("the description of the routes cannot be written: {0}")]
    Description(#[source] Failure),
}

/// Serves until `shutdown`, then lets what is inside end.
pub async fn serve(config: Config, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
    let servers: Vec<_> = config.door.public_urls().iter().map(ToString::to_string).collect();
    let rest = Rest {
        client: Client::new(Line::new(config.socket.clone(), Absent::Fail), config.timeout),
        collection: config.collection,
        description: Tagged::new(&openapi::description(&servers)).map_err(Error::Description)?,
    };
    edge::open(config.door, FRONT)?.serve(routes::router(rest), config.socket, shutdown).await;
    Ok(())
}
