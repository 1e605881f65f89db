//! More at once than the daemon lets in, through every front: the excess is told so at once, and nothing else suffers.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use proto::health::{self, Health};
use proto::places::SocketPath;
use proto::{Code, Failure};
use serde_json::{Value, json};
use tests::documents::RUNBOOK;
use tests::mcp::SlowDaemon;
use tests::{World, grpc, http, mcp, runtime};

/// How many the daemon lets in.
const ADMITTED: usize = 8;

/// Askers of each front that takes many: ten times the limit in all.
const REST: usize = 20;
const MCP: usize = 20;
const GRPC: usize = 20;
const EDITORS: usize = 4;
const PER_EDITOR: usize = 4;
const CLI: usize = 4;

/// How long each admitted question takes at least.
const SLOW: Duration = Duration::from_secs(3);

/// What came of a question.
#[derive(Debug, PartialEq)]
enum Outcome {
    Answered,
    Overloaded,
}

#[test]
fn ten_times_the_limit_through_all_fronts_is_refused_with_a_retry_time() {
    assert_eq!(REST + MCP + GRPC + EDITORS * PER_EDITOR + CLI, 10 * ADMITTED);
    let world = World::with_hashing_model();
    world.write("runbook.md", RUNBOOK);
    world.ingest();
    let admitted = ADMITTED.to_string();
    let _daemon = SlowDaemon::start_with(&world, SLOW, &["--max-in-flight", &admitted]);
    let (rest, over_http) = (world.start_rest(&[]), world.start_mcp(&[]));
    let question = json!({"query": "drain", "collection": "docs", "mode": "bm25"});
    let gate = Barrier::new(REST + MCP + GRPC + EDITORS + CLI);
    let began = Instant::now();
    let outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        let mut asking = Vec::new();
        for _ in 0..REST {
            asking.push(scope.spawn(|| {
                gate.wait();
                vec![over_rest(&http::ask(rest.address, http::post("/v1/search", &question)))]
            }));
        }
        for _ in 0..MCP {
            asking.push(scope.spawn(|| {
                let call = mcp::modern(mcp::call(1, "search", &question));
                gate.wait();
                vec![by_tool(&http::ask(over_http.address, mcp::post(&call)).json())]
            }));
        }
        for _ in 0..GRPC {
            asking.push(scope.spawn(|| {
                gate.wait();
                vec![over_grpc(&world)]
            }));
        }
        for _ in 0..EDITORS {
            asking.push(scope.spawn(|| {
                let mut editor = mcp::Stdio::start(&world, &[]);
                editor.ask(&mcp::initialize(0, mcp::LEGACY[3]));
                gate.wait();
                (1..=PER_EDITOR).for_each(|id| editor.send(&mcp::call(id, "search", &question)));
                (0..PER_EDITOR).map(|_| by_tool(&editor.receive())).collect()
            }));
        }
        for _ in 0..CLI {
            asking.push(scope.spawn(|| {
                gate.wait();
                vec![by_command(&world)]
            }));
        }
        // Meanwhile nobody who looks after it sees anything wrong.
        for path in ["/livez", "/readyz"] {
            for address in [rest.address, over_http.address] {
                assert_eq!(http::ask(address, http::empty(http::get(path))).status, 200, "{path}");
            }
        }
        assert!(is_serving(&world));
        asking.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let answered = outcomes.iter().filter(|outcome| **outcome == Outcome::Answered).count();
    assert!(answered >= ADMITTED, "{answered} were answered");
    assert!(answered < outcomes.len() / 2, "{answered} of {} were let in", outcomes.len());
    assert!(began.elapsed() < Duration::from_mins(1), "{:?}", began.elapsed());
    // And then it is as if nothing had been.
    assert!(is_serving(&world));
    assert_eq!(over_rest(&http::ask(rest.address, http::post("/v1/search", &question))), Outcome::Answered);
}

fn over_rest(answer: &http::Answer) -> Outcome {
    if answer.status == 200 {
        return Outcome::Answered;
    }
    assert_eq!(answer.status, 429, "{answer}");
    assert_eq!(answer.header("retry-after"), "1", "{answer}");
    assert_eq!(answer.json()["code"], "overloaded", "{answer}");
    Outcome::Overloaded
}

fn by_tool(answer: &Value) -> Outcome {
    if answer["result"]["isError"] != true {
        assert!(answer["result"]["structuredContent"]["hits"].is_array(), "{answer}");
        return Outcome::Answered;
    }
    let failure = &answer["result"]["_meta"]["footnote/failure"];
    assert_eq!(failure["code"], "overloaded", "{answer}");
    assert!(failure["retry_after_ms"].as_u64().unwrap() > 0, "{answer}");
    Outcome::Overloaded
}

fn over_grpc(world: &World) -> Outcome {
    let client = grpc::client(&world.socket());
    match runtime().block_on(grpc::search(&client, "docs", "drain")) {
        Ok(_) => Outcome::Answered,
        Err(status) => {
            let failure = Failure::from(status);
            assert_eq!(failure.code, Code::Overloaded, "{failure:?}");
            assert!(failure.retry_after.is_some(), "{failure:?}");
            Outcome::Overloaded
        }
    }
}

fn by_command(world: &World) -> Outcome {
    let run = world.footnote(["search", "--json", "--collection", "docs", "drain"]);
    if run.code == 0 {
        return Outcome::Answered;
    }
    assert_eq!(run.code, 4, "{run}");
    assert!(run.stderr.contains("overloaded") && run.stderr.contains("retry_after_seconds"), "{run}");
    Outcome::Overloaded
}

fn is_serving(world: &World) -> bool {
    let socket = SocketPath::try_from(world.socket()).unwrap();
    matches!(runtime().block_on(health::check(&socket)).unwrap(), Health::Serving { .. })
}
