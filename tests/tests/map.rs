//! The map in `docs/ARCHITECTURE.md` is made from the first line of each file, so that it cannot grow stale.
//! `BLESS=1` rewrites it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use tests::programs::workspace;

const BEGIN: &str = "<!-- map:begin (written by tests/tests/map.rs) -->\n";
const END: &str = "<!-- map:end -->";

/// The crates in the order a reader meets them.
const CRATES: &[&str] = &[
    "proto",
    "proto/codegen",
    "proto/edge",
    "core-server",
    "core-server/engine",
    "core-server/ingest",
    "mcp-gateway",
    "rest-gateway",
    "cli",
    "tests",
];

#[test]
fn the_map_of_the_code_is_current() {
    let path = workspace().join("docs/ARCHITECTURE.md");
    let document = fs::read_to_string(&path).unwrap();
    let begin = document.find(BEGIN).unwrap() + BEGIN.len();
    let end = document.find(END).unwrap();
    let map = map();
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, format!("{}{map}{}", &document[..begin], &document[end..])).unwrap();
    } else {
        assert_eq!(&document[begin..end], map, "run BLESS=1 cargo test --release --workspace --test map");
    }
}

#[test]
fn every_file_says_what_it_is() {
    for name in CRATES {
        for path in sources(&workspace().join(name).join("src")) {
            assert!(summary(&path).is_some(), "{} does not open with //!", path.display());
        }
    }
}

fn map() -> String {
    let mut map = String::new();
    for name in CRATES {
        let source = workspace().join(name).join("src");
        write!(map, "\n**`{name}/src`**\n\n| file | what it is |\n|---|---|\n").unwrap();
        for path in sources(&source) {
            let file = path.strip_prefix(&source).unwrap().display();
            writeln!(map, "| `{file}` | {} |", summary(&path).unwrap_or_default()).unwrap();
        }
    }
    map.push('\n');
    map
}

/// The first sentence of a file's `//!` paragraph.
fn summary(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = text
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(str::trim)
        .take_while(|line| !line.is_empty())
        .collect();
    let paragraph = lines.join(" ");
    let sentence =
        paragraph.split_once(". ").map_or(paragraph.as_str(), |(first, _)| first).trim_end_matches('.');
    (!sentence.is_empty()).then(|| sentence.replace('|', "\\|"))
}

/// All Rust files that people wrote beneath a folder, a module before what is inside it.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut names: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort_by_key(|path| (path.with_extension(""), path.is_dir()));
    for path in names {
        if path.ends_with("generated") {
            continue;
        }
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
    files
}
