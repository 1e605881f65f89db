//! A question's words, as the collection knows them: how rare each is, and which of some chunks have it.
//!
//! Read from the postings, so that a chunk has a word exactly where ranking says so, whatever language it is in.

use std::collections::BTreeMap;

use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocSet as _};

use super::query::{QueryTerm, WordQuery};
use super::schema::{Ranked, fields};
use super::top_k::List;
use super::{Lexical, failed};
use crate::error::Result;

/// A word of a question.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownWord {
    /// The term it is looked up by.
    pub term: String,
    /// How much it says: its inverse document frequency, less for an identifier whose parts count as well. What no chunk
    /// has weighs as what one has.
    pub weight: f64,
    /// How many chunks have it in their text; or, where none does, in their headings or path.
    pub chunks: u64,
    /// Which of the chunks that were asked about have it.
    pub held: Vec<bool>,
}

impl KnownWord {
    /// Whether any chunk has it.
    pub fn is_known(&self) -> bool {
        self.chunks > 0
    }
}

/// What a whole identifier weighs beside its parts.
const WHOLE: f64 = 0.6;

impl Lexical {
    /// The words of `query`, and which of `chunks` have each in their text, their headings or their path.
    pub fn known_words(&self, query: &WordQuery, chunks: &[DocAddress]) -> Result<Vec<KnownWord>> {
        // Postings are read once from front to back.
        let mut places: Vec<(DocAddress, usize)> = chunks.iter().copied().zip(0..).collect();
        places.sort_unstable();
        let known = |(share, term): (f64, &QueryTerm)| self.known_word(share, term, &places);
        words(query).map(known).collect::<tantivy::Result<_>>().map_err(failed("looking up words"))
    }

    fn known_word(
        &self,
        share: f64,
        term: &QueryTerm,
        places: &[(DocAddress, usize)],
    ) -> tantivy::Result<KnownWord> {
        let (mut doc_freq, mut held) = (0, vec![false; places.len()]);
        for field in [term.field, Ranked::Heading, Ranked::Path] {
            if doc_freq > 0 && held.iter().all(|held| *held) {
                break;
            }
            let term = QueryTerm { field, weight: 1.0, ..term.clone() };
            let Some(list) = self.list(&term)? else { continue };
            if doc_freq == 0 {
                doc_freq = list.doc_freq;
            }
            self.mark(&list, field, places, &mut held)?;
        }
        let weight = share * rarity(self.chunks(), doc_freq.max(1));
        Ok(KnownWord { term: term.text.clone(), weight, chunks: doc_freq, held })
    }

    /// Marks the chunks that have any form of a term.
    fn mark(
        &self,
        list: &List,
        field: Ranked,
        places: &[(DocAddress, usize)],
        held: &mut [bool],
    ) -> tantivy::Result<()> {
        for places in places.chunk_by(|left, right| left.0.segment_ord == right.0.segment_ord) {
            let segment = places[0].0.segment_ord;
            let reader = self.searcher.segment_reader(segment);
            let index = reader.inverted_index(fields().ranked[field as usize].terms)?;
            for info in &list.infos[segment as usize] {
                let mut postings = index.read_postings_from_terminfo(info, IndexRecordOption::Basic)?;
                for (place, at) in places {
                    if postings.doc() < place.doc_id {
                        postings.seek(place.doc_id);
                    }
                    held[*at] |= postings.doc() == place.doc_id;
                }
            }
        }
        Ok(())
    }
}

/// Each word once, with what it weighs against others as rare: a term of the text; or an identifier as a whole, which has
/// no such term. Other spellings of a word are no words of their own.
fn words(query: &WordQuery) -> impl Iterator<Item = (f64, &QueryTerm)> {
    let mut fields: BTreeMap<&str, Vec<&QueryTerm>> = BTreeMap::new();
    for term in &query.terms {
        fields.entry(&term.text).or_default().push(term);
    }
    fields.into_values().filter_map(|terms| {
        let of = |field: Ranked| terms.iter().copied().find(|term| term.field == field);
        match (of(Ranked::Words), of(Ranked::Exact), of(Ranked::Heading)) {
            (Some(word), ..) => (word.weight >= 1.0).then_some((1.0, word)),
            (None, Some(whole), Some(_)) => Some((WHOLE, whole)),
            _ => None,
        }
    })
}

/// How much it says that a chunk has a word which `doc_freq` of `chunks` have.
#[expect(clippy::cast_precision_loss, reason = "logarithms need no more than f64 holds")]
fn rarity(chunks: u64, doc_freq: u64) -> f64 {
    let (chunks, doc_freq) = (chunks as f64, doc_freq as f64);
    (1.0 + (chunks - doc_freq + 0.5) / (doc_freq + 0.5)).ln()
}
