//! Queries that the corpus quotes: whoever indexes the questions with the answers measures how well questions are found.
//!
//! A query is quoted where its words occur in one passage in their order, whatever stands between them that is no
//! letter or digit. Short ones are left alone: a name or a heading may well be asked for.

use std::collections::BTreeSet;

use aho_corasick::AhoCorasick;
use unicode_normalization::UnicodeNormalization as _;

use super::corpus::Corpus;
use super::judgments::Query;
use crate::error::{Error, Result};

/// Fewer words than this are no sentence of their own.
const WORDS: usize = 5;

/// In scripts without spaces, fewer characters than this.
const CHARACTERS: usize = 12;

/// The ids of the queries that some passage quotes.
pub fn quoted(queries: &[Query], corpus: &Corpus<'_>) -> Result<BTreeSet<String>> {
    let plain: Vec<(&Query, String)> = queries.iter().map(|query| (query, plain(&query.text))).collect();
    let long: Vec<_> = plain.into_iter().filter(|(_, text)| is_long(text)).collect();
    let search = AhoCorasick::new(long.iter().map(|(_, text)| text))
        .map_err(|error| Error::Usage(format!("the queries are too many: {error}")))?;
    let mut quoted = BTreeSet::new();
    corpus.for_each_document(|_, chunks| {
        for chunk in chunks {
            let text = self::plain(&chunk.text);
            let hits = search.find_overlapping_iter(&text);
            quoted.extend(hits.map(|hit| long[hit.pattern().as_usize()].0.id.clone()));
        }
    })?;
    Ok(quoted)
}

fn is_long(plain: &str) -> bool {
    let words = plain.split(' ').count();
    let unspaced = plain.chars().filter(|c| !c.is_ascii()).count();
    words >= WORDS || unspaced >= CHARACTERS
}

/// Letters and digits in lower case, one space for anything between them.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.nfkc().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            plain.push(c);
        } else if !plain.is_empty() && !plain.ends_with(' ') {
            plain.push(' ');
        }
    }
    plain.truncate(plain.trim_end().len());
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn punctuation_case_and_width_make_no_difference() {
        assert_eq!(plain("  What's the “retry-limit”?\n"), plain("what s THE ｒetry limit"));
        assert_eq!(plain("?!"), "");
    }

    #[test]
    fn only_whole_questions_count() {
        for (text, long) in [
            ("rollback", false),
            ("the worker pool", false),
            ("how long are backups kept", true),
            ("黑豹队", false),
            ("黑豹队的防守在那个赛季丢了多少分", true),
            ("", false),
        ] {
            assert_eq!(is_long(&plain(text)), long, "{text}");
        }
    }
}
