//! `manifest.json`: what a generation is, and the seal over every file of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::GenerationId;
use crate::collection::CollectionName;
use crate::id::Sha256;

/// The version of the format that this program writes and reads.
pub const SCHEMA_VERSION: u32 = 1;

/// The file's name within a generation.
pub const FILE_NAME: &str = "manifest.json";

/// What a generation is. Written last, so that a folder without one is no generation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the format, [`SCHEMA_VERSION`] where this program wrote it.
    pub schema_version: u32,
    /// The program that wrote it, name and version.
    pub written_by: String,
    /// The collection.
    pub collection: CollectionName,
    /// The generation.
    pub generation: GenerationId,
    /// The generation that it was made from.
    pub parent: Option<GenerationId>,
    /// When it was sealed.
    pub published_at: Timestamp,
    /// What was looked at to make it.
    pub scope: Scope,
    /// The chunker's name and version: with the files, all that ids hang on.
    pub chunker: String,
    /// The analyzer's name and version: with the chunks, all that the lexical index hangs on.
    pub analyzer: String,
    /// The model that the collection is bound to.
    pub model: Option<ModelIdentity>,
    /// Whether it has a vector for each of its chunks; otherwise it has none.
    pub vectors: bool,
    /// How many documents.
    pub documents: u32,
    /// How many chunks.
    pub chunks: u32,
    /// The exact number of tokens in each indexed field, over the chunks that are alive.
    pub tokens: BTreeMap<String, u64>,
    /// Files that should have been indexed and could not be, by reason.
    pub skipped: BTreeMap<String, u32>,
    /// Files that were not meant for the index, by reason.
    pub ignored: BTreeMap<String, u32>,
    /// Names of the file table's segments, oldest first.
    pub file_segments: Vec<String>,
    /// Every other file of the generation.
    pub files: Vec<SealedFile>,
}

/// What an ingest looks at: recorded so that the next one looks at the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// The collection's root, absolute, symbolic links resolved.
    pub root: PathBuf,
    /// The root's label; empty while a collection has one root only.
    pub label: Option<String>,
    /// The PATHs given so far, relative to the root, with `/`; `.` is the root itself.
    pub paths: Vec<String>,
    /// Globs of files to index beside those known by kind.
    pub include: Vec<String>,
    /// Globs of files to leave out.
    pub exclude: Vec<String>,
    /// Files larger than this many bytes are skipped.
    pub max_file_bytes: u64,
}

/// What makes two vectors comparable. Bound at the first dense write, checked at load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelIdentity {
    /// The model's name in the store.
    pub name: String,
    /// SHA-256 of the weights.
    pub weights: Sha256,
    /// SHA-256 of the tokenizer.
    pub tokenizer: Sha256,
    /// Numbers per vector.
    pub dimensions: u32,
    /// How token vectors become one: `cls` or `mean`, or `hashing`.
    pub pooling: String,
    /// Whether vectors have length 1.
    pub normalized: bool,
    /// Put before a query.
    pub query_prefix: String,
    /// Put before a passage.
    pub passage_prefix: String,
    /// Tokens read of a text at most.
    pub max_tokens: u32,
}

impl ModelIdentity {
    /// One hash over all of it: equal where vectors are comparable.
    pub fn fingerprint(&self) -> Sha256 {
        let text = format!(
            "{}\n{}\n{}\n{}\n{}\n{}\n{:?}\n{:?}\n{}",
            self.name,
            self.weights,
            self.tokenizer,
            self.dimensions,
            self.pooling,
            self.normalized,
            self.query_prefix,
            self.passage_prefix,
            self.max_tokens
        );
        Sha256::of(text.as_bytes())
    }
}

/// One file of a generation, as it was when the generation was sealed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedFile {
    /// The path relative to the generation's folder, with `/`.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// Its hash.
    pub sha256: Sha256,
}
