//! The passage of an answer: a chunk as it was indexed, and what checking it against its source showed.

use std::path::PathBuf;

use crate::citation::Citation;
use crate::collection::CollectionName;
use crate::footnote::Footnote;
use crate::generation::GenerationId;
use crate::lexical::record::ChunkRecord;
use crate::query::Passage;
use crate::verify::Finding;

impl Passage {
    /// Puts together what an answer says of `chunk`, which is from `generation` of `collection`.
    ///
    /// The citation carries the place that was found. The text stands in `text` where the verdict vouches for it, and
    /// in `indexed_text` otherwise: never in both.
    pub fn new(
        collection: &CollectionName,
        generation: GenerationId,
        chunk: ChunkRecord,
        finding: Finding,
        open_path: Option<PathBuf>,
    ) -> Self {
        let verdict = finding.verdict();
        let citation = Citation {
            source: finding.place.source,
            source_class: chunk.source_class,
            extractor: chunk.extractor,
            bytes: finding.place.bytes,
            lines: finding.place.lines,
            sha256: chunk.text_sha256,
            generation,
        };
        let (text, indexed_text) =
            if verdict.vouches() { (Some(chunk.text), None) } else { (None, Some(chunk.text)) };
        Self {
            chunk_id: chunk.chunk_id,
            document_id: chunk.document_id,
            footnote: Footnote::of(collection, &citation),
            title: chunk.title,
            heading_path: chunk.heading_path,
            text,
            indexed_text,
            current_text: finding.current_text,
            citation,
            open_path,
            verdict,
            reason: finding.reason,
            tags: chunk.tags,
            date: chunk.date,
            updated: chunk.updated,
        }
    }
}
