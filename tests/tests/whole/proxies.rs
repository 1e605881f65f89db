//! The gateways behind real proxies, with the configurations that are shipped.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;

use serde_json::json;
use tests::documents::RUNBOOK;
use tests::mcp;
use tests::proxy::{Kind, NAME, Proxy};
use tests::{Gateway, World};

const JSON: [&str; 2] = ["-H", "Content-Type: application/json"];

/// A world with a document, its two gateways, and a proxy before them.
struct Published {
    world: World,
    mcp: Gateway,
    rest: Gateway,
    proxy: Proxy,
}

fn published(kind: Kind) -> Published {
    let mut world = World::new();
    world.write("runbook.md", RUNBOOK);
    world.ingest();
    world.start_daemon(&[]);
    let door = ["--public-url", &format!("https://{NAME}"), "--trusted-proxy", "127.0.0.1"];
    let mcp = Gateway::start(&world, "footnote-mcp", &[&["http"][..], &door].concat());
    let rest = Gateway::start(&world, "footnote-rest", &door);
    let proxy = Proxy::start(kind, mcp.address, rest.address);
    Published { world, mcp, rest, proxy }
}

fn what_is_published_works_and_the_rest_stays_inside(kind: Kind) {
    let Published { world, mcp, rest, proxy } = published(kind);

    // With the login, over HTTP/2 and HTTP/1.1.
    let found = proxy.ask(&["-d", r#"{"query": "drain stuck on a volume"}"#, JSON[0], JSON[1]], "/v1/search");
    assert_eq!(found.json()["hits"][0]["verdict"], "verified", "{found}");
    for version in ["--http2", "--http1.1"] {
        let collections = proxy.ask(&[version], "/v1/collections");
        assert_eq!(collections.json()["collections"][0]["name"], "docs", "{collections}");
    }
    assert_eq!(proxy.ask(&[], "/livez").status, 200);
    for (message, expected) in [
        (mcp::initialize(1, "2025-11-25"), "serverInfo"),
        (mcp::call(2, "search", &json!({"query": "drain stuck on a volume"})), "verified"),
    ] {
        let accept = "Accept: application/json, text/event-stream";
        let origin = format!("Origin: https://{NAME}");
        let message = message.to_string();
        let answer = proxy.ask(&["-d", &message, JSON[0], JSON[1], "-H", accept, "-H", &origin], "/mcp");
        assert!(answer.status == 200 && answer.body.contains(expected), "{answer}");
    }

    // A refusal comes in the gateways' words, also that of a body that is a little too large.
    let large = format!("{{\"query\": \"{}\"}}", "x".repeat(1_500_000));
    world.write("../large.json", &large);
    let body = format!("@{}", world.home().join("large.json").display());
    for version in ["--http2", "--http1.1"] {
        let refused = proxy.ask(&[version, "--data-binary", &body, JSON[0], JSON[1]], "/v1/search");
        assert_eq!(
            (refused.status, refused.json()["code"].as_str()),
            (413, Some("too_large")),
            "{version}: {refused}"
        );
    }
    // What is larger still is refused by the proxy. Not over HTTP/2: there Caddy takes nothing more once it has
    // answered, and curl before 8 calls that an error and shows no answer.
    world.write("../large.json", large.repeat(2));
    let refused = proxy.ask(&["--http1.1", "--data-binary", &body, JSON[0], JSON[1]], "/v1/search");
    assert_eq!(refused.status, 413, "{refused}");
    let foreign = proxy.ask(&["-H", "Origin: https://evil.example"], "/v1/collections");
    assert_eq!(
        (foreign.status, foreign.json()["code"].as_str()),
        (403, Some("origin_not_allowed")),
        "{foreign}"
    );

    // Without the login, nothing.
    for target in ["/mcp", "/v1/collections", "/livez"] {
        for login in
            [&[][..], &["-u", "ada:wrong"], &["-u", "eve:secret"], &["-H", "Authorization: Bearer x"]]
        {
            let refused = proxy.ask_anyhow(login, &format!("https://{NAME}{target}"));
            assert_eq!(refused.status, 401, "{target} {login:?}: {refused}");
            assert!(refused.header("www-authenticate").starts_with("Basic"), "{refused}");
        }
    }

    // What is not published.
    for target in [
        "/",
        "/metrics",
        "/readyz",
        "/openapi.json",
        "/mcp/",
        "/mcp/x",
        "/v1",
        "/v2/search",
        "/livez/x",
        "/v1/../metrics",
        "/v1/%2e%2e/readyz",
        "/v1/..%2fopenapi.json",
        "/mcp/../openapi.json",
    ] {
        let refused = proxy.ask(&[], target);
        assert_eq!(refused.status, 404, "{target}: {refused}");
    }

    // An unknown name dies before it comes to a gateway.
    let misdirected = proxy.ask(&["-H", "Host: evil.example"], "/v1/collections");
    assert_eq!(misdirected.status, 421, "{misdirected}");
    let misdirected = proxy.ask(&["-H", "Host: evil.example", "--http1.1"], "/livez");
    assert_eq!(misdirected.status, 421, "{misdirected}");
    let unknown = proxy.ask_anyhow(&["-k"], "https://evil.example/livez");
    assert_eq!(unknown.status, 0, "{unknown}");
    for gateway in [&mcp, &rest] {
        assert!(!gateway.log().contains("evil.example/"), "{}", gateway.log());
        assert!(!gateway.log().contains("host_not_allowed"), "{}", gateway.log());
    }
}

#[test]
fn behind_nginx_what_is_published_works_and_the_rest_stays_inside() {
    what_is_published_works_and_the_rest_stays_inside(Kind::Nginx);
}

#[test]
fn behind_caddy_what_is_published_works_and_the_rest_stays_inside() {
    what_is_published_works_and_the_rest_stays_inside(Kind::Caddy);
}

#[test]
fn a_source_that_is_edited_between_two_conditional_questions_is_seen() {
    for kind in [Kind::Nginx, Kind::Caddy] {
        let Published { world, mcp: _mcp, rest: _rest, proxy } = published(kind);
        let found =
            proxy.ask(&["-d", r#"{"query": "drain stuck on a volume"}"#, JSON[0], JSON[1]], "/v1/search");
        let target =
            format!("/v1/collections/docs/chunks/{}", found.json()["hits"][0]["chunk_id"].as_str().unwrap());
        let first = proxy.ask(&[], &target);
        let known = format!("If-None-Match: {}", first.header("etag"));
        assert_eq!(proxy.ask(&["-H", &known], &target).status, 304, "{kind:?}");
        world.write("runbook.md", RUNBOOK.replace("stuck on a volume", "stuck on a VOLUME"));
        let second = proxy.ask(&["-H", &known], &target);
        assert_eq!(second.status, 200, "{kind:?}: {second}");
        assert_eq!(second.json()["chunk"]["verdict"], "drifted", "{kind:?}: {second}");
    }
}

#[test]
fn a_connection_is_used_again() {
    for kind in [Kind::Nginx, Kind::Caddy] {
        let site = published(kind);
        let url = format!("https://{NAME}/v1/collections");
        let output = site
            .proxy
            .curl(&["-u", "ada:secret", "-o", "/dev/null", "-w", "%{http_code} %{num_connects}\n"])
            .args([&url, "-o", "/dev/null", &url, "-o", "/dev/null", &url])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "200 1\n200 0\n200 0\n", "{kind:?}");
    }
}

/// Takes one connection, hands over what it was asked, and answers once it is told what.
fn recorder() -> (SocketAddr, mpsc::Receiver<(String, TcpStream)>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, asked) = mpsc::channel();
    thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
                head.push(byte[0]);
            }
            if sender.send((String::from_utf8_lossy(&head).into_owned(), stream)).is_err() {
                break;
            }
        }
    });
    (address, asked)
}

#[test]
fn a_gateway_learns_the_name_and_the_client_and_no_password() {
    for kind in [Kind::Nginx, Kind::Caddy] {
        let (address, asked) = recorder();
        let proxy = Proxy::start(kind, address, address);
        let answering = thread::spawn(move || {
            let (head, mut stream) = asked.recv().unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
            head.to_ascii_lowercase()
        });
        let lies = ["X-Forwarded-For: 6.6.6.6", "Forwarded: for=6.6.6.6", "X-Forwarded-Host: evil.example"];
        let answer = proxy.ask(&lies.map(|lie| ["-H", lie]).concat(), "/v1/collections?page_size=1");
        assert_eq!(answer.status, 200, "{kind:?}: {answer}");
        let head = answering.join().unwrap();
        assert!(head.starts_with("get /v1/collections?page_size=1 http/1.1\r\n"), "{kind:?}: {head}");
        let values = |name: &str| -> Vec<_> {
            let prefix = format!("{name}: ");
            head.lines().filter_map(|line| line.strip_prefix(&prefix).map(str::to_owned)).collect()
        };
        assert_eq!(values("host"), [NAME], "{kind:?}: {head}");
        assert_eq!(values("x-forwarded-for"), ["127.0.0.1"], "{kind:?}: {head}");
        for absent in ["authorization", "forwarded", "connection"] {
            assert_eq!(values(absent), [""; 0], "{kind:?}: {head}");
        }
        assert!(!head.contains("secret") && !head.contains("ywrhonnly3jlda"), "{kind:?}: {head}");
    }
}

#[test]
fn an_event_is_passed_on_before_the_next_one_is_there() {
    for kind in [Kind::Nginx, Kind::Caddy] {
        let (address, asked) = recorder();
        let proxy = Proxy::start(kind, address, address);
        let url = format!("https://{NAME}/mcp");
        let mut curl =
            proxy.curl(&["-N", "-u", "ada:secret", "-d", "{}", &url]).stdout(Stdio::piped()).spawn().unwrap();
        let mut events = BufReader::new(curl.stdout.take().unwrap()).lines();
        let (_, mut gateway) = asked.recv().unwrap();
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        gateway.write_all(head.as_bytes()).unwrap();
        let mut send = |text: &str| {
            gateway.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes()).unwrap();
        };
        send("data: first\n");
        assert_eq!(events.next().unwrap().unwrap(), "data: first", "{kind:?}");
        send("data: second\n");
        send("");
        assert_eq!(events.next().unwrap().unwrap(), "data: second", "{kind:?}");
        assert!(curl.wait().unwrap().success(), "{kind:?}");
    }
}
