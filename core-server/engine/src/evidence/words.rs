//! The words of a question: how much of what they weigh a passage has, and what that is worth.
//!
//! Deliberately left out: looking the words up (`lexical`).

use std::collections::HashSet;

use super::calibration::FURTHEST;
use super::{Bounds, Calibration, Leg, Level, Seen, level};
use crate::analysis::is_in_script_without_spaces;
use crate::highlight::Highlighter;
use crate::lexical::KnownWord;

/// A word that the collection does not have weighs so many times as much as its rarest: what a question is about should be
/// known where it is answered.
const UNKNOWN: f64 = 2.0;

/// A passage that has words of less weight than this share of the logarithm of the chunks is no surprise: chance puts
/// such words together in one of them.
const SURPRISE: f64 = 0.8;

/// What is to be said of the words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WordsReason {
    /// The question has no words.
    NoWords,
    /// It has only words that stand everywhere.
    OnlyCommon,
    /// A passage has so many of the question's words.
    Held {
        /// Words of the best passage.
        held: u32,
        /// Words of the question.
        of: u32,
        /// Words that stand nowhere in the collection.
        unknown: u32,
        /// Those, as the question has them, as far as they are told from its other words.
        named: Vec<String>,
    },
}

/// Judges by words: the leg, and where it lies between its bounds.
pub(super) fn words(seen: &Seen<'_>, bounds: Option<Bounds>) -> (Leg<WordsReason>, f64) {
    let Seen { question, words, only_common, chunks, .. } = *seen;
    let count = |words: usize| u32::try_from(words).unwrap_or(u32::MAX);
    let passages = words.first().map_or(0, |word| word.held.len());
    let best = (0..passages)
        .map(|passage| held_share(words, passage))
        .enumerate()
        .max_by(|(left_at, left), (right_at, right)| left.total_cmp(right).then(right_at.cmp(left_at)));
    let (passage, share) = best.unwrap_or_default();
    let held = || words.iter().filter(|word| word.held.get(passage) == Some(&true));
    let reason = if words.is_empty() {
        WordsReason::NoWords
    } else if only_common {
        WordsReason::OnlyCommon
    } else {
        let unknown: HashSet<String> =
            words.iter().filter(|word| !word.is_known()).map(|word| word.term.clone()).collect();
        WordsReason::Held {
            held: count(held().count()),
            of: count(words.len()),
            unknown: count(unknown.len()),
            named: named(question, unknown),
        }
    };
    let unknown = words.iter().filter(|word| !word.is_known()).count();
    // In a few passages many words of a good question do not stand.
    let is_small = chunks < u64::from(Calibration::SMALLEST);
    let is_elsewhere = if is_small { unknown * 2 > words.len() } else { unknown * 2 >= words.len() };
    let mass: f64 = held().map(|word| word.weight).sum();
    #[expect(clippy::cast_precision_loss, reason = "its logarithm is what matters")]
    let is_surprise = mass >= SURPRISE * (chunks as f64).ln();
    let at = bounds.map_or(0.0, |bounds| bounds.place(share));
    let at = match &reason {
        // They say nothing about any passage.
        WordsReason::NoWords | WordsReason::OnlyCommon => FURTHEST.0,
        WordsReason::Held { .. } if is_elsewhere => at.min(-f64::EPSILON),
        WordsReason::Held { .. } if !is_surprise => at.min(1.0 - f64::EPSILON),
        WordsReason::Held { .. } => at,
    };
    let level = if bounds.is_some() { level(at, 1.0) } else { Level::Weak };
    (Leg { level, value: share, bounds, reason }, at)
}

/// The words of a question that give these terms, as it has them.
fn named(question: &str, terms: HashSet<String>) -> Vec<String> {
    let mut named: Vec<String> = Vec::new();
    for range in Highlighter::of_terms(terms).ranges(question) {
        let word = &question[range.start as usize..range.end as usize];
        if !named.iter().any(|before| before == word) {
            named.push(word.to_owned());
        }
    }
    named
}

/// What a word counts for. Where a script has no spaces, many a pair of characters is unknown only because two words meet in it.
fn weight(word: &KnownWord) -> f64 {
    let is_pair = word.term.starts_with(is_in_script_without_spaces);
    if word.is_known() || is_pair { word.weight } else { UNKNOWN * word.weight }
}

/// The share of what the words of a question weigh that a passage has, 0 to 1.
pub fn held_share(words: &[KnownWord], passage: usize) -> f64 {
    let all: f64 = words.iter().map(weight).sum();
    let held = words.iter().filter(|word| word.held.get(passage) == Some(&true));
    if all > 0.0 { held.map(weight).sum::<f64>() / all } else { 0.0 }
}
