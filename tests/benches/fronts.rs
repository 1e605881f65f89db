//! What each front costs on top of the daemon: the same questions by every way, one after the other.
//!
//! `cargo bench --workspace --bench fronts` prints a table row per front; `docs/BENCHMARKS.md` keeps them.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement prints, and ends where it cannot go on"
)]
#![expect(clippy::cast_precision_loss, reason = "its numbers are small")]

#[path = "measure/corpus.rs"]
mod corpus;
#[path = "measure/cpu.rs"]
mod cpu;
#[path = "measure/pairs.rs"]
mod pairs;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use pairs::{Times, millis};
use proto::v1::Mode;
use serde_json::{Value, json};
use tests::memory::Memory;
use tests::{World, mcp};

const CHUNKS: usize = 10_000;
const QUESTIONS: usize = 400;

/// A process takes longer than all the rest, so it is started for every so manyth question.
const PROCESS_EVERY: usize = 10;

fn main() {
    let mut world = World::new();
    corpus::write(&world, CHUNKS);
    world.ingest();
    world.start_daemon(&[]);
    let runtime = tests::runtime();
    let grpc = tests::grpc::client(&world.socket());
    let (mut rest, mut http) = (world.start_rest(&[]), world.start_mcp(&[]));
    let (mut to_rest, mut to_http) = (Kept::open(rest.address), Kept::open(http.address));
    let mut stdio = mcp::Stdio::start(&world, &[]);
    stdio.ask(&mcp::initialize(0, mcp::LEGACY[3]));
    stdio.send(&mcp::notification("notifications/initialized", &json!({})));

    let pids = [world.daemon().id(), rest.child().id(), http.child().id(), stdio.id()];
    let [mut by_grpc, mut by_rest, mut by_http, mut by_stdio, mut by_cli, mut bare] =
        [(); 6].map(|()| Times::default());
    let mut by_grpc_beside_cli = Times::default();
    let mut before = pids.map(cpu::cpu);
    // The first questions warm everything up.
    for n in 0..QUESTIONS + 20 {
        if n == 20 {
            [by_grpc, by_rest, by_http, by_stdio] = [(); 4].map(|()| Times::default());
            before = pids.map(cpu::cpu);
        }
        let query = corpus::question(n);
        let arguments = json!({"query": query, "collection": "docs", "mode": "bm25"});
        by_grpc
            .take(|| runtime.block_on(grpc.clone().search(corpus::search(n, "docs", Mode::Bm25))).unwrap());
        by_rest.take(|| to_rest.post("/v1/search", &arguments));
        let call = mcp::call(n as u64 + 1, "search", &arguments);
        by_http.take(|| to_http.post("/mcp", &call));
        by_stdio.take(|| stdio.ask(&call));
    }
    let spent: Vec<Duration> =
        pids.iter().zip(before).map(|(&pid, before)| cpu::cpu(pid).saturating_sub(before)).collect();
    let each = |process: usize| millis(spent[process]) / QUESTIONS as f64;
    for n in (0..QUESTIONS).step_by(PROCESS_EVERY) {
        let query = corpus::question(n);
        bare.take(|| world.footnote(["--version"]));
        by_cli.take(|| world.footnote(["search", "-c", "docs", "--mode", "bm25", &query]));
        by_grpc_beside_cli
            .take(|| runtime.block_on(grpc.clone().search(corpus::search(n, "docs", Mode::Bm25))).unwrap());
    }

    println!(
        "| by | p50 ms | on top of gRPC | CPU ms a question in the front | MB resident |\n|---|---|---|---|---|"
    );
    let resident = |pid: u32| Memory::of(pid).resident as f64 / f64::from(1 << 20);
    println!("| gRPC | {:.3} | | {:.3} in the daemon, for all | |", by_grpc.median(), each(0) / 4.0);
    for (name, times, process) in
        [("REST", &by_rest, 1), ("MCP over HTTP", &by_http, 2), ("MCP over stdio", &by_stdio, 3)]
    {
        let (median, above) = (times.median(), times.median_above(&by_grpc));
        println!(
            "| {name} | {median:.3} | {above:+.3} | {:.3} | {:.1} |",
            each(process),
            resident(pids[process])
        );
    }
    let (median, above) = (by_cli.median(), by_cli.median_above(&by_grpc_beside_cli));
    println!("| `footnote search` | {median:.3} | {above:+.3} | | |");
    println!("| `footnote --version`: a process that asks nothing | {:.3} | | | |", bare.median());
}

/// A connection that is kept, and no more of HTTP than it takes.
struct Kept {
    address: SocketAddr,
    stream: BufReader<TcpStream>,
}

impl Kept {
    fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { address, stream: BufReader::new(stream) }
    }

    /// Posts JSON and reads the answer, which has to be a good one.
    fn post(&mut self, target: &str, body: &Value) -> Vec<u8> {
        let (address, body) = (self.address, body.to_string());
        let head = format!(
            "POST {target} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.stream.get_mut().write_all((head + &body).as_bytes()).unwrap();
        let mut length = None;
        for (n, line) in self.stream.by_ref().lines().enumerate() {
            let line = line.unwrap().to_ascii_lowercase();
            assert!(n > 0 || line.starts_with("http/1.1 200"), "{line}");
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().ok();
            }
            if line.is_empty() {
                break;
            }
        }
        let mut answer = vec![0; length.unwrap()];
        self.stream.read_exact(&mut answer).unwrap();
        answer
    }
}
