//! Whether there is an answer: asked of a synthetic corpus in every mode, and what it is held against.

use std::fs;

use serde_json::Value;
use tests::World;
use tests::documents::HANDBOOK;

const MODES: [&str; 3] = ["bm25", "dense", "hybrid"];

/// A word of syllables that nothing else is made of.
fn name(seed: usize) -> String {
    let syllable = |at: usize| {
        let number = seed.wrapping_mul(7919).wrapping_add(at * 104_729) >> (at * 2);
        format!(
            "{}{}",
            ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "t", "v"][number % 12],
            ["a", "e", "i", "o", "u"][number / 12 % 5]
        )
    };
    format!("{}{}{}q{seed}", syllable(0), syllable(1), syllable(2))
        .chars()
        .filter(char::is_ascii_alphabetic)
        .collect::<String>()
        + ["or", "um", "ix", "an"][seed % 4]
}

/// A machine that only this document is about.
fn document(number: usize) -> String {
    let (machine, part, place, helper) =
        (name(number), name(1000 + number), name(2000 + number), name(3000 + number % 9));
    format!(
        "# The {machine}\n\nThe {machine} is driven by the {part}, which stands in the {place} beside the {helper}. Whoever \
         opens it calls the shift lead first and waits until the pressure is gone.\n\n## Care\n\nThe {part} is \
         oiled every {number} days. Its filter is changed in the {place}, and the {helper} is cleaned with warm water. \
         The error E{number}_{part} means that the {part} runs hot.\n"
    )
}

fn write(world: &World, documents: std::ops::Range<usize>) {
    for number in documents {
        world.write(&format!("machines/{number:03}.md"), document(number));
    }
}

fn level(world: &World, mode: &str, query: &str) -> String {
    let answer = world.search(&["--mode", mode, "--", query]);
    answer["evidence"]["level"].as_str().unwrap().to_owned()
}

/// The manifest of the current generation.
fn manifest(world: &World) -> Value {
    let collection = world.index().join("docs");
    let current = fs::read_to_string(collection.join("CURRENT")).unwrap();
    let path = collection.join("generations").join(&current[..8]).join("manifest.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// What the handbook answers, in its words and in others.
const ANSWERED: [&str; 10] = [
    "how long are backups kept",
    "what happens to a message that fails too often",
    "where do I find the door code",
    "who approves a change to billing",
    "when does the worker pool grow",
    "how many vacation days do we get",
    "my laptop was stolen, what now",
    "how do I go back to the last good release",
    "where are passwords stored",
    "when are TLS certificates renewed",
];

/// What it does not: other subjects, nobody's words, words that say nothing, scripts that nothing here is in, names that
/// do not occur.
const UNANSWERED: [&str; 15] = [
    "recipe for sourdough bread with olives",
    "who painted the Mona Lisa",
    "cheapest flights from Lisbon to Tokyo",
    "why do cats purr",
    "flurbish zandoodle",
    "zorblax quuxly vimfrotz",
    "xyzzy",
    "what is the flurbish of a zandoodle",
    "the of and to in",
    "what is it",
    "怎样做红烧肉",
    "дешёвые билеты в оперу",
    "วิธีทำขนมปัง",
    "ERR_NOT_HERE_4711",
    "parseFooBarBaz",
];

#[test]
fn what_is_answered_is_told_from_what_is_not_in_every_mode() {
    let world = World::with_real_model();
    for (source, text) in HANDBOOK {
        world.write(source, text);
    }
    world.ingest();
    let is_not = |mode: &str, wanted: &str, queries: &[&'static str]| -> Vec<&str> {
        queries.iter().copied().filter(|query| level(&world, mode, query) != wanted).collect()
    };
    let is = |mode: &str, level_of: &str, queries: &[&'static str]| -> Vec<&str> {
        queries.iter().copied().filter(|query| level(&world, mode, query) == level_of).collect()
    };
    assert_eq!(is("hybrid", "none", &ANSWERED), [""; 0]);
    assert_eq!(is("dense", "none", &ANSWERED), [""; 0]);
    // Words alone do not see an answer in other words: two questions of this kind are among them.
    assert!(is("bm25", "none", &ANSWERED).len() <= 2, "{:?}", is("bm25", "none", &ANSWERED));
    assert!(is("hybrid", "enough", &ANSWERED).len() >= 5, "{:?}", is("hybrid", "enough", &ANSWERED));
    for mode in MODES {
        assert_eq!(is_not(mode, "none", &UNANSWERED), [""; 0], "{mode}");
        // A word that one page has is worth a look, whatever stands beside it.
        assert_ne!(level(&world, mode, "flurbish zandoodle canary"), "enough", "{mode}");
        assert_ne!(level(&world, mode, "percentile"), "none", "{mode}");
    }
    for mode in ["bm25", "hybrid"] {
        for present in ["ERR_QUEUE_7781", "what does ERR_QUEUE_7781 mean", "\"the dead letter queue\""] {
            assert_eq!(level(&world, mode, present), "enough", "{mode}: {present}");
        }
        assert_ne!(level(&world, mode, "what does ERR_QUEUE_7782 mean"), "enough", "{mode}");
    }
}

#[test]
fn a_reranker_changes_nothing_about_it() {
    let world = World::with_real_model();
    for (source, text) in HANDBOOK {
        world.write(source, text);
    }
    world.ingest();
    for query in ["how long are backups kept", "recipe for sourdough bread with olives", "flurbish zandoodle"]
    {
        for mode in MODES {
            let evidence = |flags: &[&str]| {
                world.search(&[flags, &["--mode", mode, "--", query]].concat())["evidence"].clone()
            };
            assert_eq!(evidence(&["--rerank"]), evidence(&[]), "{mode}: {query}");
        }
    }
}

#[test]
fn what_is_not_in_the_documents_is_named() {
    let world = World::with_hashing_model();
    world.write("pump.md", "# Pump\n\nOpen the left valve slowly before the circulation pump starts.\n");
    world.ingest();
    let reason = |query: &str| {
        let answer = world.search(&["--mode", "bm25", "--", query]);
        answer["evidence"]["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        reason("does Flurbish start the pump"),
        "a passage has 2 of the question's 3 words, and nothing here has Flurbish"
    );
    assert_eq!(reason("the left valve"), "a passage has 2 of the question's 2 words");
    // Where nothing is found there is nothing to judge.
    assert_eq!(reason("Flurbish"), "nothing is found");
}

#[test]
fn an_empty_collection_has_no_evidence() {
    let world = World::with_hashing_model();
    world.write("pump.md", "# Pump\n\nOpen the left valve.\n");
    world.ingest();
    fs::remove_file(world.docs().join("pump.md")).unwrap();
    world.ingest();
    assert_eq!(manifest(&world)["chunks"], 0);
    for mode in MODES {
        assert_eq!(level(&world, mode, "which valve is opened"), "none", "{mode}");
    }
}

#[test]
fn reasons_are_given_for_each_leg_and_by_every_front_that_shows_text() {
    let world = World::with_hashing_model();
    write(&world, 0..40);
    world.ingest();
    let evidence =
        world.search(&["--mode", "hybrid", "--", "sourdough bread of the shift lead"])["evidence"].clone();
    for leg in ["bm25", "dense"] {
        assert!(!evidence[leg]["reason"].as_str().unwrap().is_empty(), "{evidence:#}");
        let bound = |name: &str| evidence[leg][name].as_f64().unwrap();
        assert!(bound("none_below") <= bound("enough_from"), "{evidence:#}");
    }
    assert_eq!(world.search(&["--mode", "bm25", "--", "sourdough"])["evidence"].get("dense"), None);
    let said = world.footnote(["search", "--collection", "docs", "what is said of sourdough bread"]);
    assert!(said.to_string().contains("nothing here"), "{said}");
}

#[test]
fn evidence_is_of_what_the_filter_leaves() {
    let world = World::with_hashing_model();
    write(&world, 0..40);
    world.ingest();
    let query = format!("what is the {} driven by in the {}", name(7), name(2007));
    for mode in MODES {
        let with = |path: &str| {
            let answer = world.search(&["--mode", mode, "--path", path, "--", &query]);
            answer["evidence"]["level"].as_str().unwrap().to_owned()
        };
        assert_ne!(with("machines/007.md"), "none", "{mode}");
        assert_ne!(with("machines/02?.md"), "enough", "{mode}");
        let answer = world.search(&["--mode", mode, "--path", "nowhere/**", "--", &query]);
        assert_eq!(answer["evidence"]["level"], "none", "{mode}");
        assert_eq!(answer["evidence"]["reason"], "nothing is found", "{mode}");
    }
}

#[test]
fn how_much_is_asked_for_changes_nothing() {
    let world = World::with_hashing_model();
    write(&world, 0..40);
    for copy in 0..250 {
        world.write(
            &format!("copies/{copy}.md"),
            "# Notice\n\nWho opens the pump calls the shift lead first.\n",
        );
    }
    world.ingest();
    let questions = [
        format!("what is the {} driven by", name(7)),
        "who calls the shift lead before the pump is opened".to_owned(),
        "recipe for sourdough bread with olives".to_owned(),
        format!("what does E6_{} mean", name(1006)),
    ];
    for mode in MODES {
        for query in &questions {
            let evidence = |flags: &[&str]| {
                let flags = [&["--mode", mode], flags, &["--", query]].concat();
                world.search(&flags)["evidence"].clone()
            };
            let plain = evidence(&[]);
            for flags in [["--top-k", "1"], ["--top-k", "2"], ["--top-k", "50"], ["--max-bytes", "1024"]] {
                assert_eq!(evidence(&flags), plain, "{mode}: {query}: {flags:?}");
            }
        }
    }
}

#[test]
fn a_collection_is_measured_once_until_a_tenth_of_it_changed() {
    let world = World::with_hashing_model();
    write(&world, 0..40);
    world.ingest();
    let first = manifest(&world)["evidence"].clone();
    assert_eq!(first["changed"], 0, "{first:#}");
    assert!(first["similarity"]["none_below"].is_number(), "{first:#}");

    world.write("machines/000.md", document(100));
    world.ingest();
    let second = manifest(&world)["evidence"].clone();
    assert_ne!(second["changed"], 0, "{second:#}");
    for kept in ["words", "similarity", "chunks"] {
        assert_eq!(second[kept], first[kept], "{kept}");
    }

    write(&world, 40..46);
    world.ingest();
    let third = manifest(&world);
    assert_eq!(third["evidence"]["changed"], 0, "{:#}", third["evidence"]);
    assert_eq!(third["evidence"]["chunks"], third["chunks"]);
}

#[test]
fn the_same_corpus_is_measured_alike() {
    let measured = || {
        let world = World::with_hashing_model();
        write(&world, 0..30);
        world.ingest();
        manifest(&world)["evidence"].clone()
    };
    assert_eq!(measured(), measured());
}

#[test]
fn vectors_that_come_later_are_measured_then() {
    let world = World::with_hashing_model();
    write(&world, 0..30);
    world.ingest_with(&["--no-model"]);
    let before = manifest(&world)["evidence"].clone();
    assert!(before["similarity"].is_null(), "{before:#}");
    world.ingest();
    let after = manifest(&world)["evidence"].clone();
    assert_eq!(after["words"], before["words"]);
    assert!(after["similarity"]["none_below"].is_number(), "{after:#}");
}

#[test]
fn a_few_documents_are_judged_by_fixed_rules() {
    let world = World::with_hashing_model();
    world.write("pump.md", "# Pump\n\nOpen the left valve slowly before the circulation pump starts.\n");
    world.write("lamp.md", "# Lamp\n\nThe lamp of the stairs is switched off at ten.\n");
    world.ingest();
    assert_eq!(manifest(&world)["evidence"]["words"]["none_below"], 0.25);
    for mode in MODES {
        assert_eq!(level(&world, mode, "zorblax quuxly"), "none", "{mode}");
        assert_ne!(
            level(&world, mode, "which valve is opened before the circulation pump starts"),
            "none",
            "{mode}"
        );
    }
}
