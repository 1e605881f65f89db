//! The engine: everything that can be asked of an index directory, behind four operations.

use std::path::PathBuf;

use crate::error::Result;
use crate::index::Index;
use crate::query::{
    Caller, CollectionSummary, FetchChunk, FetchedChunk, IndexStatus, Notice, Search, SearchAnswer,
};
use crate::stop::Stop;

/// Where an engine reads from.
#[derive(Clone, Debug)]
pub struct Config {
    /// The index directory; need not exist yet.
    pub index_dir: PathBuf,
    /// The model store; need not exist.
    pub model_dir: PathBuf,
    /// Where sources may be read; empty means the roots that the manifests record.
    pub source_roots: Vec<SourceRoot>,
    /// How many queries are embedded at once: one model session each.
    pub sessions: usize,
}

/// A directory beneath which sources may be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRoot {
    /// Stands for the manifest's root with this label, where given.
    pub label: Option<String>,
    /// The directory.
    pub path: PathBuf,
}

/// Everything that can be asked of an index directory. Shared by all threads; holds no lock while it works.
#[derive(Debug)]
pub struct Engine {
    config: Config,
    index: Index,
}

impl Engine {
    /// Opens what there is. Models are loaded by a thread of their own; nothing here waits for them.
    pub fn open(config: Config) -> Result<Self> {
        Ok(Self { index: Index::open(config.index_dir.clone())?, config })
    }

    /// Looks for newly published generations and collections that came or went. Called a few times a second;
    /// costs one small read per collection while nothing changed.
    pub fn refresh(&self) -> Result<()> {
        self.index.refresh()
    }

    /// Where it reads from.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The collections there are.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Ranks passages and checks each against its source.
    pub fn search(&self, _search: &Search, _caller: &Caller, _stop: &Stop) -> Result<SearchAnswer> {
        todo!()
    }

    /// Finds one passage in the current generation or a kept one and checks it against its source.
    pub fn fetch_chunk(&self, _fetch: &FetchChunk, _caller: &Caller, _stop: &Stop) -> Result<FetchedChunk> {
        todo!()
    }

    /// Every collection that opens, by name, and what was left out.
    pub fn list_collections(&self, _stop: &Stop) -> Result<(Vec<CollectionSummary>, Vec<Notice>)> {
        todo!()
    }

    /// How fresh and how complete a collection is.
    pub fn index_status(
        &self,
        _collection: Option<&crate::collection::CollectionName>,
        _caller: &Caller,
        _stop: &Stop,
    ) -> Result<IndexStatus> {
        todo!()
    }
}
