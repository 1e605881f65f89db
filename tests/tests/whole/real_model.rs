//! With the model that people get: meaning found where words do not meet.

use tests::World;
use tests::documents::{RECIPE, RUNBOOK};

#[test]
fn a_question_in_other_words_finds_its_passage_by_meaning() {
    let world = World::with_real_model();
    world.write("runbook.md", RUNBOOK);
    world.write("kitchen/bread.md", RECIPE);
    let summary = world.ingest();
    assert_eq!(summary["vectors"], true, "{summary:#}");
    for (query, source) in [
        ("how do I evacuate a machine before maintenance?", "runbook.md"),
        ("baking a loaf without wheat", "kitchen/bread.md"),
    ] {
        for mode in ["dense", "hybrid"] {
            let answer = world.search(&["--mode", mode, query]);
            let hit = &answer["hits"][0];
            assert_eq!(hit["citation"]["source"], source, "{mode}: {query}");
            assert_eq!(hit["verdict"], "verified");
        }
    }
    let status = world.footnote(["status", "docs", "--json"]).json();
    assert_eq!(status["model"]["name"], "bge-small-en-v1.5");
    assert_eq!(status["model"]["dimensions"], 384);
    assert_eq!(status["model_state"], "loaded");
}

#[test]
fn the_first_question_is_answered_while_the_model_loads() {
    let world = World::with_real_model();
    world.write("runbook.md", RUNBOOK);
    world.ingest();
    // The daemon is started by this very question, so nothing has been loaded before it.
    let answer = world.search(&["evacuate a machine"]);
    assert_eq!(answer["mode"], "hybrid");
    assert_eq!(answer["hits"][0]["verdict"], "verified");
}

#[test]
fn two_ingests_give_the_same_vectors_and_so_the_same_scores() {
    let answers = [0, 1].map(|_| {
        let world = World::with_real_model();
        world.write("runbook.md", RUNBOOK);
        world.write("kitchen/bread.md", RECIPE);
        world.ingest();
        let mut answer = world.search(&["moving leases off a node"]);
        answer["stats"] = serde_json::Value::Null;
        for hit in answer["hits"].as_array_mut().unwrap() {
            hit["citation"]["open_path"] = serde_json::Value::Null;
        }
        answer
    });
    assert_eq!(answers[0], answers[1]);
}

#[test]
fn the_runtime_keeps_nothing_about_the_person_and_calls_nobody() {
    let mut world = World::with_real_model();
    world.write("runbook.md", RUNBOOK);
    let mut ingest = world.command("footnote-index");
    ingest.arg("ingest").arg(world.docs()).args(["--collection", "docs"]);
    let log = world.home().join("ingest.strace");
    let run = tests::Run::of(&mut tests::strace::traced(&ingest, &["-e", "trace=connect"], &log));
    assert_eq!(run.code, 0, "{run}");
    let seen = std::fs::read_to_string(&log).unwrap();
    assert!(!seen.contains("AF_INET"), "{seen}");

    world.start_daemon(&[]);
    assert_eq!(world.search(&["--mode", "dense", "drain"])["hits"][0]["verdict"], "verified");
    assert!(!world.home().join(".cache").exists(), "the runtime left something in the home folder");
}
