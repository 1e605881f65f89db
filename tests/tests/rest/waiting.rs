//! Daemons that are not there, come back, or do not answer.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;
use tests::World;
use tests::documents::RUNBOOK;
use tests::http::{ask, empty, get, post};
use tests::silent::{Heard, SilentDaemon};

const LONG: Duration = Duration::from_secs(20);

#[test]
fn without_a_daemon_every_question_is_told_when_to_ask_again() {
    let world = World::new();
    let rest = world.start_rest(&[]);
    for request in [
        empty(get("/v1/collections")),
        empty(get("/v1/collections/docs")),
        post("/v1/search", &json!({"query": "drain"})),
    ] {
        let answer = ask(rest.address, request);
        assert_eq!(answer.status, 503, "{answer}");
        assert_eq!(answer.header("content-type"), "application/problem+json");
        assert_eq!(
            (answer.header("retry-after"), answer.json()["retry_after_ms"].as_u64()),
            ("1", Some(1000))
        );
        assert_eq!(answer.json()["code"], "core_unavailable");
        assert!(!answer.text().contains(world.home().to_str().unwrap()), "{answer}");
    }
    assert!(!world.socket().exists(), "a gateway starts no daemon");
    assert_eq!(
        ask(rest.address, empty(get("/openapi.json"))).status,
        200,
        "what needs no daemon is answered"
    );
    let refused = ask(rest.address, post("/v1/search", &json!({"query": ""})));
    assert_eq!(refused.status, 400, "a bad question is refused without one, too");
}

#[test]
fn a_daemon_that_was_restarted_answers_the_next_question() {
    let mut world = World::new();
    world.write("runbook.md", RUNBOOK);
    world.ingest();
    world.start_daemon(&[]);
    let rest = world.start_rest(&[]);
    let question =
        || ask(rest.address, post("/v1/search", &json!({"query": "drain", "collection": "docs"}))).status;
    assert_eq!(question(), 200);
    world.daemon().kill().unwrap();
    world.daemon().wait().unwrap();
    assert_eq!(question(), 503);
    world.start_daemon(&[]);
    assert_eq!(question(), 200);
}

#[test]
fn a_caller_waits_as_long_as_they_prefer_and_no_longer_than_the_gateway() {
    let world = World::new();
    let _daemon = SilentDaemon::listen(&world.socket());
    let patient = world.start_rest(&["--timeout", "1h"]);
    let began = Instant::now();
    let answer =
        ask(patient.address, empty(get("/v1/collections").header("prefer", "respond-async, wait=1")));
    assert_eq!((answer.status.as_u16(), answer.json()["code"].as_str()), (504, Some("deadline_exceeded")));
    assert!(began.elapsed() >= Duration::from_secs(1), "{:?}", began.elapsed());
    let hasty = world.start_rest(&["--timeout", "100ms"]);
    let answer = ask(hasty.address, empty(get("/v1/collections").header("prefer", "wait=3600")));
    assert_eq!(answer.status, 504, "{answer}");
}

#[test]
fn a_caller_who_leaves_cancels_the_question() {
    let world = World::new();
    let daemon = SilentDaemon::listen(&world.socket());
    let rest = world.start_rest(&[]);
    let mut stream = TcpStream::connect(rest.address).unwrap();
    write!(stream, "GET /v1/collections HTTP/1.1\r\nHost: {}\r\n\r\n", rest.address).unwrap();
    assert_eq!(daemon.hears(LONG), Some(Heard::Request));
    assert_eq!(daemon.hears(Duration::from_millis(200)), None, "nothing is cancelled while they wait");
    drop(stream);
    assert_eq!(daemon.hears(LONG), Some(Heard::Cancelled));
}
