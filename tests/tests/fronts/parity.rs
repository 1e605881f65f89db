//! The same question gets the same answer, or the same failure in the same words, on every surface that can put it.

use std::fs;

use proto::Operation;
use serde_json::{Value, json};
use tests::World;
use tests::documents::{RECIPE, RUNBOOK};
use tests::surfaces::{Said, Surfaces};

/// A question, and how every surface has to take it: `answer` or a code.
struct Row {
    operation: &'static str,
    request: Value,
    expected: &'static str,
    /// How many of the five can put it.
    surfaces: usize,
}

const fn row(operation: &'static str, request: Value, expected: &'static str, surfaces: usize) -> Row {
    Row { operation, request, expected, surfaces }
}

#[test]
fn every_surface_answers_alike() {
    let mut world = World::with_hashing_model();
    world.write("runbook.md", RUNBOOK);
    world.write("recipe.md", RECIPE);
    world.write(
        "notes/odd.md",
        "---\ntags: [odd]\ndate: 2026-03-01\n---\n# Odd\n\nA ` fence\n``` and <b>markup</b> \u{1F600} \u{202E}rtl\u{202C} e\u{301}\n",
    );
    world.ingest();
    world.write("plain/a.md", "# Plain\n\nThe valve has no vectors.\n");
    let plain = world.doc("plain");
    let run = world.footnote(["ingest", plain.to_str().unwrap(), "--collection", "plain", "--no-model"]);
    assert_eq!(run.code, 0, "{run}");
    world.start_daemon(&[]);
    let chunk = world.search(&["drain"])["hits"][0].clone();
    let surfaces = Surfaces::open(&world);
    let rows = refused(&chunk).into_iter().chain(answered(&chunk));
    let disagreements: Vec<String> = rows.filter_map(|row| hold(&surfaces, &row).err()).collect();
    assert!(disagreements.is_empty(), "{} disagree:\n{}", disagreements.len(), disagreements.join("\n"));
    // Refused while there is no reranker, and answered once there is one.
    let reranked = |expected| {
        row("search", json!({"query": "drain", "collection": "docs", "rerank": true}), expected, 5)
    };
    hold(&surfaces, &reranked("reranker_not_configured")).unwrap();
    world.install_hashing_reranker();
    let Said::Answer(answer) = hold(&surfaces, &reranked("answer")).unwrap() else { unreachable!() };
    assert_eq!(answer["reranked"]["model"], "common-words", "{answer:#}");
    // The same when a source was edited: `drifted` everywhere, and nowhere a passage.
    fs::write(world.doc("runbook.md"), RUNBOOK.replace(' ', "  ")).unwrap();
    let again = row("search", json!({"query": "drain", "collection": "docs"}), "answer", 5);
    let Said::Answer(answer) = hold(&surfaces, &again).unwrap() else { unreachable!() };
    assert_eq!(answer["hits"][0]["verdict"], "drifted", "{answer:#}");
    assert_eq!(answer["hits"][0].get("text"), None, "{answer:#}");
    let fetched = json!({"chunk_id": chunk["chunk_id"], "collection": "docs"});
    hold(&surfaces, &row("fetch_chunk", fetched, "answer", 5)).unwrap();
}

/// Asks everywhere and returns what all say, or how they differ.
fn hold(surfaces: &Surfaces<'_>, row: &Row) -> Result<Said, String> {
    let operation = Operation::named(row.operation).unwrap();
    let question = shortened(&format!("{} {}", row.operation, row.request));
    let heard: Vec<_> = surfaces
        .ask(operation, &row.request)
        .into_iter()
        .filter_map(|(surface, said)| Some((surface, said?)))
        .collect();
    let names: Vec<_> = heard.iter().map(|(surface, _)| *surface).collect();
    if names.len() != row.surfaces {
        return Err(format!("{question}: asked by {names:?}, not by {}", row.surfaces));
    }
    let (_, first) = &heard[0];
    if first.word() != row.expected {
        return Err(format!("{question}: {}, not {}", shortened(&format!("{first:?}")), row.expected));
    }
    match heard.iter().find(|(_, said)| said != first) {
        Some((surface, said)) => {
            let (first, other) = (format!("{first:#?}"), format!("{said:#?}"));
            let (ours, theirs) = first.lines().zip(other.lines()).find(|(a, b)| a != b).unwrap_or_default();
            Err(format!("{question}:\n  {}: {}\n  {surface}: {}", names[0], ours.trim(), theirs.trim()))
        }
        None => Ok(first.clone()),
    }
}

/// What is answered.
fn answered(chunk: &Value) -> Vec<Row> {
    let docs = |query: &str| json!({"query": query, "collection": "docs"});
    let with = |mut request: Value, name: &str, value: Value| {
        request[name] = value;
        request
    };
    vec![
        row("search", docs("drain a node"), "answer", 5),
        row("search", with(docs("drain"), "mode", json!("bm25")), "answer", 5),
        row("search", with(docs("drain"), "mode", json!("dense")), "answer", 5),
        row("search", with(docs("drain"), "mode", json!("hybrid")), "answer", 5),
        row("search", with(docs("drain"), "verify", json!(false)), "answer", 5),
        row("search", with(docs("drain"), "top_k", json!(1)), "answer", 5),
        row("search", with(docs("drain"), "top_k", json!(50)), "answer", 5),
        row("search", with(docs("the"), "max_bytes", json!(1024)), "answer", 5),
        row("search", with(docs("markup fence"), "filter", json!({"tags_any": ["odd"]})), "answer", 5),
        row("search", with(docs("drain"), "filter", json!({"paths": ["**", "!runbook.md"]})), "answer", 5),
        row(
            "search",
            with(docs("odd"), "filter", json!({"from": "2026-03-01", "until": "2026-03-01"})),
            "answer",
            5,
        ),
        row("search", with(docs("drain"), "filter", json!({"tags_all": ["no such tag"]})), "answer", 5),
        row("search", with(docs("drain"), "neighbors", json!(3)), "answer", 5),
        row("search", with(docs("drain"), "section", json!(true)), "answer", 5),
        row(
            "search",
            with(with(docs("drain"), "section", json!(true)), "max_bytes", json!(1024)),
            "answer",
            5,
        ),
        row("search", with(docs("drain"), "explain", json!(true)), "answer", 5),
        row(
            "fetch_chunk",
            json!({"chunk_id": chunk["chunk_id"], "collection": "docs", "neighbors": 1}),
            "answer",
            5,
        ),
        // Nothing in it is an operator, a path, an escape or a flag.
        row("search", docs("zzqx"), "answer", 5),
        row("search", docs("?!"), "answer", 5),
        row("search", docs("\"unbalanced AND (field:value OR -x) ^~* \\"), "answer", 5),
        row("search", docs("--top-k 3"), "answer", 5),
        row("search", docs("../../etc/passwd %00 %2e%2e/ ${HOME} $(id)"), "answer", 5),
        row("search", docs("tab\there\nand a line"), "answer", 5),
        row("search", docs("e\u{301} \u{1F600} \u{202E}rtl 東京 ภาษา"), "answer", 5),
        row("search", docs(&"x".repeat(4096)), "answer", 5),
        row("search", docs(&"\u{1F600}".repeat(4096)), "answer", 5),
        row("search", json!({"query": "valve", "collection": "plain"}), "answer", 5),
        row("fetch_chunk", json!({"chunk_id": chunk["chunk_id"], "collection": "docs"}), "answer", 5),
        row("fetch_chunk", json!({"footnote": chunk["footnote"]}), "answer", 5),
        row("list_collections", json!({}), "answer", 5),
        row("list_collections", json!({"page_size": 1}), "answer", 5),
        row("list_collections", json!({"page_size": 100}), "answer", 5),
        row("index_status", json!({"collection": "docs"}), "answer", 5),
        row("index_status", json!({"collection": "plain"}), "answer", 5),
    ]
}

/// What is refused.
fn refused(chunk: &Value) -> Vec<Row> {
    let bad = |operation, request, surfaces| row(operation, request, "invalid_argument", surfaces);
    let docs = |name: &str, value: Value| {
        let mut request = json!({"query": "drain", "collection": "docs"});
        request[name] = value;
        request
    };
    let filter = |name: &str, value: Value| docs("filter", json!({ name: value }));
    vec![
        // Bounds.
        bad("search", docs("query", json!("")), 5),
        bad("search", docs("query", json!(" \t\n ")), 5),
        bad("search", docs("query", json!("x".repeat(4097))), 5),
        bad("search", docs("query", json!("a\0b")), 4),
        bad("search", docs("top_k", json!(0)), 5),
        bad("search", docs("top_k", json!(51)), 5),
        bad("search", docs("top_k", json!(u32::MAX)), 5),
        bad("search", docs("max_bytes", json!(1023)), 5),
        bad("search", docs("max_bytes", json!(1_048_577)), 5),
        bad("list_collections", json!({"page_size": 0}), 5),
        bad("list_collections", json!({"page_size": 101}), 5),
        bad("list_collections", json!({"page_token": "x".repeat(257)}), 5),
        bad("list_collections", json!({"page_token": "not one of ours"}), 5),
        // Types and words.
        bad("search", json!({}), 4),
        bad("search", docs("query", json!(7)), 3),
        bad("search", docs("query", json!(["drain"])), 3),
        bad("search", docs("top_k", json!(-1)), 4),
        bad("search", docs("top_k", json!(2.5)), 4),
        bad("search", docs("top_k", json!("five")), 4),
        bad("search", docs("top_k", json!(1e300)), 4),
        bad("search", docs("top_k", json!(4_294_967_296_u64)), 4),
        bad("search", docs("top_k", Value::Null), 3),
        bad("search", docs("mode", json!("fuzzy")), 4),
        bad("search", docs("mode", json!("BM25")), 4),
        bad("search", docs("mode", json!("unspecified")), 4),
        bad("search", docs("mode", json!(2)), 4),
        bad("search", docs("verify", json!("yes")), 3),
        bad("search", docs("filter", json!("docs")), 3),
        bad("search", filter("paths", json!("docs")), 3),
        bad("search", filter("paths", json!([1])), 3),
        bad("search", filter("from", json!("yesterday")), 5),
        bad("search", filter("until", json!("2026-02-30")), 5),
        bad("search", filter("colour", json!("red")), 3),
        bad("search", filter("paths", json!(["docs", "src/["])), 5),
        bad("search", filter("paths", json!(["!"])), 5),
        bad("search", filter("paths", json!(vec!["a"; 65])), 5),
        bad("search", filter("tags_all", json!(["x".repeat(257)])), 5),
        bad("search", docs("filter", json!({"from": "2026-03-02", "until": "2026-03-01"})), 5),
        bad("search", docs("neighbors", json!(4)), 5),
        bad("search", docs("neighbors", json!(-1)), 4),
        bad("search", docs("section", json!("yes")), 3),
        bad("search", docs("explain", json!("yes")), 3),
        bad("search", docs("rerank", json!("yes")), 3),
        bad("fetch_chunk", json!({"chunk_id": chunk["chunk_id"], "collection": "docs", "neighbors": 4}), 5),
        // Names.
        bad("search", docs("collection", json!("../docs")), 5),
        bad("search", docs("collection", json!("docs/../docs")), 5),
        bad("search", docs("collection", json!(".hidden")), 5),
        bad("search", docs("collection", json!("x".repeat(65))), 5),
        bad("search", docs("collection", json!("docs\0")), 4),
        bad("index_status", json!({"collection": "..%2f"}), 5),
        bad("search", docs("querry", json!("drain")), 3),
        bad("search", docs("topk", json!(3)), 3),
        bad("index_status", json!({"collection": "docs", "verbose": true}), 3),
        bad("list_collections", json!({"page": 2}), 3),
        bad("fetch_chunk", json!({}), 5),
        bad("fetch_chunk", json!({"chunk_id": "xyz", "collection": "docs"}), 5),
        bad(
            "fetch_chunk",
            json!({"chunk_id": chunk["chunk_id"].as_str().unwrap().to_uppercase(), "collection": "docs"}),
            5,
        ),
        bad("fetch_chunk", json!({"footnote": "see page 3"}), 5),
        bad("fetch_chunk", json!({"chunk_id": chunk["chunk_id"], "footnote": chunk["footnote"]}), 5),
        // What is not there. Two collections and none named: the caller has to say which.
        bad("search", json!({"query": "drain"}), 5),
        row("search", docs("collection", json!("nosuch")), "collection_not_found", 5),
        row("index_status", json!({"collection": "nosuch"}), "collection_not_found", 5),
        row("fetch_chunk", json!({"chunk_id": "0".repeat(32), "collection": "docs"}), "chunk_not_found", 5),
        row(
            "fetch_chunk",
            json!({"footnote": "footnote:docs/nosuch.md#L1-L2;00000000"}),
            "chunk_not_found",
            5,
        ),
        row(
            "search",
            json!({"query": "valve", "collection": "plain", "mode": "dense"}),
            "mode_unavailable",
            5,
        ),
        row(
            "search",
            json!({"query": "valve", "collection": "plain", "mode": "hybrid"}),
            "mode_unavailable",
            5,
        ),
    ]
}

fn shortened(text: &str) -> String {
    text.chars().take(200).collect()
}
