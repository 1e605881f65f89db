//! A query's terms and what each weighs, made by hand: a text never reaches a query parser.
//!
//! Repeated terms weigh as often as they are said, which long questions need. Words that say nothing beside others
//! count only where the query has no others.

use std::collections::BTreeMap;

use super::schema::Ranked;
use crate::analysis::{self, Kind, Language, Reading};

/// What a text asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WordQuery {
    /// Distinct terms, by field and text.
    pub terms: Vec<QueryTerm>,
    /// Whether they are only words that say nothing beside others.
    pub is_common: bool,
}

/// A term to look for in one field.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryTerm {
    /// Where.
    pub field: Ranked,
    /// What.
    pub text: String,
    /// The same word in chunks of other languages: no chunk has two of them by it, so they are counted as one term.
    pub also: Vec<String>,
    /// By what its BM25 score is multiplied.
    pub weight: f32,
}

/// What a stem weighs by field, against 1 in the text itself.
const HEADING: f32 = 0.3;
const PATH: f32 = 0.1;

/// What it adds that a word has the very form asked for. More would count every plain match twice.
const EXACT: f32 = 0.1;

/// What it is worth that a word asked for with accents stands without: chunks that have them are ranked by the stem.
const UNACCENTED: f32 = 0.3;

/// What a whole identifier adds to its parts.
const WHOLE: f32 = 0.6;

impl WordQuery {
    /// The terms of `text`, asked of chunks in the languages `spoken`, the most frequent first: none where it holds no
    /// word.
    pub fn of(text: &str, spoken: &[Language]) -> Self {
        let reading = Reading::of_query(text, spoken);
        let mut words: Vec<(Kind, Vec<String>)> = Vec::new();
        analysis::analyze(text, reading, |kind, term| match (kind, words.last_mut()) {
            (Kind::Also, Some((_, terms))) => terms.push(term.to_owned()),
            _ => words.push((kind, vec![term.to_owned()])),
        });
        let mut said = Said::default();
        let mut common = Said::default();
        for (kind, terms) in words {
            match kind {
                Kind::Stem | Kind::Also | Kind::Gram => said.everywhere(&terms, 1.0, Ranked::Words),
                Kind::Unaccented => said.everywhere(&terms, UNACCENTED, Ranked::Words),
                Kind::Whole => said.everywhere(&terms, WHOLE, Ranked::Exact),
                Kind::Exact => said.once(Ranked::Exact, &terms, EXACT),
                Kind::Stop => common.everywhere(&terms, 1.0, Ranked::Words),
            }
        }
        let is_common = said.0.is_empty() && !common.0.is_empty();
        let terms = if is_common { common.0 } else { said.0 };
        Self { terms: terms.into_values().collect(), is_common }
    }
}

#[derive(Default)]
struct Said(BTreeMap<(Ranked, String), QueryTerm>);

impl Said {
    fn everywhere(&mut self, terms: &[String], weight: f32, text_field: Ranked) {
        self.once(text_field, terms, weight);
        self.once(Ranked::Heading, terms, weight * HEADING);
        self.once(Ranked::Path, terms, weight * PATH);
    }

    fn once(&mut self, field: Ranked, terms: &[String], weight: f32) {
        let Some((text, also)) = terms.split_first() else { return };
        let term = self.0.entry((field, text.clone())).or_insert_with(|| QueryTerm {
            field,
            text: text.clone(),
            also: Vec::new(),
            weight: 0.0,
        });
        term.weight += weight;
        for text in also {
            if !term.also.contains(text) {
                term.also.push(text.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<(String, f32)> {
        let terms = WordQuery::of(text, &[]).terms.into_iter();
        terms.filter(|term| term.field == Ranked::Words).map(|term| (term.text, term.weight)).collect()
    }

    #[test]
    fn a_term_weighs_as_often_as_it_is_said() {
        assert_eq!(words("cat dog cats"), [("cat".to_owned(), 2.0), ("dog".to_owned(), 1.0)]);
    }

    #[test]
    fn common_words_count_only_alone() {
        assert_eq!(words("the cat"), [("cat".to_owned(), 1.0)]);
        assert_eq!(words("to be or not to be").len(), 4);
    }

    #[test]
    fn nothing_in_a_query_is_an_operator() {
        for (text, expected) in [
            ("\"unbalanced", vec!["unbalanc"]),
            ("cats AND dogs OR NOT birds", vec!["bird", "cat", "dog"]),
            ("-x", vec!["x"]),
            ("field:value", vec!["field", "valu"]),
            ("a^2", vec!["2"]),
            ("*", vec![]),
            ("(((", vec![]),
            ("[a TO b]", vec!["b"]),
            ("\\", vec![]),
            ("~~ ?? !!", vec![]),
        ] {
            let found: Vec<String> = words(text).into_iter().map(|(text, _)| text).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
