//! Documents, a model store and an index in a temporary folder, and ingests of them.

use std::fs;
use std::path::{Path, PathBuf};

use engine::generation::Generation;
use engine::generation::current::Current;
use engine::model::Store;
use ingest::Result;
use ingest::interrupt::Interrupt;
use ingest::parent::known_collections;
use ingest::progress::Progress;
use ingest::scope::{Asked, resolve};
use ingest::summary::Summary;
use ingest::update::{ModelChoice, Update};

pub(crate) struct World {
    place: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self { place: tempfile::tempdir().unwrap() };
        fs::create_dir(world.path("docs")).unwrap();
        world
    }

    pub(crate) fn with_model() -> Self {
        let world = Self::new();
        world.install("hashing", 64);
        world
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.place.path().canonicalize().unwrap().join(path)
    }

    pub(crate) fn install(&self, name: &str, dimensions: u32) {
        let folder = self.path("models").join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("model.toml"), format!("kind = \"hashing\"\ndimensions = {dimensions}\n"))
            .unwrap();
    }

    /// Writes a document that was left alone for a minute.
    pub(crate) fn write(&self, source: &str, text: &str) {
        let path = self.path("docs").join(source);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }

    pub(crate) fn ingest(&self) -> Summary {
        self.try_ingest("index", &["docs"], &ModelChoice::Usual, &Interrupt::never()).unwrap()
    }

    pub(crate) fn ingest_into(&self, index: &str) -> Summary {
        self.try_ingest(index, &["docs"], &ModelChoice::Usual, &Interrupt::never()).unwrap()
    }

    pub(crate) fn try_ingest(
        &self,
        index: &str,
        paths: &[&str],
        model: &ModelChoice,
        interrupt: &Interrupt,
    ) -> Result<Summary> {
        let index_dir = self.path(index);
        let store = Store::open(self.path("models"));
        let progress = Progress::quiet();
        let update = Update { index_dir: &index_dir, store: &store, model, interrupt, progress: &progress };
        let asked = Asked {
            cwd: self.path(""),
            paths: paths.iter().map(PathBuf::from).collect(),
            ..Asked::default()
        };
        let target = resolve(&asked, &known_collections(&index_dir)?)?.remove(0);
        update.run(&target)
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.path("index/docs")
    }

    pub(crate) fn generation(&self) -> Generation {
        current(&self.folder())
    }
}

/// The current generation of the collection in this folder, whole.
pub(crate) fn current(collection: &Path) -> Generation {
    let current = Current::read(collection).unwrap().unwrap();
    let generation = Generation::open_current(collection, &current).unwrap();
    generation.check_seal().unwrap();
    generation
}
