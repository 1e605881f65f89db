//! What can be asked, checked at the border; what comes back stands in the modules beneath.

mod answer;
mod explanation;
mod notice;
mod status;

use std::path::PathBuf;

use crate::collection::CollectionName;
use crate::filter::Filter;
use crate::footnote::Footnote;
use crate::id::ChunkId;

pub use self::answer::{
    AlsoAt, FetchedChunk, Hit, LegPlace, Neighbor, Passage, Reranked, ScoreScale, SearchAnswer, Side, Stats,
    Truncation,
};
pub use self::explanation::{Explanation, Left, TermExplanation, Window};
pub use self::notice::Notice;
pub use self::status::{CollectionSummary, IndexStatus, ModelState};

/// Who asks, as far as an answer depends on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// The caller's working directory, absolute: picks the collection where none is named. Never echoed.
    pub working_directory: Option<PathBuf>,
    /// Whether citations carry the file's absolute path; only for callers on this host.
    pub open_paths: bool,
}

/// How passages are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// Words and meaning together.
    Hybrid,
    /// Words alone.
    Bm25,
    /// Meaning alone.
    Dense,
}

/// A question. Its bounds are the contract's; the engine takes any value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// Plain words.
    pub query: String,
    /// The collection; `None` lets the engine choose.
    pub collection: Option<CollectionName>,
    /// Hits at most.
    pub top_k: usize,
    /// The ranking; `None` lets the engine choose.
    pub mode: Option<Mode>,
    /// UTF-8 bytes of text at most, over all hits.
    pub max_bytes: usize,
    /// Whether hits are checked against their sources.
    pub verify: bool,
    /// Whether the best candidates are read by the reranker.
    pub rerank: bool,
    /// Which documents are looked into; the empty filter leaves all.
    pub filter: Filter,
    /// What around each hit is given as well.
    pub reach: Reach,
    /// Whether the answer says how it came about.
    pub explain: bool,
}

impl Search {
    /// The plain question: five hits of any length, checked, from the whole of the collection that the engine chooses.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            collection: None,
            top_k: 5,
            mode: None,
            max_bytes: usize::MAX,
            verify: true,
            rerank: false,
            filter: Filter::default(),
            reach: Reach::default(),
            explain: false,
        }
    }
}

/// How far around a hit passages of its document are given with it; by default none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// So many before it and after it.
    pub neighbors: usize,
    /// The whole of its section, where that fits into `max_bytes`.
    pub section: bool,
}

/// Which passage to fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchChunk {
    /// The collection; `None` lets the footnote or the engine choose.
    pub collection: Option<CollectionName>,
    /// The passage.
    pub passage: PassageName,
    /// How many passages before and after it are given as well.
    pub neighbors: usize,
}

/// The two ways to name a passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PassageName {
    /// By its id.
    Id(ChunkId),
    /// By its footnote.
    Footnote(Footnote),
}
