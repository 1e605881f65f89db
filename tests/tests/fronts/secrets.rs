//! A fault with a path and a secret in its cause: the log has them, and no caller.
//!
//! The daemon's server runs in this process over a stand-in for the engine that fails on purpose; the fronts are the
//! real programs.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use core_server::config::Limits;
use core_server::listener::{Listener, Place};
use core_server::server;
use core_server::service::Answers;
use engine::collection::CollectionName;
use engine::query::{
    Caller, CollectionSummary, FetchChunk, FetchedChunk, IndexStatus, Notice, Search, SearchAnswer,
};
use engine::stop::Stop;
use engine::{Error, Result};
use proto::OPERATIONS;
use proto::places::SocketPath;
use proto::settings::{Log, LogFormat};
use serde_json::json;
use tests::surfaces::{Said, Surfaces};
use tests::{World, http, wait};

/// What nobody who asks is to see.
const SECRET: &str = "hunter2-token";
const PATH: &str = "/srv/private-place/core.idx";

/// Fails, and says too much of it.
struct Leaky;

impl Leaky {
    fn fault() -> Error {
        Error::ReadIndex {
            path: PathBuf::from(PATH),
            source: io::Error::other(format!("denied for {SECRET}")),
        }
    }
}

impl Answers for Leaky {
    fn search(&self, search: &Search, _: &Caller, _: &Stop) -> Result<SearchAnswer> {
        assert_ne!(search.query, "panic", "{SECRET} at {PATH}");
        Err(Self::fault())
    }

    fn fetch_chunk(&self, _: &FetchChunk, _: &Caller, _: &Stop) -> Result<FetchedChunk> {
        Err(Error::Damaged { path: PathBuf::from(PATH), what: format!("it holds {SECRET}") })
    }

    fn list_collections(&self, _: &Stop) -> Result<(Vec<CollectionSummary>, Vec<Notice>)> {
        Err(Self::fault())
    }

    fn index_status(&self, _: Option<&CollectionName>, _: &Caller, _: &Stop) -> Result<IndexStatus> {
        Err(Error::Model {
            name: "m".to_owned(),
            doing: "loading",
            source: format!("{PATH}: {SECRET}").into(),
        })
    }

    fn refresh(&self) -> Result<()> {
        Ok(())
    }
}

#[test]
fn paths_and_secrets_reach_the_log_and_no_caller() {
    let world = World::new();
    let log = world.home().join("core.log");
    let settings = Log { filter: "info".to_owned(), format: LogFormat::Json, file: Some(log.clone()) };
    proto::telemetry::start(&settings).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let socket = SocketPath::try_from(world.socket()).unwrap();
    let place =
        Place { socket, index_lock: world.home().join("index.lock"), group: None, allowed_uids: Vec::new() };
    let listener = runtime.block_on(Listener::bind(&place)).unwrap();
    let limits = Limits { max_in_flight: 8, workers: 2 };
    let _served =
        runtime.spawn(server::serve(listener, Arc::new(Leaky), limits, None, std::future::pending()));
    wait::until(20, "the socket", || std::os::unix::net::UnixStream::connect(world.socket()).ok());

    let surfaces = Surfaces::open(&world);
    let mut asked = 0;
    for operation in OPERATIONS {
        let requests = match operation.name {
            "search" => {
                vec![json!({"query": "q", "collection": "c"}), json!({"query": "panic", "collection": "c"})]
            }
            "fetch_chunk" => vec![json!({"chunk_id": "0".repeat(32), "collection": "c"})],
            "list_collections" => vec![json!({})],
            _ => vec![json!({"collection": "c"})],
        };
        for request in requests {
            for (surface, said) in surfaces.ask(operation, &request) {
                let Some(said @ Said::Refused { .. }) = said else {
                    panic!("{surface} did not fail at {}: {said:?}", operation.name);
                };
                let expected = if operation.name == "fetch_chunk" { "index_damaged" } else { "internal" };
                assert_eq!(said.word(), expected, "{surface} {}", operation.name);
                asked += 1;
            }
        }
    }
    assert_eq!(asked, 25, "five questions on five surfaces");
    // Not only the parts that are compared: nothing of the bytes.
    for (surface, bytes) in surfaces.everything_said() {
        for told in [SECRET, "private-place", "core.idx", "/srv"] {
            assert!(!bytes.contains(told), "{surface} tells {told}: {bytes}");
        }
    }
    assert_eq!(http::ask(surfaces.rest(), http::empty(http::get("/readyz"))).status, 200);
    let log = wait::until(20, "the log", || {
        let log = fs::read_to_string(&log).ok()?;
        (log.matches(SECRET).count() >= 25).then_some(log)
    });
    assert!(log.contains(PATH), "{log}");
    runtime.shutdown_timeout(Duration::from_millis(100));
}
