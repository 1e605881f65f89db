//! The whole request over the socket, at 1,000, 10,000 and 100,000 chunks, beside the limits it is held to.
//!
//! `cargo bench --workspace --bench request [-- CHUNKS…]` prints one table row per measurement; `docs/BENCHMARKS.md`
//! keeps them. Times are of this machine and this moment: compare within one run.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a measurement prints, and its numbers are small"
)]

#[path = "measure/corpus.rs"]
mod corpus;
#[path = "measure/cpu.rs"]
mod cpu;

use std::time::{Duration, Instant};

use proto::line::Line;
use proto::v1::retrieval_service_client::RetrievalServiceClient;
use proto::v1::{ListCollectionsRequest, Mode};
use tests::World;
use tests::memory::Memory;
use tokio::runtime::Runtime;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

/// Above this many chunks vectors come from the hashing model: embedding 100,000 texts takes most of an hour.
const REAL_MODEL_UP_TO: usize = 1_000;

const REQUESTS: usize = 300;

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if sizes.is_empty() { SIZES.to_vec() } else { sizes };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    println!("| chunks | what | p50 ms | p95 ms | p99 ms |\n|---|---|---|---|---|");
    for chunks in sizes {
        measure(&runtime, chunks);
    }
}

fn measure(runtime: &Runtime, chunks: usize) {
    let mut world =
        if chunks <= REAL_MODEL_UP_TO { World::with_real_model() } else { World::with_hashing_model() };
    corpus::write(&world, chunks);
    let model = if chunks <= REAL_MODEL_UP_TO { "bge-small-en-v1.5" } else { "hashing" };
    let (summary, ingest) = timed(|| world.ingest_with(&["--model", model]));
    let made = summary["chunks"].as_u64().unwrap();
    let size = made.to_string();
    note(&size, &format!("first ingest, {model}"), ingest);

    let started = Instant::now();
    world.start_daemon(&[]);
    let client = runtime.block_on(async { tests::grpc::client(&world.socket()) });
    runtime.block_on(ask(&client, Mode::Bm25, REQUESTS + 20)).unwrap();
    note(&size, "from starting the daemon to the first bm25 answer", started.elapsed());
    runtime.block_on(ask(&client, Mode::Hybrid, REQUESTS + 20)).unwrap();
    note(&size, "from starting the daemon to the first hybrid answer", started.elapsed());

    row(
        &size,
        "an empty call on the socket",
        &mut series(|_| {
            runtime.block_on(client.clone().list_collections(ListCollectionsRequest::default())).unwrap();
        }),
    );
    for (name, mode) in [("bm25", Mode::Bm25), ("dense", Mode::Dense), ("hybrid", Mode::Hybrid)] {
        let cpu = cpu::cpu(world.daemon().id());
        row(
            &size,
            &format!("{name} search, hits verified"),
            &mut series(|n| {
                runtime.block_on(ask(&client, mode, n)).unwrap();
            }),
        );
        let cpu = cpu::cpu(world.daemon().id()).saturating_sub(cpu);
        let cpu = cpu.as_secs_f64() * 1000.0 / REQUESTS as f64;
        println!("| {size} | {name} search, CPU time in the daemon | {cpu:.2} | | |");
    }
    eight_clients(runtime, &client, &size);
    let memory = Memory::of(world.daemon().id());
    println!(
        "| {size} | memory of the daemon, MB resident (mapped files included) | {} | | |",
        memory.resident >> 20
    );
    publish_one(&world, &size);
    beside_an_ingest(runtime, &client, &size);
}

/// Throughput of eight at once and the slowest of a hundred.
fn eight_clients(runtime: &Runtime, client: &RetrievalServiceClient<Line>, size: &str) {
    let each = REQUESTS / 8;
    let started = Instant::now();
    let mut times: Vec<Duration> = runtime.block_on(async {
        let asking: Vec<_> = (0..8)
            .map(|who| {
                let client = client.clone();
                tokio::spawn(async move {
                    let mut times = Vec::new();
                    for n in 0..each {
                        let begun = Instant::now();
                        ask(&client, Mode::Bm25, who * each + n).await.unwrap();
                        times.push(begun.elapsed());
                    }
                    times
                })
            })
            .collect();
        let mut all = Vec::new();
        for task in asking {
            all.extend(task.await.unwrap());
        }
        all
    });
    let rate = times.len() as f64 / started.elapsed().as_secs_f64();
    row(size, &format!("bm25 by eight clients at once ({rate:.0} a second)"), &mut times);
}

/// One changed file: until the command ends, and until the daemon answers from it.
fn publish_one(world: &World, size: &str) {
    let mut times: Vec<Duration> = (0..5)
        .map(|round| {
            world.write("part0/file0.md", corpus::document(1_000_000 + round));
            timed(|| world.ingest()).1
        })
        .collect();
    row(size, "publishing one changed file, the whole command", &mut times);
}

/// Questions while another process embeds with the real model.
fn beside_an_ingest(runtime: &Runtime, client: &RetrievalServiceClient<Line>, size: &str) {
    let other = World::with_real_model();
    corpus::write(&other, 2_000);
    let mut ingest = other.command("footnote-index");
    ingest.arg("ingest").arg(other.docs()).args(["--collection", "other"]);
    let mut ingest =
        ingest.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    // Embedding has begun once the catalog holds something.
    tests::wait::until(60, "the other ingest", || other.index().join("other/CURRENT").exists().then_some(()));
    for (name, mode) in [("bm25", Mode::Bm25), ("hybrid", Mode::Hybrid)] {
        row(
            size,
            &format!("{name} search while an ingest embeds"),
            &mut series(|n| {
                runtime.block_on(ask(client, mode, n)).unwrap();
            }),
        );
    }
    assert!(ingest.try_wait().unwrap().is_none(), "the other ingest ended before the questions did");
    ingest.kill().unwrap();
    ingest.wait().unwrap();
}

async fn ask(client: &RetrievalServiceClient<Line>, mode: Mode, n: usize) -> Result<(), tonic::Status> {
    client.clone().search(corpus::search(n, "docs", mode)).await.map(drop)
}

fn series(mut request: impl FnMut(usize)) -> Vec<Duration> {
    for n in 0..20 {
        request(REQUESTS + n);
    }
    (0..REQUESTS).map(|n| timed(|| request(n)).1).collect()
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let made = work();
    (made, started.elapsed())
}

fn row(size: &str, what: &str, times: &mut [Duration]) {
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1000.0;
    println!("| {size} | {what} | {:.2} | {:.2} | {:.2} |", at(0.5), at(0.95), at(0.99));
}

fn note(size: &str, what: &str, time: Duration) {
    println!("| {size} | {what} | {:.1} | | |", time.as_secs_f64() * 1000.0);
}
