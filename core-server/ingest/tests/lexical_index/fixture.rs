//! Made-up documents, and an index of them.

use std::collections::BTreeMap;
use std::path::Path;

use engine::citation::{ByteRange, LineRange, SourceClass};
use engine::id::{ChunkId, DocumentId, Sha256};
use engine::lexical::record::ChunkRecord;
use ingest::lexical_writer::{Committed, LexicalWriter};

/// Numbers that look random and are the same in each run.
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// Some words are common and most are rare.
    fn word(&mut self) -> String {
        let rank = self.below(40) * self.below(40) * self.below(2) + self.below(12);
        format!("word{rank}")
    }

    pub(super) fn text(&mut self, words: u64) -> String {
        (0..words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

/// A chunk of a document, the so manieth from 0.
pub(super) fn record(source: &str, text: &str, occurrence: u32) -> ChunkRecord {
    let document_id = DocumentId::of_source(source);
    let text_sha256 = Sha256::of(text.as_bytes());
    ChunkRecord {
        chunk_id: ChunkId::of_text(document_id, text_sha256, occurrence),
        document_id,
        source: source.to_owned(),
        source_class: SourceClass::Text,
        extractor: None,
        bytes: ByteRange { start: 10 * occurrence, end: 10 * occurrence + 5 },
        lines: LineRange { start: occurrence + 1, end: occurrence + 1 },
        text_sha256,
        text: text.to_owned(),
        title: Some("A title".to_owned()),
        heading_path: vec!["Outer".to_owned(), source.replace('/', " ")],
        tags: vec!["one".to_owned(), "two".to_owned()],
        date: Some("2026-11-30".to_owned()),
        updated: None,
    }
}

/// Documents by source, each some texts.
pub(super) type Corpus = BTreeMap<String, Vec<String>>;

/// The texts of a document's chunks.
pub(super) fn document(numbers: &mut Numbers) -> Vec<String> {
    let chunks = 1 + numbers.below(6);
    // Short and long ones mixed, so that segments differ in their average length.
    (0..chunks)
        .map(|_| {
            let words = 3 + numbers.below(90);
            numbers.text(words)
        })
        .collect()
}

/// Adds a document.
pub(super) fn add(writer: &LexicalWriter, source: &str, texts: &[String]) {
    writer.add_document((0..).zip(texts).map(|(occurrence, text)| record(source, text, occurrence))).unwrap();
}

/// Writes an index of all of `corpus`.
pub(super) fn build(folder: &Path, corpus: &Corpus) -> Committed {
    let writer = LexicalWriter::create(folder).unwrap();
    for (source, texts) in corpus {
        add(&writer, source, texts);
    }
    writer.commit_and_merge().unwrap()
}
