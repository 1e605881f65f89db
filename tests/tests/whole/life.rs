//! A document's life: asked, edited, moved, renamed, deleted, and asked about by its old name.

use std::fs::{self, File, FileTimes};

use serde_json::Value;
use tests::World;
use tests::documents::{RECIPE, RUNBOOK};

const DRAIN: &str = "drain stuck on a volume";

fn world() -> World {
    let world = World::with_hashing_model();
    world.write("runbook.md", RUNBOOK);
    world.write("kitchen/bread.md", RECIPE);
    world.ingest();
    world
}

fn top(answer: &Value) -> &Value {
    answer["hits"].get(0).unwrap_or_else(|| panic!("no hit in {answer:#}"))
}

#[test]
fn every_mode_finds_the_passage_and_verifies_it() {
    let world = world();
    for mode in ["hybrid", "bm25", "dense"] {
        let answer = world.search(&["--mode", mode, DRAIN]);
        let hit = top(&answer);
        assert_eq!(answer["mode"], mode);
        assert_eq!(hit["citation"]["source"], "runbook.md", "{mode}");
        assert_eq!(
            (hit["verdict"].as_str(), hit["reason"].as_str()),
            (Some("verified"), Some("bytes_equal"))
        );
        assert!(hit["text"].as_str().unwrap().contains("is stuck on a volume"), "{mode}");
        assert_eq!(hit["bm25_rank"].is_u64(), mode != "dense", "{hit:#}");
        assert_eq!(hit["dense_rank"].is_u64(), mode != "bm25", "{hit:#}");
    }
}

#[test]
fn a_hit_says_where_it_stands_and_can_be_fetched_by_id_and_by_footnote() {
    let world = world();
    let answer = world.search(&[DRAIN]);
    let hit = top(&answer);
    let citation = &hit["citation"];
    let file = fs::read(world.doc("runbook.md")).unwrap();
    assert_eq!(hit["text"].as_str().unwrap().as_bytes(), &file[cited(citation)]);
    assert_eq!(hit["title"], "Night runbook");
    assert_eq!(hit["heading_path"], serde_json::json!(["Night runbook"]), "short sections are one passage");
    for name in ["chunk_id", "footnote"] {
        let fetched = world.fetch(hit[name].as_str().unwrap());
        assert_eq!(fetched["chunk"]["text"], hit["text"], "{name}");
        assert_eq!(fetched["chunk"]["verdict"], "verified");
        assert_eq!(fetched["chunk"]["citation"], *citation);
        assert_eq!(fetched["found_in_generation"], answer["generation"]);
    }
}

#[test]
fn an_edit_of_the_same_length_with_the_old_time_put_back_is_drifted() {
    let world = world();
    let path = world.doc("runbook.md");
    let before = fs::metadata(&path).unwrap();
    edit_in_place(&world);
    let times =
        FileTimes::new().set_modified(before.modified().unwrap()).set_accessed(before.accessed().unwrap());
    File::options().write(true).open(&path).unwrap().set_times(times).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), before.len());

    let answer = world.search(&[DRAIN]);
    let hit = top(&answer);
    assert_eq!((hit["verdict"].as_str(), hit["reason"].as_str()), (Some("drifted"), Some("edited")));
    assert!(hit.get("text").is_none(), "a drifted hit must not carry text: {hit:#}");
    assert!(hit["indexed_text"].as_str().unwrap().contains("stuck on a volume"));
    assert!(hit["current_text"].as_str().unwrap().contains("stuck on a VOLUME"));
    assert!(answer["notices"].to_string().contains("footnote ingest"), "{answer:#}");
}

#[test]
fn a_line_inserted_above_relocates_with_the_new_lines() {
    let world = world();
    let was = top(&world.search(&[DRAIN])).clone();
    world.write("runbook.md", format!("A new first line.\n{RUNBOOK}"));
    let answer = world.search(&[DRAIN]);
    let hit = top(&answer);
    assert_eq!((hit["verdict"].as_str(), hit["reason"].as_str()), (Some("relocated"), Some("moved")));
    for end in ["start_line", "end_line"] {
        assert_eq!(hit["citation"][end].as_u64().unwrap(), was["citation"][end].as_u64().unwrap() + 1);
    }
    assert_eq!(hit["text"], was["text"]);
    let file = fs::read_to_string(world.doc("runbook.md")).unwrap();
    assert_eq!(hit["text"].as_str().unwrap(), &file[cited(&hit["citation"])]);
}

#[test]
fn a_deleted_file_is_missing_and_a_root_that_is_gone_is_unresolvable() {
    let world = world();
    fs::remove_file(world.doc("runbook.md")).unwrap();
    let hit = top(&world.search(&[DRAIN])).clone();
    assert_eq!((hit["verdict"].as_str(), hit["reason"].as_str()), (Some("missing"), Some("source_gone")));
    assert!(hit.get("text").is_none());

    fs::rename(world.docs(), world.home().join("elsewhere")).unwrap();
    let hit = top(&world.search(&[DRAIN])).clone();
    assert_eq!(
        (hit["verdict"].as_str(), hit["reason"].as_str()),
        (Some("unresolvable"), Some("root_unavailable"))
    );
}

#[test]
fn a_rename_embeds_nothing_and_the_old_names_stay_answerable() {
    let world = world();
    let was = top(&world.search(&[DRAIN])).clone();
    fs::create_dir(world.doc("ops")).unwrap();
    fs::rename(world.doc("runbook.md"), world.doc("ops/night.md")).unwrap();

    let summary = world.ingest();
    assert_eq!(summary["embedded"], 0, "{summary:#}");
    let now = top(&world.search(&[DRAIN])).clone();
    assert_eq!(now["citation"]["source"], "ops/night.md");
    assert_eq!(now["verdict"], "verified");
    for name in ["chunk_id", "footnote"] {
        let fetched = world.fetch(was[name].as_str().unwrap());
        let chunk = &fetched["chunk"];
        assert_eq!(
            (chunk["verdict"].as_str(), chunk["reason"].as_str()),
            (Some("relocated"), Some("renamed"))
        );
        assert_eq!(chunk["citation"]["source"], "ops/night.md");
        assert_eq!(chunk["text"], was["text"]);
    }
}

#[test]
fn after_the_next_ingest_the_old_name_of_an_edited_passage_is_drifted() {
    let world = world();
    let was = top(&world.search(&[DRAIN])).clone();
    edit_in_place(&world);
    world.ingest();
    assert_eq!(top(&world.search(&[DRAIN]))["verdict"], "verified");
    for name in ["chunk_id", "footnote"] {
        let fetched = world.fetch(was[name].as_str().unwrap());
        assert_eq!(fetched["chunk"]["verdict"], "drifted", "{fetched:#}");
        assert!(fetched["found_in_generation"].as_u64() < fetched["generation"].as_u64());
        assert_eq!(fetched["superseded_by"].as_array().unwrap().len(), 1, "{fetched:#}");
        assert_ne!(fetched["superseded_by"][0], was["chunk_id"]);
    }
}

#[test]
fn what_no_generation_knows_is_not_found() {
    let run = world().try_fetch("00000000000000000000000000000000");
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stderr.contains("chunk_not_found"), "{run}");
}

#[test]
fn a_rollback_brings_the_last_generation_back_and_the_next_ingest_catches_up() {
    let world = world();
    let first = world.search(&[DRAIN]);
    edit_in_place(&world);
    world.ingest();
    let run = world.footnote(["rollback", "docs", "--json"]);
    assert_eq!(run.code, 0, "{run}");
    tests::wait::until(20, "the rolled back generation", || {
        (world.search(&[DRAIN])["generation"] == first["generation"]).then_some(())
    });
    assert_eq!(top(&world.search(&[DRAIN]))["verdict"], "drifted");
    world.ingest();
    tests::wait::until(20, "the caught up generation", || {
        (top(&world.search(&[DRAIN]))["verdict"] == "verified").then_some(())
    });
}

/// The bytes that a citation names.
fn cited(citation: &Value) -> std::ops::Range<usize> {
    let byte = |end: &str| usize::try_from(citation[end].as_u64().unwrap()).unwrap();
    byte("start_byte")..byte("end_byte")
}

/// Changes one word of the draining section without changing the file's length.
fn edit_in_place(world: &World) {
    world.write("runbook.md", RUNBOOK.replace("stuck on a volume", "stuck on a VOLUME"));
}
