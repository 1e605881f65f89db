//! Ids hang on the corpus alone, and an edit costs what it touches.

use std::collections::BTreeSet;

use serde_json::Value;
use tests::World;
use tests::documents::{RECIPE, RUNBOOK, manual};

fn corpus(world: &World) {
    world.write("runbook.md", RUNBOOK);
    world.write("kitchen/bread.md", RECIPE);
    world.write("manual.md", manual("pump", 12));
    world.write("twice.md", "# A\n\nthe same valve\n\n# A\n\nthe same valve\n");
}

/// Ids and texts of all hits of a question that every document answers.
fn ids(world: &World) -> BTreeSet<(String, String)> {
    ["drain", "dough", "valve", "pumpvalve3", "pumpvalve11"]
        .into_iter()
        .flat_map(|query| {
            let answer = world.search(&["--mode", "bm25", "--top-k", "50", "--max-bytes", "1048576", query]);
            answer["hits"].as_array().unwrap().clone()
        })
        .map(|hit| (hit["chunk_id"].as_str().unwrap().to_owned(), hit["citation"]["source"].to_string()))
        .collect()
}

#[test]
fn two_processes_give_the_same_corpus_the_same_ids_with_and_without_a_model() {
    let without = World::new();
    let with = World::with_hashing_model();
    for world in [&without, &with] {
        corpus(world);
        world.ingest();
    }
    assert_eq!(ids(&without), ids(&with));
    assert!(ids(&with).len() >= 5);
}

#[test]
fn a_model_installed_later_embeds_everything_under_the_same_ids() {
    let world = World::new();
    corpus(&world);
    let summary = world.ingest();
    assert_eq!(summary["vectors"], false, "{summary:#}");
    let before = ids(&world);
    let run = world.footnote(["search", "--json", "--collection", "docs", "--mode", "dense", "drain"]);
    assert_eq!(run.code, 5, "{run}");
    assert!(run.stderr.contains("mode_unavailable"), "{run}");

    world.install_hashing_model();
    let summary = world.ingest_with(&["--model", "hashing"]);
    assert_eq!(summary["embedded"], summary["chunks"], "{summary:#}");
    assert_eq!(ids(&world), before);
    tests::wait::until(20, "hybrid answers", || (world.search(&["drain"])["mode"] == "hybrid").then_some(()));
}

#[test]
fn one_line_in_front_of_two_thousand_embeds_three_chunks_at_most() {
    let world = World::with_hashing_model();
    let entry = |n: usize| {
        format!("entry {n}: station {} reported {} at gauge {}\n", n * 17 % 101, n * 31 % 997, n * 7 % 89)
    };
    let lines: String = (0..2000).map(entry).collect::<Vec<_>>().concat();
    for name in ["plain.txt", "flat.md", "table.py"] {
        // Each text is its own: one that was embedded under another name would cost nothing.
        let lines = lines.replace("station", name);
        world.write(name, &lines);
        world.ingest();
        world.write(name, format!("a new first line about nothing in particular\n{lines}"));
        let summary = world.ingest();
        let embedded = summary["embedded"].as_u64().unwrap();
        assert!((1..=3).contains(&embedded), "{name}: {embedded} embedded");
    }
}

#[test]
fn an_edit_in_one_section_embeds_that_section_and_two_more_at_most() {
    let world = World::with_hashing_model();
    let text = manual("pump", 60);
    world.write("manual.md", &text);
    let first = world.ingest();
    assert!(first["embedded"].as_u64().unwrap() > 10, "{first:#}");
    world.write("manual.md", text.replace("pumpvalve30 regulates", "pumpvalve30 no longer regulates"));
    let second = world.ingest();
    assert!((1..=3).contains(&second["embedded"].as_u64().unwrap()), "{second:#}");
}

#[test]
fn an_unchanged_folder_publishes_nothing() {
    let world = World::with_hashing_model();
    corpus(&world);
    let generation = |summary: &Value| summary["generation"].as_u64().unwrap();
    let first = world.ingest();
    // A file changed within two seconds before it was seen is read again, which must not show either.
    let second = world.ingest();
    assert_eq!(generation(&first), generation(&second), "{second:#}");
    assert_eq!(second["embedded"], 0);
}
