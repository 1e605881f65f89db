//! The door over HTTP/2 without TLS.

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
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
