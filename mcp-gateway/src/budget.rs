//! How long a result may be, and what is left out of one that is longer.
//!
//! A client drops a result whole that is too long for it, so its length is promised: two and a half times the bytes of
//! text that were asked for, and 8 KB. Text stands in a result twice, and JSON writes some characters in six bytes, so
//! that a document can be made that breaks the promise; then hits are left out from the end, and of the last one left
//! what is longest is shortened. The first hit is never left out, and what was done is said.

use std::io;

use proto::field::Kind;
use proto::{OPERATIONS, Operation};
use serde::Serialize;
use serde_json::{Value, json};

use crate::text;

/// The field that says how many bytes of text are wanted.
const WANTED: &str = "max_bytes";

/// What is added to two and a half times those.
const BESIDE_TEXT: usize = 8 * 1024;

/// What of the result is not the answer: the envelope, the server's name, the request's id.
const ENVELOPE: usize = 1024;

/// Strings and lists shorter than this are left whole: ids, words, names.
const SHORT: usize = 256;

/// An answer and its text, as they are sent.
pub(crate) struct Fitted {
    /// The answer.
    pub(crate) answer: Value,
    /// The same for reading.
    pub(crate) text: String,
}

/// How long a result of `operation` may be, in bytes.
pub(crate) fn limit(operation: &Operation, request: &Value) -> usize {
    let asked = request.get(WANTED).and_then(Value::as_u64).filter(|_| has_field(operation));
    let wanted = asked.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or_else(default_bytes);
    wanted.saturating_mul(5) / 2 + BESIDE_TEXT
}

fn has_field(operation: &Operation) -> bool {
    operation.fields.iter().any(|field| field.name == WANTED)
}

/// The contract's default, also for operations that do not let the caller choose.
fn default_bytes() -> usize {
    OPERATIONS
        .iter()
        .flat_map(|operation| operation.fields)
        .filter(|field| field.name == WANTED && matches!(field.kind, Kind::Number { .. }))
        .find_map(|field| field.default?.parse().ok())
        .unwrap_or_default()
}

/// The answer as it fits into `limit`.
pub(crate) fn fit(operation: &Operation, answer: Value, limit: usize) -> Fitted {
    let room = limit.saturating_sub(ENVELOPE);
    let whole = Fitted::render(operation, answer);
    if whole.fits(room) {
        return whole;
    }
    // What only guides the eye goes first: no offset into a text outlives the text's being shortened.
    let mut answer = whole.answer;
    if drop_highlights(&mut answer) {
        let mut plain = Fitted::render(operation, answer.clone());
        say_so(&mut plain.answer);
        if plain.fits(room) {
            return plain;
        }
    }
    let hits = answer.get("hits").and_then(Value::as_array).map_or(0, Vec::len);
    // The most hits that fit, one at least.
    let (mut fewest, mut most) = (1, hits);
    while fewest < most {
        let middle = (fewest + most).div_ceil(2);
        if Fitted::render(operation, first(&answer, middle)).fits(room) {
            fewest = middle;
        } else {
            most = middle - 1;
        }
    }
    let mut cut = Fitted::render(operation, first(&answer, fewest));
    while !cut.fits(room) && shorten_longest(&mut cut.answer) {
        count_returned(&mut cut.answer);
        cut = Fitted::render(operation, cut.answer);
    }
    cut
}

impl Fitted {
    fn render(operation: &Operation, answer: Value) -> Self {
        let text = text::render(operation, &answer);
        Self { answer, text }
    }

    fn fits(&self, room: usize) -> bool {
        json_bytes(&self.answer) + json_bytes(&self.text) <= room
    }
}

/// The answer with its first `kept` hits only, which says so.
fn first(answer: &Value, kept: usize) -> Value {
    let mut cut = answer.clone();
    if let Some(hits) = answer.get("hits").and_then(Value::as_array) {
        let total_bytes: usize = hits.iter().map(text_bytes).sum();
        if cut.get("truncated").is_none() {
            cut["truncated"] = json!({"total_hits": hits.len(), "total_bytes": total_bytes});
        }
        cut["hits"] = hits[..kept.min(hits.len())].into();
        count_returned(&mut cut);
    }
    say_so(&mut cut);
    cut
}

/// Empties the list of highlights of each hit; whether any was there.
fn drop_highlights(answer: &mut Value) -> bool {
    let hits = answer.get_mut("hits").and_then(Value::as_array_mut).into_iter().flatten();
    let lists = hits.filter_map(|hit| hit.get_mut("highlights")?.as_array_mut());
    lists.fold(false, |any, list| {
        let had = !list.is_empty();
        list.clear();
        any || had
    })
}

fn say_so(cut: &mut Value) {
    let notice = json!({
        "code": "cut_to_fit",
        "message": "highlights or hits were left out or long texts shortened, so that the result keeps to its size",
        "action": "fetch a single passage with `fetch_chunk`, or ask for more with `max_bytes`",
    });
    match cut.get_mut("notices").and_then(Value::as_array_mut) {
        Some(notices) => notices.push(notice),
        None => cut["notices"] = json!([notice]),
    }
}

fn count_returned(answer: &mut Value) {
    let Some(hits) = answer.get("hits").and_then(Value::as_array) else { return };
    let (count, bytes) = (hits.len(), hits.iter().map(text_bytes).sum::<usize>());
    answer["truncated"]["returned_hits"] = count.into();
    answer["truncated"]["returned_bytes"] = bytes.into();
}

/// Bytes of text of a hit and of what stands beside it.
fn text_bytes(hit: &Value) -> usize {
    let beside = hit.get("neighbors").and_then(Value::as_array).into_iter().flatten();
    let own = |passage: &Value| passage.get("text").and_then(Value::as_str).map_or(0, str::len);
    own(hit) + beside.map(own).sum::<usize>()
}

/// Halves what is longest. False where nothing is long.
fn shorten_longest(answer: &mut Value) -> bool {
    let longest = longest(answer);
    longest >= SHORT && shorten(answer, longest)
}

/// The weight of the heaviest part that can be shortened.
fn longest(value: &Value) -> usize {
    match value {
        Value::Object(members) => members.values().map(longest).max().unwrap_or_default(),
        Value::Array(values) => {
            values.iter().map(longest).max().unwrap_or_default().max(list_weight(value, values))
        }
        Value::String(text) => json_bytes(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// A list weighs half of itself, so that one long text in it is shortened before its neighbours are left out.
fn list_weight(value: &Value, values: &[Value]) -> usize {
    if values.len() > 1 { json_bytes(value) / 2 } else { 0 }
}

/// Shortens the first part of this weight.
fn shorten(value: &mut Value, weight: usize) -> bool {
    if let Value::Array(values) = &*value
        && list_weight(value, values) == weight
    {
        if let Value::Array(values) = value {
            values.truncate(values.len().div_ceil(2));
        }
        return true;
    }
    match value {
        Value::Object(members) => members.values_mut().any(|value| shorten(value, weight)),
        Value::Array(values) => values.iter_mut().any(|value| shorten(value, weight)),
        Value::String(text) if json_bytes(text) == weight => {
            text.truncate(boundary(text));
            true
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Where a text is cut in half: behind a line where one ends near, else between two characters.
fn boundary(text: &str) -> usize {
    let half = text.floor_char_boundary(text.len() / 2);
    text[..half].rfind('\n').map(|line| line + 1).filter(|line| *line > half / 2).unwrap_or(half)
}

/// The length of something as JSON.
fn json_bytes<T: Serialize + ?Sized>(value: &T) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting does not fail, and neither does writing what was read as JSON.
    if serde_json::to_writer(&mut count, value).is_err() {
        return usize::MAX / 2;
    }
    count.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proto::v1::{Chunk, Citation, FetchChunkResponse, Hit, Verdict};

    use super::*;
    use crate::text::tests::{answer, citation, hit};

    fn search() -> &'static Operation {
        Operation::named("search").unwrap()
    }

    fn value(hits: Vec<Hit>) -> Value {
        proto::json::answer(&answer(hits)).unwrap()
    }

    fn with_text(text: &str) -> Hit {
        Hit { text: Some(text.to_owned()), ..hit("runbook.md", Verdict::Verified, "bytes_equal") }
    }

    #[test]
    fn the_limit_follows_what_was_asked_for() {
        assert_eq!(limit(search(), &json!({"max_bytes": 1024})), 2560 + 8192);
        assert_eq!(limit(search(), &json!({})), 24_576 * 5 / 2 + 8192);
        let fetch = Operation::named("fetch_chunk").unwrap();
        assert_eq!(limit(fetch, &json!({"max_bytes": 1})), 24_576 * 5 / 2 + 8192);
    }

    #[test]
    fn an_ordinary_answer_passes_whole() {
        let whole = value(vec![with_text(&"An ordinary line of a runbook.\n".repeat(25)); 30]);
        let fitted = fit(search(), whole.clone(), limit(search(), &json!({"max_bytes": 24_576})));
        assert_eq!(fitted.answer, whole);
    }

    #[test]
    fn hits_are_left_out_from_the_end_and_it_is_said() {
        let whole = value(vec![with_text(&"\u{1}".repeat(1000)); 8]);
        let fitted = fit(search(), whole.clone(), limit(search(), &json!({"max_bytes": 8000})));
        let hits = fitted.answer["hits"].as_array().unwrap();
        assert!(!hits.is_empty() && hits.len() < 8, "{}", hits.len());
        assert_eq!(hits[..], whole["hits"].as_array().unwrap()[..hits.len()]);
        assert_eq!(fitted.answer["truncated"]["total_hits"], 8);
        assert_eq!(fitted.answer["truncated"]["returned_hits"], hits.len());
        assert_eq!(fitted.answer["truncated"]["returned_bytes"], hits.len() * 1000);
        assert_eq!(fitted.answer["notices"][0]["code"], "cut_to_fit");
        assert!(fitted.text.contains("so that the result keeps to its size"), "{}", fitted.text);
    }

    #[test]
    fn one_huge_first_hit_is_shortened_and_stays() {
        let huge = "A line of a huge passage.\n".repeat(4000);
        let fitted = fit(search(), value(vec![with_text(&huge), with_text("small")]), 10_752);
        let text = fitted.answer["hits"][0]["text"].as_str().unwrap();
        assert!(text.len() > 500 && huge.starts_with(text) && text.ends_with('\n'), "{text:?}");
        assert_eq!(fitted.answer["hits"][0]["footnote"], json!(with_text("").footnote));
        assert_eq!(fitted.answer["truncated"]["returned_bytes"], text.len());
    }

    /// Text that JSON or our quoting makes long.
    fn expanding(most: usize) -> impl Strategy<Value = String> {
        let pieces =
            prop::sample::select(vec!["\u{1}", "\n", "\"", "\\", "\u{7f}", "漢", "word ", "\u{e0041}"]);
        (pieces, 0..most).prop_map(|(piece, bytes)| piece.repeat(bytes / piece.len()))
    }

    fn hostile_hit(most: usize) -> impl Strategy<Value = Hit> {
        (
            expanding(most),
            prop::option::of(expanding(most)),
            prop::option::of(expanding(most)),
            expanding(6000),
            prop::collection::vec(expanding(600), 0..40),
            prop::collection::vec(expanding(40), 0..400),
        )
            .prop_map(|(text, indexed, now, source, heading_path, tags)| Hit {
                text: Some(text),
                indexed_text: indexed,
                current_text: now,
                heading_path,
                tags,
                title: Some(source.clone()),
                footnote: source.clone(),
                citation: Some(Citation { open_path: Some("/".repeat(4096)), ..citation(&source) }),
                ..hit("a.md", Verdict::Verified, "bytes_equal")
            })
    }

    fn bytes(fitted: &Fitted) -> usize {
        json_bytes(&fitted.answer) + json_bytes(&fitted.text) + ENVELOPE
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn no_document_breaks_the_promise(
            hits in prop::collection::vec(hostile_hit(20_000), 1..8),
            wanted in 1024_usize..40_000,
        ) {
            let first = hits[0].text.clone().unwrap();
            let limit = limit(search(), &json!({"max_bytes": wanted}));
            let fitted = fit(search(), value(hits), limit);
            prop_assert!(bytes(&fitted) <= limit, "{} of {}", bytes(&fitted), limit);
            let returned = fitted.answer["hits"][0]["text"].as_str().unwrap();
            prop_assert!(first.starts_with(returned));
        }

        #[test]
        fn no_passage_breaks_the_promise(hit in hostile_hit(200_000)) {
            let operation = Operation::named("fetch_chunk").unwrap();
            let chunk = Chunk {
                text: hit.text,
                indexed_text: hit.indexed_text,
                heading_path: hit.heading_path,
                tags: hit.tags,
                footnote: hit.footnote,
                citation: hit.citation,
                verdict: hit.verdict,
                ..Chunk::default()
            };
            let answer = FetchChunkResponse { chunk: Some(chunk), ..FetchChunkResponse::default() };
            let limit = limit(operation, &json!({}));
            let fitted = fit(operation, proto::json::answer(&answer).unwrap(), limit);
            prop_assert!(bytes(&fitted) <= limit, "{} of {}", bytes(&fitted), limit);
            prop_assert!(fitted.answer["chunk"].is_object());
        }
    }
}
