//! How an answer came about, as a message.

use engine::query::{Explanation, Hit, LegPlace, TermExplanation, Window};
use proto::v1;

pub(super) fn explanation(explanation: Explanation) -> v1::Explanation {
    v1::Explanation {
        documents: explanation.documents,
        chunks: explanation.chunks,
        documents_left: explanation.left.map(|left| left.documents),
        chunks_left: explanation.left.map(|left| left.chunks),
        bm25_candidates: explanation.bm25_candidates,
        dense_candidates: explanation.dense_candidates,
        dense_weight: explanation.dense_weight,
        terms: explanation.terms.into_iter().map(term).collect(),
        query_window: explanation.query_window.map(window),
        literals: explanation.literals,
    }
}

pub(super) fn of_hit(hit: &Hit) -> v1::HitExplanation {
    let part = |leg: Option<LegPlace>| leg.map(|place| place.part);
    v1::HitExplanation {
        bm25_part: part(hit.bm25),
        dense_part: part(hit.dense),
        window: hit.window.map(window),
        nth_of_document: hit.nth_of_document,
        literal_rank: hit.literal_rank,
        literals: hit.literals.clone(),
    }
}

fn term(term: TermExplanation) -> v1::QueryTerm {
    v1::QueryTerm { term: term.text, field: term.field.to_owned(), weight: term.weight, chunks: term.chunks }
}

fn window(window: Window) -> v1::Window {
    v1::Window { tokens: window.tokens, max_tokens: window.max_tokens }
}
