//! Reranking, as a person asks for it: with the real reranker where order is the question, with one that counts common
//! words where it is not.

use std::time::{Duration, Instant};

use serde_json::Value;
use tests::World;
use tests::documents::{RECIPE, RUNBOOK};

/// Has the question's words and does not answer it.
const QUARRY: &str = "# Quarry\n\nThe road is kept open for long trucks. Long trucks stand in backups.\n";
const RETENTION: &str = "# Retention\n\nDatabase backups are kept for 30 days, as long as the contract with the customer \
                         asks for, and are then deleted, unless an audit is open or the legal department has asked for \
                         more in writing.\n";

fn sources(answer: &Value) -> Vec<&str> {
    let hits = answer["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["citation"]["source"].as_str().unwrap()).collect()
}

/// An answer without what may differ between two equal questions.
fn settled(mut answer: Value) -> Value {
    answer["stats"] = Value::Null;
    answer
}

#[test]
fn what_answers_the_question_comes_before_what_shares_its_words() {
    let world = World::with_real_model();
    for (source, text) in [("retention.md", RETENTION), ("quarry.md", QUARRY), ("bread.md", RECIPE)] {
        world.write(source, text);
    }
    world.ingest();
    let query = "how long are backups kept";
    let plain = world.search(&["--mode", "bm25", query]);
    assert_ne!(sources(&plain)[0], "retention.md", "the words alone should not do for this test");
    let reranked = world.search(&["--mode", "bm25", "--rerank", query]);
    assert_eq!(sources(&reranked)[0], "retention.md", "{reranked:#}");
    assert_eq!(reranked["reranked"]["model"], "ms-marco-minilm-l-12-v2");
    assert_eq!(reranked["reranked"]["depth"], sources(&reranked).len());
    let hit = &reranked["hits"][0];
    assert_eq!((&hit["score_scale"], &hit["verdict"]), (&"rerank".into(), &"verified".into()));
    assert!(hit["rerank_score"].is_f64() && hit["bm25_score"].is_f64());
    let again = world.search(&["--mode", "bm25", "--rerank", query]);
    assert_eq!(settled(again), settled(reranked));
    let hybrid = world.search(&["--rerank", query]);
    assert_eq!((sources(&hybrid)[0], &hybrid["mode"]), ("retention.md", &"hybrid".into()));
}

#[test]
fn the_reranker_is_loaded_when_somebody_asks_for_it() {
    let world = World::with_real_model();
    world.write("runbook.md", RUNBOOK);
    world.ingest();
    let loaded = || {
        let status = world.footnote(["status", "docs", "--json"]).json();
        assert_eq!(status["process"]["reranker"], "ms-marco-minilm-l-12-v2");
        status["process"]["loaded_models"].as_array().unwrap().len()
    };
    world.search(&["drain a node"]);
    assert_eq!(loaded(), 1);
    world.search(&["--rerank", "drain a node"]);
    assert_eq!(loaded(), 2);
}

#[test]
fn an_english_reranker_leaves_a_chinese_question_alone() {
    let world = World::with_real_model();
    world.write("a.md", "# 备份\n\n每天凌晨两点备份数据库，并把副本保存三十天。\n");
    world.write("b.md", "# 恢复\n\n要恢复数据库，请先停止服务，再运行恢复脚本。\n");
    world.ingest();
    let query = "怎样恢复数据库";
    let (plain, reranked) = (world.search(&[query]), world.search(&["--rerank", query]));
    assert_eq!(plain["hits"], reranked["hits"]);
    assert_eq!(sources(&reranked)[0], "b.md");
    assert!(reranked.get("reranked").is_none());
    assert_eq!(reranked["notices"][0]["code"], "rerank_skipped");
}

#[test]
fn a_daemon_without_a_reranker_refuses() {
    let world = World::new();
    world.write("runbook.md", RUNBOOK);
    world.ingest();
    let search = ["search", "--collection", "docs", "--rerank", "drain", "--json"];
    let refused = world.footnote(search);
    assert_eq!(refused.code, 5, "{refused}");
    assert!(refused.stderr.contains("reranker_not_configured"), "{refused}");
    assert!(refused.stderr.contains("footnote model install"), "{refused}");
    // One that is installed later is found without a new daemon.
    world.install_hashing_reranker();
    let answered = world.footnote(search);
    assert_eq!(answered.code, 0, "{answered}");
    assert_eq!(answered.json()["reranked"]["model"], "common-words");
}

#[test]
fn a_daemon_that_was_told_to_rerank_nothing_refuses_too() {
    let mut world = World::new();
    world.write("runbook.md", RUNBOOK);
    world.install_hashing_reranker();
    world.ingest();
    world.start_daemon(&["--reranker", "none"]);
    assert_eq!(world.footnote(["search", "--rerank", "drain"]).code, 5);
    assert!(world.footnote(["status", "docs", "--json"]).json()["process"].get("reranker").is_none());
}

#[test]
fn plain_questions_are_answered_while_others_are_reranked() {
    let world = World::with_real_model();
    for number in 0..30 {
        let filler = "The queue is drained before the node is touched. ".repeat(20);
        world.write(&format!("{number}.md"), format!("# Node {number}\n\n{filler}\n"));
    }
    world.ingest();
    world.search(&["--rerank", "drain the queue"]);
    let reranked = ["search", "--collection", "docs", "--rerank", "drain the queue", "--json"];
    let mut slow: Vec<_> = (0..8)
        .map(|_| {
            let mut command = world.command("footnote");
            command.args(reranked).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
            command.spawn().unwrap()
        })
        .collect();
    // Twenty passages take a reranker longer than any of these, even where it has the machine to itself.
    let mut answered = 0;
    let begun = Instant::now();
    while slow.iter_mut().any(|child| child.try_wait().unwrap().is_none()) {
        world.search(&["--mode", "bm25", "queue"]);
        answered += 1;
        assert!(begun.elapsed() < Duration::from_mins(2), "it does not end");
    }
    let codes: Vec<_> = slow.iter_mut().map(|child| child.wait().unwrap().code().unwrap()).collect();
    assert!(codes.iter().all(|code| matches!(code, 0 | 4)), "{codes:?}");
    assert!(codes.contains(&0), "{codes:?}");
    assert!(answered > 8, "{answered} plain questions were answered meanwhile");
}
