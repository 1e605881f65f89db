//! Where a text stands, and whether it still stands there.

use serde::{Deserialize, Serialize};

use crate::generation::GenerationId;
use crate::id::Sha256;
use crate::lexical::record::ChunkRecord;

/// Bytes of a source, half-open: of the file as stored, or of the extractor's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ByteRange {
    /// The first byte, from 0.
    pub start: u32,
    /// The byte behind the last.
    pub end: u32,
}

impl ByteRange {
    /// The slice of `bytes` that this range names; `None` where it reaches beyond them.
    pub fn slice<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        bytes.get(self.start as usize..self.end as usize)
    }

    /// How many bytes.
    pub fn len(&self) -> u32 {
        self.end.saturating_sub(self.start)
    }

    /// Whether it holds no byte.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Lines, 1-based, both ends included. LF, CRLF and a lone CR each end a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LineRange {
    /// The line of the first byte.
    pub start: u32,
    /// The line of the last byte.
    pub end: u32,
}

/// How offsets into a source are to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceClass {
    /// Offsets are bytes of the file as stored.
    #[default]
    Text,
    /// Offsets are bytes of what an extractor makes of the file; the generation keeps that text.
    Extracted,
}

/// Where a text stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation {
    /// The path relative to the collection's root, with `/`.
    pub source: String,
    /// How the offsets are to be read.
    pub source_class: SourceClass,
    /// The extractor's name and version, where there is one.
    pub extractor: Option<String>,
    /// The cited bytes.
    pub bytes: ByteRange,
    /// The cited lines.
    pub lines: LineRange,
    /// The hash of the cited bytes.
    pub sha256: Sha256,
    /// The generation that the citation is from.
    pub generation: GenerationId,
}

impl Citation {
    /// The place where `chunk`, which is from `generation`, stood when it was indexed.
    pub fn as_indexed(chunk: ChunkRecord, generation: GenerationId) -> Self {
        Self {
            source: chunk.source,
            source_class: chunk.source_class,
            extractor: chunk.extractor,
            bytes: chunk.bytes,
            lines: chunk.lines,
            sha256: chunk.text_sha256,
            generation,
        }
    }
}

/// Whether a cited text still stands in its source. One closed vocabulary on every surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The cited bytes were read from the source during this request and are the same.
    Verified,
    /// The same text stands at another place; the citation carries that place.
    Relocated,
    /// The source was read and the text is no longer there.
    Drifted,
    /// Its root opens and the source is gone.
    Missing,
    /// It could not be checked.
    Unresolvable,
    /// Not asked for, or over the budget of this call.
    NotChecked,
}

impl Verdict {
    /// Whether an answer may carry the text as the source's.
    pub fn vouches(self) -> bool {
        match self {
            Self::Verified | Self::Relocated | Self::NotChecked => true,
            Self::Drifted | Self::Missing | Self::Unresolvable => false,
        }
    }
}

/// Why a verdict is what it is. One word for machines on every surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The cited bytes are the same (`verified`).
    BytesEqual,
    /// The text stands at other offsets of the same source (`relocated`).
    Moved,
    /// The text stands in a file that has a new name (`relocated`).
    Renamed,
    /// Other text stands at the cited place (`drifted`).
    Edited,
    /// The source ends before the cited place (`drifted`).
    Truncated,
    /// The source is gone (`missing`).
    SourceGone,
    /// The collection's root does not open (`unresolvable`).
    RootUnavailable,
    /// The source may not be read by this process (`unresolvable`).
    PermissionDenied,
    /// The source leads out of its root (`unresolvable`).
    OutsideRoot,
    /// The source is not a regular file any more (`unresolvable`).
    NotAFile,
    /// Reading failed otherwise (`unresolvable`).
    ReadFailed,
    /// The extractor does not understand the source any more, or is not available (`unresolvable`).
    ExtractorFailed,
    /// The caller asked for no check (`not_checked`).
    NotRequested,
    /// The budget of this call was used up (`not_checked`).
    OverBudget,
}

impl Reason {
    /// The verdict that this reason goes with.
    pub fn verdict(self) -> Verdict {
        match self {
            Self::BytesEqual => Verdict::Verified,
            Self::Moved | Self::Renamed => Verdict::Relocated,
            Self::Edited | Self::Truncated => Verdict::Drifted,
            Self::SourceGone => Verdict::Missing,
            Self::RootUnavailable
            | Self::PermissionDenied
            | Self::OutsideRoot
            | Self::NotAFile
            | Self::ReadFailed
            | Self::ExtractorFailed => Verdict::Unresolvable,
            Self::NotRequested | Self::OverBudget => Verdict::NotChecked,
        }
    }
}
