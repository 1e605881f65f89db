//! Which collections there are, and how fresh and complete each is.

use jiff::Timestamp;

use super::{Mode, Notice};
use crate::collection::CollectionName;
use crate::generation::GenerationId;
use crate::generation::manifest::ModelIdentity;

/// One row of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionSummary {
    /// Its name.
    pub name: CollectionName,
    /// How many documents it holds.
    pub documents: u32,
    /// How many chunks they make.
    pub chunks: u32,
    /// Its current generation.
    pub generation: GenerationId,
    /// When that was published.
    pub published_at: Timestamp,
    /// The rankings it can be asked for now.
    pub modes: Vec<Mode>,
}

/// How fresh and how complete a collection is.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexStatus {
    /// The listing's row.
    pub summary: CollectionSummary,
    /// The version of the format that the generation is stored in.
    pub schema_version: u32,
    /// Chunks that still wait to be embedded.
    pub pending_chunks: u32,
    /// Skipped files by reason.
    pub skipped: Vec<(String, u32)>,
    /// The model that the collection is bound to.
    pub model: Option<ModelIdentity>,
    /// What this process has of it.
    pub model_state: ModelState,
    /// Names of all models in this process's memory, the reranker included.
    pub loaded_models: Vec<String>,
    /// The reranker that this process has for those who ask for it.
    pub reranker: Option<String>,
    /// Generations that this process holds open.
    pub open_generations: u32,
    /// What is degraded.
    pub notices: Vec<Notice>,
}

/// What this process has of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelState {
    /// The collection has no vectors.
    None,
    /// It is not in the model store.
    NotInstalled,
    /// It is being loaded.
    Loading,
    /// It is in memory.
    Loaded,
    /// It could not be loaded.
    Failed,
}
