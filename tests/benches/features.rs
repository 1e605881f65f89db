//! What each thing that can be asked for costs on top of the plain question, over the socket.
//!
//! `cargo bench --workspace --bench features [-- CHUNKS…]` prints a table row per mode and feature; `docs/BENCHMARKS.md` keeps them.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement prints, and ends where it cannot go on"
)]

#[path = "measure/corpus.rs"]
mod corpus;
#[path = "measure/pairs.rs"]
mod pairs;

use pairs::Times;
use proto::line::Line;
use proto::v1::retrieval_service_client::RetrievalServiceClient;
use proto::v1::{Filter, Mode, SearchRequest};
use tests::World;
use tokio::runtime::Runtime;

const SIZES: [usize; 2] = [10_000, 100_000];
const QUESTIONS: usize = 300;

/// Rerank is asked fewer times: each takes the better part of a second.
const RERANKED: usize = 10;

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let runtime = tests::runtime();
    println!(
        "| chunks | mode | asked for as well | p50 ms | on top of the plain question |\n|---|---|---|---|---|"
    );
    for chunks in if sizes.is_empty() { SIZES.to_vec() } else { sizes } {
        measure(&runtime, chunks);
    }
    rerank(&runtime);
}

/// A question with something more.
type Feature = (&'static str, fn(&mut SearchRequest));

const FEATURES: [Feature; 7] = [
    ("nothing", |_| {}),
    ("`verify` off", |request| request.verify = Some(false)),
    ("`filter` by path, remembered", |request| {
        request.filter = Some(Filter { paths: vec!["part1*".to_owned()], ..Filter::default() });
    }),
    ("`neighbors` 1", |request| request.neighbors = Some(1)),
    ("`section`", |request| request.section = Some(true)),
    ("`explain`", |request| request.explain = Some(true)),
    ("`top_k` 50", |request| request.top_k = Some(50)),
];

fn measure(runtime: &Runtime, chunks: usize) {
    let mut world = World::with_hashing_model();
    corpus::write(&world, chunks);
    world.ingest_with(&["--model", "hashing"]);
    world.start_daemon(&[]);
    let client = tests::grpc::client(&world.socket());
    for (name, mode) in [("bm25", Mode::Bm25), ("hybrid", Mode::Hybrid)] {
        let mut plain = Times::default();
        let mut more = FEATURES.map(|_| Times::default());
        for n in 0..QUESTIONS {
            plain.take(|| ask(runtime, &client, question(n, mode)));
            for (times, (_, add)) in more.iter_mut().zip(FEATURES) {
                let mut request = question(n, mode);
                add(&mut request);
                times.take(|| ask(runtime, &client, request));
            }
        }
        for (times, (feature, _)) in more.iter().zip(FEATURES) {
            row(chunks, name, feature, times, &plain);
        }
    }
}

/// With the real models, over a thousand chunks.
fn rerank(runtime: &Runtime) {
    const CHUNKS: usize = 100;
    let mut world = World::with_real_model();
    corpus::write(&world, CHUNKS);
    world.ingest();
    world.start_daemon(&[]);
    let client = tests::grpc::client(&world.socket());
    let (mut plain, mut reranked) = (Times::default(), Times::default());
    for n in 0..RERANKED {
        plain.take(|| ask(runtime, &client, question(n, Mode::Hybrid)));
        let request = SearchRequest { rerank: Some(true), ..question(n, Mode::Hybrid) };
        reranked.take(|| ask(runtime, &client, request));
    }
    row(CHUNKS, "hybrid, real models", "`rerank`", &reranked, &plain);
}

fn question(n: usize, mode: Mode) -> SearchRequest {
    corpus::search(n, "docs", mode)
}

fn ask(runtime: &Runtime, client: &RetrievalServiceClient<Line>, request: SearchRequest) {
    runtime.block_on(client.clone().search(request)).unwrap();
}

fn row(chunks: usize, mode: &str, feature: &str, times: &Times, plain: &Times) {
    println!("| {chunks} | {mode} | {feature} | {:.3} | {:+.3} |", times.median(), times.median_above(plain));
}
