//! Connections that are silent, slow, too many, or left in the middle; and the end of all.

use std::time::{Duration, Instant};

use super::gateway::{Gateway, header, status, wait_for};

const HELLO: &str = "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n";
const WAIT: &str = "GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n";

#[test]
fn every_wait_has_an_end() {
    let gateway =
        Gateway::open(&["--header-timeout", "300ms", "--idle-timeout", "300ms", "--body-timeout", "300ms"]);
    let begun = Instant::now();
    let mut clients: Vec<_> = ["", "P", "PRI * HTTP/2.0\r\n\r\n", "GET / HTTP/1.1\r\nHost: loc"]
        .into_iter()
        .map(|sent| {
            let mut client = gateway.connect();
            client.send(sent);
            client
        })
        .collect();
    for client in &mut clients {
        assert_eq!(client.rest(), "");
    }
    let mut idle = gateway.connect();
    idle.send(HELLO);
    assert_eq!(status(&idle.one()), 200);
    assert_eq!(idle.rest(), "");
    let mut http2 = gateway.connect();
    http2.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
    // Settings and a farewell, both of which are frames and no text.
    drop(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| http2.rest())));
    let mut body = gateway.connect();
    body.send("POST /length HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n123");
    assert_eq!(status(&body.one()), 504);
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
}

#[test]
fn a_connection_is_kept_while_it_is_used() {
    let gateway = Gateway::open(&["--header-timeout", "1500ms", "--idle-timeout", "1500ms"]);
    let mut client = gateway.connect();
    for _ in 0..8 {
        client.send(HELLO);
        assert_eq!(status(&client.one()), 200);
        std::thread::sleep(Duration::from_millis(250));
    }
    client.send(WAIT);
    std::thread::sleep(Duration::from_secs(2));
    gateway.seen.go_on.notify_one();
    assert_eq!(status(&client.one()), 200, "an answer takes as long as it takes");
}

#[test]
fn a_full_house_makes_room_for_one_who_asks() {
    let gateway = Gateway::open(&["--max-connections", "3"]);
    let mut silent: Vec<_> = (0..3).map(|_| gateway.connect()).collect();
    silent[1].send("GET / HTTP/1.1\r\nHost: loc");
    silent[2].send("POST /length HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n1");
    wait_for(&gateway.seen.requests, 1);
    for _ in 0..3 {
        assert_eq!(status(&gateway.ask(&HELLO.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"))), 200);
    }
    assert_eq!(silent[0].rest(), "", "the first to be silent was the first to leave");
}

#[test]
fn a_house_full_of_work_is_overloaded() {
    let gateway = Gateway::open(&["--max-connections", "2"]);
    let mut working: Vec<_> = (0..2).map(|_| gateway.connect()).collect();
    for client in &mut working {
        client.send(WAIT);
    }
    wait_for(&gateway.seen.waiting, 2);
    let refused = gateway.ask(HELLO);
    assert_eq!((status(&refused), header(&refused, "retry-after")), (429, Some("1")), "{refused}");
    assert!(refused.contains("overloaded"), "{refused}");
    gateway.seen.go_on.notify_waiters();
    for client in &mut working {
        assert_eq!(status(&client.one()), 200);
    }
    assert_eq!(status(&gateway.get("/hello", "localhost")), 200);
}

#[test]
fn one_who_leaves_is_not_worked_for() {
    let gateway = Gateway::open(&[]);
    let mut client = gateway.connect();
    client.send(WAIT);
    wait_for(&gateway.seen.waiting, 1);
    drop(client);
    wait_for(&gateway.seen.waiting, 0);
}

#[test]
fn what_is_inside_ends_and_nobody_else_comes_in() {
    let mut gateway = Gateway::open(&[]);
    let (mut working, mut idle) = (gateway.connect(), gateway.connect());
    working.send(WAIT);
    idle.send(HELLO);
    assert_eq!(status(&idle.one()), 200);
    wait_for(&gateway.seen.waiting, 1);
    let address = gateway.address();
    gateway.tell_to_stop();
    assert_eq!(idle.rest(), "");
    super::gateway::until(|| std::net::TcpStream::connect(address).is_err());
    gateway.seen.go_on.notify_one();
    let answer = working.one();
    assert_eq!((status(&answer), header(&answer, "connection")), (200, Some("close")));
    drop(working);
    gateway.wait_until_stopped();
}

#[test]
fn one_that_never_ends_is_not_waited_for_long() {
    let mut gateway = Gateway::open(&["--drain-timeout", "200ms"]);
    let mut client = gateway.connect();
    client.send(WAIT);
    wait_for(&gateway.seen.waiting, 1);
    let begun = Instant::now();
    gateway.tell_to_stop();
    gateway.wait_until_stopped();
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    wait_for(&gateway.seen.waiting, 0);
}
