//! How an answer came about, beside what each hit says of itself.

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
