//! The door over HTTP/2 without TLS.

use std::sync::atomic::Ordering;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::gateway::{Gateway, wait_for};

async fn connect(gateway: &Gateway) -> SendRequest<Full<Bytes>> {
    let stream = TcpStream::connect(gateway.address()).await.unwrap();
    let (sender, driver) = handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(driver);
    sender
}

fn request(method: &str, url: &str, body: usize) -> Request<Full<Bytes>> {
    let request = Request::builder().method(method).uri(url).header("content-type", "application/json");
    request.body(Full::from(vec![b'x'; body])).unwrap()
}

#[tokio::test]
async fn every_stream_is_looked_at() {
    let gateway = Gateway::open(&[]);
    let sender = connect(&gateway).await;
    let ask = async |method: &str, url: &str, body: usize| {
        let response = sender.clone().send_request(request(method, url, body)).await.unwrap();
        let (status, id) = (response.status(), response.headers().contains_key("x-request-id"));
        assert!(id && !response.headers().contains_key("connection"));
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8_lossy(&body).into_owned())
    };
    for _ in 0..2 {
        assert_eq!(ask("GET", "http://localhost/hello", 0).await, (StatusCode::OK, "hello".to_owned()));
        let (status, words) = ask("GET", "http://evil.example.net/hello", 0).await;
        assert!(status == StatusCode::MISDIRECTED_REQUEST && !words.contains("evil"), "{words}");
        assert_eq!(ask("GET", "http://user@localhost/hello", 0).await.0, StatusCode::BAD_REQUEST);
        assert_eq!(ask("POST", "http://localhost/length", 1024 * 1024).await.1, "length 1048576");
    }
    let panicked = ask("GET", "http://localhost/panic", 0).await;
    assert_eq!(panicked.0, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(ask("GET", "http://localhost/hello", 0).await.0, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_is_given_up_is_not_worked_for() {
    let gateway = Gateway::open(&[]);
    let mut sender = connect(&gateway).await;
    let asked = tokio::spawn(sender.send_request(request("GET", "http://localhost/wait", 0)));
    wait_for(&gateway.seen.waiting, 1);
    asked.abort();
    wait_for(&gateway.seen.waiting, 0);
    let alive = sender.send_request(request("GET", "http://localhost/hello", 0)).await.unwrap();
    assert_eq!(alive.status(), StatusCode::OK, "the connection goes on");
}

/// Frames of HTTP/2 (RFC 9113, 4.1).
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;

const ENHANCE_YOUR_CALM: u32 = 0xb;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// `GET /wait` of localhost, without anything to follow.
fn wait_on(stream: u32) -> Vec<u8> {
    let block = [b"\x82\x86\x04\x05/wait\x01\x09".as_slice(), b"localhost"].concat();
    frame(HEADERS, 0x5, stream, &block)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_who_opens_and_resets_without_end_has_to_leave() {
    const CANCEL: &[u8] = &[0, 0, 0, 8];
    let gateway = Gateway::open(&[]);
    let mut flood = TcpStream::connect(gateway.address()).await.unwrap();
    flood.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
    flood.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
    let pairs = (0..10_000).flat_map(|n| [wait_on(2 * n + 1), frame(RST_STREAM, 0, 2 * n + 1, CANCEL)]);
    // It may be gone before all of it was taken.
    drop(flood.write_all(&pairs.flatten().collect::<Vec<u8>>()).await);
    let mut said = Vec::new();
    drop(flood.read_to_end(&mut said).await);

    let mut rest = &said[..];
    let mut reason = None;
    while let [a, b, c, kind, _, _, _, _, _, payload @ ..] = rest {
        let (payload, next) = payload.split_at(u32::from_be_bytes([0, *a, *b, *c]) as usize);
        if *kind == GOAWAY {
            reason = payload.get(4..8).map(|code| u32::from_be_bytes(code.try_into().unwrap()));
        }
        rest = next;
    }
    assert_eq!(reason, Some(ENHANCE_YOUR_CALM), "{said:?}");
    wait_for(&gateway.seen.waiting, 0);
    let begun = gateway.seen.requests.load(Ordering::SeqCst);
    assert!(begun < 1_000, "{begun} of 10,000 were worked for");
    let other = connect(&gateway).await.send_request(request("GET", "http://localhost/hello", 0)).await;
    assert_eq!(other.unwrap().status(), StatusCode::OK);
}
