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

use std::fs;
use std::time::{Duration, Instant};

use proto::line::Line;
use proto::v1::retrieval_service_client::RetrievalServiceClient;
use proto::v1::{ListCollectionsRequest, Mode, SearchRequest};
use tests::World;
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
    write_corpus(&world, chunks);
    let model = if chunks <= REAL_MODEL_UP_TO { "bge-small-en-v1.5" } else { "hashing" };
    let (summary, ingest) = timed(|| world.ingest_with(&["--model", model]));
    let made = summary["chunks"].as_u64().unwrap();
    let size = made.to_string();
    note(&size, &format!("first ingest, {model}"), ingest);

    let started = Instant::now();
    world.start_daemon(&[]);
    let client = runtime.block_on(async { tests::grpc::client(&world.socket()) });
    runtime.block_on(ask(&client, Mode::Bm25, "wordab wordcd")).unwrap();
    note(&size, "from starting the daemon to the first bm25 answer", started.elapsed());
    runtime.block_on(ask(&client, Mode::Hybrid, "wordab wordcd")).unwrap();
    note(&size, "from starting the daemon to the first hybrid answer", started.elapsed());

    row(
        &size,
        "an empty call on the socket",
        &mut series(|_| {
            runtime.block_on(client.clone().list_collections(ListCollectionsRequest::default())).unwrap();
        }),
    );
    for (name, mode) in [("bm25", Mode::Bm25), ("dense", Mode::Dense), ("hybrid", Mode::Hybrid)] {
        let cpu = daemon_cpu(&mut world);
        row(
            &size,
            &format!("{name} search, hits verified"),
            &mut series(|n| {
                runtime.block_on(ask(&client, mode, &question(n))).unwrap();
            }),
        );
        let cpu = daemon_cpu(&mut world).saturating_sub(cpu).as_secs_f64() * 1000.0 / REQUESTS as f64;
        println!("| {size} | {name} search, CPU time in the daemon | {cpu:.2} | | |");
    }
    eight_clients(runtime, &client, &size);
    println!(
        "| {size} | memory of the daemon, MB resident (mapped files included) | {} | | |",
        resident(&mut world)
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
                        ask(&client, Mode::Bm25, &question(who * each + n)).await.unwrap();
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
            world.write("part0/file0.md", document(1_000_000 + round));
            timed(|| world.ingest()).1
        })
        .collect();
    row(size, "publishing one changed file, the whole command", &mut times);
}

/// Questions while another process embeds with the real model.
fn beside_an_ingest(runtime: &Runtime, client: &RetrievalServiceClient<Line>, size: &str) {
    let other = World::with_real_model();
    write_corpus(&other, 2_000);
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
                runtime.block_on(ask(client, mode, &question(n))).unwrap();
            }),
        );
    }
    assert!(ingest.try_wait().unwrap().is_none(), "the other ingest ended before the questions did");
    ingest.kill().unwrap();
    ingest.wait().unwrap();
}

async fn ask(client: &RetrievalServiceClient<Line>, mode: Mode, query: &str) -> Result<(), tonic::Status> {
    let request = SearchRequest {
        query: query.to_owned(),
        collection: Some("docs".to_owned()),
        mode: Some(mode.into()),
        ..SearchRequest::default()
    };
    client.clone().search(request).await.map(drop)
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

/// CPU time that the daemon used so far: fields 14 and 15 of `/proc/PID/stat`, in hundredths of a second.
fn daemon_cpu(world: &mut World) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{}/stat", world.daemon().id())).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}

fn resident(world: &mut World) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", world.daemon().id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

/// Files of ten sections each; a section is about one chunk.
fn write_corpus(world: &World, chunks: usize) {
    for file in 0..chunks.div_ceil(10) {
        world.write(&format!("part{}/file{file}.md", file / 100), document(file));
    }
}

fn document(seed: usize) -> String {
    let mut text = format!("# File {seed}\n\n");
    let mut random = Random(seed as u64 + 1);
    for section in 0..10 {
        text.extend(["## Section ", &section.to_string(), "\n\n"]);
        for _ in 0..130 {
            text += &word(random.zipf());
            text.push(' ');
        }
        text.push_str("\n\n");
    }
    text
}

fn question(n: usize) -> String {
    let mut random = Random(n as u64 + 77);
    (0..4).map(|_| word(random.zipf() + 20)).collect::<Vec<_>>().join(" ")
}

/// The word of a rank: letters only, so that no stemmer or splitter makes two of it.
fn word(rank: usize) -> String {
    let mut rest = rank + 26;
    let mut letters = String::from("word");
    while rest > 0 {
        letters.push(char::from(b'a' + (rest % 26) as u8));
        rest /= 26;
    }
    letters
}

/// A small generator with a fixed seed, so that every run asks the same of the same.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A rank of Zipf's law over 30,000 words.
    fn zipf(&mut self) -> usize {
        (30_000_f64.powf(self.next()) - 1.0) as usize
    }
}
