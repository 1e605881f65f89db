//! What a collection does by chance, and where a value lies between its bounds.

use serde::{Deserialize, Serialize};

/// How the collection was asked. Numbers of another method mean something else.
pub const METHOD: &str = "shuffled/2";

/// The furthest that one leg is below and above its bounds, lest it overrule the other whatever that says.
pub(super) const FURTHEST: (f64, f64) = (-1.0, 2.0);

/// Bounds nearer to each other than this are of a collection in which all is alike.
const NARROWEST: f64 = 0.02;

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

impl Bounds {
    /// Where `value` lies: 0 at the lower bound, 1 at the upper one.
    pub(super) fn place(self, value: f64) -> f64 {
        let (furthest_below, furthest_above) = FURTHEST;
        let place = (value - self.none_below) / (self.enough_from - self.none_below).max(NARROWEST);
        place.clamp(furthest_below, furthest_above)
    }
}
