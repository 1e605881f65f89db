//! Messages into checked queries, and what the engine answers into messages.
//!
//! Bounds are the contract's: `validate()` has been called before. Deliberately left out: failures and notices,
//! which get their words in `failure` and `notice`.

mod evidence;
mod explanation;

use std::time::{Duration, Instant};

use engine::citation::{self, Reason, SourceClass, Verdict};
use engine::collection::CollectionName;
use engine::filter::{Date, Filter, InvalidDate, InvalidGlob, Paths, Period, Tag};
use engine::query::{
    CollectionSummary, FetchChunk, FetchedChunk, Hit, IndexStatus, LegPlace, Mode, ModelState, Neighbor,
    Notice, Passage, PassageName, Reach, ScoreScale, Search, SearchAnswer, Side, Stats,
};
use jiff::Timestamp;
use proto::failure::Failure;
use proto::{Audience, Code, v1};

use crate::notice;

/// Hits where nobody says how many.
const TOP_K: u32 = 5;
/// Bytes of text where nobody says how many: what a model reads at ease.
const MAX_BYTES: u32 = 24_576;
/// Collections on a page where nobody says how many.
const PAGE_SIZE: u32 = 50;

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

/// Which page of the collections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    size: usize,
    after: Option<CollectionName>,
}

/// Reads a question.
pub fn search(request: v1::SearchRequest) -> Result<Search, Failure> {
    Ok(Search {
        mode: request.mode.map(|_| mode(request.mode())).transpose()?,
        collection: collection(request.collection)?,
        top_k: request.top_k.unwrap_or(TOP_K) as usize,
        max_bytes: request.max_bytes.unwrap_or(MAX_BYTES) as usize,
        verify: request.verify.unwrap_or(true),
        filter: filter(request.filter.unwrap_or_default())?,
        reach: Reach {
            neighbors: request.neighbors.unwrap_or_default() as usize,
            section: request.section.unwrap_or_default(),
        },
        explain: request.explain.unwrap_or_default(),
        rerank: request.rerank.unwrap_or(false),
        query: request.query,
    })
}

/// Reads which passage is meant.
pub fn fetch_chunk(request: v1::FetchChunkRequest) -> Result<FetchChunk, Failure> {
    let passage = match (request.chunk_id, request.footnote) {
        (Some(id), _) => PassageName::Id(id.parse().map_err(|error| refused("chunk_id", &error))?),
        (None, Some(footnote)) => {
            PassageName::Footnote(footnote.parse().map_err(|error| refused("footnote", &error))?)
        }
        (None, None) => return Err(refused("chunk_id", &"neither `chunk_id` nor `footnote` is present")),
    };
    let neighbors = request.neighbors.unwrap_or_default() as usize;
    Ok(FetchChunk { collection: collection(request.collection)?, passage, neighbors })
}

/// Reads which page is meant. A page token is the last name of the page before.
pub fn list_collections(request: v1::ListCollectionsRequest) -> Result<Page, Failure> {
    let after = request.page_token.map(|token| token.parse());
    let after =
        after.transpose().map_err(|_| refused("page_token", &"`page_token` is not one of an answer"))?;
    Ok(Page { size: request.page_size.unwrap_or(PAGE_SIZE) as usize, after })
}

/// Reads which collection is meant.
pub fn index_status(request: v1::IndexStatusRequest) -> Result<Option<CollectionName>, Failure> {
    collection(request.collection)
}

fn filter(filter: v1::Filter) -> Result<Filter, Failure> {
    let paths = Paths::new(&filter.paths).map_err(|InvalidGlob { index, why }| {
        let field = format!("filter.paths[{index}]");
        refused(&field, &format_args!("`{field}` is not a glob: {why}"))
    })?;
    let tags = |tags: &[String]| tags.iter().map(|tag| Tag::new(tag)).collect();
    let dates = Period { from: date("from", filter.from)?, until: date("until", filter.until)? };
    if dates.is_backwards() {
        return Err(refused("filter.from", &"`filter.from` must not be later than `filter.until`"));
    }
    Ok(Filter { paths, tags_any: tags(&filter.tags_any), tags_all: tags(&filter.tags_all), dates })
}

fn date(name: &str, text: Option<String>) -> Result<Option<Date>, Failure> {
    let field = format!("filter.{name}");
    let parsed = text.map(|text| text.parse()).transpose();
    parsed.map_err(|error: InvalidDate| refused(&field, &format_args!("`{field}` is {error}")))
}

fn collection(name: Option<String>) -> Result<Option<CollectionName>, Failure> {
    name.map(|name| name.parse().map_err(|error| refused("collection", &error))).transpose()
}

fn mode(mode: v1::Mode) -> Result<Mode, Failure> {
    match mode {
        v1::Mode::Hybrid => Ok(Mode::Hybrid),
        v1::Mode::Bm25 => Ok(Mode::Bm25),
        v1::Mode::Dense => Ok(Mode::Dense),
        v1::Mode::Unspecified => Err(refused("mode", &"`mode` is not one of the known words")),
    }
}

fn refused(field: &str, why: &dyn std::fmt::Display) -> Failure {
    Failure::with_message(Code::InvalidArgument, why.to_string()).of_field(field)
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

fn hit(hit: Hit, explained: bool) -> v1::Hit {
    let explanation = explained.then(|| explanation::of_hit(&hit));
    let score = |leg: Option<LegPlace>| leg.map(|place| place.score);
    let rank = |leg: Option<LegPlace>| leg.map(|place| place.rank);
    let passage = chunk(hit.passage);
    v1::Hit {
        chunk_id: passage.chunk_id,
        document_id: passage.document_id,
        footnote: passage.footnote,
        score: hit.score,
        score_scale: score_scale(hit.score_scale).into(),
        bm25_score: score(hit.bm25),
        bm25_rank: rank(hit.bm25),
        dense_score: score(hit.dense),
        dense_rank: rank(hit.dense),
        rerank_score: hit.rerank_score,
        also_at: hit.also_at.listed.iter().map(ToString::to_string).collect(),
        copies: hit.also_at.count,
        title: passage.title,
        heading_path: passage.heading_path,
        text: passage.text,
        indexed_text: passage.indexed_text,
        current_text: passage.current_text,
        citation: passage.citation,
        verdict: passage.verdict,
        reason: passage.reason,
        tags: passage.tags,
        date: passage.date,
        updated: passage.updated,
        neighbors: hit.neighbors.into_iter().map(neighbor).collect(),
        highlights: hit
            .highlights
            .into_iter()
            .map(|range| v1::Highlight { start: range.start, end: range.end })
            .collect(),
        explanation,
    }
}

fn neighbor(neighbor: Neighbor) -> v1::Neighbor {
    let passage = chunk(neighbor.passage);
    let side = match neighbor.side {
        Side::Before => v1::Side::Before,
        Side::After => v1::Side::After,
    };
    v1::Neighbor {
        side: side.into(),
        chunk_id: passage.chunk_id,
        footnote: passage.footnote,
        heading_path: passage.heading_path,
        text: passage.text,
        indexed_text: passage.indexed_text,
        current_text: passage.current_text,
        citation: passage.citation,
        verdict: passage.verdict,
        reason: passage.reason,
    }
}

fn chunk(passage: Passage) -> v1::Chunk {
    let open_path = passage.open_path.and_then(|path| path.into_os_string().into_string().ok());
    v1::Chunk {
        chunk_id: passage.chunk_id.to_string(),
        document_id: passage.document_id.to_string(),
        footnote: passage.footnote.to_string(),
        title: passage.title,
        heading_path: passage.heading_path,
        text: passage.text,
        indexed_text: passage.indexed_text,
        current_text: passage.current_text,
        citation: Some(citation(passage.citation, open_path)),
        verdict: verdict(passage.verdict).into(),
        reason: reason(passage.reason).to_owned(),
        tags: passage.tags,
        date: passage.date,
        updated: passage.updated,
    }
}

fn citation(citation: citation::Citation, open_path: Option<String>) -> v1::Citation {
    v1::Citation {
        source: citation.source,
        source_class: source_class(citation.source_class).into(),
        start_byte: citation.bytes.start,
        end_byte: citation.bytes.end,
        start_line: citation.lines.start,
        end_line: citation.lines.end,
        sha256: citation.sha256.to_string(),
        extractor: citation.extractor,
        generation: citation.generation.number(),
        open_path,
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

fn modes(modes: Vec<Mode>) -> Vec<i32> {
    modes.into_iter().map(|mode| mode_word(mode).into()).collect()
}

fn mode_word(mode: Mode) -> v1::Mode {
    match mode {
        Mode::Hybrid => v1::Mode::Hybrid,
        Mode::Bm25 => v1::Mode::Bm25,
        Mode::Dense => v1::Mode::Dense,
    }
}

fn score_scale(scale: ScoreScale) -> v1::ScoreScale {
    match scale {
        ScoreScale::Bm25 => v1::ScoreScale::Bm25,
        ScoreScale::Cosine => v1::ScoreScale::Cosine,
        ScoreScale::Fused => v1::ScoreScale::Fused,
        ScoreScale::Rerank => v1::ScoreScale::Rerank,
    }
}

fn source_class(class: SourceClass) -> v1::SourceClass {
    match class {
        SourceClass::Text => v1::SourceClass::Text,
        SourceClass::Extracted => v1::SourceClass::Extracted,
    }
}

fn model_state(state: ModelState) -> v1::ModelState {
    match state {
        ModelState::None => v1::ModelState::None,
        ModelState::NotInstalled => v1::ModelState::NotInstalled,
        ModelState::Loading => v1::ModelState::Loading,
        ModelState::Loaded => v1::ModelState::Loaded,
        ModelState::Failed => v1::ModelState::Failed,
    }
}

fn verdict(verdict: Verdict) -> v1::Verdict {
    match verdict {
        Verdict::Verified => v1::Verdict::Verified,
        Verdict::Relocated => v1::Verdict::Relocated,
        Verdict::Drifted => v1::Verdict::Drifted,
        Verdict::Missing => v1::Verdict::Missing,
        Verdict::Unresolvable => v1::Verdict::Unresolvable,
        Verdict::NotChecked => v1::Verdict::NotChecked,
    }
}

fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::BytesEqual => "bytes_equal",
        Reason::Moved => "moved",
        Reason::Renamed => "renamed",
        Reason::Edited => "edited",
        Reason::Truncated => "truncated",
        Reason::SourceGone => "source_gone",
        Reason::RootUnavailable => "root_unavailable",
        Reason::PermissionDenied => "permission_denied",
        Reason::OutsideRoot => "outside_root",
        Reason::NotAFile => "not_a_file",
        Reason::ReadFailed => "read_failed",
        Reason::ExtractorFailed => "extractor_failed",
        Reason::NotRequested => "not_requested",
        Reason::OverBudget => "over_budget",
    }
}

#[cfg(test)]
mod tests {
    use engine::generation::GenerationId;
    use engine::id::{ChunkId, DocumentId, Sha256};
    use engine::query::{AlsoAt, Window};
    use proto::json::Word;

    use super::*;

    const REASONS: [Reason; 14] = [
        Reason::BytesEqual,
        Reason::Moved,
        Reason::Renamed,
        Reason::Edited,
        Reason::Truncated,
        Reason::SourceGone,
        Reason::RootUnavailable,
        Reason::PermissionDenied,
        Reason::OutsideRoot,
        Reason::NotAFile,
        Reason::ReadFailed,
        Reason::ExtractorFailed,
        Reason::NotRequested,
        Reason::OverBudget,
    ];

    fn serde_word(value: impl serde::Serialize) -> String {
        serde_json::to_value(value).unwrap().as_str().unwrap().to_owned()
    }

    #[test]
    fn every_reason_and_its_verdict_have_the_engines_own_words() {
        for known in REASONS {
            assert_eq!(reason(known), serde_word(known));
            assert_eq!(verdict(known.verdict()).word(), Some(serde_word(known.verdict()).as_str()));
        }
    }

    #[test]
    fn times_have_milliseconds() {
        assert_eq!(rfc3339("2026-01-02T03:04:05.678901Z".parse().unwrap()), "2026-01-02T03:04:05.678Z");
    }

    #[test]
    fn modes_go_and_come_back() {
        for known in [Mode::Hybrid, Mode::Bm25, Mode::Dense] {
            assert_eq!(mode(mode_word(known)), Ok(known));
        }
    }

    #[test]
    fn what_is_left_out_is_what_the_contract_says() {
        let default = |fields: &[proto::Field], name: &str| {
            let field = fields.iter().find(|field| field.name == name).unwrap();
            field.default.unwrap().to_owned()
        };
        let search = search(v1::SearchRequest { query: "x".into(), ..Default::default() }).unwrap();
        assert_eq!(default(v1::SearchRequest::FIELDS, "top_k"), search.top_k.to_string());
        assert_eq!(default(v1::SearchRequest::FIELDS, "max_bytes"), search.max_bytes.to_string());
        assert_eq!(default(v1::SearchRequest::FIELDS, "verify"), search.verify.to_string());
        assert_eq!(default(v1::SearchRequest::FIELDS, "neighbors"), search.reach.neighbors.to_string());
        assert_eq!(default(v1::SearchRequest::FIELDS, "section"), search.reach.section.to_string());
        assert_eq!(default(v1::SearchRequest::FIELDS, "explain"), search.explain.to_string());
        assert!(search.filter.is_empty());
        let fetch = v1::FetchChunkRequest { chunk_id: Some("0".repeat(32)), ..Default::default() };
        let fetch = fetch_chunk(fetch).unwrap();
        assert_eq!(default(v1::FetchChunkRequest::FIELDS, "neighbors"), fetch.neighbors.to_string());
        assert_eq!(default(v1::SearchRequest::FIELDS, "rerank"), search.rerank.to_string());
        let page = list_collections(v1::ListCollectionsRequest::default()).unwrap();
        assert_eq!(default(v1::ListCollectionsRequest::FIELDS, "page_size"), page.size.to_string());
    }

    #[test]
    fn a_filter_that_means_nothing_is_refused_by_its_field() {
        let refusal = |filter: v1::Filter| {
            let request = v1::SearchRequest { query: "x".into(), filter: Some(filter), ..Default::default() };
            assert_eq!(request.validate(), Ok(()));
            let failure = search(request).unwrap_err();
            assert_eq!(failure.code, Code::InvalidArgument);
            (failure.field.unwrap(), failure.message)
        };
        let paths = vec!["docs".into(), "src/[".into()];
        let (field, message) = refusal(v1::Filter { paths, ..Default::default() });
        assert_eq!(field, "filter.paths[1]");
        assert!(message.starts_with("`filter.paths[1]` is not a glob: "), "{message}");
        let dates = |from: &str, until: &str| v1::Filter {
            from: Some(from.into()),
            until: Some(until.into()),
            ..Default::default()
        };
        let backwards = ("filter.from".into(), "`filter.from` must not be later than `filter.until`".into());
        assert_eq!(refusal(dates("2026-02-01", "2026-01-31")), backwards);
        assert_eq!(refusal(dates("2026-01-31T10:00:00Z", "2026-01-31T10:00:00+01:00")), backwards);
    }

    proptest::proptest! {
        #[test]
        fn every_date_that_the_contract_admits_is_one(
            (year, month, day) in (0..10_000_u32, 0..14_u32, 0..33_u32),
            (hour, minute, second) in (0..26_u32, 0..62_u32, 0..63_u32),
            offset in "Z|[+-](0[0-9]|1[0-9]|2[0-4]):[0-6][0-9]",
            fraction in "(\\.[0-9]{1,10})?",
            has_time in proptest::bool::ANY,
        ) {
            let time = if has_time { format!("T{hour:02}:{minute:02}:{second:02}{fraction}{offset}") } else { String::new() };
            let text = format!("{year:04}-{month:02}-{day:02}{time}");
            let filter = v1::Filter { until: Some(text.clone()), ..Default::default() };
            let request = v1::SearchRequest { query: "x".into(), filter: Some(filter), ..Default::default() };
            if request.validate().is_ok() {
                proptest::prop_assert!(search(request).is_ok(), "{}", text);
            }
        }
    }

    #[test]
    fn a_passage_is_named_by_id_or_footnote() {
        let id = "0123456789abcdef0123456789abcdef";
        let request = |chunk_id: Option<&str>, footnote: Option<&str>| v1::FetchChunkRequest {
            chunk_id: chunk_id.map(str::to_owned),
            footnote: footnote.map(str::to_owned),
            ..Default::default()
        };
        let by_id = fetch_chunk(request(Some(id), None)).unwrap().passage;
        assert_eq!(by_id, PassageName::Id(id.parse().unwrap()));
        let address = "footnote:docs/a.md#L1-L2;9f3c2a1b";
        let by_footnote = fetch_chunk(request(None, Some(address))).unwrap().passage;
        assert_eq!(by_footnote, PassageName::Footnote(address.parse().unwrap()));
        assert!(fetch_chunk(request(None, None)).is_err());
    }

    #[test]
    fn a_hit_says_all_that_the_engine_does() {
        let document = DocumentId::of_source("a.md");
        let sha256 = Sha256::of(b"text");
        let citation = citation::Citation {
            source: "a.md".into(),
            source_class: SourceClass::Text,
            bytes: citation::ByteRange { start: 3, end: 7 },
            lines: citation::LineRange { start: 1, end: 2 },
            sha256,
            extractor: None,
            generation: GenerationId::FIRST,
        };
        let passage = Passage {
            chunk_id: ChunkId::of_text(document, sha256, 0),
            document_id: document,
            footnote: "footnote:docs/a.md#L1-L2;9f3c2a1b".parse().unwrap(),
            title: Some("A".into()),
            heading_path: vec!["A".into(), "B".into()],
            text: None,
            indexed_text: Some("text".into()),
            current_text: Some("other".into()),
            citation,
            open_path: Some("/home/ada/a.md".into()),
            verdict: Verdict::Drifted,
            reason: Reason::Edited,
            tags: vec!["t".into()],
            date: Some("2026-01-01".into()),
            updated: None,
        };
        let elsewhere = "footnote:docs/b.md#L1-L2;9f3c2a1b".parse().unwrap();
        let leg = Some(LegPlace { score: 0.5, rank: 3, part: 0.25 });
        let neighbor = Neighbor { side: Side::Before, passage: passage.clone() };
        let window = Some(Window { tokens: 600, max_tokens: 512 });
        let found = Hit {
            passage,
            score: 0.9,
            score_scale: ScoreScale::Fused,
            bm25: leg,
            dense: None,
            rerank_score: Some(-1.5),
            nth_of_document: 2,
            literal_rank: Some(3),
            literals: vec!["v1.2".to_owned()],
            also_at: AlsoAt { listed: vec![elsewhere], count: 7 },
            highlights: vec![citation::ByteRange { start: 0, end: 4 }],
            neighbors: vec![neighbor],
            window,
        };
        assert_eq!(hit(found.clone(), false).explanation, None);
        let hit = hit(found, true);
        let explained = hit.explanation.as_ref().unwrap();
        assert_eq!((explained.bm25_part, explained.dense_part), (Some(0.25), None));
        assert_eq!(explained.window, Some(v1::Window { tokens: 600, max_tokens: 512 }));
        assert_eq!((explained.literal_rank, &explained.literals[..]), (Some(3), &["v1.2".to_owned()][..]));
        assert_eq!(hit.highlights, [v1::Highlight { start: 0, end: 4 }]);
        assert_eq!((hit.neighbors[0].side(), &hit.neighbors[0].chunk_id), (v1::Side::Before, &hit.chunk_id));
        assert_eq!(hit.neighbors[0].indexed_text.as_deref(), Some("text"));
        assert_eq!((hit.bm25_score, hit.bm25_rank, hit.dense_score), (Some(0.5), Some(3), None));
        assert_eq!((hit.rerank_score, explained.nth_of_document), (Some(-1.5), 2));
        assert_eq!(
            (hit.also_at.clone(), hit.copies),
            (vec!["[b.md:1-2](footnote:docs/b.md#L1-L2;9f3c2a1b)".to_owned()], 7)
        );
        assert_eq!((hit.verdict(), hit.reason.as_str()), (v1::Verdict::Drifted, "edited"));
        assert_eq!((hit.text, hit.indexed_text.as_deref()), (None, Some("text")));
        let citation = hit.citation.unwrap();
        assert_eq!((citation.start_byte, citation.end_byte, citation.end_line), (3, 7, 2));
        assert_eq!(citation.open_path.as_deref(), Some("/home/ada/a.md"));
        assert_eq!(citation.sha256.len(), 64);
    }
}
