//! Messages into checked queries, and what the engine answers into messages.
//!
//! Deliberately left out: failures and notices, which get their words in `failure` and `notice`.

mod evidence;
mod explanation;
mod passage;
mod requests;
mod words;

use std::time::{Duration, Instant};

use engine::collection::CollectionName;
use engine::query::{CollectionSummary, FetchedChunk, IndexStatus, Notice, SearchAnswer, Stats};
use jiff::Timestamp;
use proto::{Audience, v1};

use self::passage::{chunk, hit, neighbor};
use self::words::{mode_word, model_state, modes};
use crate::notice;

pub use self::requests::{Page, fetch_chunk, index_status, list_collections, search};

/// What an answer needs besides what the engine says.
#[derive(Clone, Copy, Debug)]
pub struct Occasion<'a> {
    /// When the request came.
    pub began: Instant,
    /// How long it waited for a worker.
    pub queued: Duration,
    /// Whom notices are written for.
    pub audience: Audience,
    /// This process.
    pub process: &'a Process,
}

/// This process, as far as `index_status` tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its version.
    pub version: &'static str,
    /// When it started, RFC 3339.
    pub started_at: String,
}

/// Writes the answer to a question, and says how many hits it has.
pub fn search_response(answer: SearchAnswer, occasion: Occasion<'_>) -> (v1::SearchResponse, usize) {
    let results = answer.hits.len();
    let explained = answer.explanation.is_some();
    let response = v1::SearchResponse {
        collection: answer.collection.into(),
        generation: answer.generation.number(),
        mode: mode_word(answer.mode).into(),
        hits: answer.hits.into_iter().map(|found| hit(found, explained)).collect(),
        reranked: answer
            .reranked
            .map(|reranked| v1::Reranked { model: reranked.model, depth: reranked.depth }),
        truncated: answer.truncated.map(|truncation| v1::Truncation {
            total_hits: truncation.total_hits,
            returned_hits: truncation.returned_hits,
            total_bytes: truncation.total_bytes,
            returned_bytes: truncation.returned_bytes,
        }),
        notices: notices(&answer.notices, occasion),
        evidence: Some(evidence::evidence(&answer.evidence)),
        explanation: answer.explanation.map(explanation::explanation),
        stats: Some(stats(answer.stats, occasion)),
    };
    (response, results)
}

/// Writes a fetched passage.
pub fn fetch_chunk_response(
    fetched: FetchedChunk,
    occasion: Occasion<'_>,
) -> (v1::FetchChunkResponse, usize) {
    let response = v1::FetchChunkResponse {
        collection: fetched.collection.into(),
        generation: fetched.generation.number(),
        chunk: Some(chunk(fetched.passage)),
        neighbors: fetched.neighbors.into_iter().map(neighbor).collect(),
        found_in_generation: fetched.found_in.number(),
        superseded_by: fetched.superseded_by.iter().map(ToString::to_string).collect(),
        notices: vec![],
        stats: Some(stats(fetched.stats, occasion)),
    };
    (response, 1)
}

/// Writes a page of the collections, which come ordered by name.
pub fn list_collections_response(
    page: &Page,
    (all, skipped): (Vec<CollectionSummary>, Vec<Notice>),
    occasion: Occasion<'_>,
) -> (v1::ListCollectionsResponse, usize) {
    let is_later = |name: &CollectionName| page.after.as_ref().is_none_or(|after| name > after);
    let mut later = all.into_iter().filter(|summary| is_later(&summary.name));
    let collections: Vec<_> = later.by_ref().take(page.size).map(collection_row).collect();
    let next_page_token =
        later.next().and_then(|_| collections.last()).map(|last: &v1::Collection| last.name.clone());
    let results = collections.len();
    let notices = notices(&skipped, occasion);
    (v1::ListCollectionsResponse { collections, next_page_token, notices }, results)
}

/// Writes how fresh and complete a collection is.
pub fn index_status_response(
    status: IndexStatus,
    occasion: Occasion<'_>,
) -> (v1::IndexStatusResponse, usize) {
    let summary = status.summary;
    let response = v1::IndexStatusResponse {
        collection: summary.name.into(),
        generation: summary.generation.number(),
        published_at: rfc3339(summary.published_at),
        schema_version: status.schema_version,
        documents: summary.documents,
        chunks: summary.chunks,
        pending_chunks: status.pending_chunks,
        skipped_files: status.skipped.iter().map(|(_, files)| files).sum(),
        skipped: status
            .skipped
            .into_iter()
            .map(|(reason, files)| v1::SkippedCount { reason, files })
            .collect(),
        model: status.model.map(|identity| v1::Model {
            identity: identity.fingerprint().to_string(),
            name: identity.name,
            dimensions: identity.dimensions,
            max_tokens: identity.max_tokens,
        }),
        model_state: model_state(status.model_state).into(),
        modes: modes(summary.modes),
        process: Some(v1::Process {
            version: occasion.process.version.to_owned(),
            started_at: occasion.process.started_at.clone(),
            loaded_models: status.loaded_models,
            reranker: status.reranker,
            open_generations: status.open_generations,
        }),
        notices: notices(&status.notices, occasion),
    };
    (response, 1)
}

/// To the millisecond: more digits say nothing to anybody.
pub(crate) fn rfc3339(time: Timestamp) -> String {
    format!("{time:.3}")
}

fn collection_row(summary: CollectionSummary) -> v1::Collection {
    v1::Collection {
        name: summary.name.into(),
        documents: summary.documents,
        chunks: summary.chunks,
        generation: summary.generation.number(),
        published_at: rfc3339(summary.published_at),
        modes: modes(summary.modes),
    }
}

fn stats(stats: Stats, occasion: Occasion<'_>) -> v1::Stats {
    let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
    v1::Stats {
        queue_ms: ms(occasion.queued),
        embed_ms: ms(stats.embed),
        bm25_ms: ms(stats.bm25),
        dense_ms: ms(stats.dense),
        fusion_ms: ms(stats.fusion),
        rerank_ms: ms(stats.rerank),
        load_ms: ms(stats.load),
        verify_ms: ms(stats.verify),
        total_ms: ms(occasion.began.elapsed()),
        filter_ms: ms(stats.filter),
        highlight_ms: ms(stats.highlight),
        explain_ms: ms(stats.explain),
        evidence_ms: ms(stats.evidence),
    }
}

fn notices(notices: &[Notice], occasion: Occasion<'_>) -> Vec<v1::Notice> {
    notices.iter().map(|notice| notice::words(notice, occasion.audience)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_milliseconds() {
        assert_eq!(rfc3339("2026-01-02T03:04:05.678901Z".parse().unwrap()), "2026-01-02T03:04:05.678Z");
    }
}
