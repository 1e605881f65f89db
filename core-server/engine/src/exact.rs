//! The exact lane: what a question names literally, and which passages hold it.
//!
//! An identifier, a path, a version, an error code or a phrase in quotes is asked for as it is. Its parts may stand in
//! thousands of passages, and to a model it is a few syllables; so neither leg can promise that the one passage with the
//! whole comes first. This lane can: candidates are all chunks that hold its words, each is checked against its text, and
//! those that pass are ranked before all others, in the modes that rank by words.
//!
//! Deliberately left out: finding the candidates (`lexical/holders.rs`), and how a score tells of it (`fusion.rs`).

mod literal;
mod looks;
mod occurrence;

pub use literal::{Literal, literals};
pub use occurrence::{Occurrence, Text};

/// How much of what a question names literally a passage holds: the more of it the greater, then the more exactly.
/// Compared among passages of one question only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Exact {
    literals: u16,
    exactness: u16,
    /// How many literals the question names.
    of: u16,
}

impl Exact {
    /// What `text` holds of `literals`.
    pub fn of(literals: &[Literal], text: &str) -> Self {
        let text = Text::new(text);
        let mut exact = Self::none_of(literals.len());
        for occurrence in literals.iter().filter_map(|literal| text.occurrence(literal)) {
            exact.literals += 1;
            exact.exactness += occurrence as u16;
        }
        exact
    }

    /// Nothing of so many literals.
    pub fn none_of(literals: usize) -> Self {
        Self { of: u16::try_from(literals).unwrap_or(u16::MAX), ..Self::default() }
    }

    /// Whether the question names anything literally.
    pub fn is_asked(self) -> bool {
        self.of > 0
    }

    /// Whether the passage holds all that the question names, as it was written or not.
    pub fn holds_all(self) -> bool {
        self.literals == self.of
    }

    /// Whether the passage holds none of it.
    pub fn is_none(self) -> bool {
        self.literals == 0
    }

    /// Whether the passage holds all of it as it was written.
    pub fn is_all(self) -> bool {
        self.exactness == self.of * Occurrence::AsWritten as u16
    }

    /// A score raised above those of all passages that hold less, where none of them scores more than `best`.
    pub fn raised(self, score: f64, best: f64) -> f64 {
        score + self.place() * best
    }

    /// The same for a score between 0 and 1, which stays there. Without literals it is as it was.
    pub fn raised_share(self, score: f64) -> f64 {
        let of = f64::from(self.of);
        let most = of * (Self::WRITTEN * of + 1.0) + Self::WRITTEN * of;
        (self.place() + score) / (most + 1.0)
    }

    const WRITTEN: f64 = Occurrence::AsWritten as u8 as f64;

    /// From 0 for none of it, a step or more for each more that is held.
    fn place(self) -> f64 {
        f64::from(self.literals) * (Self::WRITTEN * f64::from(self.of) + 1.0) + f64::from(self.exactness)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holding_more_of_it_comes_before_holding_it_more_exactly() {
        let literals = literals("parseConfigFile ERR_CONN_7781");
        assert_eq!(literals.len(), 2);
        let of = |text| Exact::of(&literals, text);
        let descending = [
            of("ERR_CONN_7781 from parseConfigFile"),
            of("ERR_CONN_7781 from parseconfigfile"),
            of("err_conn_7781 from PARSECONFIGFILE"),
            of("it says ERR_CONN_7781"),
            of("it says err_conn_7781"),
            of("ERR_CONN 7781 of parse config file"),
        ];
        assert!(descending.is_sorted_by(|left, right| left > right), "{descending:?}");
        assert!(descending[5].is_none());
        assert!(descending[0].is_all() && !descending[1].is_all());
        for (scores, of) in [
            ([0.0, 1.0], Exact::raised_share as fn(Exact, f64) -> f64),
            ([0.1, 1.0], |exact, score| exact.raised(score, 1.0)),
        ] {
            let least = descending.map(|exact| of(exact, scores[0]));
            let most = descending.map(|exact| of(exact, scores[1]));
            assert!(least.iter().zip(&most[1..]).all(|(more, less)| more >= less), "{least:?} {most:?}");
        }
        assert!((descending[0].raised_share(1.0) - 1.0).abs() < 1e-9);
        assert!((Exact::default().raised_share(0.7) - 0.7).abs() < 1e-9);
    }
}
