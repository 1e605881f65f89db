//! What is none, weak and enough, on numbers.

use super::calibration::FURTHEST;
use super::*;

const CHUNKS: u64 = 1000;

fn calibration() -> Calibration {
    Calibration {
        method: METHOD.to_owned(),
        words: Bounds { none_below: 0.2, enough_from: 0.5 },
        similarity: Some(Bounds { none_below: 0.6, enough_from: 0.7 }),
        chunks: 1000,
        changed: 0,
    }
}

/// A word that so many chunks have, held by the first passage or not.
fn word(chunks: u64, held: bool) -> KnownWord {
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let weight = (1.0 + (CHUNKS as f64 - chunks.max(1) as f64 + 0.5) / (chunks.max(1) as f64 + 0.5)).ln();
    KnownWord { term: format!("word{chunks}"), weight, chunks, held: vec![held] }
}

fn seen(words: &[KnownWord], similarity: impl Into<Option<Similarity>>) -> Seen<'_> {
    Seen {
        question: "what is word0",
        words,
        only_common: false,
        exact: Exact::default(),
        similarity: similarity.into(),
        chunks: CHUNKS,
    }
}

fn judged(words: &[KnownWord], similarity: impl Into<Option<Similarity>>) -> Evidence {
    Evidence::of(&seen(words, similarity), Some(&calibration()))
}

fn similarity(best: f64, alone: bool) -> Similarity {
    Similarity { best, can_read: true, alone }
}

#[test]
fn words_alone_say_all_levels() {
    let level = |words: &[KnownWord]| judged(words, None).level;
    assert_eq!(level(&[word(3, true), word(5, true), word(2, true)]), Level::Enough);
    assert_eq!(level(&[word(3, true), word(5, false), word(2, false)]), Level::Weak);
    assert_eq!(level(&[word(0, false), word(0, false), word(90, true)]), Level::None);
    assert_eq!(level(&[word(0, false)]), Level::None);
    assert_eq!(level(&[]), Level::None);
}

#[test]
fn a_word_that_many_passages_have_is_not_enough_alone() {
    assert_eq!(judged(&[word(300, true)], None).level, Level::Weak);
    assert_eq!(judged(&[word(300, true), word(4, true)], None).level, Level::Enough);
}

#[test]
fn a_question_that_is_half_of_unknown_words_is_about_something_else() {
    let words = [word(1, true), word(0, false)];
    let level = |chunks| {
        Evidence::of(&Seen { chunks, ..seen(&words, None) }, Some(&calibration())).words.unwrap().level
    };
    assert!(held_share(&words, 0) > calibration().words.none_below);
    assert_eq!((level(CHUNKS), level(19)), (Level::None, Level::Weak));
}

#[test]
fn an_unknown_word_weighs_more_than_a_known_one() {
    let share = |words: &[KnownWord]| held_share(words, 0);
    assert!(share(&[word(5, true), word(0, false)]) < share(&[word(5, true), word(1, false)]));
    let pair = |text: &str| [word(5, true), KnownWord { term: text.to_owned(), ..word(0, false) }];
    assert!(share(&pair("に障")) > share(&pair("unheard")), "two words may meet in it");
    assert!((share(&[word(5, true)]) - 1.0).abs() < 1e-9);
    assert!(share(&[]).abs() < 1e-9);
}

#[test]
fn words_that_stand_nowhere_are_named_as_the_question_has_them() {
    let words = [word(0, false), word(3, true)];
    let named = |question| {
        let evidence = Evidence::of(&Seen { question, ..seen(&words, None) }, Some(&calibration()));
        evidence.words.unwrap().reason
    };
    let held = |named: &[&str]| WordsReason::Held {
        held: 1,
        of: 2,
        unknown: 1,
        named: named.iter().map(|&word| word.to_owned()).collect(),
    };
    assert_eq!(named("is «Word0» a word3? a Word0!"), held(&["Word0"]));
    assert_eq!(named("another question"), held(&[]));
}

#[test]
fn words_that_stand_everywhere_say_nothing() {
    let words = [word(900, true), word(950, true)];
    let judged = |similarity: Option<Similarity>| {
        Evidence::of(&Seen { only_common: true, ..seen(&words, similarity) }, Some(&calibration()))
    };
    let evidence = judged(None);
    assert_eq!((evidence.level, evidence.words.unwrap().reason), (Level::None, WordsReason::OnlyCommon));
    assert_eq!(judged(Some(similarity(0.65, false))).level, Level::None);
    assert_eq!(judged(Some(similarity(0.8, false))).level, Level::Weak);
}

#[test]
fn two_legs_outweigh_each_other() {
    let (all, some, nothing) =
        ([word(3, true), word(2, true)], [word(3, true), word(0, false)], [word(0, false), word(0, false)]);
    for alone in [false, true] {
        let level = |words: &[KnownWord], best| judged(words, similarity(best, alone)).level;
        assert_eq!(level(&all, 0.75), Level::Enough);
        assert_eq!(level(&some, 0.67), Level::Weak);
        assert_eq!(level(&nothing, 0.62), Level::None);
        assert_eq!(level(&nothing, 0.50), Level::None);
        assert_eq!(level(&nothing, 0.64), Level::None);
        // A paraphrase without one word in common may still be an answer.
        assert_eq!(level(&nothing, 0.75), Level::Weak);
        assert!(level(&all, 0.55) < Level::Enough);
    }
}

#[test]
fn a_passage_that_has_every_word_is_worth_a_look() {
    let level = |words: &[KnownWord]| judged(words, similarity(0.4, false)).level;
    assert_eq!(level(&[word(40, true)]), Level::Weak);
    assert_eq!(level(&[word(40, true), word(2, false)]), Level::None);
}

#[test]
fn what_a_model_cannot_read_counts_for_nothing() {
    let cannot = |best| Similarity { best, can_read: false, alone: true };
    let evidence = judged(&[word(0, false)], cannot(0.9));
    assert_eq!((evidence.level, evidence.similarity.unwrap().level), (Level::None, Level::Weak));
    assert_eq!(judged(&[word(3, true), word(2, true)], cannot(0.1)).level, Level::Enough);
}

#[test]
fn what_was_not_measured_is_weak_and_says_so() {
    let words = [word(0, false)];
    let older = Calibration { method: "other/1".to_owned(), ..calibration() };
    for calibration in [None, Some(&older)] {
        let evidence = Evidence::of(&seen(&words, similarity(0.9, false)), calibration);
        assert_eq!((evidence.level, evidence.reason), (Level::Weak, Reason::NotMeasured));
        assert_eq!(evidence.words.unwrap().bounds, None);
    }
}

#[test]
fn a_literal_decides() {
    let literals = crate::exact::literals("ERR_CONN_7781");
    let judged = |words: &[KnownWord], text: &str| {
        let seen = Seen { exact: Exact::of(&literals, text), ..seen(words, similarity(0.9, false)) };
        let evidence = Evidence::of(&seen, Some(&calibration()));
        (evidence.level, evidence.reason)
    };
    let parts = [word(300, true), word(250, true), word(0, false)];
    assert_eq!(judged(&parts, "it says ERR_CONN_7781"), (Level::Enough, Reason::LiteralHeld));
    assert_eq!(judged(&[word(3, true)], "it says ERR_CONN_7782"), (Level::Weak, Reason::LiteralAbsent));
    // However close a model finds another.
    assert_eq!(judged(&parts, "it says ERR_CONN_7782"), (Level::None, Reason::LiteralAbsent));
}

#[test]
fn a_tenth_that_changed_makes_it_stale() {
    let changed = |changed| Calibration { changed, ..calibration() }.is_stale();
    assert!(!changed(0) && !changed(99) && changed(100) && changed(u32::MAX));
    assert!(Calibration { method: "other/1".to_owned(), ..calibration() }.is_stale());
}

#[test]
fn bounds_that_are_no_bounds_do_no_harm() {
    for (none_below, enough_from) in [(0.5, 0.5), (0.7, 0.2), (0.0, 0.0)] {
        let place = Bounds { none_below, enough_from }.place(none_below);
        assert!(place.abs() < 1e-9, "{place}");
        let bounds = Bounds { none_below, enough_from };
        assert!(bounds.place(9.0) <= FURTHEST.1 && bounds.place(-9.0) >= FURTHEST.0);
    }
}
