//! Messages into checked queries. Bounds are the contract's: `validate()` has been called before.

use engine::collection::CollectionName;
use engine::filter::{Date, Filter, InvalidDate, InvalidGlob, Paths, Period, Tag};
use engine::query::{FetchChunk, Mode, PassageName, Reach, Search};
use proto::failure::Failure;
use proto::{Code, v1};

/// Hits where nobody says how many.
const TOP_K: u32 = 5;
/// Bytes of text where nobody says how many: what a model reads at ease.
const MAX_BYTES: u32 = 24_576;
/// Collections on a page where nobody says how many.
const PAGE_SIZE: u32 = 50;

/// Which page of the collections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub(super) size: usize,
    pub(super) after: Option<CollectionName>,
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

#[cfg(test)]
mod tests {
    use super::super::words::mode_word;
    use super::*;

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
}
