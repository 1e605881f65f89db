//! Made-up documents in a lexical index, and vectors beside it.

use std::fs;

use engine::citation::{ByteRange, LineRange, SourceClass};
use engine::dense::VectorSegment;
use engine::dense::quantize::{encode, int8_row};
use engine::dense::segment::Layout;
use engine::id::{ChunkId, DocumentId, Sha256};
use engine::lexical::directory::Exclusive;
use engine::lexical::record::ChunkRecord;
use engine::lexical::schema::{fields, settings};
use engine::lexical::{Lexical, Segment};
use tantivy::indexer::NoMergePolicy;
use tantivy::{IndexWriter, Term};

/// Numbers that look random and are the same in each run.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// What a document is filtered by.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) source: String,
    pub(crate) tags: Vec<String>,
    pub(crate) date: Option<String>,
    pub(crate) updated: Option<String>,
    pub(crate) chunks: u32,
}

/// A lexical index; the folder is kept as long.
pub(crate) struct Index {
    pub(crate) lexical: Lexical,
    _folder: tempfile::TempDir,
}

impl Index {
    /// Indexes `documents` in three segments, then deletes those whose numbers are `removed`.
    pub(crate) fn build(documents: &[Document], removed: &[usize], mut numbers: Numbers) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let directory = Exclusive::open(folder.path()).expect("opened");
        let index = tantivy::Index::create(directory, fields().schema.clone(), settings()).expect("created");
        let mut writer: IndexWriter = index.writer_with_num_threads(1, 256 << 20).expect("created");
        writer.set_merge_policy(Box::new(NoMergePolicy));
        for part in documents.chunks(documents.len().div_ceil(3).max(1)) {
            for document in part {
                for ordinal in 0..document.chunks {
                    writer
                        .add_document(record(document, ordinal, &mut numbers).to_document())
                        .expect("added");
                }
            }
            writer.commit().expect("committed");
        }
        for &number in removed {
            let id = DocumentId::of_source(&documents[number].source);
            writer.delete_term(Term::from_field_bytes(fields().document_id, id.as_bytes()));
        }
        writer.commit().expect("committed");
        writer.wait_merging_threads().expect("ended");
        Self { lexical: Lexical::open(folder.path()).expect("opened"), _folder: folder }
    }
}

fn record(document: &Document, ordinal: u32, numbers: &mut Numbers) -> ChunkRecord {
    let document_id = DocumentId::of_source(&document.source);
    let words = (0..4).map(|_| format!("word{}", numbers.below(12)));
    let text = words.collect::<Vec<_>>().join(" ");
    let text_sha256 = Sha256::of(text.as_bytes());
    ChunkRecord {
        chunk_id: ChunkId::of_text(document_id, text_sha256, ordinal),
        document_id,
        source: document.source.clone(),
        source_class: SourceClass::Text,
        extractor: None,
        bytes: ByteRange { start: 100 * ordinal, end: 100 * ordinal + 50 },
        lines: LineRange { start: ordinal + 1, end: ordinal + 1 },
        text_sha256,
        text,
        title: None,
        heading_path: Vec::new(),
        tags: document.tags.clone(),
        date: document.date.clone(),
        updated: document.updated.clone(),
    }
}

/// A made-up vector for every row of an index.
pub(crate) fn vectors_of(lexical: &Lexical, dimensions: u32) -> Vec<VectorSegment> {
    let mut numbers = Numbers(9);
    lexical.segments().iter().map(|segment| vectors(segment, dimensions, &mut numbers)).collect()
}

fn vectors(segment: &Segment, dimensions: u32, numbers: &mut Numbers) -> VectorSegment {
    let layout = Layout::new(dimensions, segment.max_doc);
    let place = |number: u64| usize::try_from(number).expect("small");
    let mut bytes = layout.header().to_vec();
    bytes.resize(place(layout.bytes), 0);
    for row in 0..u64::from(segment.max_doc) {
        let vector: Vec<f32> = (0..dimensions).map(|_| number(numbers)).collect();
        let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        let stored = encode(&vector.iter().map(|number| number / length).collect::<Vec<_>>());
        let at = place(layout.int8_at + row * layout.int8_stride);
        let scale = int8_row(&stored, &mut bytes[at..at + dimensions as usize]);
        let at = place(layout.scales_at + row * 4);
        bytes[at..at + 4].copy_from_slice(&scale.to_le_bytes());
        let at = place(layout.f16_at + row * layout.f16_stride);
        bytes[at..at + stored.len()].copy_from_slice(&stored);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.vec");
    fs::write(&path, bytes).expect("written");
    VectorSegment::open(path).expect("opened")
}

#[expect(clippy::cast_precision_loss, reason = "any number will do")]
fn number(numbers: &mut Numbers) -> f32 {
    numbers.below(2001) as f32 / 1000.0 - 1.0
}
