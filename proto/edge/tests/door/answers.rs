//! What every answer has, and what a gateway learns of a request.

use super::gateway::{Client, Gateway, address, header, status, until};

fn ask(gateway: &Gateway, method: &str, path: &str, fields: &str) -> String {
    gateway.ask(&format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{fields}Connection: close\r\n\r\n"))
}

#[test]
fn every_answer_is_data_for_one_caller() {
    let gateway = Gateway::open(&[]);
    let answers = [
        ask(&gateway, "GET", "/hello", ""),
        ask(&gateway, "HEAD", "/hello", ""),
        ask(&gateway, "GET", "/nothing", ""),
        ask(&gateway, "GET", "/panic", ""),
        ask(&gateway, "GET", "/livez", ""),
        ask(&gateway, "GET", "/readyz", ""),
        ask(&gateway, "GET", "/hello", "Origin: null\r\n"),
        gateway.get("/hello", "evil.example.net"),
        gateway.get("/hello", "a..b"),
    ];
    for answer in &answers {
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cache-control", "private, no-cache"),
        ] {
            assert_eq!(header(answer, name), Some(value), "{name} in {answer}");
        }
        assert!(header(answer, "x-request-id").is_some_and(|id| id.len() == 32), "{answer}");
    }
}

#[test]
fn the_callers_id_comes_back_and_a_made_up_one_where_it_is_none() {
    let gateway = Gateway::open(&[]);
    let id = |answer: &str| header(answer, "x-request-id").unwrap().to_owned();
    assert_eq!(id(&ask(&gateway, "GET", "/hello", "X-Request-Id: mine-1\r\n")), "mine-1");
    assert_eq!(id(&ask(&gateway, "GET", "/hello", "X-Request-Id: no id\r\n")).len(), 32);
    let refused = ask(&gateway, "GET", "/hello", "X-Request-Id: mine-2\r\nOrigin: null\r\n");
    assert!(id(&refused) == "mine-2" && refused.contains("\"request_id\":\"mine-2\""), "{refused}");
}

#[test]
fn a_body_is_read_up_to_a_mebibyte() {
    let gateway = Gateway::open(&[]);
    let json = "Content-Type: application/json\r\n";
    for (length, expected) in [(0, 200), (1024 * 1024, 200), (1024 * 1024 + 1, 413)] {
        let mut client = gateway.connect();
        let body = "x".repeat(length);
        client.send(format!(
            "POST /length HTTP/1.1\r\nHost: localhost\r\n{json}Content-Length: {length}\r\n\r\n"
        ));
        drop(client.try_send(&body));
        assert_eq!(status(&client.one()), expected, "{length}");

        let mut client = gateway.connect();
        client.send(format!(
            "POST /length HTTP/1.1\r\nHost: localhost\r\n{json}Transfer-Encoding: chunked\r\n\r\n"
        ));
        let chunk = if length == 0 { String::new() } else { format!("{length:x}\r\n{body}\r\n") };
        drop(client.try_send(format!("{chunk}0\r\n\r\n")));
        assert_eq!(status(&client.one()), expected, "{length} in chunks");
    }
}

#[test]
fn a_body_of_another_form_is_not_read() {
    let gateway = Gateway::open(&[]);
    for (fields, expected) in [
        ("Content-Type: application/json; charset=utf-8\r\n", 200),
        ("Content-Type: text/plain\r\n", 415),
        ("", 415),
        ("Content-Type: application/json\r\nContent-Encoding: gzip\r\n", 415),
    ] {
        let request = format!(
            "POST /length HTTP/1.1\r\nHost: localhost\r\n{fields}Content-Length: 2\r\nConnection: close\r\n\r\n{{}}"
        );
        assert_eq!(status(&gateway.ask(&request)), expected, "{fields}");
    }
}

#[test]
fn a_panic_is_one_requests_and_the_connection_goes_on() {
    let gateway = Gateway::open(&[]);
    let mut client = gateway.connect();
    for _ in 0..2 {
        client.send("GET /panic HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let answer = client.one();
        assert!(status(&answer) == 500 && answer.contains("\"internal\""), "{answer}");
        assert!(!answer.contains("as it was asked to"), "{answer}");
        client.send("GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_eq!(status(&client.one()), 200);
    }
}

#[test]
fn the_client_is_the_one_whom_a_trusted_proxy_names() {
    let client = |gateway: &Gateway| {
        let answer = ask(gateway, "GET", "/client", "X-Forwarded-For: 127.0.0.1, 192.0.2.1\r\n");
        answer.split("\r\n\r\n").nth(1).unwrap().to_owned()
    };
    assert_eq!(client(&Gateway::open(&[])), "127.0.0.1");
    assert_eq!(client(&Gateway::open(&["--trusted-proxy", "127.0.0.0/8"])), "192.0.2.1");
}

#[test]
fn the_path_of_a_public_url_stands_before_every_route() {
    let url = "https://example.com/search";
    let gateway = Gateway::open(&["--public-url", url, "--public-url", "http://search.lan:8080"]);
    for (path, host, expected) in [
        ("/search/hello", "example.com", 200),
        ("/hello", "example.com", 200),
        ("/search/livez", "anything", 200),
        ("/search/hello?q", "search.lan:8080", 200),
        ("/searchhello", "example.com", 404),
        ("/search", "example.com", 404),
        ("/search/search/hello", "example.com", 404),
        ("/search/hello", "search.lan:80", 421),
    ] {
        assert_eq!(status(&gateway.get(path, host)), expected, "{path} by {host}");
    }
}

#[test]
fn metrics_have_a_door_of_their_own() {
    let gateway =
        Gateway::open(&["--metrics-listen", "127.0.0.1:0", "--public-url", "https://search.example.com"]);
    let address = address(gateway.metrics.as_ref().unwrap());
    gateway.get("/hello", "search.example.com");
    gateway.get("/hello?secret-query", "evil.example.net");
    let get = |path: &str, host: &str| {
        let mut client = Client::to(address);
        client.send(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"));
        client.rest()
    };
    until(|| get("/metrics", "127.0.0.1").contains("status=\"421\""));
    let page = get("/metrics", "localhost:9");
    for line in [
        "footnote_http_requests_total{surface=\"rest\",method=\"GET\",route=\"none\",status=\"200\"} 1",
        "footnote_http_refusals_total{surface=\"rest\",code=\"host_not_allowed\"} 1",
        "footnote_http_connections{surface=\"rest\"} ",
        "footnote_http_request_seconds_count{surface=\"rest\"}",
    ] {
        assert!(page.contains(line), "{line} in {page}");
    }
    assert!(page.ends_with("# EOF\n") && !page.contains("secret") && !page.contains("evil"), "{page}");
    assert_eq!(status(&get("/metrics", "evil.example.net")), 421);
    assert_eq!(status(&get("/metrics", "search.example.com")), 421);
    assert_eq!(status(&get("/hello", "127.0.0.1")), 404);
}
