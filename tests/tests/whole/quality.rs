//! `docs/QUALITY.md` is whole, and what it says of its figures follows from them; one command writes such a page.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use serde_json::json;
use tests::programs::{program, workspace};
use tests::{Run, World};

const OVERVIEW: &str = "nDCG@10";
const LEGS: &str = "Hybrid beside its better leg";
const NEAREST: [&str; 2] =
    ["Hybrid beside the nearest references", "The same, without scripts that have no spaces"];
const LEXICAL: &str = "Words alone beside BM25";
const MODES: [&str; 3] = ["bm25", "dense", "hybrid"];

/// Figures are shown with four digits where they decide, with three elsewhere.
const FINE: f64 = 0.000_101;
const COARSE: f64 = 0.001_01;

/// A page: the table of each section, head first.
struct Page(BTreeMap<String, Vec<Vec<String>>>);

impl Page {
    fn of(text: &str) -> Self {
        let sections = text.split("\n## ").skip(1).map(|section| {
            let (title, body) = section.split_once('\n').unwrap_or((section, ""));
            let lines = body.lines().filter(|line| line.starts_with("| ") && !line.contains("| --- |"));
            let cells =
                |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
            (title.to_owned(), lines.map(cells).collect())
        });
        Self(sections.collect())
    }

    fn head(&self, title: &str) -> &[String] {
        self.0.get(title).and_then(|table| table.first()).map_or(&[], Vec::as_slice)
    }

    fn rows(&self, title: &str) -> &[Vec<String>] {
        self.0.get(title).map_or(&[], |table| table.get(1..).unwrap_or_default())
    }

    fn row(&self, title: &str, first: &str) -> &[String] {
        self.rows(title).iter().find(|row| row[0] == first).map_or(&[], Vec::as_slice)
    }

    fn firsts(&self, title: &str) -> Vec<&str> {
        self.rows(title).iter().map(|row| &*row[0]).collect()
    }

    fn collections(&self) -> Vec<&str> {
        let head = self.head(OVERVIEW);
        head.iter().map(String::as_str).filter(|name| !["", "mean"].contains(name)).collect()
    }
}

/// What a row of our own figures begins with.
fn ours_are(mode: &str) -> String {
    format!("**Footnote, {mode}**")
}

/// The numbers in a cell, in order: `0.5 [0.4, 0.6]` has three.
fn numbers(cell: &str) -> Vec<f64> {
    let parts = cell.split(|other: char| !(other.is_ascii_digit() || ".+-".contains(other)));
    parts.filter_map(|part| part.parse().ok()).collect()
}

fn number(row: &[String], at: usize) -> f64 {
    row.get(at).and_then(|cell| numbers(cell).first().copied()).unwrap_or(f64::NAN)
}

fn is_near(left: f64, right: f64, within: f64) -> bool {
    (left - right).abs() <= within
}

fn mean(values: &[f64]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "there are seven")]
    let count = values.len() as f64;
    values.iter().sum::<f64>() / count
}

/// What is wrong with a page; nothing where it is whole and says what follows.
fn complaints(text: &str) -> Vec<String> {
    let page = Page::of(text);
    let mut wrong = missing(&page);
    wrong.extend(contradictions(&page));
    let says: Vec<bool> = page.rows("What is asked of it").iter().map(|row| row[2] == "**holds**").collect();
    let follows = verdicts(&page);
    if says != follows {
        wrong.push(format!("it says {says:?}, and {follows:?} follows"));
    }
    wrong
}

/// Collections that are not everywhere.
fn missing(page: &Page) -> Vec<String> {
    let collections = page.collections();
    let mut wrong = Vec::new();
    let mut check = |is_there: bool, what: String| {
        if !is_there {
            wrong.push(format!("{what} is not there"));
        }
    };
    check(collections.len() >= 2, "a collection".to_owned());
    for title in [LEGS, "Reranked"] {
        check(page.firsts(title) == collections, format!("one of {collections:?} in {title:?}"));
    }
    check(page.firsts(LEXICAL) == [&*collections, &["mean"]].concat(), format!("a row of {LEXICAL:?}"));
    check(
        page.head("Time").get(2..).is_some_and(|names| names == collections),
        "a collection's time".to_owned(),
    );
    let said = page.rows("Questions without an answer").iter().map(|row| (&*row[0], &*row[1]));
    let asked = collections.iter().flat_map(|name| MODES.map(|mode| (*name, mode)));
    check(said.eq(asked), "a collection's abstention".to_owned());
    for name in collections {
        for mode in MODES {
            let row = page.row(name, &ours_are(mode));
            let is_full = (1..=5).all(|at| (0.0..=1.0).contains(&number(row, at)));
            check(is_full, format!("what {mode} reaches on {name}"));
        }
    }
    wrong
}

/// Figures that do not agree with each other.
fn contradictions(page: &Page) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut check = |agrees: bool, row: &[String]| {
        if !agrees {
            wrong.push(format!("this does not agree: {row:?}"));
        }
    };
    let ours = |mode: &str| page.row(OVERVIEW, &ours_are(mode));
    for mode in MODES {
        let row = ours(mode);
        let values: Vec<f64> = (1..=page.collections().len()).map(|at| number(row, at)).collect();
        check(is_near(mean(&values), number(row, values.len() + 1), COARSE), row);
        for (at, name) in (1..).zip(page.collections()) {
            let interval = numbers(row.get(at).map_or("", String::as_str));
            check(matches!(interval[..], [mean, low, high] if low <= mean && mean <= high), row);
            check(is_near(number(row, at), number(page.row(name, &ours_are(mode)), 1), COARSE), row);
        }
    }
    for (at, row) in (1..).zip(page.rows(LEGS)) {
        let [of_leg, of_hybrid, by] = [2, 3, 4].map(|at| number(row, at));
        check(is_near(of_hybrid - of_leg, by, FINE), row);
        check(is_near(of_hybrid, number(ours("hybrid"), at), COARSE), row);
        check(is_near(of_leg, number(ours("bm25"), at).max(number(ours("dense"), at)), COARSE), row);
    }
    for title in NEAREST {
        let by: Vec<f64> = page.rows(title).iter().map(|row| number(row, 4)).collect();
        check(by.is_sorted() && !by.is_empty(), page.head(title));
        for row in page.rows(title) {
            check(is_near(number(row, 3) - number(row, 2), number(row, 4), FINE), row);
        }
    }
    for row in page.rows(LEXICAL) {
        check(is_near(number(row, 2) - number(row, 1), number(row, 3), FINE), row);
    }
    for (at, row) in (1..).zip(page.rows(LEXICAL).iter().filter(|row| row[0] != "mean")) {
        check(is_near(number(row, 2), number(ours("bm25"), at), COARSE), row);
    }
    wrong
}

/// Whether what is asked holds, in the order of the page.
fn verdicts(page: &Page) -> Vec<bool> {
    let highest = |row: &Vec<String>| numbers(row.get(4).map_or("", String::as_str)).last().copied();
    let nearest = |title| page.rows(title).first().is_some_and(|row| number(row, 4) > 0.0);
    let behind = page.rows(LEXICAL).iter().filter(|row| row[0] != "mean").map(|row| number(row, 3));
    vec![
        page.rows(LEGS).iter().all(|row| highest(row).is_some_and(|high| high >= 0.0)),
        nearest(NEAREST[0]),
        nearest(NEAREST[1]),
        behind.fold(f64::INFINITY, f64::min) >= -0.01,
        number(page.row(LEXICAL, "mean"), 3) >= 0.0,
    ]
}

fn committed() -> String {
    fs::read_to_string(workspace().join("docs/QUALITY.md")).unwrap()
}

#[test]
fn the_page_is_whole_and_says_what_follows_from_its_figures() {
    let page = committed();
    assert_eq!(complaints(&page), [""; 0]);
    assert!(Page::of(&page).collections().len() >= 7);
    for place in ["/home/", "/root/", "/tmp/", "/work/"] {
        assert!(!page.contains(place), "{place}");
    }
}

#[test]
fn a_page_that_lacks_something_or_says_otherwise_is_noticed() {
    let page = committed();
    let lines: Vec<&str> = page.lines().collect();
    let mut spoilt = 0;
    for (at, line) in lines.iter().enumerate() {
        let instead: Vec<Option<String>> = if line.contains("| **holds** |") {
            vec![Some(line.replace("holds", "falls short"))]
        } else if line.contains("| **falls short** |") {
            vec![Some(line.replace("falls short", "holds"))]
        } else if line.starts_with("| **Footnote") {
            vec![None, Some(line.replacen("0.", "0.0", 1))]
        } else if Page::of(&page).collections().iter().any(|name| line.starts_with(&format!("| {name} | "))) {
            vec![None]
        } else {
            Vec::new()
        };
        // What is judged by quotation stands in one place only: nothing contradicts it.
        let section = lines[..at].iter().rev().find(|line| line.starts_with("## ")).copied();
        for instead in instead.into_iter().filter(|_| section != Some("## Judged by quotation")) {
            let changed = (0..).zip(&lines).filter_map(|(other, line)| match &instead {
                Some(instead) if other == at => Some(instead.as_str()),
                None if other == at => None,
                _ => Some(line),
            });
            let changed: Vec<&str> = changed.collect();
            assert_ne!(complaints(&changed.join("\n")), [""; 0], "{line}\n{instead:?}");
            spoilt += 1;
        }
    }
    assert!(spoilt > 50, "{spoilt}");
}

#[test]
fn one_command_measures_all_collections_and_writes_the_page() {
    let world = World::with_hashing_model();
    world.install_hashing_reranker();
    let peer =
        json!({"bm25s_stem_stop": {"nDCG@10": 0.5, "R@10": 1.0, "R@50": 1.0, "R@100": 1.0, "MRR@10": 0.5}});
    for (name, subjects) in [
        ("bakery", ["sourdough", "buckwheat", "rye"]),
        ("harbour", ["mooring", "ballast", "pilotage"]),
        ("orchard", ["grafting", "pruning", "cider"]),
    ] {
        let (mut queries, mut qrels) = (String::new(), String::new());
        for subject in subjects {
            let text =
                format!("# On {subject}\n\nWhat is to be known of {subject} at the {name} stands here.\n");
            world.write(&format!("{name}/docs/{subject}.md"), text);
            let query = json!({"id": subject, "text": format!("what about {subject}")});
            writeln!(queries, "{query}").unwrap();
            writeln!(qrels, "{subject}\t{subject}\t1").unwrap();
        }
        world.write(&format!("{name}/queries.jsonl"), queries);
        world.write(&format!("{name}/qrels.tsv"), qrels);
        world.write(&format!("{name}/META.json"), json!({"origin": "a test", "licence": "MIT"}).to_string());
        world.write(&format!("figures/{name}.json"), peer.to_string());
    }
    let span = json!({"qid": "rye", "docid": "rye", "quote": "known of rye at the bakery"});
    world.write("bakery/spans.jsonl", format!("{span}\n"));
    let quality = || {
        let mut command = Command::new("python3");
        world.settle(&mut command);
        command.env("FOOTNOTE", program("footnote")).args(["-B"]).arg(workspace().join("deploy/quality"));
        command.args(["docs", "--model", "hashing", "--runs", "runs", "--page", "page.md"]);
        command
    };
    let run = Run::of(quality().arg("--index-dir").arg(world.index()));
    assert_eq!(run.code, 0, "{run}");
    let page = fs::read_to_string(world.home().join("page.md")).unwrap();
    assert_eq!(complaints(&page), [""; 0], "{page}");
    assert_eq!(Page::of(&page).collections(), ["bakery", "harbour", "orchard"]);
    assert!(page.contains("| bakery | bm25 | 0 of 3 | – | 3 of 3 |"), "{page}");
    assert_eq!(Page::of(&page).firsts("Judged by quotation"), ["bakery"; 3]);
    // What cannot be compared is said before anything is measured.
    fs::remove_file(world.doc("figures/orchard.json")).unwrap();
    let run = Run::of(&mut quality());
    assert!(run.code == 1 && run.stderr.contains("no BM25 of orchard"), "{run}");
}
