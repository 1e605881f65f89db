//! What checking a citation costs: a hit that stands, a file opened for it, and a text that has to be looked for.

#![expect(clippy::expect_used, reason = "a benchmark that cannot be set up should say so and end")]

#[path = "../tests/verdicts/fixture.rs"]
mod fixture;

use criterion::{Criterion, criterion_group, criterion_main};
use engine::lexical::record::ChunkRecord;
use engine::stop::Stop;
use engine::verify::{Generations, Verifier};

use self::fixture::{World, chunk_id};

const CHUNK_BYTES: usize = 1500;
const CHUNKS: usize = 50;

fn text(file: usize, chunk: usize) -> String {
    format!("File {file}, chunk {chunk}: every word of it stands. ").repeat(CHUNK_BYTES / 45)
}

/// Files of fifty chunks each, and all their chunks.
fn world(files: usize) -> (World, Vec<ChunkRecord>) {
    let mut world = World::new();
    world.settled = true;
    let texts: Vec<Vec<String>> =
        (0..files).map(|file| (0..CHUNKS).map(|chunk| text(file, chunk)).collect()).collect();
    let names: Vec<String> = (0..files).map(|file| format!("folder/document-{file}.md")).collect();
    for (name, texts) in names.iter().zip(&texts) {
        world.write(name, texts.join("\n\n"));
    }
    let borrowed: Vec<Vec<&str>> =
        texts.iter().map(|texts| texts.iter().map(String::as_str).collect()).collect();
    let sources: Vec<(&str, &[&str])> =
        names.iter().zip(&borrowed).map(|(name, texts)| (name.as_str(), texts.as_slice())).collect();
    world.publish(&sources);
    let engine = world.engine();
    let seen = engine.index().seen();
    let lexical = seen.collections.values().next().expect("one").generation().lexical().expect("opened");
    let ids =
        names.iter().zip(&texts).flat_map(|(name, texts)| texts.iter().map(|text| chunk_id(name, text, 0)));
    let chunks = ids.map(|id| lexical.chunk(id).expect("read").expect("there").1).collect();
    (world, chunks)
}

fn check(criterion: &mut Criterion, name: &str, world: &World, chunks: &[ChunkRecord]) {
    let engine = world.engine();
    let seen = engine.index().seen();
    let collection = seen.collections.values().next().expect("one");
    let generation = collection.generation();
    let generations = Generations { cited: generation, current: generation };
    let verifier = Verifier::new(Vec::new());
    let chunks: Vec<&ChunkRecord> = chunks.iter().collect();
    criterion.bench_function(name, |bencher| {
        bencher.iter(|| {
            verifier.check(collection.name(), generations, &chunks, &Stop::never()).expect("checked")
        });
    });
}

fn verify(criterion: &mut Criterion) {
    let (world, chunks) = world(50);
    let first_of_each: Vec<ChunkRecord> = chunks.iter().step_by(CHUNKS).cloned().collect();
    check(criterion, "verify/1 hit", &world, &chunks[..1]);
    check(criterion, "verify/50 hits of 1 file", &world, &chunks[..CHUNKS]);
    check(criterion, "verify/50 hits of 50 files", &world, &first_of_each);
    for file in 0..50 {
        let source = format!("folder/document-{file}.md");
        let stored = std::fs::read_to_string(world.root().join(&source)).expect("read");
        world.write(&source, format!("A line above.\n{stored}"));
    }
    check(criterion, "verify/50 hits of 1 file, moved just now", &world, &chunks[..CHUNKS]);
    // Changed more than two seconds ago: what was found once is remembered.
    std::thread::sleep(std::time::Duration::from_millis(2500));
    check(criterion, "verify/50 hits of 1 file, moved", &world, &chunks[..CHUNKS]);
}

criterion_group!(benches, verify);
criterion_main!(benches);
