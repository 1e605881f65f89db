//! The answer to a question: passages, how each is ranked, and where each stands.

use std::path::PathBuf;
use std::time::Duration;

use super::{Explanation, Mode, Notice, Window};
use crate::citation::{ByteRange, Citation, Reason, Verdict};
use crate::collection::CollectionName;
use crate::evidence::Evidence;
use crate::footnote::Footnote;
use crate::generation::GenerationId;
use crate::id::{ChunkId, DocumentId};

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

/// Other places of a hit's text, among those that the filter leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlsoAt {
    /// Up to twenty of them, as they were indexed: not checked.
    pub listed: Vec<Footnote>,
    /// How many there are.
    pub count: u32,
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

/// What a reranker did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reranked {
    /// The reranker's name.
    pub model: String,
    /// How many of the best candidates it read. What comes behind them kept its order.
    pub depth: u32,
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
