//! Whether passages answer a question, measured against what the collection itself does by chance.
//!
//! Two things are looked at, on the passages that lead the answer: how much of what the question's words weigh a passage
//! has, and how similar the closest is. Neither number means anything by itself: a collection on one subject has most
//! words of any question about it somewhere, and a model's cosines begin wherever its training left them. So ingest asks
//! the collection senseless questions, made of its own words from different documents, and keeps what they reach
//! ([`Calibration`]): that much comes by chance, and an answer has to be better (`docs/decisions/0015-evidence.md`).
//!
//! Deliberately left out: measuring (`ingest`), the words in which it is said (`core-server`), and whether what a passage
//! says is true.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::exact::Exact;
use crate::highlight::Highlighter;
use crate::lexical::KnownWord;

/// Passages that are looked at: an answer stands among the first, or it is none for who reads.
pub const LEADING: usize = 3;

/// How the collection was asked. Numbers of another method mean something else.
pub const METHOD: &str = "shuffled/1";

/// A word that the collection does not have weighs so many times as much as its rarest: what a question is about should be
/// known where it is answered.
const UNKNOWN: f64 = 2.0;

/// A passage that has words of less weight than this share of the logarithm of the chunks is no surprise: chance puts
/// such words together in one of them.
const SURPRISE: f64 = 0.8;

/// What the words count for beside the similarity of the passages.
const WORDS_IN_HYBRID: f64 = 0.4;
const WORDS_IN_DENSE: f64 = 0.25;

/// Where the words see nothing, the similarity has to be so far from its lower bound to its upper one: every broad
/// collection has a passage that is a little like anything.
const WITHOUT_WORDS: f64 = 0.5;

/// Where both legs together are enough, the bounds of one being at 0 and 1.
const ENOUGH_TOGETHER: f64 = 0.8;

/// The furthest that one leg is below and above its bounds, lest it overrule the other whatever that says.
const FURTHEST: (f64, f64) = (-1.0, 2.0);

/// Bounds nearer to each other than this are of a collection in which all is alike.
const NARROWEST: f64 = 0.02;

/// How well a question is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// By nothing here, as far as can be told.
    None,
    /// By something perhaps.
    Weak,
    /// By something as close to the question as an answer is.
    Enough,
}

/// What separates the levels of one leg.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// Below this it is nothing.
    pub none_below: f64,
    /// From this on it is enough.
    pub enough_from: f64,
}

/// What a collection does by chance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// How it was measured, [`METHOD`].
    pub method: String,
    /// For the share of a question's words that a passage has.
    pub words: Bounds,
    /// For the cosine of question and passage; none where there are no vectors.
    pub similarity: Option<Bounds>,
    /// Chunks of the collection when it was measured.
    pub chunks: u32,
    /// Chunks that came or went since.
    pub changed: u32,
}

impl Calibration {
    /// Of words, for a collection too small to be asked at random: any of its words stands in half of it.
    pub const SMALL: Bounds = Bounds { none_below: 0.25, enough_from: 0.5 };

    /// Fewer chunks than this are too few.
    pub const SMALLEST: u32 = 20;

    /// Whether so much changed since that it is to be measured anew.
    pub fn is_stale(&self) -> bool {
        self.method != METHOD || u64::from(self.changed) * 10 >= u64::from(self.chunks)
    }
}

/// How well a question is answered, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// How well.
    pub level: Level,
    /// Why.
    pub reason: Reason,
    /// By the words, where there are passages.
    pub words: Option<Leg<WordsReason>>,
    /// By similarity, where it was asked for.
    pub similarity: Option<Leg<SimilarityReason>>,
}

/// Why a level is what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// There are no passages.
    NoHits,
    /// The collection was not measured.
    NotMeasured,
    /// No passage holds all that the question names literally.
    LiteralAbsent,
    /// A passage holds all of it.
    LiteralHeld,
    /// What the legs say.
    Legs,
}

/// How well a question is answered, as one leg sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Leg<R> {
    /// How well.
    pub level: Level,
    /// What was measured.
    pub value: f64,
    /// What it was held against; none where the collection was not measured.
    pub bounds: Option<Bounds>,
    /// Why.
    pub reason: R,
}

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

/// What is to be said of the similarity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimilarityReason {
    /// How close the closest is.
    Measured,
    /// The model was not made for the question's script: it counts for nothing.
    CannotRead,
}

/// What is known of the passages that lead.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The question.
    pub question: &'a str,
    /// The question's words, and which of the passages have them.
    pub words: &'a [KnownWord],
    /// Whether the question has only words that stand everywhere.
    pub only_common: bool,
    /// The most that a passage holds of what the question names literally.
    pub exact: Exact,
    /// The similarity, where it was asked for.
    pub similarity: Option<Similarity>,
    /// Chunks in the collection.
    pub chunks: u64,
}

/// How similar passages are to a question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Similarity {
    /// The closest one's cosine.
    pub best: f64,
    /// Whether the model knows the question's script.
    pub can_read: bool,
    /// Whether nothing else ranked the passages.
    pub alone: bool,
}

impl Evidence {
    /// Where there are no passages.
    pub const NO_HITS: Self =
        Self { level: Level::None, reason: Reason::NoHits, words: None, similarity: None };

    /// Judges what leads. There are passages.
    pub fn of(seen: &Seen<'_>, calibration: Option<&Calibration>) -> Self {
        let calibration = calibration.filter(|calibration| calibration.method == METHOD);
        let (words, words_at) = words(seen, calibration.map(|calibration| calibration.words));
        let bounds = calibration.and_then(|calibration| calibration.similarity);
        let similarity = seen.similarity.map(|similarity| similar(similarity, bounds));
        let (level, reason) = match (literals(seen.exact), calibration) {
            (Some(true), _) => (Level::Enough, Reason::LiteralHeld),
            (_, None) => (Level::Weak, Reason::NotMeasured),
            // A model takes one name for another: what it finds close is no sign of this one.
            (Some(false), _) => (words.level.min(Level::Weak), Reason::LiteralAbsent),
            (None, _) => {
                let level = by_legs(words_at, seen.similarity, similarity.as_ref());
                // A word or two, looked up: short questions are close to nothing.
                let least = if has_every_word(&words) { Level::Weak } else { Level::None };
                (level.max(least), Reason::Legs)
            }
        };
        Self { level, reason, words: Some(words), similarity: similarity.map(|(leg, _)| leg) }
    }
}

/// Whether a passage holds all that the question names literally; `None` where it names nothing.
fn literals(exact: Exact) -> Option<bool> {
    exact.is_asked().then(|| exact.holds_all())
}

fn has_every_word(words: &Leg<WordsReason>) -> bool {
    matches!(words.reason, WordsReason::Held { held, of, .. } if held == of)
}

/// What both legs come to, or the words alone where similarity says nothing.
fn by_legs(
    words_at: f64,
    asked: Option<Similarity>,
    similarity: Option<&(Leg<SimilarityReason>, Option<f64>)>,
) -> Level {
    let (Some(Similarity { alone, .. }), Some((_, Some(similarity_at)))) = (asked, similarity) else {
        return level(words_at, 1.0);
    };
    if words_at < 0.0 && *similarity_at < WITHOUT_WORDS {
        return Level::None;
    }
    let share = if alone { WORDS_IN_DENSE } else { WORDS_IN_HYBRID };
    let together = share * words_at + (1.0 - share) * similarity_at;
    // Where one of them sees nothing, the other is not enough.
    let most = if words_at.min(*similarity_at) >= 0.0 { Level::Enough } else { Level::Weak };
    level(together, ENOUGH_TOGETHER).min(most)
}

fn level(at: f64, enough: f64) -> Level {
    if at < 0.0 {
        Level::None
    } else if at < enough {
        Level::Weak
    } else {
        Level::Enough
    }
}

impl Bounds {
    /// Where `value` lies: 0 at the lower bound, 1 at the upper one.
    fn place(self, value: f64) -> f64 {
        let (furthest_below, furthest_above) = FURTHEST;
        let place = (value - self.none_below) / (self.enough_from - self.none_below).max(NARROWEST);
        place.clamp(furthest_below, furthest_above)
    }
}

fn words(seen: &Seen<'_>, bounds: Option<Bounds>) -> (Leg<WordsReason>, f64) {
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

/// The share of what the words of a question weigh that a passage has, 0 to 1.
pub fn held_share(words: &[KnownWord], passage: usize) -> f64 {
    let weight = |word: &KnownWord| if word.is_known() { word.weight } else { UNKNOWN * word.weight };
    let all: f64 = words.iter().map(weight).sum();
    let held = words.iter().filter(|word| word.held.get(passage) == Some(&true));
    if all > 0.0 { held.map(weight).sum::<f64>() / all } else { 0.0 }
}

fn similar(similarity: Similarity, bounds: Option<Bounds>) -> (Leg<SimilarityReason>, Option<f64>) {
    let Similarity { best, can_read, .. } = similarity;
    let at = bounds.filter(|_| can_read).map(|bounds| bounds.place(best));
    let reason = if can_read { SimilarityReason::Measured } else { SimilarityReason::CannotRead };
    let level = at.map_or(Level::Weak, |at| level(at, 1.0));
    (Leg { level, value: best, bounds, reason }, at)
}

#[cfg(test)]
mod tests;
