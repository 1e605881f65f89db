//! The file table: which files a generation holds, in segments of one JSON line each, sorted by source.
//!
//! A later segment's line stands before an earlier one's of the same source; `removed` hides the source.

use serde::{Deserialize, Serialize};

use crate::citation::SourceClass;
use crate::id::Sha256;

/// One line of a file table segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// The path relative to the collection's root, with `/`.
    pub source: String,
    /// Absent where the file left the collection.
    pub state: Option<FileState>,
}

/// What was known of a file when it was indexed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// Its length in bytes.
    pub bytes: u64,
    /// The hash of all its bytes.
    pub sha256: Sha256,
    /// How offsets into it are to be read.
    pub source_class: SourceClass,
    /// The extractor's name and version, where there is one.
    pub extractor: Option<String>,
    /// How many chunks it made.
    pub chunks: u32,
    /// What a look at the file's metadata showed.
    pub fingerprint: Fingerprint,
}

/// A file's metadata: while it is the same, the content is taken to be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The device.
    pub device: u64,
    /// The inode.
    pub inode: u64,
    /// The length in bytes.
    pub bytes: u64,
    /// Modification time, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Change time, nanoseconds since 1970.
    pub ctime_ns: i64,
    /// When the metadata was read, nanoseconds since 1970: a file changed within two seconds before is read again.
    pub seen_ns: i64,
}
