//! Asking over gRPC without the command line, as a service on the same host does.

use std::os::unix::net::UnixStream;
use std::path::Path;

use proto::line::{Absent, Line};
use proto::places::SocketPath;
pub use proto::v1::Mode;
use proto::v1::retrieval_service_client::RetrievalServiceClient;
use proto::v1::{SearchRequest, SearchResponse};
use rustix::process::Pid;

/// A client of the socket, over the line that every front uses. Starts no daemon.
///
/// # Panics
/// Where the path is too long for a socket.
pub fn client(socket: &Path) -> RetrievalServiceClient<Line> {
    let socket = SocketPath::try_from(socket.to_owned()).expect("a path short enough for a socket");
    RetrievalServiceClient::new(Line::new(socket, Absent::Fail))
}

/// Asks a collection with every default.
pub async fn search(
    client: &RetrievalServiceClient<Line>,
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
pub fn peer_pid(socket: &Path) -> Pid {
    let stream = UnixStream::connect(socket).expect("somebody listens");
    rustix::net::sockopt::socket_peercred(&stream).expect("peer credentials").pid
}
