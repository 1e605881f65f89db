//! The engine: everything that can be asked of an index directory, behind four operations.

use std::path::PathBuf;

use crate::collection::CollectionName;
use crate::error::Result;
use crate::fetch;
use crate::index::Index;
use crate::model::{Models, Reranker, RerankerChoice, Store};
use crate::query::{
    Caller, CollectionSummary, FetchChunk, FetchedChunk, IndexStatus, Notice, Search, SearchAnswer,
};
use crate::search;
use crate::status;
use crate::stop::Stop;
use crate::verify::Verifier;

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
    /// Which reranker there is for those who ask for it.
    pub reranker: RerankerChoice,
    /// On how many threads passages are reranked, whoever asks.
    pub rerank_sessions: usize,
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
    models: Models,
    reranker: Reranker,
    verifier: Verifier,
}

impl Engine {
    /// Opens what there is. Models are loaded by a thread of their own; nothing here waits for them.
    pub fn open(config: Config) -> Result<Self> {
        Ok(Self::over(Index::open(config.index_dir.clone())?, config))
    }

    /// Opens one collection, as if there were no other: what is wrong with the others is not looked at.
    pub fn open_only(config: Config, name: CollectionName) -> Result<Self> {
        Ok(Self::over(Index::open_only(config.index_dir.clone(), name)?, config))
    }

    fn over(index: Index, config: Config) -> Self {
        let engine = Self {
            index,
            models: Models::new(Store::open(&config.model_dir), config.sessions),
            reranker: Reranker::new(
                Store::open(&config.model_dir),
                config.reranker.clone(),
                config.rerank_sessions,
            ),
            verifier: Verifier::new(config.source_roots.clone()),
            config,
        };
        engine.refresh_models();
        engine
    }

    /// Looks for newly published generations and collections that came or went. Called a few times a second;
    /// costs one small read per collection while nothing changed.
    pub fn refresh(&self) -> Result<()> {
        self.index.refresh()?;
        self.refresh_models();
        Ok(())
    }

    fn refresh_models(&self) {
        let seen = self.index.seen();
        let manifests = seen.collections.values().map(|collection| collection.generation().manifest());
        let bound =
            manifests.filter(|manifest| manifest.vectors).filter_map(|manifest| manifest.model.as_ref());
        self.models.refresh(bound);
    }

    /// Where it reads from.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The collections there are.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// The models that collections are bound to.
    pub fn models(&self) -> &Models {
        &self.models
    }

    /// The reranker, for those who ask for it.
    pub fn reranker(&self) -> &Reranker {
        &self.reranker
    }

    /// What checks citations.
    pub fn verifier(&self) -> &Verifier {
        &self.verifier
    }

    /// Ranks passages and checks each against its source.
    pub fn search(&self, search: &Search, caller: &Caller, stop: &Stop) -> Result<SearchAnswer> {
        search::search(self, search, caller, stop)
    }

    /// Finds one passage in the current generation or a kept one and checks it against its source.
    pub fn fetch_chunk(&self, fetch: &FetchChunk, caller: &Caller, stop: &Stop) -> Result<FetchedChunk> {
        fetch::fetch_chunk(self, fetch, caller, stop)
    }

    /// Every collection that opens, by name, and what was left out.
    pub fn list_collections(&self, stop: &Stop) -> Result<(Vec<CollectionSummary>, Vec<Notice>)> {
        status::list_collections(self, stop)
    }

    /// How fresh and how complete a collection is.
    pub fn index_status(
        &self,
        collection: Option<&CollectionName>,
        caller: &Caller,
        stop: &Stop,
    ) -> Result<IndexStatus> {
        status::index_status(self, collection, caller, stop)
    }
}
