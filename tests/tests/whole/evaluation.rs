//! `footnote eval`: what it measures can be worked out by hand, and what it says of bad judgments helps.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tests::documents::HANDBOOK;
use tests::{Run, World};

const BACKUP: &str = "# Backups\n\nSnapshots of the ledger are kept for thirty-five days and then pruned.\n";
const BREAD: &str = "# Bread\n\nBuckwheat dough rests overnight before it is baked in a covered pot.\n";
const DRAIN: &str = "# Draining\n\nCordon the node first and wait until every lease has moved elsewhere.\n";

const QUERIES: &str = "\
{\"id\": \"backup\", \"text\": \"ledger snapshots pruned\"}
{\"id\": \"bread\", \"text\": \"buckwheat dough\"}
{\"id\": \"drain\", \"text\": \"cordon lease\"}
{\"id\": \"nothing\", \"text\": \"xylophone marmalade\"}
";

/// `bread` is judged by its path, the others by their stems; a document with more than one grade has the higher gain.
const QRELS: &str = "\
qid\tdocid\tgrade
backup\tbackup\t2
backup\tdrain\t-1
bread\tkitchen/bread.md\t1
drain\tdrain\t1
drain\tbread\t1
";

struct Bench {
    world: World,
}

impl Bench {
    fn new() -> Self {
        let world = World::with_hashing_model();
        world.write("backup.md", BACKUP);
        world.write("kitchen/bread.md", BREAD);
        world.write("drain.md", DRAIN);
        world.ingest();
        Self { world }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.world.home().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn eval(&self, what: &str, arguments: &[&str]) -> Run {
        self.file("queries.jsonl", QUERIES);
        self.file("qrels.tsv", QRELS);
        let judged = ["eval", what, "--queries", "queries.jsonl", "--qrels", "qrels.tsv"];
        self.world.footnote(judged.iter().chain(arguments))
    }

    fn report(&self, what: &str, arguments: &[&str]) -> Value {
        let run = self.eval(what, &[&["--json", "-"], arguments].concat());
        assert_eq!(run.code, 0, "{run}");
        run.json()
    }
}

fn mode<'a>(report: &'a Value, name: &str) -> &'a Value {
    let modes = report["modes"].as_array().unwrap();
    modes.iter().find(|mode| mode["mode"] == name).unwrap()
}

fn mean(report: &Value, name: &str, metric: &str) -> f64 {
    mode(report, name)["metrics"][metric]["mean"].as_f64().unwrap()
}

#[test]
fn a_collection_is_measured_as_by_hand() {
    let bench = Bench::new();
    let report = bench.report("docs", &[]);
    assert_eq!(report["judgments"]["answerable"], 3);
    assert_eq!(report["judgments"]["unanswerable"], 1);
    assert_eq!(report["warnings"], json!([]));
    // By words, two queries find their one document first; the third finds one of its two.
    let half = 1.0 / (1.0 + 1.0 / 3.0_f64.log2());
    assert!((mean(&report, "bm25", "ndcg@10") - (2.0 + half) / 3.0).abs() < 1e-9, "{report:#}");
    assert!((mean(&report, "bm25", "recall@10") - 2.5 / 3.0).abs() < 1e-9);
    assert!((mean(&report, "bm25", "mrr@10") - 1.0).abs() < 1e-9);
    assert_eq!(mode(&report, "bm25")["abstention"], json!({"unanswerable": 1, "answerable": 0}));
    // Vectors rank everything, so nothing is lost.
    assert!((mean(&report, "dense", "recall@10") - 1.0).abs() < 1e-9);
    assert_eq!(report["comparisons"].as_array().unwrap().len(), 2);
    assert!(mode(&report, "hybrid")["latency"]["total"]["p95"].as_f64().unwrap() > 0.0);
    // A person sees the same.
    let run = bench.eval("docs", &[]);
    assert!(run.stdout.contains("nDCG@10") && run.stdout.contains("hybrid against dense"), "{run}");
}

#[test]
fn a_folder_is_measured_like_a_collection_and_leaves_nothing_behind() {
    let bench = Bench::new();
    let scratch = bench.world.home().join("scratch");
    fs::create_dir(&scratch).unwrap();
    bench.file("queries.jsonl", QUERIES);
    bench.file("qrels.tsv", QRELS);
    let mut command = bench.world.command("footnote");
    command.args(["eval", "./docs", "--queries", "queries.jsonl", "--qrels", "qrels.tsv", "--json", "-"]);
    let run = Run::of(command.env("TMPDIR", &scratch));
    assert_eq!(run.code, 0, "{run}");
    let (folder, collection) = (run.json(), bench.report("docs", &[]));
    assert_eq!(folder["corpus"], collection["corpus"]);
    for metric in ["ndcg@10", "map@100"] {
        for name in ["bm25", "dense", "hybrid"] {
            assert_eq!(mode(&folder, name)["metrics"][metric], mode(&collection, name)["metrics"][metric]);
        }
    }
    assert_eq!(fs::read_dir(scratch).unwrap().count(), 0);
    assert_eq!(fs::read_dir(bench.world.index()).unwrap().count(), 1);
}

#[test]
fn reranking_is_measured_where_it_is_asked_for_and_refused_where_there_is_no_reranker() {
    let bench = Bench::new();
    let asked = ["--modes", "rerank,hybrid"];
    let refused = bench.eval("docs", &asked);
    assert!(refused.code == 5 && refused.stderr.contains("model install"), "{refused}");
    bench.world.install_hashing_reranker();
    let report = bench.report("docs", &asked);
    let compared = &report["comparisons"].as_array().unwrap()[..];
    assert!(matches!(compared, [one] if one["mode"] == "rerank" && one["against"] == "hybrid"), "{report:#}");
    assert!(mode(&report, "rerank")["latency"]["rerank"]["p95"].as_f64().unwrap() > 0.0);
    assert_eq!(mode(&report, "hybrid")["latency"].get("rerank"), None);
    // It reads again what is there, and finds no more.
    assert!((mean(&report, "rerank", "recall@50") - mean(&report, "hybrid", "recall@50")).abs() < 1e-9);
    // Nobody gets it without asking: it takes a hundred times as long.
    let usual = bench.report("docs", &[]);
    assert!(usual["modes"].as_array().unwrap().iter().all(|mode| mode["mode"] != "rerank"), "{usual:#}");
}

#[test]
fn a_regression_fails_and_the_same_run_does_not() {
    let bench = Bench::new();
    fs::write(bench.world.home().join("base.json"), bench.eval("docs", &["--json", "-"]).stdout).unwrap();
    let against = ["--baseline", "base.json", "--fail-on-regression"];
    let run = bench.eval("docs", &against);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.contains("over 3 queries"), "{run}");
    for (source, text) in [("backup.md", BACKUP), ("kitchen/bread.md", BREAD), ("drain.md", DRAIN)] {
        let without = ["edger", "napshots", "runed", "uckwheat", "ough", "ordon", "lease"];
        let text = without.iter().fold(text.replace("ledger", "book"), |text, word| text.replace(word, "x"));
        bench.world.write(source, text);
    }
    bench.world.ingest();
    let run = bench.eval("docs", &against);
    assert_eq!(run.code, 12, "{run}");
    assert!(run.stderr.contains("nDCG@10 of bm25 is worse"), "{run}");
    assert!(run.stdout.contains("other documents"), "{run}");
    // Without being asked to fail it tells only.
    assert_eq!(bench.eval("docs", &["--baseline", "base.json"]).code, 0);
}

#[test]
fn what_is_wrong_with_other_collections_is_not_looked_at() {
    let bench = Bench::new();
    let other = bench.world.doc("kitchen");
    let run = bench.world.footnote(["ingest", other.to_str().unwrap(), "--collection", "other"]);
    assert_eq!(run.code, 0, "{run}");
    fs::write(bench.world.index().join("other/CURRENT"), "nonsense").unwrap();
    let run = bench.eval("docs", &[]);
    assert_eq!((run.code, &*run.stderr), (0, ""), "{run}");
    // What is wrong with the one that is asked for is said.
    assert_eq!(bench.eval("other", &[]).code, 7);
}

#[test]
fn quotations_are_found_across_cuts_and_missing_ones_are_named() {
    let bench = Bench::new();
    let quotes = "\
{\"id\": \"a\", \"text\": \"ledger snapshots pruned\", \"quote\": \"kept for  thirty-five\\ndays\"}
{\"id\": \"b\", \"text\": \"buckwheat dough\", \"quote\": \"rests overnight\", \"source\": \"drain\"}
{\"id\": \"c\", \"text\": \"cordon lease\", \"quote\": \"Wait until every lease\"}
";
    bench.file("quotes.jsonl", quotes);
    let run =
        bench.world.footnote(["eval", "docs", "--quotes", "quotes.jsonl", "--modes", "bm25", "--json", "-"]);
    assert_eq!(run.code, 0, "{run}");
    let report = run.json();
    assert_eq!(report["judgments"]["unit"], "passage");
    assert!((mean(&report, "bm25", "mrr@10") - 1.0 / 3.0).abs() < 1e-9, "{report:#}");
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("line 2 (b)") && warnings.contains("line 3 (c)"), "{warnings}");
    assert!(!warnings.contains("line 1"), "{warnings}");
}

#[test]
fn a_quotation_cut_in_two_is_answered_by_either_half() {
    let world = World::with_hashing_model();
    let sentences: Vec<String> =
        (0..400).map(|n| format!("Station{n} reports to gauge{n} at every full hour.")).collect();
    world.write("long.txt", sentences.join(" "));
    world.ingest();
    // Of all pairs of neighbouring sentences, some stand in two passages.
    let quotes: Vec<String> = (0..399)
        .map(|n| {
            let quote = format!("{} {}", sentences[n], sentences[n + 1]);
            json!({"id": format!("q{n}"), "text": format!("Station{n} gauge{n}"), "quote": quote}).to_string()
        })
        .collect();
    fs::write(world.home().join("quotes.jsonl"), quotes.join("\n")).unwrap();
    let run = world.footnote(["eval", "docs", "--quotes", "quotes.jsonl", "--modes", "bm25", "--json", "-"]);
    assert_eq!(run.code, 0, "{run}");
    let report = run.json();
    assert!(report["corpus"]["chunks"].as_u64().unwrap() > 5, "{}", report["corpus"]);
    assert_eq!(report["warnings"], serde_json::json!([]));
    assert!((mean(&report, "bm25", "recall@50") - 1.0).abs() < 1e-9, "{}", mode(&report, "bm25"));
}

#[test]
fn what_is_wrong_with_the_judgments_is_said() {
    let bench = Bench::new();
    bench.file("bad.tsv", "backup\tbackup\t1\nbackup\tdrain\tyes\n");
    bench.file("other.tsv", "backup\tgone\t1\nbackup\tbackup\t1\nnobody\tdrain\t1\n");
    bench.file("q.jsonl", "{\"id\": \"backup\", \"text\": \"Snapshots of the ledger, are KEPT for\"}\n");
    bench.file("broken.jsonl", "{\"id\": \"a\", \"text\": \"x\"}\nnot json\n");
    let run = bench.world.footnote(["eval", "docs", "--queries", "q.jsonl", "--qrels", "bad.tsv"]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.stderr.contains("bad.tsv, line 2: the grade \"yes\""), "{run}");
    let run = bench.world.footnote(["eval", "docs", "--queries", "broken.jsonl", "--qrels", "other.tsv"]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.stderr.contains("broken.jsonl, line 2"), "{run}");
    let run = bench.world.footnote(["eval", "docs", "--queries", "q.jsonl", "--qrels", "other.tsv"]);
    assert_eq!(run.code, 0, "{run}");
    for warning in ["(1): gone", "not asked (1): nobody", "word for word"] {
        assert!(run.stdout.contains(warning), "{warning}: {run}");
    }
    let run = bench.world.footnote(["eval", "nowhere", "--queries", "q.jsonl", "--qrels", "other.tsv"]);
    assert_eq!(run.code, 3, "{run}");
    let run = bench.world.footnote(["eval", "docs", "--qrels", "other.tsv"]);
    assert_eq!(run.code, 2, "{run}");
}

#[test]
fn the_page_fetches_nothing_and_takes_queries_for_text() {
    let bench = Bench::new();
    let hostile = "{\"id\": \"<b>\", \"text\": \"ledger <script>alert(1)</script> & \\\"quoted\\\"\"}\n";
    bench.file("q.jsonl", &format!("{QUERIES}{hostile}"));
    bench.file("j.tsv", &format!("{QRELS}<b>\tbackup\t1\n"));
    let arguments = ["eval", "docs", "--queries", "q.jsonl", "--qrels", "j.tsv", "--html", "page.html"];
    let twice = [0, 1].map(|_| bench.world.footnote(arguments.iter().chain(&["--history", "runs.jsonl"])));
    assert!(twice.iter().all(|run| run.code == 0), "{}", twice[0]);
    let page = fs::read_to_string(bench.world.home().join("page.html")).unwrap();
    assert!(
        page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && !page.contains("<script"),
        "not escaped"
    );
    for fetched in ["http://", "https://", "url(", "@import", "<link", "<img"] {
        let found = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!found.contains(fetched), "{fetched}");
    }
    // Quality, recall, a difference for each leg, history, time.
    assert_eq!(page.matches("<svg").count(), 6);
    let history = fs::read_to_string(bench.world.home().join("runs.jsonl")).unwrap();
    let runs: Vec<Value> = history.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0]["modes"]["hybrid"]["ndcg@10"], runs[1]["modes"]["hybrid"]["ndcg@10"]);
    // What is no history is not written to.
    fs::write(bench.world.home().join("notes.txt"), "my notes\n").unwrap();
    let run = bench.world.footnote(arguments.iter().chain(&["--history", "notes.txt"]));
    assert_eq!(run.code, 2, "{run}");
    assert_eq!(fs::read_to_string(bench.world.home().join("notes.txt")).unwrap(), "my notes\n");
}

#[test]
fn a_collection_without_vectors_or_without_answers_is_measured_as_far_as_it_goes() {
    let world = World::new();
    world.write("bread.md", BREAD);
    world.ingest();
    fs::write(world.home().join("u.jsonl"), "{\"id\": 1, \"text\": \"xylophone\"}\n").unwrap();
    let run =
        world.footnote(["eval", "docs", "--unanswerable", "u.jsonl", "--html", "page.html", "--json", "-"]);
    assert_eq!(run.code, 0, "{run}");
    let report = run.json();
    assert_eq!(report["modes"].as_array().unwrap().len(), 1);
    assert_eq!(report["modes"][0]["abstention"]["unanswerable"], 1);
    assert!(report["warnings"].to_string().contains("no vectors"), "{}", report["warnings"]);
    let run = world.footnote(["eval", "docs", "--unanswerable", "u.jsonl", "--modes", "dense"]);
    assert_eq!(run.code, 5, "{run}");
}

#[test]
fn what_nothing_answers_is_counted_where_the_answer_says_so() {
    let world = World::with_real_model();
    for (source, text) in HANDBOOK {
        world.write(source, text);
    }
    world.ingest();
    let write = |name: &str, texts: &[&str]| {
        let line = |(id, text): (u32, &&str)| json!({"id": format!("{name}{id}"), "text": text}).to_string();
        let lines: Vec<String> = (0..).zip(texts).map(line).collect();
        fs::write(world.home().join(format!("{name}.jsonl")), lines.join("\n")).unwrap();
    };
    write(
        "q",
        &["how long are backups kept", "who approves a change to billing", "when are certificates renewed"],
    );
    fs::write(world.home().join("r.tsv"), "q0\tbackups\t1\nq1\treview\t1\nq2\tcertificates\t1\n").unwrap();
    write(
        "u",
        &[
            "flurbish zandoodle",
            "recipe for sourdough bread with olives",
            "who painted the Mona Lisa",
            "怎样做红烧肉",
        ],
    );
    let judged = ["eval", "docs", "--queries", "q.jsonl", "--qrels", "r.tsv", "--unanswerable", "u.jsonl"];
    let run = world.footnote(judged.iter().chain(&["--modes", "bm25,dense,hybrid,rerank", "--json", "-"]));
    assert_eq!(run.code, 0, "{run}");
    let report = run.json();
    for name in ["bm25", "dense", "hybrid", "rerank"] {
        assert_eq!(mode(&report, name)["abstention"], json!({"unanswerable": 4, "answerable": 0}), "{name}");
    }
}
