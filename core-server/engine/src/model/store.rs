//! The model store: a directory with one folder per model, and the runtime in `runtime/`.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::cross_encoder::CrossEncoder;
use super::descriptor::{self, Descriptor, Kind, ModelFile};
use super::hashing::{HashingEmbedder, HashingReranker};
use super::onnx::OnnxEmbedder;
use super::reranker::LoadedReranker;
use super::{Embed, runtime};
use crate::error::{Error, Result};
use crate::generation::manifest::ModelIdentity;
use crate::id::Sha256;

/// An embedder in memory, ready to be asked by many threads.
pub type Loaded = Arc<dyn Embed>;

/// A directory of models. Cheap to clone; reads the disk at each question, so that it never tells of old times.
#[derive(Clone, PartialEq, Eq)]
pub struct Store {
    dir: PathBuf,
}

impl Store {
    /// The store at `dir`, which need not exist: a store that is not there is an empty one.
    pub fn open(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The models that have a readable descriptor, by name.
    pub fn list(&self) -> Result<Vec<(String, Descriptor)>> {
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(Error::ReadFile { path: self.dir.clone(), source }),
        };
        let mut models = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|source| Error::ReadFile { path: self.dir.clone(), source })?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            match self.descriptor(&name) {
                Ok(Some(descriptor)) => models.push((name, descriptor)),
                Ok(None) => {}
                Err(error) => tracing::warn!(model = %name, %error, "model left out"),
            }
        }
        models.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(models)
    }

    /// What `name` is; `None` where it is not installed.
    pub fn descriptor(&self, name: &str) -> Result<Option<Descriptor>> {
        if !is_model_name(name) {
            return Ok(None);
        }
        let path = self.descriptor_path(name);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(source) => return Err(Error::ReadFile { path, source }),
        };
        let failed = |source| Error::Model { name: name.to_owned(), doing: "reading its descriptor", source };
        let descriptor: Descriptor = toml::from_str(&text).map_err(|error| failed(Box::new(error)))?;
        match descriptor.obstacle() {
            Some(why) => Err(failed(why.into())),
            None => Ok(Some(descriptor)),
        }
    }

    /// Reads the embedder `name` into memory with `sessions` sessions, so many texts are embedded at once. Takes a
    /// few tenths of a second for an ONNX model. Every file is hashed as it is read and refused where it is not the
    /// descriptor's: [`Error::Damaged`]. [`Error::ModelNotInstalled`] where there is no such model.
    pub fn load(&self, name: &str, sessions: usize) -> Result<Loaded> {
        let descriptor = self.installed(name)?;
        match descriptor.kind {
            Kind::Onnx => {
                let (weights, tokenizer) = self.read_files(name, &descriptor)?;
                let environment = runtime::environment(&self.dir)?;
                let embedder =
                    OnnxEmbedder::new(&environment, name, &descriptor, &weights, &tokenizer, sessions)?;
                Ok(Arc::new(embedder))
            }
            Kind::Hashing => Ok(Arc::new(HashingEmbedder::new(name, &descriptor))),
            Kind::Reranker | Kind::HashingReranker => {
                Err(wrong_kind(name, "it is a reranker, it makes no vectors"))
            }
        }
    }

    /// Reads the reranker `name` into memory, to score on `sessions` threads at once. It fails as
    /// [`Store::load`] does.
    pub fn load_reranker(&self, name: &str, sessions: usize) -> Result<LoadedReranker> {
        let descriptor = self.installed(name)?;
        match descriptor.kind {
            Kind::Reranker => {
                let (weights, tokenizer) = self.read_files(name, &descriptor)?;
                let environment = runtime::environment(&self.dir)?;
                let encoder =
                    CrossEncoder::new(&environment, name, &descriptor, &weights, &tokenizer, sessions)?;
                Ok(Arc::new(encoder))
            }
            Kind::HashingReranker => Ok(Arc::new(HashingReranker::new(name, &descriptor))),
            Kind::Onnx | Kind::Hashing => Err(wrong_kind(name, "it is an embedder, it does not rerank")),
        }
    }

    /// Loads `name`, whatever it is, and runs a text, to see whether it works.
    pub fn try_out(&self, name: &str) -> Result<()> {
        if self.installed(name)?.kind.embeds() {
            self.load(name, 1).map(drop)
        } else {
            self.load_reranker(name, 1).map(drop)
        }
    }

    fn installed(&self, name: &str) -> Result<Descriptor> {
        self.descriptor(name)?.ok_or_else(|| Error::ModelNotInstalled { name: name.to_owned() })
    }

    fn read_files(&self, name: &str, descriptor: &Descriptor) -> Result<(Verified, Verified)> {
        match (&descriptor.weights, &descriptor.tokenizer) {
            (Some(weights), Some(tokenizer)) => Ok((self.read(name, weights)?, self.read(name, tokenizer)?)),
            // A descriptor without them was refused when it was read.
            _ => Err(wrong_kind(name, "it has no files")),
        }
    }

    /// What makes the vectors of `name` comparable, told from its descriptor without reading the model; `None` where
    /// no embedder of that name is installed.
    pub fn identity(&self, name: &str) -> Result<Option<ModelIdentity>> {
        let Some(descriptor) = self.descriptor(name)?.filter(|found| found.kind.embeds()) else {
            return Ok(None);
        };
        Ok(Some(match (&descriptor.weights, &descriptor.tokenizer) {
            (Some(weights), Some(tokenizer)) => descriptor.identity(name, weights.sha256, tokenizer.sha256),
            _ => HashingEmbedder::new(name, &descriptor).identity().clone(),
        }))
    }

    /// Whether the runtime that ONNX models need is installed.
    pub fn has_runtime(&self) -> bool {
        runtime::library(&self.dir).is_some()
    }

    /// Changes whenever the model or the runtime is installed anew: two looks at metadata, no reading.
    pub(super) fn stamp(&self, name: &str) -> Stamp {
        let look = |path: &Path| fs::metadata(path).ok().map(|metadata| Look::of(&metadata));
        Stamp {
            descriptor: look(&self.descriptor_path(name)),
            runtime: look(&self.dir.join(runtime::FOLDER)),
        }
    }

    fn descriptor_path(&self, name: &str) -> PathBuf {
        self.dir.join(name).join(descriptor::FILE_NAME)
    }

    /// Reads a file and believes it only if it is the one that the descriptor names.
    fn read(&self, name: &str, file: &ModelFile) -> Result<Verified> {
        let path = self.dir.join(name).join(&file.path);
        let bytes = fs::read(&path).map_err(|source| Error::ReadFile { path: path.clone(), source })?;
        let sha256 = Sha256::of(&bytes);
        if sha256 == file.sha256 {
            Ok(Verified { bytes, sha256 })
        } else {
            let what = format!("its SHA-256 is {sha256}, the descriptor says {}", file.sha256);
            Err(Error::Damaged { path, what })
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Store").field(&self.dir).finish()
    }
}

fn wrong_kind(name: &str, why: &'static str) -> Error {
    Error::Model { name: name.to_owned(), doing: "being loaded", source: why.into() }
}

/// A file's bytes with the hash that was computed from exactly them.
pub(super) struct Verified {
    pub(super) bytes: Vec<u8>,
    pub(super) sha256: Sha256,
}

/// How a model looked in the store, without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    descriptor: Option<Look>,
    runtime: Option<Look>,
}

/// A file's metadata, as far as a replacement changes it. The modification time alone is too coarse for two
/// installs in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Look {
    inode: u64,
    bytes: u64,
    changed: (i64, i64),
}

impl Look {
    fn of(metadata: &fs::Metadata) -> Self {
        let changed = (metadata.ctime(), metadata.ctime_nsec());
        Self { inode: metadata.ino(), bytes: metadata.len(), changed }
    }
}

impl Stamp {
    /// Whether the model is there at all.
    pub(super) fn is_installed(self) -> bool {
        self.descriptor.is_some()
    }
}

/// A model's name is its folder's: no path, nothing hidden, not the runtime's.
pub fn is_model_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    name.len() <= 100
        && name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
        && name.bytes().all(plain)
        && name != runtime::FOLDER
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store_with(name: &str, descriptor: &str) -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(name)).unwrap();
        fs::write(dir.path().join(name).join(descriptor::FILE_NAME), descriptor).unwrap();
        let store = Store::open(dir.path());
        (dir, store)
    }

    #[test]
    fn a_store_that_is_not_there_is_empty() {
        let store = Store::open("/nonexistent/models");
        assert_eq!(store.list().unwrap(), []);
        assert!(matches!(store.load("x", 1), Err(Error::ModelNotInstalled { .. })));
    }

    #[test]
    fn a_hashing_model_loads_without_a_runtime() {
        let (_dir, store) = store_with("words", "kind = \"hashing\"\ndimensions = 64\n");
        let model = store.load("words", 2).unwrap();
        assert_eq!(model.identity().name, "words");
        assert_eq!(model.identity().pooling, "hashing");
        assert_eq!(model.embed_query("a text").unwrap().len(), 64);
        assert_eq!(store.list().unwrap().len(), 1);
    }

    #[test]
    fn a_reranker_is_no_embedder_and_an_embedder_no_reranker() {
        let (_dir, store) = store_with("words", "kind = \"hashing_reranker\"\n");
        assert!(store.load("words", 1).is_err());
        assert_eq!(store.identity("words").unwrap(), None);
        let reranker = store.load_reranker("words", 1).unwrap();
        let judged = |passage| reranker.score("right valve", passage).unwrap();
        assert!(judged("the right valve") > judged("the left valve") && judged("valve") > judged("lead"));
        store.try_out("words").unwrap();
        let (_dir, store) = store_with("vectors", "kind = \"hashing\"\ndimensions = 64\n");
        assert!(store.load_reranker("vectors", 1).is_err());
        store.try_out("vectors").unwrap();
    }

    #[test]
    fn a_name_that_could_be_a_path_is_not_installed() {
        let (dir, store) = store_with("words", "kind = \"hashing\"\ndimensions = 64\n");
        for name in ["../words", ".", "", "words/", "/etc", "runtime", ".words"] {
            assert!(matches!(store.load(name, 1), Err(Error::ModelNotInstalled { .. })), "{name}");
        }
        drop(dir);
    }

    #[test]
    fn a_broken_descriptor_is_left_out_of_the_list_and_refused_by_name() {
        let (_dir, store) = store_with("words", "kind = \"hashing\"\n");
        assert_eq!(store.list().unwrap(), []);
        assert!(matches!(store.load("words", 1), Err(Error::Model { .. })));
    }

    #[test]
    fn a_file_that_is_not_the_descriptors_is_refused() {
        let descriptor = format!(
            "kind = \"onnx\"\ndimensions = 64\n[weights]\npath = \"w\"\nbytes = 3\nsha256 = \"{0}\"\n\
             [tokenizer]\npath = \"t\"\nbytes = 3\nsha256 = \"{0}\"\n",
            Sha256::of(b"abc")
        );
        let (dir, store) = store_with("model", &descriptor);
        fs::write(dir.path().join("model/w"), b"abd").unwrap();
        fs::write(dir.path().join("model/t"), b"abc").unwrap();
        assert!(matches!(store.load("model", 1), Err(Error::Damaged { .. })));
        fs::remove_file(dir.path().join("model/w")).unwrap();
        assert!(matches!(store.load("model", 1), Err(Error::ReadFile { .. })));
    }
}
