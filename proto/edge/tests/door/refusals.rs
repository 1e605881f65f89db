//! What is refused, when, and in what words.

use std::sync::atomic::Ordering;

use super::gateway::{Gateway, header, status, statuses};

const GOOD: &str = "Host: localhost\r\n";
const BAD: &str = "Host: evil.example.net\r\n";

#[test]
fn a_second_request_on_a_connection_is_looked_at_as_well_as_the_first() {
    let gateway = Gateway::open(&[]);
    let mut client = gateway.connect();
    for (host, expected) in
        [(GOOD, 200), (BAD, 421), (GOOD, 200), ("Host: localhost\r\nHost: localhost\r\n", 400)]
    {
        client.send(format!("GET /hello HTTP/1.1\r\n{host}\r\n"));
        assert_eq!(status(&client.one()), expected, "{host}");
    }
    assert_eq!(client.rest(), "", "what follows a malformed request is not read");
    assert_eq!(gateway.seen.requests.load(Ordering::SeqCst), 2);
}

#[test]
fn pipelined_requests_are_answered_each_by_its_own_host() {
    let gateway = Gateway::open(&[]);
    let get = |host: &str, more: &str| format!("GET /hello HTTP/1.1\r\n{host}{more}\r\n");
    let close = "Connection: close\r\n";
    let answers = gateway.ask(&[get(GOOD, ""), get(BAD, ""), get(GOOD, close)].concat());
    assert_eq!(statuses(&answers), [200, 421, 200]);
    let answers = gateway.ask(&[get(GOOD, ""), get("Host: a..b\r\n", ""), get(GOOD, close)].concat());
    assert_eq!(statuses(&answers), [200, 400], "a malformed one is the last");
}

#[test]
fn one_who_asks_before_sending_a_body_is_refused_before_it() {
    let gateway = Gateway::open(&[]);
    let ask = |host: &str| {
        format!(
            "POST /length HTTP/1.1\r\n{host}Content-Type: application/json\r\nContent-Length: 5\r\n\
             Expect: 100-continue\r\n\r\n"
        )
    };
    for (host, expected) in [(BAD, 421), ("", 400)] {
        let mut client = gateway.connect();
        client.send(ask(host));
        assert_eq!(status(&client.one()), expected, "and not 100");
    }
    let mut client = gateway.connect();
    client.send(ask(GOOD));
    assert_eq!(status(&client.one()), 100);
    client.send("12345");
    assert!(client.one().ends_with("length 5"));
}

#[test]
fn the_body_of_a_refused_request_is_not_waited_for() {
    let gateway = Gateway::open(&[]);
    for (head, expected) in [
        (format!("{BAD}Content-Type: application/json"), 421),
        ("Host: a b\r\nContent-Type: application/json".to_owned(), 400),
        (format!("{GOOD}Content-Type: application/json"), 413),
        (format!("{GOOD}Origin: null\r\nContent-Type: application/json"), 403),
    ] {
        let mut client = gateway.connect();
        client.send(format!("POST /length HTTP/1.1\r\n{head}\r\nContent-Length: 1000000000\r\n\r\nfirst"));
        assert_eq!(status(&client.rest()), expected, "{head}");
    }
}

#[test]
fn one_who_is_still_sending_is_not_cut_off_before_the_refusal_is_read() {
    let gateway = Gateway::open(&[]);
    // A body that nobody asked for, and one that is too large though a proxy in front let it pass.
    for (head, pieces, expected) in [(BAD, 20, 421), (GOOD, 100, 413)] {
        let mut client = gateway.connect();
        let length = pieces * 20_000;
        client.send(format!(
            "POST /length HTTP/1.1\r\n{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        ));
        client.wait_for_answer();
        // The answer is there, and the client looks at it only once it has sent everything, as many do.
        for _ in 0..pieces {
            client.send("x".repeat(20_000));
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert_eq!(status(&client.rest()), expected);
    }
}

#[test]
fn every_path_is_behind_the_lists() {
    let gateway = Gateway::open(&[]);
    for path in
        ["/", "/hello", "/nothing", "/openapi.json", "/metrics", "/livez/", "/livez/x", "//livez", "/LIVEZ"]
    {
        assert_eq!(status(&gateway.get(path, "evil.example.net")), 421, "{path}");
        let own = if path == "/hello" { 200 } else { 404 };
        assert_eq!(status(&gateway.get(path, "localhost")), own, "{path}");
    }
}

#[test]
fn a_probe_needs_no_name_of_ours_and_a_proper_one() {
    let gateway = Gateway::open(&["--public-url", "https://search.example.com"]);
    let live = gateway.get("/livez", "evil.example.net");
    assert_eq!(status(&live), 200);
    assert!(live.ends_with("{\"status\":\"live\"}"), "{live}");
    assert_eq!(status(&gateway.get("/livez?verbose", "10.1.2.3:80")), 200);
    let ready = gateway.get("/readyz", "evil.example.net");
    assert_eq!(status(&ready), 503, "there is no daemon");
    assert!(ready.contains("core_unavailable") && header(&ready, "retry-after") == Some("1"), "{ready}");
    for hosts in ["", "Host: a\r\nHost: a\r\n", "Host: a..b\r\n", "Host: \r\n", "Host: user@a\r\n"] {
        let answer = gateway.ask(&format!("GET /livez HTTP/1.1\r\n{hosts}\r\n"));
        assert_eq!(status(&answer), 400, "{hosts:?}");
    }
    let posted =
        gateway.ask(&format!("POST /livez HTTP/1.1\r\n{BAD}Content-Length: 0\r\nConnection: close\r\n\r\n"));
    assert_eq!((status(&posted), header(&posted, "allow")), (405, Some("GET, HEAD")));
    assert_eq!(gateway.seen.requests.load(Ordering::SeqCst), 0);
}

#[test]
fn framing_comes_first() {
    let gateway = Gateway::open(&[]);
    for (request, expected) in [
        (format!("GET /hello HTTP/1.0\r\n{GOOD}\r\n"), 200),
        ("GET /hello HTTP/1.0\r\n\r\n".to_owned(), 400),
        ("GET /hello HTTP/1.1\r\nHost : localhost\r\n\r\n".to_owned(), 400),
        ("GET /hello HTTP/1.1\r\nHost: localhost\r\n evil.example.net\r\n\r\n".to_owned(), 400),
        (format!("GET http://localhost/hello HTTP/1.1\r\n{GOOD}Connection: close\r\n\r\n"), 200),
        (format!("GET http://localhost/hello HTTP/1.1\r\n{BAD}\r\n"), 400),
        (format!("GET http://evil.example.net/hello HTTP/1.1\r\n{GOOD}\r\n"), 400),
        (format!("GET http://evil.example.net/hello HTTP/1.1\r\n{BAD}Connection: close\r\n\r\n"), 421),
        (format!("OPTIONS * HTTP/1.1\r\n{GOOD}Connection: close\r\n\r\n"), 404),
        (format!("OPTIONS * HTTP/1.1\r\n{BAD}Connection: close\r\n\r\n"), 421),
        ("CONNECT localhost:80 HTTP/1.1\r\nHost: localhost:80\r\nConnection: close\r\n\r\n".to_owned(), 405),
        (
            "CONNECT evil.example.net:80 HTTP/1.1\r\nHost: evil.example.net:80\r\nConnection: close\r\n\r\n"
                .into(),
            421,
        ),
        (format!("POST /length HTTP/1.1\r\n{GOOD}Content-Length: 1\r\nContent-Length: 2\r\n\r\n12"), 400),
        (format!("POST /length HTTP/1.1\r\n{GOOD}Transfer-Encoding: gzip\r\n\r\n"), 400),
        (format!("POST /length HTTP/1.0\r\n{GOOD}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400),
        (format!("GET /{} HTTP/1.1\r\n{GOOD}\r\n", "x".repeat(20_000)), 414),
        (format!("GET /hello HTTP/1.1\r\n{GOOD}X: {}\r\n\r\n", "x".repeat(20_000)), 431),
        ("nonsense\r\n\r\n".to_owned(), 400),
    ] {
        let answer = gateway.ask(&request);
        let got = status(&answer);
        assert!(
            got == expected || (expected, got) == (414, 431),
            "{got} for {}",
            &request[..request.len().min(120)]
        );
    }
}

#[test]
fn a_request_with_two_lengths_is_the_last_of_its_connection() {
    let gateway = Gateway::open(&[]);
    let smuggled = format!("GET /hello HTTP/1.1\r\n{GOOD}\r\n");
    let answers = gateway.ask(&format!(
        "POST /length HTTP/1.1\r\n{GOOD}Content-Type: application/json\r\nContent-Length: {}\r\n\
         Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n{smuggled}",
        5 + smuggled.len()
    ));
    assert_eq!(statuses(&answers).len(), 1, "{answers}");
}

#[test]
fn a_page_of_somebody_else_gets_nothing() {
    let gateway = Gateway::open(&[]);
    let port = gateway.address().port();
    let ask = |method: &str, fields: &str| {
        gateway.ask(&format!("{method} /hello HTTP/1.1\r\n{GOOD}{fields}Connection: close\r\n\r\n"))
    };
    assert_eq!(status(&ask("GET", &format!("Origin: http://localhost:{port}\r\n"))), 200);
    assert_eq!(status(&ask("GET", "Sec-Fetch-Site: cross-site\r\n")), 403);
    assert_eq!(status(&ask("GET", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n")), 200);
    let preflight =
        ask("OPTIONS", "Origin: http://evil.example.net\r\nAccess-Control-Request-Method: POST\r\n");
    assert_eq!(status(&preflight), 403);
    assert!(!preflight.contains("access-control-"), "{preflight}");
}

#[test]
fn a_token_is_answered_and_not_ignored() {
    let gateway = Gateway::open(&[]);
    for (value, expected) in [("Bearer abc", 401), ("bearer abc", 401), ("BEARER", 401), ("Basic YTpi", 200)]
    {
        let answer = gateway.ask(&format!(
            "GET /hello HTTP/1.1\r\n{GOOD}Authorization: {value}\r\nConnection: close\r\n\r\n"
        ));
        assert_eq!(status(&answer), expected, "{value}");
        let challenge = header(&answer, "www-authenticate");
        assert_eq!(challenge.is_some_and(|challenge| challenge.starts_with("Bearer")), expected == 401);
    }
}

#[test]
fn one_who_asks_too_often_waits_and_probes_do_not() {
    let gateway = Gateway::open(&["--rate-limit", "1"]);
    let answers: Vec<_> = (0..5).map(|_| gateway.get("/hello", "localhost")).collect();
    assert_eq!(answers.iter().map(|answer| status(answer)).collect::<Vec<_>>(), [200, 200, 200, 200, 429]);
    assert_eq!(header(&answers[4], "retry-after"), Some("1"));
    assert!(answers[4].contains("rate_limited"), "{}", answers[4]);
    assert_eq!(status(&gateway.get("/livez", "localhost")), 200);
}

#[test]
fn what_was_refused_is_not_said_back() {
    let gateway = Gateway::open(&[]);
    let answer = gateway.get("/hello", "evil.example.net");
    assert!(answer.contains("host_not_allowed") && answer.contains("--allowed-host"), "{answer}");
    assert!(!answer.contains("evil"), "{answer}");
    let answer = gateway.ask(&format!(
        "GET /hello HTTP/1.1\r\n{GOOD}Origin: http://evil.example.net\r\nConnection: close\r\n\r\n"
    ));
    assert!(answer.contains("origin_not_allowed") && !answer.contains("evil"), "{answer}");
}

#[test]
fn forwarded_headers_widen_nothing() {
    let gateway = Gateway::open(&["--trusted-proxy", "127.0.0.1"]);
    for name in ["X-Forwarded-Host", "X-Original-Host", "Forwarded", "X-Host"] {
        let value = if name == "Forwarded" { "host=localhost;for=127.0.0.1" } else { "localhost" };
        let answer =
            gateway.ask(&format!("GET /hello HTTP/1.1\r\n{BAD}{name}: {value}\r\nConnection: close\r\n\r\n"));
        assert_eq!(status(&answer), 421, "{name}");
    }
}
