//! The footnote: the pasteable form of a citation.
//!
//! `[runbook.md:10-14](footnote:ops/runbook.md#L10-L14;9f3c2a1b)`: collection, source, lines and the first
//! eight hex digits of the SHA-256 of the cited bytes. No generation and no chunk id, so it outlives re-ingest.

use crate::citation::LineRange;
use crate::collection::CollectionName;

/// A citation in the form made for pasting. `Display` gives the Markdown link; parsing takes the link or its
/// `footnote:` address alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Footnote {
    /// The collection.
    pub collection: CollectionName,
    /// The path relative to the collection's root, with `/`.
    pub source: String,
    /// The cited lines.
    pub lines: LineRange,
    /// The first four bytes of the SHA-256 of the cited bytes.
    pub sha256_prefix: [u8; 4],
}
