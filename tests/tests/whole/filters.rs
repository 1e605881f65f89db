//! Filters over a real collection, in every mode and after edits; and what stands around an answer.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;
use tests::World;

struct Page {
    source: &'static str,
    tags: &'static str,
    date: &'static str,
    updated: &'static str,
}

const fn page(source: &'static str, tags: &'static str, date: &'static str, updated: &'static str) -> Page {
    Page { source, tags, date, updated }
}

const PAGES: [Page; 7] = [
    page("ops/pumps.md", "[valve, ops]", "2024-03-10", ""),
    page("ops/old/pumps.md", "[ops]", "2019-01-01", "2024-03-11"),
    page("ops/old/keep.md", "[ops, draft]", "", ""),
    page("guides/start.md", "[intro]", "2024-03-09", ""),
    page("guides/cafe\u{301}.md", "[caf\u{e9}]", "2024-03-10T23:30:00+02:00", ""),
    page("readme.md", "", "", "2024-03-10"),
    page("ops/notes.txt", "", "", ""),
];

fn write(world: &World, page: &Page) {
    let mut front = String::new();
    for (name, value) in [("tags", page.tags), ("date", page.date), ("updated", page.updated)] {
        if !value.is_empty() {
            writeln!(front, "{name}: {value}").unwrap();
        }
    }
    let front = if front.is_empty() { front } else { format!("---\n{front}---\n") };
    let name = page.source.replace(['/', '.'], " ");
    world.write(page.source, format!("{front}The valve of {name} opens slowly.\n"));
}

/// The sources of the hits in their order.
fn sources(answer: &Value) -> Vec<String> {
    let hits = answer["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["citation"]["source"].as_str().unwrap().to_owned()).collect()
}

fn hold(world: &World, flags: &[&str], expected: &[&str]) {
    for mode in ["bm25", "dense", "hybrid"] {
        let question = ["valve opens slowly", "--mode", mode, "--top-k", "50"];
        let all = sources(&world.search(&question));
        let filtered = world.search(&[&question[..], flags].concat());
        let found = sources(&filtered);
        let expected: BTreeSet<&str> = expected.iter().copied().collect();
        assert_eq!(found.iter().map(String::as_str).collect::<BTreeSet<_>>(), expected, "{mode} {flags:?}");
        if mode != "hybrid" {
            let left: Vec<_> = all.into_iter().filter(|source| expected.contains(source.as_str())).collect();
            assert_eq!(found, left, "{mode} {flags:?}: another order");
        }
        let said = filtered["notices"]
            .as_array()
            .unwrap()
            .iter()
            .any(|notice| notice["code"] == "filter_left_nothing");
        assert_eq!(said, expected.is_empty(), "{mode} {flags:?}");
    }
}

#[test]
fn a_filter_means_the_same_in_every_mode_and_after_edits() {
    let world = World::with_hashing_model();
    for page in &PAGES {
        write(&world, page);
    }
    world.ingest();
    let [pumps, old, keep, start, cafe, readme, notes] = PAGES.map(|page| page.source);
    hold(&world, &["--path", "ops"], &[pumps, old, keep, notes]);
    hold(&world, &["--path", "ops", "--path=!ops/old", "--path", "ops/old/keep.md"], &[pumps, keep, notes]);
    hold(&world, &["--path", "pumps.md"], &[pumps, old]);
    hold(&world, &["--path=!*.md"], &[notes]);
    hold(&world, &["--path", "guides/caf\u{e9}.md"], &[cafe]);
    hold(&world, &["--tag", "intro", "--tag", "draft"], &[keep, start]);
    hold(&world, &["--all-tags", "ops", "--all-tags", "draft"], &[keep]);
    hold(&world, &["--tag", "cafe\u{301}"], &[cafe]);
    hold(&world, &["--since", "2024-03-10", "--until", "2024-03-10"], &[pumps, cafe, readme]);
    hold(
        &world,
        &["--since", "2024-03-10T21:30:00Z", "--until", "2024-03-10T21:30:00Z"],
        &[pumps, cafe, readme],
    );
    hold(&world, &["--since", "2024-03-11"], &[old]);
    hold(&world, &["--until", "2019-12-31"], &[old]);
    hold(&world, &["--path", "ops", "--tag", "ops", "--since", "2020-01-01"], &[pumps, old]);
    for nothing in [["--tag", "nosuch"], ["--path", "nosuch/**"], ["--since", "2030-01-01"], ["--tag", "OPS"]]
    {
        hold(&world, &nothing, &[]);
    }
    // One gets another tag, one goes, one comes.
    write(&world, &page(pumps, "[intro]", "2031-01-01", ""));
    std::fs::remove_file(world.doc(start)).unwrap();
    write(&world, &page("guides/new.md", "[intro]", "", ""));
    world.ingest();
    hold(&world, &["--tag", "intro"], &[pumps, "guides/new.md"]);
    hold(&world, &["--tag", "valve"], &[]);
    hold(&world, &["--path", "guides"], &[cafe, "guides/new.md"]);
    hold(&world, &["--since", "2030-01-01"], &[pumps]);
}

#[test]
fn the_parts_of_the_legs_are_the_score_where_nothing_else_moves_it() {
    let world = World::with_hashing_model();
    world.write("manual.md", tests::documents::manual("harbour", 20));
    world.ingest();
    // Nothing in it is a name, and the first hit repeats no document.
    let answer = world.search(&["turn it and note the reading", "--top-k", "1", "--explain"]);
    let hit = &answer["hits"][0];
    let parts = [&hit["explanation"]["bm25_part"], &hit["explanation"]["dense_part"]];
    let sum: f64 = parts.iter().filter_map(|part| part.as_f64()).sum();
    assert!((hit["score"].as_f64().unwrap() - sum).abs() < 1e-9, "{hit:#}");
}

#[test]
fn a_person_sees_what_stands_beside_a_hit_and_why_it_is_one() {
    let world = World::with_hashing_model();
    world.write("manual.md", tests::documents::manual("harbour", 80));
    world.ingest();
    let asked = ["search", "-c", "docs", "harbourvalve40", "--top-k", "1", "--neighbors", "1", "--explain"];
    let run = world.footnote(asked);
    assert_eq!(run.code, 0, "{run}");
    for part in [
        "   before: docs/manual.md:",
        "   after: docs/manual.md:",
        "looked for",
        "harbourvalve40",
        "words weigh 0.",
        "what holds this literally comes first: harbourvalve40",
        "#1 harbourvalve40",
    ] {
        assert!(run.stdout.contains(part), "{part}: {run}");
    }
    let answer = world.search(&["harbourvalve40", "--top-k", "1", "--neighbors", "3", "--explain"]);
    let hit = &answer["hits"][0];
    let text = hit["text"].as_str().unwrap();
    let place = |offset: &Value| usize::try_from(offset.as_u64().unwrap()).unwrap();
    let highlights = hit["highlights"].as_array().unwrap();
    let shown = highlights.iter().map(|range| &text[place(&range["start"])..place(&range["end"])]);
    assert!(shown.collect::<Vec<_>>().contains(&"harbourvalve40"), "{hit:#}");
    assert_eq!(answer["explanation"]["documents"], 1);
    assert_eq!(hit["explanation"]["literals"], serde_json::json!(["harbourvalve40"]));
    assert_eq!(hit["explanation"]["literal_rank"], 1);
    // In the order of the document.
    let neighbors = hit["neighbors"].as_array().unwrap();
    let sides: Vec<_> = neighbors.iter().map(|neighbor| neighbor["side"].as_str().unwrap()).collect();
    assert!(sides.is_sorted_by(|left, right| left >= right), "{sides:?}");
    let starts = neighbors.iter().map(|neighbor| neighbor["citation"]["start_byte"].as_u64().unwrap());
    assert!(starts.is_sorted(), "{hit:#}");
    // The whole manual is one section, and too large for the smallest answer.
    let all = world.search(&["harbourvalve40", "--top-k", "1", "--section"]);
    assert!(all["hits"][0]["neighbors"].as_array().unwrap().len() > 6, "{all:#}");
    let small = world.search(&["harbourvalve40", "--top-k", "1", "--section", "--max-bytes", "1024"]);
    assert_eq!(small["hits"][0]["neighbors"], serde_json::json!([]));
    assert_eq!(small["notices"][0]["code"], "section_left_out", "{small:#}");
    let fetched =
        world.footnote(["fetch", "-c", "docs", "--neighbors", "1", hit["chunk_id"].as_str().unwrap()]);
    assert!(fetched.stdout.contains("before: docs/manual.md:"), "{fetched}");
}
