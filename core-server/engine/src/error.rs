//! What can go wrong while reading, said to the person who can mend it.

use std::path::PathBuf;
use std::{fmt, io};

use crate::collection::CollectionName;

/// The result of everything fallible here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What failed. `core-server` turns each variant into one code of the contract's table, without a wildcard.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No collection has that name.
    #[error("no collection is named {name}")]
    CollectionNotFound {
        /// The name asked for.
        name: CollectionName,
        /// The names there are.
        known: Vec<CollectionName>,
    },
    /// The index holds no collection at all.
    #[error("the index holds no collection")]
    NothingIngested,
    /// The caller named no collection and more than one could be meant.
    #[error("more than one collection could be meant")]
    CollectionAmbiguous {
        /// The names there are.
        known: Vec<CollectionName>,
    },
    /// No generation knows the chunk or footnote.
    #[error("no generation of {collection} knows this passage")]
    ChunkNotFound {
        /// The collection asked.
        collection: CollectionName,
    },
    /// The mode asked for cannot be served.
    #[error("{collection} cannot be asked in this mode: {why}")]
    ModeUnavailable {
        /// The collection asked.
        collection: CollectionName,
        /// What is in the way.
        why: ModeObstacle,
    },
    /// Reranking was asked for and cannot be had.
    #[error("nothing can be reranked: {why}")]
    RerankerUnavailable {
        /// What is in the way.
        why: RerankerObstacle,
    },
    /// The installed model is not the one that the vectors were made with.
    #[error("the model installed as {name} is {found}, the collection was embedded with {bound}")]
    ModelMismatch {
        /// The model's name.
        name: String,
        /// The identity that the collection is bound to.
        bound: String,
        /// The identity found in the model store.
        found: String,
    },
    /// The model is not in the model store.
    #[error("the model {name} is not installed")]
    ModelNotInstalled {
        /// The model's name.
        name: String,
    },
    /// The library that runs models is not in the model store.
    #[error("the runtime that models need is not installed")]
    RuntimeNotInstalled,
    /// The runtime would send events to its maker.
    #[error("the runtime is not loaded without {variable}=1 in the environment")]
    TelemetryNotForbidden {
        /// The variable that keeps it quiet.
        variable: &'static str,
    },
    /// The model is still being loaded.
    #[error("the model is still being loaded")]
    WarmingUp,
    /// The deadline passed.
    #[error("the deadline passed")]
    DeadlineExceeded,
    /// The caller went away.
    #[error("the caller went away")]
    Cancelled,
    /// The index directory cannot be read.
    #[error("cannot read the index directory {}", path.display())]
    ReadIndex {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of a generation is damaged or not what the manifest says.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The collection was written in a format that this program does not read.
    #[error("{} is written in format {found}, this program reads {supported}", path.display())]
    SchemaVersion {
        /// The manifest.
        path: PathBuf,
        /// The version found.
        found: u32,
        /// The version that this program reads.
        supported: u32,
    },
    /// A file of a generation cannot be read.
    #[error("cannot read {}", path.display())]
    ReadFile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The lexical index failed.
    #[error("the lexical index failed while {doing}")]
    Lexical {
        /// What was being done.
        doing: &'static str,
        /// What tantivy said.
        source: tantivy::TantivyError,
    },
    /// A model could not be loaded or run.
    #[error("the model {name} failed while {doing}")]
    Model {
        /// The model's name.
        name: String,
        /// What was being done.
        doing: &'static str,
        /// What the runtime said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// The file at `path` is not what it should be: `what` says in which way.
    pub fn damaged(path: impl Into<PathBuf>, what: impl fmt::Display) -> Self {
        Self::Damaged { path: path.into(), what: what.to_string() }
    }
}

/// What keeps a collection from being asked in a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModeObstacle {
    /// It was ingested without a model.
    #[error("it has no vectors")]
    NoVectors,
    /// Its model is not in the model store.
    #[error("its model is not installed")]
    ModelNotInstalled,
    /// Its model could not be loaded.
    #[error("its model could not be loaded")]
    ModelFailed,
}

/// What keeps a process from reranking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RerankerObstacle {
    /// No reranker is in the model store, or the process was told to use none.
    #[error("there is no reranker")]
    NoneInstalled,
    /// It could not be loaded.
    #[error("the reranker could not be loaded")]
    Failed,
}
