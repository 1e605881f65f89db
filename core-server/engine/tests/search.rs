//! Answers to questions, from real files and a whole index without vectors.

#![expect(clippy::expect_used, reason = "what a test cannot do without should end it and say so")]

#[path = "verdicts/fixture.rs"]
mod fixture;

use engine::citation::{Reason, Verdict};
use engine::error::ModeObstacle;
use engine::filter::{Filter, Paths, Period, Tag};
use engine::generation::GenerationId;
use engine::query::{Caller, Left, Mode, Notice, ScoreScale, Search, SearchAnswer, Truncation};
use engine::stop::Stop;
use engine::{Error, Result};

use self::fixture::{World, chunk_id};

const LEFT: &str = "Open the left valve slowly.";
const RIGHT: &str = "Close the right valve.";
const LEAD: &str = "Call the shift lead.";

fn world() -> World {
    let world = World::new();
    world.write("a.md", format!("{LEFT}\n\n{RIGHT}\n"));
    world.write("b.md", LEAD);
    world.publish(&[("a.md", &[LEFT, RIGHT]), ("b.md", &[LEAD])]);
    world
}

fn question(query: &str) -> Search {
    Search { max_bytes: 24_576, ..Search::new(query) }
}

fn ask(world: &World, search: &Search) -> Result<SearchAnswer> {
    world.engine().search(search, &Caller::default(), &Stop::never())
}

fn answer(world: &World, search: &Search) -> SearchAnswer {
    ask(world, search).expect("answered")
}

fn texts(answer: &SearchAnswer) -> Vec<&str> {
    answer.hits.iter().filter_map(|hit| hit.passage.text.as_deref()).collect()
}

#[test]
fn the_best_passage_comes_first_and_is_verified() {
    let answer = answer(&world(), &question("closing the valve on the right"));
    assert_eq!(texts(&answer), [RIGHT, LEFT]);
    let first = &answer.hits[0];
    assert_eq!(first.passage.chunk_id, chunk_id("a.md", RIGHT, 0));
    assert_eq!((first.passage.verdict, first.score_scale), (Verdict::Verified, ScoreScale::Bm25));
    let place = first.bm25.expect("a place");
    assert_eq!((place.rank, place.score), (1, first.score));
    assert_eq!((answer.truncated, answer.mode), (None, Mode::Bm25));
}

#[test]
fn without_vectors_words_are_ranked_and_a_notice_says_so() {
    let world = world();
    assert_eq!(answer(&world, &question("valve")).notices, [Notice::NoVectors]);
    let asked = Search { mode: Some(Mode::Bm25), ..question("valve") };
    assert_eq!(answer(&world, &asked).notices, []);
    for mode in [Mode::Hybrid, Mode::Dense] {
        let refused = ask(&world, &Search { mode: Some(mode), ..question("valve") });
        assert!(matches!(refused, Err(Error::ModeUnavailable { why: ModeObstacle::NoVectors, .. })));
    }
}

#[test]
fn a_passage_that_is_no_longer_there_has_no_text_and_a_notice() {
    let world = world();
    world.write("a.md", format!("{LEFT}\n\nClose the wrong valve!\n"));
    let answer = answer(&world, &question("close the right valve"));
    let passage = &answer.hits[0].passage;
    assert_eq!((passage.verdict, passage.text.as_deref()), (Verdict::Drifted, None));
    assert_eq!(passage.indexed_text.as_deref(), Some(RIGHT));
    assert_eq!(
        answer.notices,
        [Notice::NoVectors, Notice::NotVerified { counts: vec![(Verdict::Drifted, 1)] }]
    );
}

#[test]
fn what_was_not_to_be_checked_is_not_checked() {
    let answer = answer(&world(), &Search { verify: false, ..question("valve") });
    let all = answer.hits.iter().all(|hit| hit.passage.reason == Reason::NotRequested);
    assert!(all && answer.hits.len() == 2);
}

#[test]
fn hits_that_do_not_fit_are_counted_and_the_first_always_fits() {
    let world = world();
    let both = u32::try_from(LEFT.len() + RIGHT.len()).expect("short");
    for (max_bytes, hits) in [(both as usize, 2), (both as usize - 1, 1), (1, 1), (0, 1)] {
        let answer = answer(&world, &Search { max_bytes, ..question("right valve") });
        assert_eq!(answer.hits.len(), hits, "{max_bytes}");
        let truncated = (hits == 1).then_some(Truncation {
            total_hits: 2,
            returned_hits: 1,
            total_bytes: both,
            returned_bytes: u32::try_from(RIGHT.len()).expect("short"),
        });
        assert_eq!(answer.truncated, truncated, "{max_bytes}");
    }
}

#[test]
fn no_more_hits_than_asked_for() {
    let answer = answer(&world(), &Search { top_k: 1, ..question("right valve") });
    assert_eq!((texts(&answer), answer.truncated), (vec![RIGHT], None));
}

#[test]
fn a_question_without_a_known_word_has_no_hits() {
    for query in ["zebra", "?!", "\"", "(((", "AND"] {
        let answer = answer(&world(), &question(query));
        assert_eq!((answer.hits.len(), answer.truncated), (0, None), "{query}");
    }
}

#[test]
fn the_question_after_publishing_is_answered_from_what_was_published() {
    let world = world();
    let engine = world.engine();
    let ask = || engine.search(&question("lead"), &Caller::default(), &Stop::never()).expect("answered");
    assert_eq!(ask().generation, GenerationId::FIRST);
    world.write("b.md", "Call the team lead.");
    let second = world.publish(&[("b.md", &["Call the team lead."])]);
    let answer = ask();
    assert_eq!((answer.generation, texts(&answer)), (second, vec!["Call the team lead."]));
}

#[test]
fn a_search_that_nobody_waits_for_ends() {
    let stop = Stop::never();
    stop.cancel();
    let ended = world().engine().search(&question("valve"), &Caller::default(), &stop);
    assert!(matches!(ended, Err(Error::Cancelled)));
}

#[test]
fn a_filter_comes_before_the_best_are_taken() {
    let world = world();
    let filtered = |globs: &[&str], query: &str| {
        let filter = Filter { paths: Paths::new(globs).expect("globs"), ..Filter::default() };
        answer(&world, &Search { top_k: 1, mode: Some(Mode::Bm25), filter, ..question(query) })
    };
    // `a.md` answers better, twice.
    assert_eq!(texts(&filtered(&["b.md"], "right valve lead")), [LEAD]);
    assert_eq!(texts(&filtered(&["!a.md"], "right valve lead")), [LEAD]);
    let all = answer(&world, &Search { mode: Some(Mode::Bm25), ..question("lead") });
    let left = filtered(&["b.md"], "lead");
    assert_eq!(left.hits[0].score.to_bits(), all.hits[0].score.to_bits(), "a filter changes no score");
    assert_eq!(left.notices, []);
}

#[test]
fn a_filter_that_leaves_nothing_says_so() {
    let world = world();
    let nothing = [
        Filter { tags_any: vec![Tag::new("no-such-tag")], ..Filter::default() },
        Filter { paths: Paths::new(&["no/such/folder"]).expect("globs"), ..Filter::default() },
        Filter { dates: Period { from: "2000-01-01".parse().ok(), until: None }, ..Filter::default() },
    ];
    for filter in nothing {
        let answer = answer(&world, &Search { mode: Some(Mode::Bm25), filter, ..question("valve") });
        assert_eq!((answer.hits.len(), answer.notices), (0, vec![Notice::NothingLeft]));
    }
}

#[test]
fn who_asks_is_told_how_the_ranking_came_about() {
    let world = world();
    let filter = Filter { paths: Paths::new(&["a.md"]).expect("globs"), ..Filter::default() };
    let asked =
        Search { mode: Some(Mode::Bm25), filter, explain: true, ..question("right right valve lead") };
    let answer = answer(&world, &asked);
    let explanation = answer.explanation.expect("explained");
    assert_eq!((explanation.documents, explanation.chunks), (2, 3));
    assert_eq!(explanation.left, Some(Left { documents: 1, chunks: 2 }));
    assert_eq!((explanation.bm25_candidates, explanation.dense_candidates), (Some(2), None));
    assert_eq!((explanation.dense_weight, explanation.query_window), (None, None));
    let in_text = explanation.terms.iter().filter(|term| term.field == "words");
    let in_text: Vec<_> = in_text.map(|term| (term.text.as_str(), term.weight, term.chunks)).collect();
    assert_eq!(in_text, [("lead", 1.0, 1), ("right", 2.0, 1), ("valv", 1.0, 2)]);
    for hit in &answer.hits {
        let place = hit.bm25.expect("a place");
        assert_eq!((place.part.to_bits(), hit.window), (hit.score.to_bits(), None));
    }
    assert_eq!(self::answer(&world, &question("valve")).explanation, None);
}

#[test]
fn words_of_the_question_are_shown_where_the_text_stands() {
    let world = world();
    let shown = |answer: &SearchAnswer| -> Vec<Vec<String>> {
        let of_hit = |hit: &engine::query::Hit| {
            let text = hit.passage.text.as_deref().unwrap_or_default();
            let slice = |range: &engine::citation::ByteRange| {
                text[range.start as usize..range.end as usize].to_owned()
            };
            hit.highlights.iter().map(slice).collect()
        };
        answer.hits.iter().map(of_hit).collect()
    };
    assert_eq!(
        shown(&answer(&world, &question("the valves, right"))),
        [vec!["right", "valve"], vec!["valve"]]
    );
    world.write("a.md", "All of it is other text.");
    assert_eq!(shown(&answer(&world, &question("right valve"))), [vec![""; 0], vec![]]);
}
