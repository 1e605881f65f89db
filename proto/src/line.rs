//! The line to the daemon: one HTTP/2 connection over its socket, made when first needed and made again after
//! the daemon restarted.
//!
//! It is a tower service, so that every generated client runs over it, and not tonic's `Channel`, because it
//! has to know two things that `Channel` hides: whether a request surely found no ear (then it is sent again,
//! once), and why the socket did not open (then a daemon is started, or the caller is told what to do).
//! Deliberately left out: messages, deadlines and who asks (`client`).

use std::error::Error as _;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::USER_AGENT;
use http::uri::{Authority, Scheme};
use http::{HeaderValue, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::UnixStream;
use tonic::Status;
use tonic::body::Body;
use tower::Service;

use crate::access::NotPermitted;
use crate::heard::{Heard, Said};
use crate::metadata::DAEMON_VERSION;
use crate::places::SocketPath;
use crate::starter::{self, Starter};
use crate::{Code, Failure};

/// Why a request got no answer from a daemon.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No daemon listens, and none was to be started.
    #[error("no daemon listens at {}", socket.as_path().display())]
    NotRunning {
        /// The socket.
        socket: SocketPath,
    },
    /// A daemon was to be started and does not serve.
    #[error(transparent)]
    NotStarted(#[from] starter::Error),
    /// The socket is not for this user.
    #[error(transparent)]
    NotPermitted(NotPermitted),
    /// The socket does not open for another reason.
    #[error("cannot connect to {}", socket.as_path().display())]
    Connect {
        /// The socket.
        socket: SocketPath,
        /// What the system said.
        source: io::Error,
    },
    /// The connection broke while the request was under way; whether it was answered is not known.
    #[error("the daemon hung up")]
    Broken(#[source] hyper::Error),
    /// The request itself could not be read.
    #[error("the request could not be read")]
    Request(#[source] Status),
}

impl Error {
    /// The error of the line that made a client's status; `None` where the daemon or tonic made it.
    pub fn of(status: &Status) -> Option<&Self> {
        status.source()?.downcast_ref()
    }
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        match error {
            Error::NotRunning { .. } => Self::with_message(Code::CoreUnavailable, "no daemon is running"),
            // Only one who sits at this host has a daemon started, and may know why that failed.
            Error::NotStarted(cause) => {
                let message = format!("no daemon could be started: {}", chain(cause));
                Self::with_message(Code::CoreUnavailable, message)
                    .advise("mend that, then start it with `footnote up`", Code::CoreUnavailable.row().remote)
            }
            Error::NotPermitted(refused) => Self::new(Code::PermissionDenied)
                .advise(refused.remedy(), Code::PermissionDenied.row().remote),
            Error::Connect { .. } => Self::new(Code::CoreUnavailable),
            Error::Broken(_) => {
                Self::with_message(Code::CoreUnavailable, "the daemon ended before it answered")
                    .advise("ask again; `footnote logs` says why it ended", "ask again")
            }
            Error::Request(_) => Self::new(Code::Internal),
        }
    }
}

fn chain(error: &starter::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    words
}

/// What is done where no daemon listens.
#[derive(Clone, Debug)]
pub enum Absent {
    /// The request fails.
    Fail,
    /// A daemon is started.
    Start(Starter),
}

/// The line. Clones share the connection.
#[derive(Clone, Debug)]
pub struct Line(Arc<Shared>);

/// A connection, and whether the daemon greeted on it.
#[derive(Clone, Debug)]
struct Connection {
    sender: SendRequest<Full<Bytes>>,
    said: Said,
}

/// Why a request is not answered, and whether it surely found no ear: then it may be sent again.
struct Unanswered {
    error: Error,
    unheard: bool,
}

impl From<Error> for Unanswered {
    fn from(error: Error) -> Self {
        Self { error, unheard: false }
    }
}

#[derive(Debug)]
struct Shared {
    socket: SocketPath,
    absent: Absent,
    /// Held while connecting, so that many requests at once make one connection.
    connection: tokio::sync::Mutex<Option<Connection>>,
    /// The version that the last response named.
    daemon_version: Mutex<Option<String>>,
}

impl Line {
    /// A line to the daemon at `socket`. Nothing is opened before the first request.
    pub fn new(socket: SocketPath, absent: Absent) -> Self {
        let (connection, daemon_version) = (tokio::sync::Mutex::new(None), Mutex::new(None));
        Self(Arc::new(Shared { socket, absent, connection, daemon_version }))
    }

    /// The version that the daemon named in its last response; `None` before one, or where it names none.
    pub fn daemon_version(&self) -> Option<String> {
        self.0.daemon_version.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn send(&self, request: Request<Body>) -> Result<Response<Incoming>, Error> {
        let (mut head, body) = request.into_parts();
        let body = body.collect().await.map_err(Error::Request)?.to_bytes();
        address(&mut head)?;

        let request = || Request::from_parts(head.clone(), Full::new(body.clone()));
        let answered = match self.0.attempt(request()).await {
            Err(Unanswered { unheard: true, .. }) => self.0.attempt(request()).await,
            answered => answered,
        };
        answered.map_err(|unanswered| unanswered.error)
    }
}

impl Shared {
    async fn attempt(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Unanswered> {
        let Connection { mut sender, said } = self.connected().await?;
        match sender.try_send_request(request).await {
            Ok(response) => {
                self.note_version(&response);
                Ok(response)
            }
            Err(mut error) => {
                // The message comes back only where not a byte of it left.
                let unheard = error.take_message().is_some() || !said.anything();
                self.forget(&said).await;
                Err(Unanswered { error: Error::Broken(error.into_error()), unheard })
            }
        }
    }

    async fn connected(&self) -> Result<Connection, Unanswered> {
        let mut connection = self.connection.lock().await;
        if let Some(open) = connection.as_ref().filter(|connection| !connection.sender.is_closed()) {
            return Ok(open.clone());
        }
        let stream = match (UnixStream::connect(self.socket.as_path()).await, &self.absent) {
            (Ok(stream), _) => stream,
            (Err(error), Absent::Start(starter)) if nobody_listens(&error) => {
                starter.start().await.map_err(Error::from)?;
                UnixStream::connect(self.socket.as_path()).await.map_err(|error| self.explain(error))?
            }
            (Err(error), _) => return Err(self.explain(error).into()),
        };
        let (stream, said) = Heard::new(stream);
        let (sender, driver) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .map_err(|error| Unanswered { error: Error::Broken(error), unheard: true })?;
        tokio::spawn(async move {
            if let Err(error) = driver.await {
                tracing::debug!(%error, "connection to the daemon ended");
            }
        });
        Ok(connection.insert(Connection { sender, said }).clone())
    }

    /// Drops a connection that broke, unless another has taken its place.
    async fn forget(&self, said: &Said) {
        let mut connection = self.connection.lock().await;
        connection.take_if(|connection| connection.said.is_of(said));
    }

    fn explain(&self, error: io::Error) -> Error {
        let socket = self.socket.clone();
        if error.kind() == io::ErrorKind::PermissionDenied {
            Error::NotPermitted(NotPermitted::look(socket))
        } else if nobody_listens(&error) {
            Error::NotRunning { socket }
        } else {
            Error::Connect { socket, source: error }
        }
    }

    fn note_version<B>(&self, response: &Response<B>) {
        let version = response.headers().get(DAEMON_VERSION).and_then(|value| value.to_str().ok());
        *self.daemon_version.lock().unwrap_or_else(PoisonError::into_inner) = version.map(str::to_owned);
    }
}

/// Whether a failed connect means that there is no daemon: no socket, or one that a killed daemon left behind.
pub(crate) fn nobody_listens(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

/// HTTP/2 wants a scheme and an authority, and a socket has neither.
fn address(head: &mut http::request::Parts) -> Result<(), Error> {
    let mut uri = std::mem::take(&mut head.uri).into_parts();
    uri.scheme = Some(Scheme::HTTP);
    uri.authority = Some(Authority::from_static("footnote"));
    head.uri = uri.try_into().map_err(|_| Error::Request(Status::internal("no path")))?;
    head.headers
        .insert(USER_AGENT, HeaderValue::from_static(concat!("footnote/", env!("CARGO_PKG_VERSION"))));
    Ok(())
}

impl Service<Request<Body>> for Line {
    type Response = Response<Incoming>;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let line = self.clone();
        Box::pin(async move { line.send(request).await })
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::UnixListener;
    use tokio::sync::oneshot;
    use tokio::task::JoinHandle;
    use tokio_stream::wrappers::UnixListenerStream;
    use tonic::service::Routes;
    use tonic::transport::Server;
    use tonic_health::pb::HealthCheckRequest;
    use tonic_health::pb::health_client::HealthClient;
    use tower::util::MapResponseLayer;

    use super::*;

    struct Daemon {
        stop: oneshot::Sender<()>,
        running: JoinHandle<()>,
    }

    impl Daemon {
        fn start(socket: &SocketPath) -> Self {
            let listener = UnixListener::bind(socket.as_path()).unwrap();
            let (stop, stopped) = oneshot::channel::<()>();
            let (_reporter, health) = tonic_health::server::health_reporter();
            let running = tokio::spawn(async move {
                Server::builder()
                    .layer(MapResponseLayer::new(|mut response: Response<Body>| {
                        response.headers_mut().insert(DAEMON_VERSION, HeaderValue::from_static("0.0.1"));
                        response
                    }))
                    .add_routes(Routes::new(health))
                    .serve_with_incoming_shutdown(UnixListenerStream::new(listener), async {
                        drop(stopped.await);
                    })
                    .await
                    .unwrap();
            });
            Self { stop, running }
        }

        async fn stop(self, socket: &SocketPath) {
            self.stop.send(()).unwrap();
            self.running.await.unwrap();
            std::fs::remove_file(socket.as_path()).unwrap();
        }
    }

    async fn ask(line: &Line) -> Result<(), Status> {
        HealthClient::new(line.clone()).check(HealthCheckRequest::default()).await.map(|_| ())
    }

    fn socket(folder: &tempfile::TempDir) -> SocketPath {
        SocketPath::try_from(folder.path().join("core.sock")).unwrap()
    }

    #[tokio::test]
    async fn the_line_outlives_the_daemon() {
        let folder = tempfile::tempdir().unwrap();
        let socket = socket(&folder);
        let line = Line::new(socket.clone(), Absent::Fail);
        let absent = ask(&line).await.unwrap_err();
        assert!(matches!(Error::of(&absent), Some(Error::NotRunning { .. })), "{absent}");
        for _ in 0..3 {
            let daemon = Daemon::start(&socket);
            ask(&line).await.unwrap();
            ask(&line).await.unwrap();
            daemon.stop(&socket).await;
        }
        let absent = ask(&line).await.unwrap_err();
        assert!(matches!(Error::of(&absent), Some(Error::NotRunning { .. })), "{absent}");
    }

    #[tokio::test]
    async fn a_daemon_of_another_version_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let socket = socket(&folder);
        let _daemon = Daemon::start(&socket);
        let line = Line::new(socket.clone(), Absent::Fail);
        assert_eq!(line.daemon_version(), None);
        ask(&line).await.unwrap();
        assert_eq!(line.daemon_version().as_deref(), Some("0.0.1"));
        let client = crate::client::Client::new(line, std::time::Duration::from_secs(1));
        assert_eq!(client.other_version().as_deref(), Some("0.0.1"));
        let serving = crate::health::Health::Serving { version: Some("0.0.1".to_owned()) };
        assert_eq!(crate::health::check(&socket).await, Ok(serving));
    }

    #[test]
    fn a_closed_socket_is_permission_denied_and_says_what_opens_it() {
        let socket = SocketPath::try_from(std::path::PathBuf::from("/run/core.sock")).unwrap();
        let admits = Some(crate::access::Admits::Group("readers".into()));
        let error = Error::NotPermitted(NotPermitted { socket, admits });
        let failure = Failure::from(Status::from_error(Box::new(error)));
        assert_eq!(failure.code, Code::PermissionDenied);
        assert!(failure.action(crate::Audience::Local).contains("usermod -aG readers"), "{failure:?}");
        assert!(!failure.action(crate::Audience::Remote).contains("readers"), "{failure:?}");
    }

    #[tokio::test]
    async fn many_requests_share_one_connection() {
        let folder = tempfile::tempdir().unwrap();
        let socket = socket(&folder);
        let listener = UnixListener::bind(socket.as_path()).unwrap();
        let line = Line::new(socket, Absent::Fail);
        let asking: Vec<_> = (0..8)
            .map(|_| {
                tokio::spawn({
                    let line = line.clone();
                    async move { ask(&line).await }
                })
            })
            .collect();
        let (mut stream, _) = listener.accept().await.unwrap();
        // Nobody answers, so nobody hangs up before all have asked.
        let mut preface = [0; 24];
        tokio::io::AsyncReadExt::read_exact(&mut stream, &mut preface).await.unwrap();
        assert_eq!(&preface, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        tokio::task::yield_now().await;
        let second =
            std::future::poll_fn(|context| Poll::Ready(listener.poll_accept(context).is_ready())).await;
        assert!(!second);
        for asked in asking {
            asked.abort();
        }
    }

    /// What an HTTP/2 server says first: settings, here none.
    const GREETING: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];

    /// Takes a connection, greets on it or not, waits for a request and hangs up.
    async fn hang_up(listener: &UnixListener, greeting: &[u8]) {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(greeting).await.unwrap();
        // Preface and settings fill some 50 bytes; the request comes behind them.
        let mut request = [0; 128];
        stream.read_exact(&mut request).await.unwrap();
    }

    async fn nobody_waits_at(listener: &UnixListener) -> bool {
        std::future::poll_fn(|context| Poll::Ready(listener.poll_accept(context).is_pending())).await
    }

    #[tokio::test]
    async fn a_request_that_was_under_way_is_not_sent_again() {
        let folder = tempfile::tempdir().unwrap();
        let socket = socket(&folder);
        let listener = UnixListener::bind(socket.as_path()).unwrap();
        let daemon = tokio::spawn(async move {
            hang_up(&listener, &GREETING).await;
            listener
        });
        let broken = ask(&Line::new(socket, Absent::Fail)).await.unwrap_err();
        assert!(matches!(Error::of(&broken), Some(Error::Broken(_))), "{broken:?}");
        assert!(nobody_waits_at(&daemon.await.unwrap()).await);
    }

    #[tokio::test]
    async fn a_request_that_found_no_ear_is_sent_again_once() {
        let folder = tempfile::tempdir().unwrap();
        let socket = socket(&folder);
        let listener = UnixListener::bind(socket.as_path()).unwrap();
        let daemon = tokio::spawn(async move {
            hang_up(&listener, &[]).await;
            hang_up(&listener, &[]).await;
            listener
        });
        let broken = ask(&Line::new(socket, Absent::Fail)).await.unwrap_err();
        assert!(matches!(Error::of(&broken), Some(Error::Broken(_))), "{broken:?}");
        assert!(nobody_waits_at(&daemon.await.unwrap()).await);
    }
}
