//! The ranking as callers see it: what is named comes first, one question has one answer, and every collection is asked
//! with the model that it is bound to.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use tests::World;

/// Everything of an answer but what may differ between two equal asks, and between two ingests.
fn comparable(mut answer: Value) -> Value {
    answer["stats"] = Value::Null;
    answer["generation"] = Value::Null;
    for hit in answer["hits"].as_array_mut().unwrap() {
        hit["citation"]["generation"] = Value::Null;
        hit["citation"]["open_path"] = Value::Null;
    }
    answer
}

fn corpus(world: &World) {
    use std::fmt::Write as _;
    for document in 0..12 {
        let mut text = format!("# Errors of pool {document}\n\n");
        for number in 0..20 {
            let error = document * 20 + number;
            write!(
                text,
                "## Error {error}\n\nThe connection error ERR_CONN_{error} of the pool is logged; error handling closes \
                 the connection and opens another in pool {document}.\n\n"
            )
            .unwrap();
        }
        world.write(&format!("pool{document}.md"), text);
    }
    world.write("the/one.md", "Call the lead, then note ERR_CONN_7781 in the book.\n");
    world.write("de.md", "Die Ventile werden geöffnet, bevor die Pumpe des Kreislaufs eingeschaltet wird.\n");
    world.write("fr.md", "Les vannes sont ouvertes avant que la pompe du circuit ne soit mise en marche.\n");
    world.write("ja.md", "軽量な全文検索エンジンを使う。\n");
    // Equal texts: nothing but their ids tells them apart.
    for copy in 0..9 {
        world.write(&format!("same/{copy}.md"), "The same valve stands in many places.\n");
    }
}

const QUESTIONS: [&str; 9] = [
    "connection error handling ERR_CONN_7781",
    "what happens to the connection after an error",
    "the same valve",
    "where is the \"the connection and opens another\"",
    "welches Ventil wird vor der Pumpe geöffnet",
    "quelle vanne est ouverte avant la pompe",
    "全文検索",
    "to be or not to be",
    "zzz",
];

fn answers(world: &World) -> Vec<Value> {
    let mut answers = Vec::new();
    for query in QUESTIONS {
        for mode in ["bm25", "hybrid", "dense"] {
            answers.push(comparable(world.search(&["--mode", mode, "--top-k", "20", "--", query])));
        }
    }
    answers
}

#[test]
fn what_is_named_is_first_by_words_and_by_both_and_scores_descend() {
    let world = World::with_hashing_model();
    corpus(&world);
    world.ingest();
    for mode in ["bm25", "hybrid"] {
        for (query, source) in [
            ("connection error handling ERR_CONN_7781 of the pool", "the/one.md"),
            ("which error of pool 3 is err_conn_77", "pool3.md"),
            ("«geöffnet, bevor die Pumpe» pool connection error", "de.md"),
            ("pool connection error 「全文検索」", "ja.md"),
        ] {
            let answer = world.search(&["--mode", mode, "--top-k", "20", "--", query]);
            let hits = answer["hits"].as_array().unwrap();
            assert_eq!(hits[0]["citation"]["source"], source, "{mode}: {query}: {:#}", hits[0]);
            let scores: Vec<f64> = hits.iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
            assert!(scores.is_sorted_by(|left, right| left >= right), "{mode}: {query}: {scores:?}");
            assert!(mode == "bm25" || scores.iter().all(|score| (0.0..=1.0).contains(score)), "{scores:?}");
        }
    }
}

#[test]
fn the_first_five_are_the_five_of_fifty() {
    let world = World::with_hashing_model();
    corpus(&world);
    world.ingest();
    for query in QUESTIONS {
        for mode in ["bm25", "hybrid", "dense"] {
            let hits = |top_k: &str| {
                let asked = ["--mode", mode, "--top-k", top_k, "--max-bytes", "1048576", "--", query];
                world.search(&asked)["hits"].as_array().unwrap().clone()
            };
            let (five, fifty) = (hits("5"), hits("50"));
            assert_eq!(five[..], fifty[..five.len()], "{mode}: {query}");
        }
    }
}

#[test]
fn a_question_has_one_answer_over_and_over_on_any_number_of_cores_and_from_any_ingest() {
    let mut world = World::with_hashing_model();
    corpus(&world);
    world.ingest();
    let first = answers(&world);
    let named = comparable(world.search(&["--", QUESTIONS[0]]));
    for _ in 0..100 {
        assert_eq!(comparable(world.search(&["--", QUESTIONS[0]])), named);
    }
    assert_eq!(answers(&world), first, "asked again");
    assert_eq!(world.footnote(["down"]).code, 0);

    world.start_daemon(&[]);
    // One thread, where the daemon had one a core.
    let pid = world.daemon().id().to_string();
    assert!(
        std::process::Command::new("taskset").args(["-ap", "1", &pid]).output().unwrap().status.success()
    );
    assert_eq!(answers(&world), first, "after a restart, on one core");

    let another = World::with_hashing_model();
    corpus(&another);
    another.ingest();
    assert_eq!(answers(&another), first, "from another ingest");

    let grown = World::with_hashing_model();
    grown.write("pool3.md", "# Another\n\nNothing of it stays.\n");
    grown.write("gone.md", "The connection error of a pool that is gone.\n");
    grown.ingest();
    fs::remove_file(grown.doc("gone.md")).unwrap();
    corpus(&grown);
    grown.ingest();
    assert_eq!(answers(&grown), first, "after edits");
}

#[test]
fn each_collection_is_asked_with_the_model_it_is_bound_to() {
    let world = World::new();
    let shared = tests::real_model::store();
    for model in ["bge-small-en-v1.5", "runtime"] {
        copy(&shared.join(model), &world.models().join(model));
    }
    // The light model stands in for one of many languages: a folder of one's own with a descriptor.
    let run = tests::Run::of(
        world
            .command("footnote-index")
            .args(["model", "install", "all-minilm-l6-v2", "--model-dir"])
            .arg(&shared),
    );
    assert_eq!(run.code, 0, "{run}");
    let own = world.home().join("own");
    copy(&shared.join("all-minilm-l6-v2"), &own);
    let descriptor = fs::read_to_string(own.join("model.toml")).unwrap();
    let languages = descriptor.lines().find(|line| line.starts_with("languages")).unwrap();
    fs::write(own.join("model.toml"), descriptor.replace(languages, "languages = [\"multilingual\"]"))
        .unwrap();
    let run = world.footnote(["model", "install", "light", "--from-dir", own.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{run}");

    world.write("en/pump.md", "Switch the cooling pump off before the main valve is opened.\n");
    world.write("de/pumpe.md", "Vor dem Öffnen des Hauptventils ist die Kühlpumpe abzuschalten.\n");
    for (folder, model) in [("en", "bge-small-en-v1.5"), ("de", "light")] {
        let docs = world.doc(folder);
        let docs = docs.to_str().unwrap();
        let run = world.footnote(["ingest", docs, "--collection", folder, "--model", model]);
        assert_eq!(run.code, 0, "{run}");
    }
    for (collection, query, model) in [
        ("en", "when may the valve be opened?", "bge-small-en-v1.5"),
        ("de", "Wann darf das Ventil geöffnet werden?", "light"),
    ] {
        let run = world.footnote(["search", "--json", "--collection", collection, "--mode", "hybrid", query]);
        assert_eq!(run.code, 0, "{run}");
        let answer = run.json();
        assert_eq!(answer["collection"], collection);
        assert!(answer["hits"][0]["dense_score"].as_f64().unwrap() > 0.2, "{answer:#}");
        let status = world.footnote(["status", collection, "--json"]).json();
        assert_eq!(status["model"]["name"], model, "{status:#}");
        assert_eq!(status["model_state"], "loaded", "{status:#}");
    }
    let status = world.footnote(["status", "en", "--json"]).json();
    let loaded: BTreeSet<&str> =
        status["process"]["loaded_models"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(loaded, BTreeSet::from(["bge-small-en-v1.5", "light"]), "one daemon, two models");
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
