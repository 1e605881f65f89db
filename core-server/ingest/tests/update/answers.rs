//! What a collection answers after a life of edits is what a fresh ingest of the same documents answers: the same
//! passages in the same order with the same verdicts, and the same scores, bit for bit. The bound is nothing at all, and
//! holds while segments still carry what was deleted, too.

use std::fs;
use std::time::{Duration, Instant};

use engine::citation::Verdict;
use engine::generation::GenerationId;
use engine::model::RerankerChoice;
use engine::query::{Caller, Hit, Mode, Search};
use engine::stop::Stop;
use engine::{Config, Engine};

use super::world::{World, current};

/// Words of documents and questions; the later, the rarer.
const WORDS: [&str; 12] = [
    "the",
    "valve",
    "pump",
    "is",
    "greased",
    "weekly",
    "gauge",
    "ERR_PUMP_7",
    "boiler",
    "logged",
    "sluice",
    "governor",
];

/// Sections that differ from each other and repeat what others say.
fn document(seed: usize) -> String {
    let word = |at: usize| WORDS[(at * at + at * seed) % WORDS.len()];
    let sentence =
        |section: usize| (0..9 + seed % 5).map(|at| word(at + section)).collect::<Vec<_>>().join(" ");
    let section = |n| format!("## Station {n}\n\n{} {seed}.\n\nThe same everywhere.\n\n", sentence(n));
    (0..=seed % 4).map(section).collect()
}

const QUESTIONS: [&str; 9] = [
    "governor of the boiler",
    "which gauge is logged weekly",
    "ERR_PUMP_7",
    "\"pump is greased\" sluice",
    "the same everywhere",
    "station 3",
    "the is",
    "valve valve valve pump",
    "nothing of the kind: xylophone",
];

fn engine(world: &World, index: &str) -> Engine {
    let config = Config {
        index_dir: world.path(index),
        model_dir: world.path("models"),
        source_roots: Vec::new(),
        sessions: 1,
        reranker: RerankerChoice::Off,
        rerank_sessions: 1,
    };
    let engine = Engine::open(config).unwrap();
    let manifest = current(&world.path(index).join("docs")).manifest().clone();
    let until = Instant::now() + Duration::from_mins(1);
    engine.models().wait(&manifest.model.unwrap(), until, &Stop::never()).unwrap();
    engine
}

/// Everything that is said of every hit, but for the generation's number.
fn answers(world: &World, index: &str) -> Vec<Vec<Hit>> {
    let engine = engine(world, index);
    let ask = |mode, query: &str| {
        let search = Search { mode: Some(mode), top_k: 30, ..Search::new(query) };
        let mut hits = engine.search(&search, &Caller::default(), &Stop::never()).unwrap().hits;
        for hit in &mut hits {
            hit.passage.citation.generation = GenerationId::FIRST;
        }
        hits
    };
    let modes = [Mode::Bm25, Mode::Dense, Mode::Hybrid];
    modes.into_iter().flat_map(|mode| QUESTIONS.map(|query| ask(mode, query))).collect()
}

/// How many chunks are in how many segments, and how many deleted ones beside them.
fn segments(world: &World) -> (usize, u32) {
    let generation = world.generation();
    let readers = generation.lexical().unwrap().searcher().segment_readers();
    (readers.len(), readers.iter().map(tantivy::SegmentReader::num_deleted_docs).sum())
}

#[test]
fn after_edits_it_answers_as_a_fresh_ingest_does_before_and_after_segments_are_merged() {
    let world = World::with_model();
    for at in 0..90 {
        world.write(&format!("{at}.md"), &document(at));
    }
    world.ingest();
    let (mut scattered, mut merged) = (0, 0);
    for round in 0..8 {
        let at = |nth: usize| format!("{}.md", (round * 7 + nth) % 90);
        world.write(&at(0), &document(round + 100));
        world.write(&at(1), &format!("Another beginning.\n\n{}", document(round)));
        fs::rename(world.path("docs").join(at(2)), world.path("docs").join(format!("moved{round}.md")))
            .unwrap();
        fs::remove_file(world.path("docs").join(at(3))).unwrap();
        world.write(&format!("new{round}.md"), &document(round + 200));
        world.ingest();
        world.ingest_into(&format!("fresh{round}"));
        // What is not ingested yet is told apart by verdicts.
        world.write(&at(1), "Nothing of it is left.\n");
        world.write(&at(4), &format!("In front.\n\n{}", document((round * 7 + 4) % 90)));

        let (lived, fresh) = (answers(&world, "index"), answers(&world, &format!("fresh{round}")));
        for (lived, fresh) in lived.iter().zip(&fresh) {
            assert_eq!(lived, fresh, "round {round}");
        }
        let verdicts: Vec<Verdict> = lived.iter().flatten().map(|hit| hit.passage.verdict).collect();
        for verdict in [Verdict::Verified, Verdict::Drifted] {
            assert!(verdicts.contains(&verdict), "no {verdict:?} in round {round}");
        }
        match segments(&world) {
            (1, 0) => merged += 1,
            (_, deleted) => scattered += usize::from(deleted > 0),
        }
    }
    assert!(scattered > 0 && merged > 0, "{scattered} rounds with deleted chunks, {merged} merged");
}
