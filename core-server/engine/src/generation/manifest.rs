//! `manifest.json`: what a generation is, and the seal over every file of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{GenerationId, files};
use crate::collection::CollectionName;
use crate::error::{Error, Result};
use crate::evidence::Calibration;
use crate::id::Sha256;

/// The version of the format that this program writes and reads.
pub const SCHEMA_VERSION: u32 = 2;

/// The file's name within a generation.
pub const FILE_NAME: &str = "manifest.json";

/// A manifest grows with the number of extracted documents only; this is a million of them.
const MAX_BYTES: u64 = 256 << 20;

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
    /// What the collection does by chance, which evidence is held against; none where it was never measured.
    #[serde(default)]
    pub evidence: Option<Calibration>,
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

impl Manifest {
    /// Reads the manifest of the generation in `folder`, and the hash of its bytes.
    ///
    /// The version is looked at before anything else, so that a manifest of another format is
    /// [`Error::SchemaVersion`] whatever else it holds. Names that could lead out of the folder, doubled names and
    /// segments that the seal does not cover are [`Error::Damaged`].
    pub fn read(folder: &Path) -> Result<(Self, Sha256)> {
        let path = folder.join(FILE_NAME);
        let (bytes, found) = read_bytes(&path)?;
        if found != SCHEMA_VERSION {
            return Err(Error::SchemaVersion { path, found, supported: SCHEMA_VERSION });
        }
        let manifest: Self = serde_json::from_slice(&bytes).map_err(|error| Error::damaged(&path, error))?;
        match manifest.fault() {
            Some(fault) => Err(Error::damaged(path, fault)),
            None => Ok((manifest, Sha256::of(&bytes))),
        }
    }

    /// What the generation in `folder` looked at, and the collection's name: also where an older version of this program
    /// wrote it, so that it can be written anew.
    pub fn read_scope(folder: &Path) -> Result<(CollectionName, Scope)> {
        let path = folder.join(FILE_NAME);
        let (bytes, found) = read_bytes(&path)?;
        if found > SCHEMA_VERSION {
            return Err(Error::SchemaVersion { path, found, supported: SCHEMA_VERSION });
        }
        let Looked { collection, scope } =
            serde_json::from_slice(&bytes).map_err(|error| Error::damaged(&path, error))?;
        if !scope.root.is_absolute() {
            return Err(Error::damaged(path, "its root is not absolute"));
        }
        Ok((collection, scope))
    }

    /// What the seal says of the file at `path`, relative to the generation's folder.
    pub fn sealed(&self, path: &str) -> Option<&SealedFile> {
        self.files.iter().find(|file| file.path == path)
    }

    fn fault(&self) -> Option<&'static str> {
        let mut names = BTreeSet::new();
        for file in &self.files {
            if !is_plain(&file.path) || file.path == FILE_NAME {
                return Some("it names a file that cannot be the generation's");
            }
            if !names.insert(file.path.as_str()) {
                return Some("it names a file twice");
            }
        }
        let covered =
            |name: &String| is_plain(name) && names.contains(format!("{}/{name}", files::FOLDER).as_str());
        if !self.file_segments.iter().all(covered) {
            return Some("it names a segment of the file table that is not sealed");
        }
        if !self.scope.root.is_absolute() {
            return Some("its root is not absolute");
        }
        None
    }
}

/// A manifest's bytes, and the version of its format.
fn read_bytes(path: &Path) -> Result<(Vec<u8>, u32)> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|source| Error::ReadFile { path: path.to_owned(), source })?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Error::damaged(path, "it is larger than any manifest"));
    }
    let Version { schema_version } =
        serde_json::from_slice(&bytes).map_err(|error| Error::damaged(path, error))?;
    Ok((bytes, schema_version))
}

/// Whether `path` is names joined by `/`, none of which is empty, `.` or `..`.
fn is_plain(path: &str) -> bool {
    !path.contains('\0') && path.split('/').all(|name| !matches!(name, "" | "." | ".."))
}

/// The one field that every format has.
#[derive(Deserialize)]
struct Version {
    schema_version: u32,
}

/// The fields that say what is looked at, the same in every format so far.
#[derive(Deserialize)]
struct Looked {
    collection: CollectionName,
    scope: Scope,
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn manifest() -> serde_json::Value {
        let hash = Sha256::of(b"");
        serde_json::json!({
            "schema_version": SCHEMA_VERSION, "written_by": "test 0", "collection": "c", "generation": 1,
            "parent": null, "published_at": "2026-01-01T00:00:00Z",
            "scope": {"root": "/r", "label": null, "paths": ["."], "include": [], "exclude": [], "max_file_bytes": 1},
            "chunker": "x/1", "analyzer": "y/1", "model": null, "vectors": false, "documents": 0, "chunks": 0,
            "tokens": {}, "skipped": {}, "ignored": {}, "file_segments": ["0.jsonl"],
            "files": [{"path": "files/0.jsonl", "bytes": 0, "sha256": hash}],
        })
    }

    fn read(manifest: &serde_json::Value) -> Result<(Manifest, Sha256)> {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(FILE_NAME), manifest.to_string()).expect("written");
        Manifest::read(folder.path())
    }

    #[test]
    fn a_sound_one_opens() {
        let (read, hash) = read(&manifest()).expect("sound");
        assert_eq!(hash, Sha256::of(manifest().to_string().as_bytes()));
        assert!(read.sealed("files/0.jsonl").is_some());
    }

    #[test]
    fn another_format_is_named_whatever_else_it_holds() {
        for found in [0, SCHEMA_VERSION - 1, SCHEMA_VERSION + 1, u32::MAX] {
            let error = read(&serde_json::json!({"schema_version": found})).expect_err("refused");
            assert!(
                matches!(error, Error::SchemaVersion { found: version, supported: SCHEMA_VERSION, .. } if version == found)
            );
        }
    }

    #[test]
    fn hostile_ones_are_damaged() {
        let hash = Sha256::of(b"");
        let file = |path: &str| serde_json::json!({"path": path, "bytes": 0, "sha256": hash});
        for (field, value) in [
            ("schema_version", serde_json::json!(-1)),
            ("schema_version", serde_json::json!("1")),
            ("collection", serde_json::json!("../c")),
            ("generation", serde_json::json!(0)),
            ("documents", serde_json::json!(1u64 << 40)),
            ("chunks", serde_json::json!(-1)),
            ("published_at", serde_json::json!("soon")),
            ("file_segments", serde_json::json!(["1.jsonl"])),
            ("file_segments", serde_json::json!(["../0.jsonl"])),
            ("files", serde_json::json!([file("files/0.jsonl"), file("../../etc/passwd")])),
            ("files", serde_json::json!([file("files/0.jsonl"), file("/etc/passwd")])),
            ("files", serde_json::json!([file("files/0.jsonl"), file("manifest.json")])),
            ("files", serde_json::json!([file("files/0.jsonl"), file("files/0.jsonl")])),
            ("files", serde_json::json!([file("files/0.jsonl"), file("")])),
            (
                "scope",
                serde_json::json!({"root": "r", "label": null, "paths": [], "include": [], "exclude": [], "max_file_bytes": 1}),
            ),
        ] {
            let mut manifest = manifest();
            manifest[field] = value.clone();
            assert!(matches!(read(&manifest), Err(Error::Damaged { .. })), "{field}: {value}");
        }
    }
}
