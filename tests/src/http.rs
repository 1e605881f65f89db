//! Asking over HTTP: a client for what a well-meaning program sends, and bare bytes for what it does not.
//!
//! Every question opens its own connection, so that no test depends on what another left on one.

use std::fmt;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::request::Builder;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;

/// No answer takes longer in a test that works.
const PATIENCE: Duration = Duration::from_secs(30);

/// What came back.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, as it was sent.
    pub body: Bytes,
}

impl Answer {
    /// A header as text; empty where it is absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("text"))
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// Where it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self}"))
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}\n{}", self.status, self.headers, self.text())
    }
}

/// `GET target`, to add headers to.
pub fn get(target: &str) -> Builder {
    Request::builder().uri(target)
}

/// `POST target` with this JSON.
pub fn post(target: &str, json: &Value) -> Request<Full<Bytes>> {
    post_bytes(target, json.to_string())
}

/// `POST target` with these bytes, called JSON.
///
/// # Panics
/// Where the target is none.
pub fn post_bytes(target: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    let request = Request::post(target).header(CONTENT_TYPE, "application/json");
    request.body(Full::new(body.into())).expect("a request")
}

/// A request without a body.
///
/// # Panics
/// Where something in it is not HTTP.
pub fn empty(request: Builder) -> Request<Full<Bytes>> {
    request.body(Full::default()).expect("a request")
}

/// Asks over HTTP/1.1 and waits for the whole answer. Without a `Host`, the address is it.
///
/// # Panics
/// Where there is no answer.
pub fn ask(address: SocketAddr, request: Request<Full<Bytes>>) -> Answer {
    crate::runtime().block_on(send(address, request))
}

/// The same for a test that is asynchronous itself.
///
/// # Panics
/// Where there is no answer.
pub async fn send(address: SocketAddr, request: Request<Full<Bytes>>) -> Answer {
    tokio::time::timeout(PATIENCE, try_send(address, request)).await.expect("in time").expect("an answer")
}

/// The same where there may be no answer.
pub async fn try_send(
    address: SocketAddr,
    mut request: Request<Full<Bytes>>,
) -> Result<Answer, Box<dyn std::error::Error + Send + Sync>> {
    if !request.headers().contains_key(HOST) {
        request.headers_mut().insert(HOST, address.to_string().parse()?);
    }
    let stream = tokio::net::TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let running = tokio::spawn(connection);
    let (head, body) = sender.send_request(request).await?.into_parts();
    let body = body.collect().await?.to_bytes();
    running.abort();
    Ok(Answer { status: head.status, headers: head.headers, body })
}

/// Writes bytes and reads until the other end closes, which `Connection: close` in them asks for.
///
/// # Panics
/// Where the other end is silent for too long.
pub fn raw(address: SocketAddr, bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("somebody listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
    // The other end may refuse before it read everything.
    drop(stream.write_all(bytes.as_ref()));
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Ok(_) => answer,
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => answer,
        Err(error) => panic!("{error} after {:?}", String::from_utf8_lossy(&answer)),
    }
}

/// The status of an answer that [`raw`] read; `None` where it is no HTTP.
pub fn status(answer: &[u8]) -> Option<u16> {
    let line = answer.strip_prefix(b"HTTP/1.1 ").or_else(|| answer.strip_prefix(b"HTTP/1.0 "))?;
    std::str::from_utf8(line.get(..3)?).ok()?.parse().ok()
}
