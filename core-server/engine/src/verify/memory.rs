//! What earlier requests found out about files that have not changed since.
//!
//! It spares looking through a whole file again, never the reading and hashing of what an answer vouches for.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::citation::{ByteRange, LineRange, Reason};
use crate::generation::files::Fingerprint;
use crate::id::Sha256;
use crate::lexical::record::ChunkRecord;

/// Entries kept; about 200 bytes each. Beyond that all are forgotten: a rare event that costs one search each.
const MOST: usize = 16_384;

/// What was found, by file and citation.
#[derive(Debug, Default)]
pub(super) struct Memory(Mutex<HashMap<Key, Remembered>>);

/// A file as its metadata showed it, and a text cited from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    device: u64,
    inode: u64,
    bytes: u64,
    mtime_ns: i64,
    ctime_ns: i64,
    sha256: Sha256,
    cited: ByteRange,
    lines: LineRange,
}

/// What looking through the file showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remembered {
    /// The text stands at the cited bytes, which are on these lines.
    Stands { lines: LineRange },
    /// The text stands here instead.
    Moved { bytes: ByteRange, lines: LineRange },
    /// The text stands nowhere; at the cited lines stand these bytes.
    NotThere { reason: Reason, at: Option<ByteRange> },
}

impl Key {
    pub(super) fn new(file: &Fingerprint, chunk: &ChunkRecord) -> Self {
        let Fingerprint { device, inode, bytes, mtime_ns, ctime_ns, seen_ns: _ } = *file;
        let (sha256, cited, lines) = (chunk.text_sha256, chunk.bytes, chunk.lines);
        Self { device, inode, bytes, mtime_ns, ctime_ns, sha256, cited, lines }
    }
}

impl Memory {
    pub(super) fn recall(&self, key: &Key) -> Option<Remembered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }

    /// Keeps what was found in the file that `file` showed before it was read, unless it had changed within two
    /// seconds before: then it may change again without its times showing it.
    pub(super) fn remember(&self, file: &Fingerprint, key: Key, found: Remembered) {
        if !file.is_settled() {
            return;
        }
        let mut memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if memory.len() >= MOST {
            memory.clear();
        }
        memory.insert(key, found);
    }
}
