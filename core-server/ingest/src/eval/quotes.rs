//! Judgments by quotation: a query, and the words that answer it.
//!
//! ```text
//! {"id": "q1", "text": "how long are backups kept", "quote": "Backups are kept for 35 days", "source": "backup.md"}
//! ```
//!
//! `source` may be left out, and `text` where the queries are given beside it. A passage answers where it holds the
//! quotation or a part of one that was cut in two. A query may have several quotations; each is found once, by the best
//! passage that holds it, and a passage that answers two stands for both, one behind the other.
//!
//! Quotations are compared in NFC, with any white space for any other. Deliberately left out: quotations that are only
//! nearly there. They are named, and count as not found.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use aho_corasick::AhoCorasick;
use engine::id::ChunkId;
use engine::lexical::record::ChunkRecord;
use serde::Deserialize;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

use super::corpus::{Corpus, Named};
use super::judgments::{Grades, Query, bad_line, cause, id, lines};
use super::questions::{Questions, Unit};
use crate::error::{Error, Result};

/// One judgment.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Quote {
    line: usize,
    query: String,
    /// Normalised.
    words: String,
    source: Option<String>,
}

#[derive(Deserialize)]
struct QuoteLine {
    id: Value,
    text: Option<String>,
    quote: String,
    source: Option<String>,
}

/// The quotations in the file at `path`, looked for in the corpus. `queries` has the texts of those lines that have none.
pub fn read(path: &Path, queries: Vec<Query>, corpus: &Corpus<'_>) -> Result<Questions> {
    let (queries, quotes) = read_lines(path, queries)?;
    let (answers, found) = look_up(&quotes, corpus)?;
    let mut grades = Grades::new();
    let mut missing = BTreeSet::new();
    for (number, quote) in quotes.iter().enumerate() {
        grades.entry(quote.query.clone()).or_default().insert(item(number), 1);
        if !found.contains(&number) {
            missing.insert(format!("line {} ({})", quote.line, quote.query));
        }
    }
    let mut questions = Questions { queries, grades, unit: Unit::Passage(answers), warnings: Vec::new() };
    questions.warn(&missing, "quoted, but not in the collection; it counts as not found");
    Ok(questions)
}

fn read_lines(path: &Path, mut queries: Vec<Query>) -> Result<(Vec<Query>, Vec<Quote>)> {
    let mut texts: BTreeMap<String, String> =
        queries.iter().map(|query| (query.id.clone(), query.text.clone())).collect();
    let mut quotes = Vec::new();
    for (line, text) in lines(path)? {
        let bad = bad_line(path, line);
        let parsed: QuoteLine = serde_json::from_str(&text).map_err(|error| {
            let example = "{\"id\": \"q1\", \"text\": \"…\", \"quote\": \"…\"}";
            bad(format!("{}; write an object a line: {example}", cause(&error)))
        })?;
        let query = id(&parsed.id).map_err(&bad)?;
        let words = normalized(&parsed.quote).trim().to_owned();
        if words.is_empty() {
            return Err(bad("the quotation is empty; quote the words that answer the query".to_owned()));
        }
        match (texts.get(&query), parsed.text) {
            (Some(known), Some(text)) if *known != text => {
                return Err(bad(format!("the query {query} has another text before; give it its own id")));
            }
            (None, None) => {
                return Err(bad(format!(
                    "the query {query} has no text; add \"text\", or its file with --queries"
                )));
            }
            (None, Some(text)) => {
                texts.insert(query.clone(), text.clone());
                queries.push(Query { id: query.clone(), text });
            }
            (Some(_), _) => {}
        }
        quotes.push(Quote { line, query, words, source: parsed.source });
    }
    Ok((queries, quotes))
}

type Answers = HashMap<ChunkId, Vec<String>>;

/// What each chunk answers, and which of the quotations occur at all.
fn look_up(quotes: &[Quote], corpus: &Corpus<'_>) -> Result<(Answers, BTreeSet<usize>)> {
    let search = AhoCorasick::new(quotes.iter().map(|quote| &quote.words))
        .map_err(|error| Error::Usage(format!("the quotations are too many: {error}")))?;
    let sources: Vec<Option<Named<'_>>> =
        quotes.iter().map(|quote| quote.source.as_deref().map(|source| corpus.named(source))).collect();
    let (mut answers, mut found) = (Answers::new(), BTreeSet::new());
    corpus.for_each_document(|source, chunks| {
        let document = Document::of(chunks);
        for hit in search.find_overlapping_iter(&document.text) {
            let number = hit.pattern().as_usize();
            if sources[number].is_some_and(|named| named != Named::Source(source)) {
                continue;
            }
            found.insert(number);
            for chunk in document.holding(hit.start(), hit.end()) {
                let answers = answers.entry(chunk).or_default();
                if !answers.contains(&item(number)) {
                    answers.push(item(number));
                }
            }
        }
    })?;
    Ok((answers, found))
}

/// The name of a quotation among what is judged. No chunk's id is like it.
fn item(number: usize) -> String {
    format!("quote {number}")
}

/// A document's chunks as one text, so that what was cut in two is found.
struct Document {
    text: String,
    /// Where each chunk begins and ends in it.
    chunks: Vec<(usize, usize, ChunkId)>,
}

impl Document {
    fn of(records: &[ChunkRecord]) -> Self {
        let mut document = Self { text: String::new(), chunks: Vec::with_capacity(records.len()) };
        let mut end = 0;
        for record in records {
            if record.bytes.start != end {
                document.text.push(' ');
            }
            end = record.bytes.end;
            let start = document.text.len();
            document.text.push_str(&normalized(&record.text));
            document.chunks.push((start, document.text.len(), record.chunk_id));
        }
        document
    }

    fn holding(&self, start: usize, end: usize) -> impl Iterator<Item = ChunkId> + '_ {
        let overlapping = self.chunks.iter().filter(move |(from, to, _)| *from < end && start < *to);
        overlapping.map(|(_, _, id)| *id)
    }
}

/// In NFC, each run of white space as one space.
fn normalized(text: &str) -> String {
    let mut normalized = String::with_capacity(text.len());
    for c in text.nfc() {
        if !c.is_whitespace() {
            normalized.push(c);
        } else if !normalized.ends_with(' ') {
            normalized.push(' ');
        }
    }
    normalized
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_and_unicode_form_make_no_difference() {
        assert_eq!(normalized("a\r\n  b\u{a0}c\u{3000}d"), "a b c d");
        assert_eq!(normalized("Cafe\u{301}"), normalized("Caf\u{e9}"));
    }

    #[test]
    fn texts_come_from_either_file_and_must_agree() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let read = |text: &str| {
            std::fs::write(file.path(), text).unwrap();
            let known = Query { id: "a".to_owned(), text: "what".to_owned() };
            read_lines(file.path(), vec![known])
        };
        let (queries, quotes) = read(
            "{\"id\": \"a\", \"quote\": \" x  y \"}\n{\"id\": \"b\", \"text\": \"who\", \"quote\": \"z\"}",
        )
        .unwrap();
        assert_eq!(queries.len(), 2);
        assert_eq!((&*quotes[0].words, &*quotes[1].words), ("x y", "z"));
        for (text, word) in [
            ("{\"id\": \"c\", \"quote\": \"x\"}", "--queries"),
            ("{\"id\": \"a\", \"text\": \"other\", \"quote\": \"x\"}", "another text"),
            ("{\"id\": \"a\", \"quote\": \" \"}", "empty"),
            ("{\"id\": \"a\"}", "quote"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(word) && error.contains("line 1"), "{error}");
        }
    }
}
