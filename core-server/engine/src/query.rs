//! What can be asked, checked at the border, and what comes back.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;

use crate::citation::{ByteRange, Citation, Reason, Verdict};
use crate::collection::CollectionName;
use crate::evidence::Evidence;
use crate::filter::Filter;
use crate::footnote::Footnote;
use crate::generation::GenerationId;
use crate::generation::manifest::ModelIdentity;
use crate::id::{ChunkId, DocumentId};

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

/// What a score measures. Scores are ordered within one answer only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreScale {
    /// A BM25 score, 0 upwards.
    Bm25,
    /// A cosine similarity, −1 to 1.
    Cosine,
    /// A convex combination of normalised scores, 0 to 1.
    Fused,
    /// A reranker's judgment, joined with the score before it, 0 to 1.
    Rerank,
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

/// The answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchAnswer {
    /// The collection asked.
    pub collection: CollectionName,
    /// The generation that answered.
    pub generation: GenerationId,
    /// The ranking used.
    pub mode: Mode,
    /// The passages, best first.
    pub hits: Vec<Hit>,
    /// What was reranked, where something was.
    pub reranked: Option<Reranked>,
    /// Whether the passages answer the question.
    pub evidence: Evidence,
    /// What was cut to fit `max_bytes`.
    pub truncated: Option<Truncation>,
    /// What was not done.
    pub notices: Vec<Notice>,
    /// How it came about, for who asked that.
    pub explanation: Option<Explanation>,
    /// Where the time went.
    pub stats: Stats,
}

/// How an answer came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Documents in the collection.
    pub documents: u32,
    /// Chunks in the collection.
    pub chunks: u32,
    /// What the filter left, where there was one.
    pub left: Option<Left>,
    /// Chunks that the BM25 leg ranked, where it was asked.
    pub bm25_candidates: Option<u32>,
    /// Chunks that the dense leg ranked, where it was asked.
    pub dense_candidates: Option<u32>,
    /// The dense leg's share of the combined score, 0 to 1.
    pub dense_weight: Option<f64>,
    /// What the BM25 leg looked for, where it was asked.
    pub terms: Vec<TermExplanation>,
    /// What was looked for literally beside the BM25 leg: what holds it comes first.
    pub literals: Vec<String>,
    /// How much of the question the model read, where it was asked.
    pub query_window: Option<Window>,
}

/// What a filter left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// Documents.
    pub documents: u32,
    /// Chunks.
    pub chunks: u32,
}

/// A term that was looked for in one field.
#[derive(Clone, Debug, PartialEq)]
pub struct TermExplanation {
    /// The term, as the analyzer made it.
    pub text: String,
    /// The ranked field's name.
    pub field: &'static str,
    /// What it weighs there: the field's weight, as often as the question says it.
    pub weight: f64,
    /// How many chunks of the collection have it there.
    pub chunks: u32,
}

/// A text against a model's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Tokens that the model makes of the text, with what is put in front of it and around it.
    pub tokens: u32,
    /// Tokens that it reads; what is beyond has no part in the vector.
    pub max_tokens: u32,
}

/// A ranked passage.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The passage, checked.
    pub passage: Passage,
    /// The score it is ranked by.
    pub score: f64,
    /// What `score` measures.
    pub score_scale: ScoreScale,
    /// Its place in the BM25 leg.
    pub bm25: Option<LegPlace>,
    /// Its place in the dense leg.
    pub dense: Option<LegPlace>,
    /// What the reranker gave it, where it read it.
    pub rerank_score: Option<f64>,
    /// Which of its document's hits it is, from 1, as it was ranked: before a copy that stands took the place of one that
    /// does not. Each further one counts for less.
    pub nth_of_document: u32,
    /// Where else its text stands.
    pub also_at: AlsoAt,
    /// Where the words of the question stand in the text: bytes, in order, apart from each other.
    pub highlights: Vec<ByteRange>,
    /// The passages before and after it, in document order.
    pub neighbors: Vec<Neighbor>,
    /// How much of the passage the model read, for who asked that of the dense leg.
    pub window: Option<Window>,
    /// Its rank among those that hold what the question names literally, from 1, where it is one of them: it comes first
    /// for that.
    pub literal_rank: Option<u32>,
    /// What it holds of that, for who asked how the ranking came about.
    pub literals: Vec<String>,
}

/// A passage beside another in the same document.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbor {
    /// Where it stands.
    pub side: Side,
    /// The passage, checked.
    pub passage: Passage,
}

/// Before or after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Further up in the document.
    Before,
    /// Further down.
    After,
}

/// Other places of a hit's text, among those that the filter leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlsoAt {
    /// Up to twenty of them, as they were indexed: not checked.
    pub listed: Vec<Footnote>,
    /// How many there are.
    pub count: u32,
}

/// What a reranker did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reranked {
    /// The reranker's name.
    pub model: String,
    /// How many of the best candidates it read. What comes behind them kept its order.
    pub depth: u32,
}

/// A passage's place in one leg of the ranking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LegPlace {
    /// That leg's score.
    pub score: f64,
    /// From 1.
    pub rank: u32,
    /// What it adds to the score that the passage is ranked by.
    pub part: f64,
}

/// A passage and its standing.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// The passage's id.
    pub chunk_id: ChunkId,
    /// Its document's id.
    pub document_id: DocumentId,
    /// Its pasteable citation.
    pub footnote: Footnote,
    /// The document's title.
    pub title: Option<String>,
    /// The headings above it, outermost first.
    pub heading_path: Vec<String>,
    /// The text, where the verdict vouches for it.
    pub text: Option<String>,
    /// The text as it was indexed, where the verdict does not.
    pub indexed_text: Option<String>,
    /// What stands at the cited place now, where that is something else.
    pub current_text: Option<String>,
    /// Where it stands.
    pub citation: Citation,
    /// The file's absolute path, where the caller may have it.
    pub open_path: Option<PathBuf>,
    /// Whether it still stands there.
    pub verdict: Verdict,
    /// Why the verdict is so.
    pub reason: Reason,
    /// The document's tags.
    pub tags: Vec<String>,
    /// The document's date, RFC 3339.
    pub date: Option<String>,
    /// The document's date of last change, RFC 3339.
    pub updated: Option<String>,
}

/// What an answer left out to fit `max_bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// Hits found.
    pub total_hits: u32,
    /// Hits returned.
    pub returned_hits: u32,
    /// Bytes of text of all hits found.
    pub total_bytes: u32,
    /// Bytes of text returned.
    pub returned_bytes: u32,
}

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

/// Time by stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Finding what the filter leaves.
    pub filter: Duration,
    /// Embedding the query.
    pub embed: Duration,
    /// The BM25 leg.
    pub bm25: Duration,
    /// The dense leg.
    pub dense: Duration,
    /// Combining the legs.
    pub fusion: Duration,
    /// Reranking.
    pub rerank: Duration,
    /// Reading the stored text of the hits and their neighbours.
    pub load: Duration,
    /// Checking the hits against their sources.
    pub verify: Duration,
    /// Finding the words of the question in the hits.
    pub highlight: Duration,
    /// Explaining the answer.
    pub explain: Duration,
    /// Judging whether the hits answer the question.
    pub evidence: Duration,
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

/// A fetched passage.
#[derive(Clone, Debug, PartialEq)]
pub struct FetchedChunk {
    /// The collection asked.
    pub collection: CollectionName,
    /// Its current generation.
    pub generation: GenerationId,
    /// The passage, checked.
    pub passage: Passage,
    /// The passages before and after it in that generation, in document order.
    pub neighbors: Vec<Neighbor>,
    /// The newest generation that holds it.
    pub found_in: GenerationId,
    /// Current chunks at the same place, where the current generation holds it no longer.
    pub superseded_by: Vec<ChunkId>,
    /// Where the time went.
    pub stats: Stats,
}

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
