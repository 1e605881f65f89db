//! One connection from its first byte to its last.

use std::convert::Infallible;
use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body as HttpBody;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use tokio::sync::watch;
use tower::Service;
use tracing::debug;

use crate::body::Body;
use crate::config::Patience;
use crate::door::Door;
use crate::guests::Guest;
use crate::socket::{Socket, Stream, Version};
use crate::visit::Client;

/// Headers, and what hyper reads ahead of a body: the least that hyper takes, and twice what a client sends.
const BUFFER_BYTES: usize = 16 * 1024;

/// Requests at once over one connection.
const MAX_STREAMS: u32 = 64;

/// Streams that one opens and resets before they were looked at, and streams of ours that it makes us reset.
const MAX_RESETS: usize = 20;

/// What one may send ahead in HTTP/2: of a body, and of all bodies together.
const STREAM_WINDOW: u32 = 64 * 1024;
const CONNECTION_WINDOW: u32 = 256 * 1024;

/// An HTTP/2 connection that is silent is asked whether it lives, and given up.
const PING_EVERY: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(10);

/// What a connection gets that was quiet for too long, to be told so as its protocol has it.
const GOODBYE: Duration = Duration::from_secs(1);

/// What a gateway's service is.
pub(crate) trait Answers<B>:
    Service<Request<Body>, Response = Response<B>, Error = Infallible, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<B, S> Answers<B> for S where
    S: Service<Request<Body>, Response = Response<B>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// Serves a connection until either end closes it, it is told to leave, or it is quiet for too long; once `draining`
/// says so, until what it asked is answered.
pub(crate) async fn serve<S, B>(
    stream: Stream,
    peer: Client,
    guest: Arc<Guest>,
    door: Arc<Door<S>>,
    mut draining: watch::Receiver<bool>,
) where
    S: Answers<B>,
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    let patience = door.patience();
    let looked = tokio::select! {
        looked = tokio::time::timeout(patience.header, Socket::look(stream, &guest)) => looked,
        () = guest.told_to_leave() => return,
        () = told(&mut draining) => return,
    };
    let Ok(Ok((version, socket))) = looked else { return };
    // On the heap, so that a connection that never says anything costs little.
    Box::pin(speak(version, socket, peer, guest, door, draining)).await;
}

async fn speak<S, B>(
    version: Version,
    socket: Socket,
    peer: Client,
    guest: Arc<Guest>,
    door: Arc<Door<S>>,
    draining: watch::Receiver<bool>,
) where
    S: Answers<B>,
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    let patience = door.patience();
    let service = service_fn({
        let guest = Arc::clone(&guest);
        move |request: Request<Incoming>| {
            let (door, seat) = (Arc::clone(&door), guest.sit());
            async move { Ok::<_, Infallible>(door.answer(request, peer, seat).await) }
        }
    });
    let io = TokioIo::new(socket);
    match version {
        Version::Http1 => {
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(BUFFER_BYTES);
            drive(builder.serve_connection(io, service), &guest, patience, draining).await;
        }
        Version::Http2 => {
            let mut builder = http2::Builder::new(TokioExecutor::new());
            builder
                .timer(TokioTimer::new())
                .max_concurrent_streams(MAX_STREAMS)
                .max_header_list_size(BUFFER_BYTES.try_into().unwrap_or(u32::MAX))
                .max_pending_accept_reset_streams(MAX_RESETS)
                .max_local_error_reset_streams(MAX_RESETS)
                .initial_stream_window_size(STREAM_WINDOW)
                .initial_connection_window_size(CONNECTION_WINDOW)
                .keep_alive_interval(PING_EVERY)
                .keep_alive_timeout(PING_TIMEOUT);
            drive(builder.serve_connection(io, service), &guest, patience, draining).await;
        }
    }
}

async fn drive<C>(connection: C, guest: &Guest, patience: Patience, mut draining: watch::Receiver<bool>)
where
    C: GracefulConnection,
    C::Error: std::fmt::Display,
{
    tokio::pin!(connection);
    let mut leaving = false;
    loop {
        tokio::select! {
            // Who is told to end looks at that first, so that the answer which goes out says `close`.
            biased;
            () = guest.told_to_leave() => return,
            () = told(&mut draining), if !leaving => {
                leaving = true;
                connection.as_mut().graceful_shutdown();
            }
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    debug!(%error, "a connection broke");
                }
                return;
            }
            () = guest.too_quiet(patience) => {
                connection.as_mut().graceful_shutdown();
                drop(tokio::time::timeout(GOODBYE, connection).await);
                return;
            }
        }
    }
}

/// Ends when those inside have to end.
pub(crate) async fn told(draining: &mut watch::Receiver<bool>) {
    drop(draining.wait_for(|draining| *draining).await);
}
