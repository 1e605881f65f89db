//! The one door by which HTTP comes in.
//!
//! A gateway hands it a tower service and gets back requests that were let in: for a host and from a web page that are
//! ours, small, in a form that is read, with an id. What is refused is refused here, in the gateway's own form
//! ([`Front::refuse`]). A request's way:
//!
//! ```text
//! bind → accept → guests      a connection finds room, or the one that is silent longest leaves
//!        connection → socket  HTTP/1.1 or HTTP/2, with an end to every wait
//!        door                 framing, host, lists, rate, body, credentials — each in a file of its own
//!        the gateway          answers; its panic is that request's `internal`
//!        answer → access_log  headers that every answer has; one line
//! ```
//!
//! Deliberately left out: TLS (a proxy's business), routes, and what is asked.

mod accept;
mod access_log;
mod answer;
mod bind;
mod body;
mod client_address;
mod config;
mod connection;
mod content;
mod door;
mod edge;
mod error;
mod front;
mod guests;
mod health;
mod host;
mod listen;
mod memory;
mod metrics;
mod origin;
mod panic;
mod policy;
mod public_url;
mod rate_limit;
mod refusal;
mod socket;
mod target;
#[cfg(test)]
mod testing;
mod turned;
mod visit;

pub use crate::edge::{Edge, open};
pub use body::{Body, MAX_BODY_BYTES, Unread, read_body};
pub use client_address::{ParseTrustedProxyError, TrustedProxy};
pub use config::{Args, Config, MetricsListen, with_variables};
pub use error::Error;
pub use front::{Front, Route};
pub use listen::{Listen, ParseListenError};
pub use policy::{AllowedHost, ParseAllowedHostError};
pub use public_url::{ParsePublicUrlError, PublicUrl};
pub use refusal::Refusal;
pub use visit::{Client, Visit};
