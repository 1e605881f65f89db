//! What stands beside a hit comes with it, once, checked like the hit, in the bytes that are left.

#![expect(clippy::expect_used, reason = "what a test cannot do without should end it and say so")]

#[path = "verdicts/fixture.rs"]
mod fixture;

use engine::citation::{Reason, Verdict};
use engine::query::{
    Caller, FetchChunk, Mode, Neighbor, Notice, PassageName, Reach, Search, SearchAnswer, Side, Truncation,
};
use engine::stop::Stop;

use self::fixture::{World, chunk_id};

const CHUNKS: [&str; 7] =
    ["zero alpha", "one bravo", "two charlie", "three delta", "four echo", "five foxtrot", "six golf"];

fn world() -> World {
    let world = World::new();
    world.write("long.md", CHUNKS.join("\n\n"));
    world.write("short.md", "only hotel");
    world.publish(&[("long.md", &CHUNKS), ("short.md", &["only hotel"])]);
    world
}

fn ask(world: &World, query: &str, neighbors: usize, max_bytes: usize) -> SearchAnswer {
    let reach = Reach { neighbors, section: false };
    let search = Search { mode: Some(Mode::Bm25), reach, max_bytes, ..Search::new(query) };
    world.engine().search(&search, &Caller::default(), &Stop::never()).expect("answered")
}

fn texts(neighbors: &[Neighbor], side: Side) -> Vec<&str> {
    let on_side = neighbors.iter().filter(|neighbor| neighbor.side == side);
    on_side.map(|neighbor| neighbor.passage.text.as_deref().expect("it stands")).collect()
}

/// The neighbours of each hit: before, after.
fn beside(answer: &SearchAnswer) -> Vec<(Vec<&str>, Vec<&str>)> {
    let sides = |neighbors| (texts(neighbors, Side::Before), texts(neighbors, Side::After));
    answer.hits.iter().map(|hit| sides(&hit.neighbors)).collect()
}

#[test]
fn a_hit_brings_what_stands_before_and_after_it() {
    let world = world();
    let empty = Vec::<&str>::new;
    for (query, neighbors, expected) in [
        ("delta", 0, (empty(), empty())),
        ("delta", 1, (vec![CHUNKS[2]], vec![CHUNKS[4]])),
        ("delta", 3, (CHUNKS[..3].to_vec(), CHUNKS[4..].to_vec())),
        ("alpha", 2, (empty(), CHUNKS[1..3].to_vec())),
        ("golf", 2, (CHUNKS[4..6].to_vec(), empty())),
        ("hotel", 3, (empty(), empty())),
    ] {
        let answer = ask(&world, query, neighbors, usize::MAX);
        assert_eq!(beside(&answer), [expected], "{query} {neighbors}");
        let neighbors = &answer.hits[0].neighbors;
        assert!(neighbors.iter().all(|neighbor| neighbor.passage.verdict == Verdict::Verified));
        assert_eq!(answer.truncated, None);
    }
}

#[test]
fn no_passage_stands_in_an_answer_twice() {
    let world = world();
    // Hits 1, 3 and 4: what lies between them is a neighbour of the better one alone.
    let answer = ask(&world, "bravo bravo bravo delta delta echo", 2, usize::MAX);
    let hits: Vec<_> = answer.hits.iter().filter_map(|hit| hit.passage.text.as_deref()).collect();
    assert_eq!(hits, [CHUNKS[1], CHUNKS[3], CHUNKS[4]]);
    assert_eq!(
        beside(&answer),
        [(vec![CHUNKS[0]], vec![CHUNKS[2]]), (vec![], vec![]), (vec![], vec![CHUNKS[5], CHUNKS[6]]),]
    );
}

#[test]
fn neighbours_have_a_standing_of_their_own() {
    let world = world();
    let changed = CHUNKS.join("\n\n").replace(CHUNKS[2], "two something else");
    world.write("long.md", changed);
    let answer = ask(&world, "delta", 1, usize::MAX);
    let [hit] = &answer.hits[..] else { panic!("one hit") };
    assert_eq!((hit.passage.verdict, hit.passage.reason), (Verdict::Relocated, Reason::Moved));
    let standings: Vec<_> = hit
        .neighbors
        .iter()
        .map(|neighbor| (neighbor.passage.verdict, neighbor.passage.text.is_some()))
        .collect();
    assert_eq!(standings, [(Verdict::Drifted, false), (Verdict::Relocated, true)]);
    assert_eq!(hit.neighbors[0].passage.indexed_text.as_deref(), Some(CHUNKS[2]));
    let reach = Reach { neighbors: 1, section: false };
    let unchecked = Search { reach, verify: false, mode: Some(Mode::Bm25), ..Search::new("delta") };
    let answer = world.engine().search(&unchecked, &Caller::default(), &Stop::never()).expect("answered");
    let not_checked = |neighbor: &Neighbor| neighbor.passage.reason == Reason::NotRequested;
    assert!(answer.hits[0].neighbors.iter().all(not_checked));
}

#[test]
fn neighbours_count_and_hits_come_before_them() {
    let world = world();
    let bytes = |texts: &[&str]| texts.iter().map(|text| text.len()).sum::<usize>();
    let all = bytes(&CHUNKS[1..6]);
    let answer = ask(&world, "delta", 2, all);
    assert_eq!(
        (beside(&answer), answer.truncated),
        (vec![(CHUNKS[1..3].to_vec(), CHUNKS[4..6].to_vec())], None)
    );
    // One byte less: the last is left out, and both totals are told.
    let answer = ask(&world, "delta", 2, all - 1);
    assert_eq!(beside(&answer), [(CHUNKS[1..3].to_vec(), vec![CHUNKS[4]])]);
    let number = |number: usize| u32::try_from(number).expect("small");
    let left_out = Truncation {
        total_hits: 1,
        returned_hits: 1,
        total_bytes: number(all),
        returned_bytes: number(all - CHUNKS[5].len()),
    };
    assert_eq!(answer.truncated, Some(left_out));
    // No neighbour takes the room of a hit, and none comes behind a gap.
    let two_hits = bytes(&[CHUNKS[1], CHUNKS[4]]);
    let answer = ask(&world, "bravo bravo echo", 2, two_hits + CHUNKS[0].len());
    assert_eq!(answer.hits.len(), 2);
    assert_eq!(beside(&answer), [(vec![CHUNKS[0]], vec![]), (vec![], vec![])]);
}

#[test]
fn a_fetched_passage_brings_those_of_its_own_generation() {
    let world = world();
    world.publish(&[("short.md", &["only hotel"])]);
    let passage = PassageName::Id(chunk_id("long.md", CHUNKS[5], 0));
    let fetch = FetchChunk { collection: None, passage, neighbors: 2 };
    let fetched = world.engine().fetch_chunk(&fetch, &Caller::default(), &Stop::never()).expect("fetched");
    assert!(fetched.found_in < fetched.generation);
    assert_eq!(texts(&fetched.neighbors, Side::Before), [CHUNKS[3], CHUNKS[4]]);
    assert_eq!(texts(&fetched.neighbors, Side::After), [CHUNKS[6]]);
    let generations = fetched.neighbors.iter().map(|neighbor| neighbor.passage.citation.generation);
    assert!(generations.into_iter().all(|generation| generation == fetched.found_in));
}

const SECTIONS: [&str; 8] = [
    "preamble alpha",
    "# Top\n\nbravo",
    "## One\n\ncharlie",
    "delta",
    "### Within\n\necho",
    "## Two\n\nfoxtrot",
    "golf",
    "hotel",
];

fn sections() -> World {
    let world = World::new();
    world.write("book.md", SECTIONS.join("\n\n"));
    world.publish(&[("book.md", &SECTIONS)]);
    world
}

fn ask_sections(world: &World, query: &str, neighbors: usize, max_bytes: usize) -> SearchAnswer {
    let reach = Reach { neighbors, section: true };
    let search = Search { mode: Some(Mode::Bm25), reach, max_bytes, ..Search::new(query) };
    world.engine().search(&search, &Caller::default(), &Stop::never()).expect("answered")
}

#[test]
fn a_hit_brings_its_section_with_those_within_it() {
    let world = sections();
    for (query, before, after) in [
        ("alpha", 0..0, 0..0),
        ("bravo", 0..0, 2..8),
        ("charlie", 0..0, 3..5),
        ("delta", 2..3, 4..5),
        ("echo", 0..0, 0..0),
        ("golf", 5..6, 7..8),
    ] {
        let answer = ask_sections(&world, query, 0, usize::MAX);
        assert_eq!(beside(&answer), [(SECTIONS[before].to_vec(), SECTIONS[after].to_vec())], "{query}");
        assert_eq!((answer.truncated, answer.notices), (None, vec![]), "{query}");
    }
    // Neighbours beyond the section come as well.
    let answer = ask_sections(&world, "delta", 2, usize::MAX);
    assert_eq!(beside(&answer), [(SECTIONS[1..3].to_vec(), SECTIONS[4..6].to_vec())]);
    // A document without headings is one section.
    let answer = ask_sections(&self::world(), "delta", 0, usize::MAX);
    assert_eq!(beside(&answer), [(CHUNKS[..3].to_vec(), CHUNKS[4..].to_vec())]);
}

#[test]
fn a_section_is_given_whole_or_not_at_all() {
    let world = sections();
    let bytes = |texts: &[&str]| texts.iter().map(|text| text.len()).sum::<usize>();
    let whole = bytes(&SECTIONS[2..5]);
    let answer = ask_sections(&world, "delta", 0, whole);
    assert_eq!(beside(&answer), [(vec![SECTIONS[2]], vec![SECTIONS[4]])]);
    assert_eq!(answer.notices, []);
    // One byte less: nothing of it, which is said; neighbours still come as far as they fit.
    for (neighbors, expected) in [(0, (vec![], vec![])), (1, (vec![SECTIONS[2]], vec![]))] {
        let answer = ask_sections(&world, "delta", neighbors, whole - 1);
        assert_eq!(beside(&answer), [expected]);
        assert_eq!(answer.notices, [Notice::SectionsLeftOut { hits: 1 }]);
    }
}

#[test]
fn hits_of_one_section_share_it() {
    let world = sections();
    let bytes = |texts: &[&str]| texts.iter().map(|text| text.len()).sum::<usize>();
    // The better hit is last in the section; the bytes suffice for both hits and the rest of it, and for nothing more.
    let answer = ask_sections(&world, "hotel hotel foxtrot", 0, bytes(&SECTIONS[5..8]));
    let hits: Vec<_> = answer.hits.iter().filter_map(|hit| hit.passage.text.as_deref()).collect();
    assert_eq!(hits, [SECTIONS[7], SECTIONS[5]]);
    assert_eq!(beside(&answer), [(vec![SECTIONS[6]], vec![]), (vec![], vec![])]);
    assert_eq!((answer.notices, answer.truncated), (vec![], None));
    // What lies beyond another hit comes with that one, and its room is not given away to a section in between.
    let answer = ask_sections(
        &world,
        "hotel hotel hotel delta delta golf",
        0,
        bytes(&SECTIONS[3..4]) + bytes(&SECTIONS[5..8]),
    );
    let hits: Vec<_> = answer.hits.iter().filter_map(|hit| hit.passage.text.as_deref()).collect();
    assert_eq!(hits, [SECTIONS[7], SECTIONS[3], SECTIONS[6]]);
    assert_eq!(beside(&answer), [(vec![], vec![]), (vec![], vec![]), (vec![SECTIONS[5]], vec![])]);
    assert_eq!(answer.notices, [Notice::SectionsLeftOut { hits: 1 }]);
}
