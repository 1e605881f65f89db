//! Whether the passages answer the question, as a message: the words in which it is said.
//!
//! The same for everyone who asks: they name no path, no source and no command.

use engine::evidence::{Evidence, Leg, Level, Reason, SimilarityReason, WordsReason};
use proto::v1;

/// Words that are named: enough to see what the documents lack.
const NAMED: usize = 3;

pub(super) fn evidence(evidence: &Evidence) -> v1::Evidence {
    let bm25 = evidence.words.as_ref().map(|leg| message(leg, words_in_words(&leg.reason)));
    let dense = evidence.similarity.as_ref().map(|leg| message(leg, similarity_in_words(leg)));
    let legs = bm25.iter().chain(&dense).map(|leg| leg.reason.as_str()).collect::<Vec<_>>().join("; ");
    let reason = match evidence.reason {
        Reason::NoHits => "nothing is found".to_owned(),
        Reason::NotMeasured => "the collection was never measured, so it cannot be told".to_owned(),
        Reason::LiteralHeld => "a passage holds what the question names literally".to_owned(),
        Reason::LiteralAbsent => "no passage holds all that the question names literally".to_owned(),
        Reason::Legs => legs,
    };
    v1::Evidence { level: level(evidence.level).into(), reason, bm25, dense }
}

fn message<R>(leg: &Leg<R>, reason: String) -> v1::LegEvidence {
    v1::LegEvidence {
        level: level(leg.level).into(),
        reason,
        value: leg.value,
        none_below: leg.bounds.map(|bounds| bounds.none_below),
        enough_from: leg.bounds.map(|bounds| bounds.enough_from),
    }
}

fn words_in_words(reason: &WordsReason) -> String {
    let (held, of, unknown, named) = match reason {
        WordsReason::NoWords => return "the question has no words".to_owned(),
        WordsReason::OnlyCommon => {
            return "words that stand everywhere tell no passage from another".to_owned();
        }
        WordsReason::Held { held, of, unknown, named } => (*held, *of, *unknown, named),
    };
    let known = match (held, of) {
        (0, _) => "the first passages have none of the question's words".to_owned(),
        (1, 1) => "a passage has the question's word".to_owned(),
        _ => format!("a passage has {held} of the question's {of} words"),
    };
    match (unknown, named.as_slice()) {
        (0, _) => known,
        (_, [one]) => format!("{known}, and nothing here has {one}"),
        (_, named) if !named.is_empty() => format!("{known}, and nothing here has {}", listed(named)),
        _ => format!("{known}, and nothing here has {unknown} of them"),
    }
}

/// The first words that stand nowhere, and how many more there are.
fn listed(words: &[String]) -> String {
    match words.split_at_checked(NAMED).filter(|(_, rest)| !rest.is_empty()) {
        Some((first, rest)) => format!("{} or {} more", first.join(", "), rest.len()),
        None => words.join(" or "),
    }
}

fn similarity_in_words(leg: &Leg<SimilarityReason>) -> String {
    let closest = match leg.level {
        _ if leg.reason == SimilarityReason::CannotRead => {
            return "the model does not know the question's script".to_owned();
        }
        Level::None => "no closer than chance",
        Level::Weak => "not much closer than chance",
        Level::Enough => "close",
    };
    match leg.bounds {
        Some(_) => format!("the most similar passage is {closest}"),
        None => "how similar is similar was never measured here".to_owned(),
    }
}

fn level(level: Level) -> v1::EvidenceLevel {
    match level {
        Level::None => v1::EvidenceLevel::None,
        Level::Weak => v1::EvidenceLevel::Weak,
        Level::Enough => v1::EvidenceLevel::Enough,
    }
}

#[cfg(test)]
mod tests {
    use engine::evidence::Bounds;

    use super::*;

    fn held(held: u32, of: u32, unknown: u32, named: &[&str]) -> WordsReason {
        WordsReason::Held { held, of, unknown, named: named.iter().map(|&word| word.to_owned()).collect() }
    }

    #[test]
    fn reasons_are_clauses_that_say_what_the_documents_lack() {
        let many = ["a", "b", "c", "d", "e"];
        for (reason, expected) in [
            (held(2, 7, 3, &[]), "a passage has 2 of the question's 7 words, and nothing here has 3 of them"),
            (
                held(2, 3, 1, &["zorblax"]),
                "a passage has 2 of the question's 3 words, and nothing here has zorblax",
            ),
            (held(1, 1, 0, &[]), "a passage has the question's word"),
            (
                held(0, 2, 2, &["flurbish", "zorblax"]),
                "the first passages have none of the question's words, and nothing here has flurbish or zorblax",
            ),
            (
                held(1, 6, 5, &many),
                "a passage has 1 of the question's 6 words, and nothing here has a, b, c or 2 more",
            ),
        ] {
            assert_eq!(words_in_words(&reason), expected);
        }
    }

    #[test]
    fn both_legs_are_named_and_what_was_not_measured_has_no_bounds() {
        let similarity = Leg {
            level: Level::None,
            value: 0.5,
            bounds: Some(Bounds { none_below: 0.6, enough_from: 0.7 }),
            reason: SimilarityReason::Measured,
        };
        let both = Evidence {
            level: Level::None,
            reason: Reason::Legs,
            words: Some(Leg {
                level: Level::Weak,
                value: 0.3,
                bounds: Some(Bounds { none_below: 0.2, enough_from: 0.5 }),
                reason: held(1, 4, 2, &[]),
            }),
            similarity: Some(similarity.clone()),
        };
        let message = evidence(&both);
        assert_eq!(message.level(), v1::EvidenceLevel::None);
        assert_eq!(
            message.reason,
            "a passage has 1 of the question's 4 words, and nothing here has 2 of them; the most similar passage is no closer than chance"
        );
        assert_eq!(message.dense.and_then(|leg| leg.enough_from), Some(0.7));
        let unmeasured = Leg { bounds: None, level: Level::Weak, ..similarity };
        assert_eq!(similarity_in_words(&unmeasured), "how similar is similar was never measured here");
        assert_eq!(evidence(&Evidence::NO_HITS).reason, "nothing is found");
    }
}
