//! What BM25 needs to know of the whole index, over the chunks that are alive.
//!
//! tantivy's own numbers count deleted chunks until a merge, and its sum of tokens is estimated anew from rounded
//! lengths in every merge with deletes: the same corpus scored differently after edits than built afresh, by up to
//! 5 % for rare terms. Here both are exact, so that scores do not depend on how an index came about.

use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet as _, InvertedIndexReader, SegmentReader};

/// The rows of a segment that are deleted, ascending.
pub(super) fn dead_rows(reader: &SegmentReader) -> Vec<DocId> {
    if !reader.has_deletes() {
        return Vec::new();
    }
    (0..reader.max_doc()).filter(|&row| reader.is_deleted(row)).collect()
}

/// How many chunks that are alive have the term.
pub(super) fn alive_doc_freq(
    reader: &SegmentReader,
    dead: &[DocId],
    index: &InvertedIndexReader,
    term: &TermInfo,
) -> tantivy::Result<u32> {
    let Some(alive) = reader.alive_bitset().filter(|_| !dead.is_empty()) else {
        return Ok(term.doc_freq);
    };
    let mut postings = index.read_postings_from_terminfo(term, IndexRecordOption::Basic)?;
    // Finding one row costs as much as passing over a few dozen.
    if dead.len() as u64 * 32 > u64::from(term.doc_freq) {
        return Ok(postings.doc_freq_given_deletes(alive));
    }
    let mut doc_freq = term.doc_freq;
    for &row in dead {
        if row > postings.doc() {
            postings.seek(row);
        }
        if postings.doc() == row {
            doc_freq -= 1;
        }
    }
    Ok(doc_freq)
}

/// Where BM25's term frequency saturates.
const K1: f32 = 1.2;

/// How far a chunk's length matters.
const B: f32 = 0.75;

/// How much a term says that `doc_freq` of `docs` chunks have, times its weight: no chunk scores more by it.
#[expect(clippy::cast_precision_loss, reason = "scores need no more than f32 holds")]
pub(super) fn ceiling(docs: u64, doc_freq: u64, weight: f32) -> f32 {
    let (docs, doc_freq) = (docs as f32, doc_freq as f32);
    weight * (1.0 + K1) * (1.0 + (docs - doc_freq + 0.5) / (doc_freq + 0.5)).ln()
}

/// By rounded length, what a chunk's term frequency is measured against.
pub(super) struct Lengths([f32; 256]);

impl Lengths {
    /// For a field with `tokens` terms in `docs` chunks.
    #[expect(clippy::cast_precision_loss, reason = "scores need no more than f32 holds")]
    pub(super) fn new(docs: u64, tokens: u64) -> Self {
        let average = (tokens as f32 / docs.max(1) as f32).max(f32::MIN_POSITIVE);
        let length = |id: usize| {
            let id = u8::try_from(id).unwrap_or(u8::MAX);
            tantivy::fieldnorm::FieldNormReader::id_to_fieldnorm(id) as f32
        };
        Self(std::array::from_fn(|id| K1 * (1.0 - B + B * length(id) / average)))
    }

    /// The part of a term's ceiling that a chunk reaches, below 1.
    #[expect(clippy::cast_precision_loss, reason = "scores need no more than f32 holds")]
    #[inline]
    pub(super) fn saturation(&self, rounded_length: u8, term_freq: u32) -> f32 {
        let term_freq = term_freq as f32;
        term_freq / (term_freq + self.0[usize::from(rounded_length)])
    }
}
