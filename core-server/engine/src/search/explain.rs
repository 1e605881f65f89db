//! How an answer came about: what was asked of each leg, and what each had to say.
//!
//! Deliberately left out: what each hit says of itself already, its scores and ranks (`query::LegPlace`).

use super::count;
use super::ranking::Ranking;
use crate::error::Result;
use crate::exact::Literal;
use crate::generation::Generation;
use crate::lexical::query::QueryTerm;
use crate::lexical::record::ChunkRecord;
use crate::lexical::{Lexical, Selection, WordQuery};
use crate::model::Embed;
use crate::query::{Explanation, Left, TermExplanation, Window};

/// What the legs did, noted while they did it.
#[derive(Clone, Debug, Default)]
pub(super) struct Legs {
    /// How many chunks the BM25 leg ranked.
    pub(super) bm25: Option<usize>,
    /// How many chunks the dense leg ranked.
    pub(super) dense: Option<usize>,
    /// The dense leg's share.
    pub(super) dense_weight: Option<f64>,
    /// What was looked for literally.
    pub(super) literals: Vec<Literal>,
}

/// Explains the ranking of an answer to `query`, which has these words.
pub(super) fn explanation(
    generation: &Generation,
    query: &str,
    words: &WordQuery,
    selection: Option<&Selection>,
    ranking: &Ranking,
    legs: &Legs,
) -> Result<Explanation> {
    let lexical = generation.lexical()?;
    let left = selection.map(|selection| {
        Ok(Left { documents: count(lexical.documents_in(selection)?), chunks: count(selection.chunks()) })
    });
    let window = ranking.model().map(|model| window(model, &model.identity().query_prefix, query));
    Ok(Explanation {
        documents: generation.manifest().documents,
        chunks: generation.manifest().chunks,
        left: left.transpose()?,
        bm25_candidates: legs.bm25.map(count),
        dense_candidates: legs.dense.map(count),
        dense_weight: legs.dense_weight,
        terms: if legs.bm25.is_some() { terms(lexical, words)? } else { Vec::new() },
        literals: legs.literals.iter().map(|literal| literal.text().to_owned()).collect(),
        query_window: window.transpose()?,
    })
}

/// How much of a passage the model read.
pub(super) fn passage_window(model: &dyn Embed, record: &ChunkRecord) -> Result<Window> {
    window(model, &model.identity().passage_prefix, &record.embedded_text())
}

fn window(model: &dyn Embed, prefix: &str, text: &str) -> Result<Window> {
    Ok(Window { tokens: model.tokens(prefix, text)?, max_tokens: model.identity().max_tokens })
}

fn terms(lexical: &Lexical, words: &WordQuery) -> Result<Vec<TermExplanation>> {
    let doc_freqs = lexical.doc_freqs(words)?;
    let term = |(term, chunks): (&QueryTerm, u64)| TermExplanation {
        text: term.text.clone(),
        field: term.field.name(),
        weight: term.weight.into(),
        chunks: count(chunks),
    };
    Ok(words.terms.iter().zip(doc_freqs).map(term).collect())
}
