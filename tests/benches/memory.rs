//! What the daemon holds in memory, beside a bare process that loaded the same sessions and embedded one text.
//!
//! `cargo bench --workspace --bench memory [-- CHUNKS…]` prints a table row per size; `docs/BENCHMARKS.md` keeps them. Anonymous
//! memory is what nobody else can use; mapped files are the system's to drop, and are shown beside it.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement prints, and ends where it cannot go on"
)]
#![expect(clippy::cast_precision_loss, reason = "its numbers are small")]

#[path = "measure/corpus.rs"]
mod corpus;

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use engine::model::Store;
use proto::v1::Mode;
use tests::World;
use tests::memory::Memory;

const SIZES: [usize; 2] = [1_000, 10_000];
const MODEL: &str = "bge-small-en-v1.5";
const SESSIONS: usize = 2;

/// The argument with which this program is the bare process.
const BARE: &str = "--only-the-model";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [mode, store] = &arguments[..]
        && mode == BARE
    {
        return only_the_model(Path::new(store));
    }
    let sizes: Vec<usize> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    println!("| chunks | | anonymous MB | mapped files MB |\n|---|---|---|---|");
    let store = tests::real_model::store();
    let bare = Command::new(std::env::current_exe().unwrap())
        .arg(BARE)
        .arg(&store)
        .stderr(Stdio::inherit())
        .output();
    print!("{}", String::from_utf8(bare.unwrap().stdout).unwrap());
    for chunks in if sizes.is_empty() { SIZES.to_vec() } else { sizes } {
        daemon(chunks);
    }
}

fn only_the_model(store: &Path) {
    let model = Store::open(store).load(MODEL, SESSIONS).unwrap();
    model.embed_query("one text").unwrap();
    row("", "a bare process with the model", std::process::id());
}

fn daemon(chunks: usize) {
    let mut world = World::with_hashing_model();
    corpus::write(&world, chunks);
    world.ingest_with(&["--model", "hashing"]);
    // A second collection binds the daemon to the real model.
    let small = world.home().join("small");
    std::fs::create_dir_all(&small).unwrap();
    std::fs::write(small.join("one.md"), "# One\n\nA small text.\n").unwrap();
    for part in ["runtime", MODEL] {
        symlink(tests::real_model::store().join(part), world.models().join(part)).unwrap();
    }
    let ingested =
        world.footnote(["ingest", small.to_str().unwrap(), "--collection", "small", "--model", MODEL]);
    assert_eq!(ingested.code, 0, "{ingested}");
    world.start_daemon(&["--sessions", &SESSIONS.to_string()]);
    row(&chunks.to_string(), "the daemon, nobody asked yet", world.daemon().id());
    let (runtime, client) = (tests::runtime(), tests::grpc::client(&world.socket()));
    for n in 0..500 {
        for (collection, mode) in [("docs", Mode::Bm25), ("docs", Mode::Hybrid), ("small", Mode::Hybrid)] {
            runtime.block_on(client.clone().search(corpus::search(n, collection, mode))).unwrap();
        }
    }
    row(&chunks.to_string(), "the daemon after 1,500 questions", world.daemon().id());
}

fn row(chunks: &str, what: &str, pid: u32) {
    let megabytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let Memory { anonymous, mapped, .. } = Memory::of(pid);
    println!("| {chunks} | {what} | {:.1} | {:.1} |", megabytes(anonymous), megabytes(mapped));
}
