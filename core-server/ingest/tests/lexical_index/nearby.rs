//! What stands near a passage in its document counts in part, and nothing else does.

use std::collections::BTreeMap;

use engine::lexical::Lexical;
use engine::stop::Stop;
use ingest::lexical_writer::LexicalWriter;

use super::fixture::{Corpus, Numbers, build, document, record};

/// The passages that are found, as source and place, with their scores, best first.
fn found(lexical: &Lexical, query: &str, k: usize) -> Vec<(String, u32, f32)> {
    let candidates = lexical.search(&lexical.query(query), k, &Stop::never()).unwrap();
    let passage = |candidate: &engine::lexical::Candidate| {
        let record = lexical.record(candidate.address).unwrap();
        (record.source, record.bytes.start / 10, candidate.score)
    };
    candidates.iter().map(passage).collect()
}

/// The score of a passage that is found.
fn score(found: &[(String, u32, f32)], source: &str, place: u32) -> f32 {
    let is_it = |(found, at, _): &&(String, u32, f32)| (found.as_str(), *at) == (source, place);
    found.iter().find(is_it).unwrap_or_else(|| panic!("{source} {place} is not in {found:?}")).2
}

/// An index of documents, each some passages of two words' length.
fn index(documents: &[(&str, &[&str])]) -> (tempfile::TempDir, Lexical) {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let corpus: Corpus =
        documents.iter().map(|(source, passages)| ((*source).to_owned(), texts(passages))).collect();
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), &corpus);
    let lexical = Lexical::open(folder.path()).unwrap();
    (folder, lexical)
}

const DULL: &str = "grass hill";

#[test]
fn a_word_in_the_next_passage_counts_half_and_one_that_is_far_or_elsewhere_nothing() {
    let (_folder, lexical) = index(&[
        ("alone.md", &["valve boiler"]),
        ("before.md", &["pump station", "valve boiler"]),
        ("behind.md", &["valve boiler", DULL, DULL, DULL, "pump station"]),
        ("far.md", &["valve boiler", DULL, DULL, DULL, DULL, "pump station"]),
        // The passage before it in the index is one of another document.
        ("far2.md", &["valve boiler"]),
        ("has it.md", &["valve pump"]),
    ]);
    let found = found(&lexical, "valve pump", 50);
    let of = |source, place| score(&found, source, place);
    let (valve, pump) = (of("alone.md", 0), of("far.md", 5));
    // Half of what the stem is worth: that a word stands there as it was asked for speaks for its own passage alone.
    let half = |word: f32| word / 1.1 / 2.0;
    for (source, place, expected) in [
        ("has it.md", 0, valve + pump),
        ("before.md", 1, valve + half(pump)),
        ("before.md", 0, pump + half(valve)),
        ("behind.md", 0, valve + half(pump)),
        ("behind.md", 4, pump + half(valve)),
        ("far.md", 0, valve),
        ("far2.md", 0, valve),
    ] {
        let score = of(source, place);
        assert!((score / expected - 1.0).abs() < 0.01, "{source} {place}: {score} and not {expected}");
    }
    assert_eq!(found[0].0, "has it.md");
    assert!(!found.iter().any(|(source, place, _)| source == "behind.md" && *place == 1), "{found:?}");
}

#[test]
fn what_was_deleted_is_not_near_anything() {
    let (folder, lexical) = index(&[
        ("a.md", &["pump station"]),
        ("b.md", &["valve boiler"]),
        ("c.md", &[DULL, DULL, DULL, DULL, DULL]),
    ]);
    let alone = score(&found(&lexical, "valve pump", 10), "b.md", 0);
    let writer = LexicalWriter::continue_from(folder.path()).unwrap();
    writer.delete_document(engine::id::DocumentId::of_source("b.md"));
    writer.add_document([record("b.md", "pump station", 0), record("b.md", "valve boiler", 1)]).unwrap();
    writer.commit_and_merge().unwrap();
    let lexical = Lexical::open(folder.path()).unwrap();
    assert!(score(&found(&lexical, "valve pump", 10), "b.md", 1) > alone);
    assert_eq!(found(&lexical, "valve pump", 10).len(), 3);
}

#[test]
fn fewer_are_the_first_of_many() {
    let mut numbers = Numbers(11);
    let corpus: Corpus = (0..300).map(|i| (format!("{i}.md"), document(&mut numbers))).collect();
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), &corpus);
    let lexical = Lexical::open(folder.path()).unwrap();
    for words in 1..30 {
        let query = numbers.text(1 + words % 9);
        let all = found(&lexical, &query, 1000);
        assert!(all.is_sorted_by(|left, right| left.2 >= right.2), "{query}");
        for k in [1, 5, 49, 50, 51, 200] {
            assert_eq!(found(&lexical, &query, k), all[..k.min(all.len())], "{query}: {k}");
        }
    }
}

#[test]
fn passages_of_a_document_are_neighbours_though_many_add_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let writer = LexicalWriter::create(folder.path()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let writer = &writer;
            scope.spawn(move || {
                for at in 0..200 {
                    let source = format!("{thread}/{at}.md");
                    writer.add_document((0..7).map(|nth| record(&source, "some text", nth))).unwrap();
                }
            });
        }
    });
    writer.commit_and_merge().unwrap();
    let lexical = Lexical::open(folder.path()).unwrap();
    let mut rows: BTreeMap<String, Vec<(u32, u32)>> = BTreeMap::new();
    lexical
        .for_each_alive(|address, chunk| {
            let rows = rows.entry(chunk.source).or_default();
            assert_eq!(chunk.bytes.start / 10, u32::try_from(rows.len()).unwrap());
            rows.push((address.segment_ord, address.doc_id));
            Ok(())
        })
        .unwrap();
    assert_eq!(rows.len(), 800);
    for (source, rows) in rows {
        let first = rows[0];
        let neighbours: Vec<(u32, u32)> = (0..7).map(|nth| (first.0, first.1 + nth)).collect();
        assert_eq!(rows, neighbours, "{source}");
    }
}
