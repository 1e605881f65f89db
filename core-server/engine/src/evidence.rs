//! Whether passages answer a question, measured against what the collection itself does by chance.
//!
//! Two things are looked at, on the passages that lead each leg: how much of what the question's words weigh a passage
//! has, and how similar the closest is. Neither number means anything by itself: a collection on one subject has most
//! words of any question about it somewhere, and a model's cosines begin wherever its training left them. So ingest asks
//! the collection senseless questions, made of its own words from different documents, and keeps what they reach
//! ([`Calibration`]): that much comes by chance, and an answer has to be better (`docs/decisions/0015-evidence.md`).
//!
//! Deliberately left out: measuring (`ingest`), the words in which it is said (`core-server`), and whether what a passage
//! says is true.

mod calibration;
mod words;

pub use calibration::{Bounds, Calibration, METHOD};
pub use words::{WordsReason, held_share};

use self::words::words;
use crate::exact::Exact;
use crate::lexical::KnownWord;

/// Passages that are looked at: an answer stands among the first, or it is none for who reads.
pub const LEADING: usize = 3;

/// What the words count for beside the similarity of the passages.
const WORDS_IN_HYBRID: f64 = 0.4;
const WORDS_IN_DENSE: f64 = 0.25;

/// Where the words see nothing, the similarity has to be so far from its lower bound to its upper one: every broad
/// collection has a passage that is a little like anything.
const WITHOUT_WORDS: f64 = 0.5;

/// Where both legs together are enough, the bounds of one being at 0 and 1.
const ENOUGH_TOGETHER: f64 = 0.8;

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

fn similar(similarity: Similarity, bounds: Option<Bounds>) -> (Leg<SimilarityReason>, Option<f64>) {
    let Similarity { best, can_read, .. } = similarity;
    let at = bounds.filter(|_| can_read).map(|bounds| bounds.place(best));
    let reason = if can_read { SimilarityReason::Measured } else { SimilarityReason::CannotRead };
    let level = at.map_or(Level::Weak, |at| level(at, 1.0));
    (Leg { level, value: best, bounds, reason }, at)
}

#[cfg(test)]
mod tests;
