//! Dense search: vectors in sealed segment files, scanned exactly.
//!
//! A segment's file holds each vector twice: as int8 numbers with a scale of their own, which a scan reads from end
//! to end, and as f16 numbers, by which the best of the scan are ranked again. Row number = document number in the
//! tantivy segment of the same name, so the two sides cannot disagree, and tantivy's alive bits serve both.
//!
//! Deliberately left out: writing such a file (`ingest`), embedding (`model`), and an approximate index: an exact
//! scan is within its budget up to a million vectors (`docs/decisions/0003-vector-search.md`).

pub mod quantize;
mod scan;
pub mod segment;

pub use scan::{Among, Scanned, scan};
pub use segment::VectorSegment;

/// Dimensions at most. A dot product of int8 rows and a query of at least 11 bits fits 32 bits.
pub const MAX_DIMENSIONS: u32 = 8192;
