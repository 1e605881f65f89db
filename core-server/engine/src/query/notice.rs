//! What was not done, as the engine knows it. Deliberately left out: the words (`core-server`).

use crate::citation::Verdict;

/// Something that was not done. `core-server` gives it words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Hybrid was not possible: the collection has no vectors (yet).
    NoVectors,
    /// Hybrid was not possible: the model is not installed.
    ModelNotInstalled {
        /// The model that the collection is bound to.
        model: String,
    },
    /// Hybrid was not possible: the model could not be loaded.
    ModelFailed {
        /// The model that the collection is bound to.
        model: String,
    },
    /// Nothing was reranked: the reranker does not know the question's script.
    RerankSkipped {
        /// The reranker.
        model: String,
    },
    /// The deadline was near before all candidates were reranked.
    RerankCutShort {
        /// How many were.
        depth: u32,
        /// How many were to be.
        wanted: u32,
    },
    /// The reranker could not be loaded.
    RerankerFailed,
    /// Not all passages were read that have all words of what the question names literally.
    LiteralsCutShort {
        /// How many were.
        read: u32,
    },
    /// Some hits do not stand where they were indexed.
    NotVerified {
        /// How many of each verdict, without `verified` and `not_checked`.
        counts: Vec<(Verdict, u32)>,
    },
    /// A directory in the index is damaged or foreign and was left out.
    CollectionSkipped {
        /// Its name.
        name: String,
        /// Why, without a path.
        why: &'static str,
    },
    /// The filter left no document.
    NothingLeft,
    /// The whole section of some hits does not fit.
    SectionsLeftOut {
        /// Of how many.
        hits: u32,
    },
    /// Vectors are still being made for some chunks.
    EmbeddingPending {
        /// How many.
        chunks: u32,
    },
}
