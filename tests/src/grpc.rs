//! Asking over gRPC without the command line, as a service on the same host does.

use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::process::Pid;
use tonic::transport::{Channel, Endpoint};

pub use proto::v1::Mode;
use proto::v1::retrieval_service_client::RetrievalServiceClient;
use proto::v1::{SearchRequest, SearchResponse};

/// A plain client of the socket. To be called within a runtime.
///
/// # Panics
/// Where the path is no address.
#[expect(clippy::expect_used, reason = "a test that cannot set up has failed")]
pub fn client(socket: &Path) -> RetrievalServiceClient<Channel> {
    let address = format!("unix:{}", socket.display());
    RetrievalServiceClient::new(Endpoint::from_shared(address).expect("an address").connect_lazy())
}

/// Asks a collection with every default.
pub async fn search(
    client: &RetrievalServiceClient<Channel>,
    collection: &str,
    query: &str,
) -> Result<SearchResponse, tonic::Status> {
    let request = SearchRequest {
        query: query.to_owned(),
        collection: Some(collection.to_owned()),
        ..SearchRequest::default()
    };
    client.clone().search(request).await.map(tonic::Response::into_inner)
}

/// The process at the other end of a socket.
///
/// # Panics
/// Where nobody listens.
#[expect(clippy::expect_used, reason = "a test that cannot ask has failed")]
pub fn peer_pid(socket: &Path) -> Pid {
    let stream = UnixStream::connect(socket).expect("somebody listens");
    rustix::net::sockopt::socket_peercred(&stream).expect("peer credentials").pid
}
