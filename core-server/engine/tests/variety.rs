//! Answers from collections with copies and with a document that would fill the list.

#![expect(clippy::expect_used, reason = "what a test cannot do without should end it and say so")]

#[path = "verdicts/fixture.rs"]
mod fixture;

use engine::citation::Verdict;
use engine::engine::Engine;
use engine::filter::{Filter, Paths};
use engine::query::{Caller, Mode, Reach, Search, SearchAnswer};
use engine::stop::Stop;

use self::fixture::World;

const WRONG: &str = "The valve is opened with the red lever, says the old valve manual.";
const RIGHT: &str = "Open the valve with the blue wheel; the lever was removed in spring.";

fn world(sources: &[(String, Vec<String>)]) -> World {
    let world = World::new();
    for (source, texts) in sources {
        world.write(source, texts.join("\n\n"));
    }
    let texts: Vec<(&str, Vec<&str>)> = sources
        .iter()
        .map(|(source, texts)| (source.as_str(), texts.iter().map(String::as_str).collect()))
        .collect();
    let sources: Vec<(&str, &[&str])> = texts.iter().map(|(source, texts)| (*source, &texts[..])).collect();
    world.publish(&sources);
    world
}

/// So many copies of the wrong document, and the right one.
fn copies(count: usize) -> World {
    let mut sources: Vec<_> =
        (0..count).map(|number| (format!("old/{number:03}.md"), vec![WRONG.to_owned()])).collect();
    sources.push(("new.md".to_owned(), vec![RIGHT.to_owned()]));
    world(&sources)
}

fn ask(engine: &Engine, search: &Search) -> SearchAnswer {
    engine.search(search, &Caller::default(), &Stop::never()).expect("answered")
}

fn question(query: &str, top_k: usize) -> Search {
    Search { mode: Some(Mode::Bm25), top_k, ..Search::new(query) }
}

fn sources(answer: &SearchAnswer) -> Vec<&str> {
    answer.hits.iter().map(|hit| hit.passage.citation.source.as_str()).collect()
}

#[test]
fn twenty_copies_of_a_wrong_document_are_one_hit_with_all_its_places() {
    let world = copies(20);
    let answer = ask(&world.engine(), &question("old valve lever manual", 5));
    assert_eq!(answer.hits.len(), 2, "{:?}", sources(&answer));
    assert_eq!(answer.hits[1].passage.text.as_deref(), Some(RIGHT));
    let wrong = &answer.hits[0];
    let mut places: Vec<&str> = wrong.also_at.listed.iter().map(|place| place.source.as_str()).collect();
    assert!(places.is_sorted() && wrong.also_at.count == 19);
    places.push(&wrong.passage.citation.source);
    places.sort_unstable();
    assert_eq!(places, (0..20).map(|number| format!("old/{number:03}.md")).collect::<Vec<_>>());
    assert_eq!(answer.hits[1].also_at.count, 0);
}

#[test]
fn more_copies_than_candidates_do_not_hide_the_rest() {
    let world = copies(400);
    let answer = ask(&world.engine(), &question("old valve lever manual", 5));
    assert_eq!(answer.hits.len(), 2, "{:?}", sources(&answer));
    assert_eq!(answer.hits[1].passage.citation.source, "new.md");
    assert_eq!((answer.hits[0].also_at.listed.len(), answer.hits[0].also_at.count), (20, 399));
}

#[test]
fn only_places_that_the_filter_leaves_are_told() {
    let world = copies(20);
    let filter = Filter { paths: Paths::new(&["old/00*.md"]).expect("globs"), ..Filter::default() };
    let answer = ask(&world.engine(), &Search { filter, ..question("valve lever", 5) });
    assert_eq!((answer.hits.len(), answer.hits[0].also_at.count), (1, 9));
}

/// Where the hit with the wrong text is cited, whether it stands, and where else it is said to stand.
fn cited(answer: &SearchAnswer) -> (&str, Verdict, Vec<&str>) {
    let wrong = &answer.hits[0];
    let also = wrong.also_at.listed.iter().map(|place| place.source.as_str()).collect();
    (&wrong.passage.citation.source, wrong.passage.verdict, also)
}

#[test]
fn a_copy_that_stands_is_cited_where_one_does() {
    let world = copies(3);
    let engine = world.engine();
    let asked = question("old valve lever manual", 1);
    let all = ["old/000.md", "old/001.md", "old/002.md"];
    let others = |source: &str| all.into_iter().filter(|other| *other != source).collect::<Vec<_>>();
    let mut gone: Vec<String> = Vec::new();
    for _ in 0..3 {
        let answer = ask(&engine, &asked);
        let (source, verdict, also) = cited(&answer);
        assert_eq!((verdict, also), (Verdict::Verified, others(source)), "{gone:?}");
        assert_eq!((answer.hits[0].passage.text.as_deref(), &answer.notices[..]), (Some(WRONG), &[][..]));
        assert!(!gone.contains(&source.to_owned()), "{source}");
        world.write(source, "Nothing is said of it any more.");
        gone.push(source.to_owned());
    }
    let answer = ask(&engine, &asked);
    assert_eq!(cited(&answer), (gone[0].as_str(), Verdict::Drifted, others(&gone[0])));
    assert_eq!(answer.notices.len(), 1);
}

#[test]
fn a_copy_is_cited_in_its_own_name_where_the_first_was_removed() {
    let world = copies(3);
    let engine = world.engine();
    let asked = question("old valve lever manual", 1);
    let first = cited(&ask(&engine, &asked)).0.to_owned();
    std::fs::remove_file(world.root().join(&first)).expect("removed");
    let answer = ask(&engine, &asked);
    let (source, verdict, also) = cited(&answer);
    assert_eq!((verdict, also.len(), also.contains(&source)), (Verdict::Verified, 2, false));
    assert!(also.contains(&first.as_str()));
}

#[test]
fn what_stands_beside_a_hit_is_from_the_copy_that_is_cited() {
    let texts = |end: &str| vec![WRONG.to_owned(), format!("Of the lid: {end}.")];
    let world = world(&[("a.md".to_owned(), texts("green")), ("b.md".to_owned(), texts("blue"))]);
    let engine = world.engine();
    let asked =
        Search { reach: Reach { neighbors: 1, section: false }, ..question("old valve lever manual", 1) };
    let first = ask(&engine, &asked);
    world.write(cited(&first).0, "Nothing is said of it any more.");
    let answer = ask(&engine, &asked);
    let (source, verdict, also) = cited(&answer);
    assert_eq!((verdict, also), (Verdict::Verified, vec![cited(&first).0]));
    let beside = &answer.hits[0].neighbors[0].passage;
    assert_eq!((beside.citation.source.as_str(), beside.verdict), (source, Verdict::Verified));
}

#[test]
fn who_wants_no_check_is_given_the_copy_that_was_ranked() {
    let world = copies(3);
    let engine = world.engine();
    let asked = Search { verify: false, ..question("old valve lever manual", 1) };
    let source = cited(&ask(&engine, &asked)).0.to_owned();
    world.write(&source, "Nothing is said of it any more.");
    assert_eq!(cited(&ask(&engine, &asked)).0, source);
}

/// A long document that has all of the question's words again and again, and short ones that have most of them.
fn manual() -> World {
    let passage = |number: usize| {
        format!("Valve and lever, part {number}: how the valve is opened. {}", "More. ".repeat(number))
    };
    let mut sources = vec![("manual.md".to_owned(), (0..30).map(passage).collect::<Vec<_>>())];
    for name in ["a", "b", "c"] {
        sources.push((
            format!("{name}.md"),
            vec![format!("The valve {name} is opened with a lever by hand, every day.")],
        ));
    }
    world(&sources)
}

#[test]
fn a_document_does_not_fill_the_list_while_others_answer_too() {
    let world = manual();
    let answer = ask(&world.engine(), &question("valve lever opened", 5));
    let of_manual = sources(&answer).iter().filter(|source| **source == "manual.md").count();
    assert!((1..4).contains(&of_manual), "{:?}", sources(&answer));
    assert!(answer.hits.is_sorted_by(|left, right| left.score >= right.score));
    let nth: Vec<u32> = answer
        .hits
        .iter()
        .filter(|hit| hit.passage.citation.source == "manual.md")
        .map(|hit| hit.nth_of_document)
        .collect();
    assert_eq!(nth, (1..).take(nth.len()).collect::<Vec<_>>());
    // With nobody else, it has the list to itself.
    let alone = ask(&world.engine(), &question("part", 5));
    assert_eq!(sources(&alone), ["manual.md"; 5]);
}

#[test]
fn the_first_five_of_fifty_are_the_five_of_five() {
    for world in [manual(), copies(30), copies(90)] {
        let engine = world.engine();
        let hits = |top_k| ask(&engine, &question("the valve is opened with a lever", top_k)).hits;
        let (five, fifty) = (hits(5), hits(50));
        assert_eq!(five[..], fifty[..five.len()]);
    }
}
