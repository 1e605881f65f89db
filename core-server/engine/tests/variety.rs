//! Answers from collections with copies and with a document that would fill the list.

#![expect(clippy::expect_used, reason = "what a test cannot do without should end it and say so")]

#[path = "verdicts/fixture.rs"]
mod fixture;

use engine::engine::Engine;
use engine::filter::{Filter, Paths};
use engine::query::{Caller, Mode, Search, SearchAnswer};
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
