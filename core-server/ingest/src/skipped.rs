//! The list of files that should have been indexed and could not be: `skipped.jsonl` of a generation.
//!
//! Deliberately left out: what is not meant for the index, which is only counted.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use engine::generation::{Generation, SKIPPED_FILE};
use serde::{Deserialize, Serialize};

use crate::admit::SkipReason;
use crate::error::{Error, Result};

/// One line of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedFile {
    /// The path relative to the collection's root, with `/`.
    pub source: String,
    /// Why, in one word.
    pub reason: SkipReason,
    /// What exactly; may be empty.
    pub detail: String,
}

/// The list of `generation`, sorted by source.
pub fn read(generation: &Generation) -> Result<Vec<SkippedFile>> {
    let path = generation.folder().join(SKIPPED_FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::file("read", &path)(error)),
    };
    let parse = |line: &str| {
        serde_json::from_str(line)
            .map_err(|error| engine::Error::Damaged { path: path.clone(), what: error.to_string() }.into())
    };
    text.lines().map(parse).collect()
}

/// The content of a generation's list.
pub fn lines(skipped: &[SkippedFile]) -> String {
    let line = |file| format!("{}\n", serde_json::to_string(file).unwrap_or_default());
    skipped.iter().map(line).collect()
}

/// How many there are of each reason.
pub fn counts(skipped: &[SkippedFile]) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for file in skipped {
        *counts.entry(file.reason.to_string()).or_default() += 1;
    }
    counts
}

impl From<&crate::walk::Skipped> for SkippedFile {
    fn from(skipped: &crate::walk::Skipped) -> Self {
        Self { source: skipped.source.clone(), reason: skipped.reason, detail: skipped.detail.clone() }
    }
}
