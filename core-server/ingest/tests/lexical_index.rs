//! A lexical index on disk: that it ranks the same however it came about, and leaves nothing behind.

#![expect(clippy::unwrap_used, reason = "what a test cannot do without should end it and say so")]

#[path = "lexical_index/fixture.rs"]
mod fixture;
#[path = "lexical_index/nearby.rs"]
mod nearby;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use engine::id::{ChunkId, DocumentId, Sha256};
use engine::lexical::Lexical;
use engine::stop::Stop;
use ingest::lexical_writer::LexicalWriter;

use self::fixture::{Corpus, Numbers, add, build, document, record};

/// As the publisher prepares a folder for the next generation: segments linked, the rest copied.
fn link(parent: &Path, child: &Path) {
    for entry in fs::read_dir(parent).unwrap() {
        let entry = entry.unwrap();
        let target = child.join(entry.file_name());
        if entry.file_name().to_string_lossy().ends_with(".json") {
            fs::copy(entry.path(), target).unwrap();
        } else {
            fs::hard_link(entry.path(), target).unwrap();
        }
    }
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entry = |entry: fs::DirEntry| {
        (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).unwrap())
    };
    fs::read_dir(folder).unwrap().map(|file| entry(file.unwrap())).collect()
}

fn answers(lexical: &Lexical, queries: &[String]) -> Vec<Vec<(ChunkId, u32)>> {
    let answer = |query: &String| {
        let candidates = lexical.search(&lexical.query(query), 30, &Stop::never()).unwrap();
        let row = |candidate: &engine::lexical::Candidate| {
            (lexical.record(candidate.address).unwrap().chunk_id, candidate.score.to_bits())
        };
        candidates.iter().map(row).collect()
    };
    queries.iter().map(answer).collect()
}

#[test]
fn an_edited_index_ranks_as_one_built_afresh_bit_for_bit() {
    let mut numbers = Numbers(7);
    let scratch = tempfile::tempdir().unwrap();
    let mut corpus: Corpus = (0..400).map(|i| (format!("docs/{i}.md"), document(&mut numbers))).collect();
    // Equal texts in many documents: nothing but the tie breaker tells them apart.
    for i in 0..60 {
        corpus.insert(format!("same/{i}.md"), vec!["word3 word5 word7 the same text".to_owned()]);
    }
    let mut folder = scratch.path().join("0");
    fs::create_dir(&folder).unwrap();
    build(&folder, &corpus);
    for round in 1..=25 {
        let next = scratch.path().join(round.to_string());
        fs::create_dir(&next).unwrap();
        link(&folder, &next);
        let before = files(&folder);
        let writer = LexicalWriter::continue_from(&next).unwrap();
        for _ in 0..12 {
            let source = match numbers.below(3) {
                0 => format!("same/{}.md", numbers.below(60)),
                _ => format!("docs/{}.md", numbers.below(440)),
            };
            writer.delete_document(DocumentId::of_source(&source));
            corpus.remove(&source);
            if numbers.below(4) > 0 {
                let texts = if source.starts_with("same") {
                    vec!["word3 word5 word7 the same text".to_owned()]
                } else {
                    document(&mut numbers)
                };
                add(&writer, &source, &texts);
                corpus.insert(source, texts);
            }
        }
        writer.commit_and_merge().unwrap();
        assert_eq!(before, files(&folder), "the parent changed in round {round}");
        folder = next;
    }

    let fresh = scratch.path().join("fresh");
    fs::create_dir(&fresh).unwrap();
    let afresh = build(&fresh, &corpus);
    let (edited, fresh) = (Lexical::open(&folder).unwrap(), Lexical::open(&fresh).unwrap());
    assert_eq!(edited.chunks(), afresh.chunks);
    assert_eq!(edited.tokens(), afresh.tokens);
    let counted = Lexical::open_counted(&folder, &afresh.tokens).unwrap();
    let mut queries: Vec<String> = (1..60).map(|words| numbers.text(1 + words % 9)).collect();
    queries.extend(["the same text", "word3 word5 word7", "docs", "Outer", "nowhere"].map(str::to_owned));
    let expected = answers(&fresh, &queries);
    assert_eq!(answers(&edited, &queries), expected);
    assert_eq!(answers(&counted, &queries), expected);
    assert!(expected.iter().flatten().count() > 500);
}

#[test]
fn nothing_but_the_index_is_left_and_reading_leaves_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let mut numbers = Numbers(1);
    let corpus: Corpus = (0..50).map(|i| (format!("{i}.md"), document(&mut numbers))).collect();
    let committed = build(scratch.path(), &corpus);
    let before = files(scratch.path());
    for name in before.keys() {
        let known = ["meta.json", ".managed.json"].contains(&name.as_str())
            || committed.segments.iter().any(|segment| name.starts_with(&segment.id));
        assert!(known, "{name}");
    }
    let lexical = Lexical::open(scratch.path()).unwrap();
    assert!(!answers(&lexical, &["word1".to_owned()])[0].is_empty());
    assert_eq!(before, files(scratch.path()));
}

#[test]
fn chunks_are_found_by_id_document_and_text() {
    let scratch = tempfile::tempdir().unwrap();
    let corpus: Corpus = [
        ("a.md".to_owned(), vec!["first".to_owned(), "second".to_owned(), "first".to_owned()]),
        ("b.md".to_owned(), vec!["first".to_owned()]),
    ]
    .into();
    build(scratch.path(), &corpus);
    let lexical = Lexical::open(scratch.path()).unwrap();
    let wanted = record("a.md", "second", 1);
    assert_eq!(lexical.chunk(wanted.chunk_id).unwrap().unwrap().1, wanted);
    assert_eq!(lexical.chunk(ChunkId::from_bytes([0; 16])).unwrap(), None);
    let of_document = lexical.chunks_of(DocumentId::of_source("a.md")).unwrap();
    assert_eq!(of_document.iter().map(|(_, chunk)| chunk.bytes.start).collect::<Vec<_>>(), [0, 10, 20]);
    let with_text = lexical.chunks_with_text(Sha256::of(b"first")).unwrap();
    assert_eq!(
        with_text.iter().map(|(_, chunk)| &*chunk.source).collect::<Vec<_>>(),
        ["a.md", "a.md", "b.md"]
    );

    let writer = LexicalWriter::continue_from(scratch.path()).unwrap();
    writer.delete_document(DocumentId::of_source("a.md"));
    let committed = writer.commit_and_merge().unwrap();
    assert_eq!(committed.chunks, 1);
    let lexical = Lexical::open(scratch.path()).unwrap();
    assert_eq!(lexical.chunk(wanted.chunk_id).unwrap(), None);
    let mut alive = Vec::new();
    lexical
        .for_each_alive(|_, chunk| {
            alive.push(chunk.source);
            Ok(())
        })
        .unwrap();
    assert_eq!(alive, ["b.md"]);
}

#[test]
fn hostile_queries_mean_their_plain_words() {
    let scratch = tempfile::tempdir().unwrap();
    let texts = [
        "Learn C++ templates",
        "the AND gate",
        "x marks the spot",
        "see https://example.com/a?b=c now",
        "to be or not to be",
        "field value pairs",
        "squares a^2 and b^2",
    ];
    let corpus: Corpus =
        (0..).zip(texts).map(|(i, text)| (format!("{i}/q.zz"), vec![text.to_owned()])).collect();
    build(scratch.path(), &corpus);
    let lexical = Lexical::open(scratch.path()).unwrap();
    let long = "templates ".repeat(409);
    let endless = "x".repeat(4096);
    for (query, first) in [
        ("\"C++ templates", Some("Learn C++ templates")),
        ("C++", Some("Learn C++ templates")),
        ("+templates -templates gate (", Some("Learn C++ templates")),
        ("AND gate", Some("the AND gate")),
        ("-x", Some("x marks the spot")),
        ("field:value", Some("field value pairs")),
        ("a^2", Some("squares a^2 and b^2")),
        ("https://example.com/a?b=c", Some("see https://example.com/a?b=c now")),
        ("to be or not to be", Some("to be or not to be")),
        ("*", None),
        ("?!\"'()[]{}~^\\:", None),
        ("\u{200b}\u{feff}\u{202e}", None),
        ("quux", None),
        (&long, Some("Learn C++ templates")),
        (&endless, None),
        (&"日本".repeat(2048), None),
    ] {
        let found = lexical.search(&lexical.query(query), 10, &Stop::never()).unwrap();
        let best = found.first().map(|best| lexical.record(best.address).unwrap().text);
        assert_eq!(best.as_deref(), first, "{query}");
    }
}

#[test]
fn a_search_stops_when_its_deadline_has_passed() {
    let scratch = tempfile::tempdir().unwrap();
    build(scratch.path(), &[("a.md".to_owned(), vec!["word".to_owned()])].into());
    let lexical = Lexical::open(scratch.path()).unwrap();
    let stop = Stop::at(std::time::Instant::now());
    assert!(matches!(
        lexical.search(&lexical.query("word"), 10, &stop),
        Err(engine::Error::DeadlineExceeded)
    ));
}

#[test]
fn an_empty_index_has_no_answers() {
    let scratch = tempfile::tempdir().unwrap();
    let committed = LexicalWriter::create(scratch.path()).unwrap().commit_and_merge().unwrap();
    assert_eq!((committed.chunks, committed.segments.len()), (0, 0));
    let lexical = Lexical::open(scratch.path()).unwrap();
    assert_eq!(lexical.search(&lexical.query("word"), 10, &Stop::never()).unwrap(), []);
}
