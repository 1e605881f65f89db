//! Embedding with the real models: a query, a passage of about 170 tokens, and loading.
//!
//! `cargo bench --workspace --bench embedding`. The models are those that `FOOTNOTE_TEST_MODEL_DIR` names or that the tests
//! have installed into `target/test-models`; without any there is nothing to measure, which it says.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use engine::model::Store;

/// Models that are measured where they are installed.
const MODELS: [&str; 2] = ["bge-small-en-v1.5", "all-minilm-l6-v2"];

const QUERY: &str = "How do I restart the billing service?";

/// About 170 tokens of English.
const PASSAGE: &str = "Every service keeps its signing keys in the vault, and each key has an owner who is told two \
    weeks before it expires. Rotation begins with a new key beside the old one: both are published, and tokens are \
    signed with the new key as soon as every verifier has fetched it, which takes an hour at most. The old key stays \
    valid for a day after the last token that it signed has run out. Should a key have leaked, the order is another: \
    the old key is withdrawn first, all sessions end, and people sign in again. Whoever withdraws a key writes down \
    when and why in the incident log, and the next morning somebody who was not there checks that no verifier still \
    accepts it. Keys are never copied to a laptop, not even for a test; a local environment signs with a key of its \
    own that nobody else trusts.";

fn embedding(criterion: &mut Criterion) {
    let store = Store::open(store());
    let mut group = criterion.benchmark_group("embedding");
    group.sample_size(50);
    let mut measured = 0;
    for name in MODELS {
        let Ok(model) = store.load(name, 1) else { continue };
        measured += 1;
        group.throughput(Throughput::Elements(1));
        group.bench_function(format!("{name}/query"), |bencher| bencher.iter(|| model.embed_query(QUERY)));
        group.bench_function(format!("{name}/passage"), |bencher| {
            bencher.iter(|| model.embed_passage(PASSAGE));
        });
        group.bench_function(format!("{name}/load"), |bencher| {
            bencher.iter_custom(|times| (0..times).map(|_| time_to_load(&store, name)).sum::<Duration>());
        });
    }
    assert!(
        measured > 0,
        "no model is in {}: run `footnote model install` or the tests first",
        store.dir().display()
    );
    group.finish();
}

fn time_to_load(store: &Store, name: &str) -> Duration {
    let begun = Instant::now();
    let model = store.load(name, 1);
    let took = begun.elapsed();
    drop(model);
    took
}

fn store() -> PathBuf {
    let beside_target = || Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("test-models");
    std::env::var_os("FOOTNOTE_TEST_MODEL_DIR").map_or_else(beside_target, PathBuf::from)
}

criterion_group!(benches, embedding);
criterion_main!(benches);
