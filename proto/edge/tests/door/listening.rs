//! Places to listen at, and who is ours there.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;

use super::gateway::{Client, Gateway, address, status};

#[test]
fn a_unix_socket_is_a_place_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("door.sock");
    let place = format!("unix:{}", path.display());
    let gateway = Gateway::open(&["--listen", &place, "--trusted-proxy", "unix"]);
    assert_eq!(gateway.places[0].to_string(), place);
    let ask = |host: &str, path_asked: &str| {
        let mut stream = UnixStream::connect(&path).unwrap();
        let request = format!("GET {path_asked} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    assert_eq!(status(&ask("localhost", "/hello")), 200);
    assert_eq!(status(&ask("evil.example.net", "/hello")), 421);
    assert!(ask("localhost", "/client").ends_with("unix"));
    drop(gateway);
    assert!(!path.exists());
}

#[test]
fn one_gateway_listens_at_several_places() {
    let gateway = Gateway::open(&["--listen", "127.0.0.1:0", "--listen", "127.0.0.2:0"]);
    let (first, second) = (address(&gateway.places[0]), address(&gateway.places[1]));
    let ask = |address, host: &str| {
        let mut client = Client::to(address);
        client.send(format!("GET /hello HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"));
        status(&client.rest())
    };
    assert_eq!(ask(first, "127.0.0.1"), 200);
    assert_eq!(ask(first, "127.0.0.2"), 421, "not bound here");
    assert_eq!(ask(second, "127.0.0.2"), 200, "each place has its own address");
}

#[test]
fn a_published_place_is_asked_by_address_and_by_allowed_name() {
    let flags = ["--listen", "0.0.0.0:0", "--allow-remote-access", "--allowed-host", "search.lan"];
    let gateway = Gateway::open(&flags);
    let ask = |host: &str| {
        let mut client = Client::to(gateway.loopback());
        client.send(format!("GET /hello HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"));
        status(&client.rest())
    };
    assert_eq!(
        [ask("192.0.2.10"), ask("search.lan:1"), ask("localhost"), ask("evil.lan")],
        [200, 200, 200, 421]
    );
}
