//! A small corpus that changes from round to round, and everything an index answers about it.

use std::fs;

use serde_json::Value;

use crate::World;

/// A word in every paragraph, so that one question finds every chunk.
const MARKER: &str = "axolotl";

/// Documents of one round: two are edited each round, one moves to a new name, one comes and goes.
pub fn write(world: &World, round: usize) {
    drop(fs::remove_dir_all(world.docs()));
    for n in 0..4 {
        let edited = if n < 2 { round } else { 0 };
        world.write(&format!("part{n}.md"), paragraphs(&format!("part{n}"), edited));
    }
    world.write(&format!("moves/name{round}.md"), paragraphs("moving", 0));
    if round.is_multiple_of(2) {
        world.write("visitor.txt", paragraphs("visitor", 0));
    }
}

fn paragraphs(name: &str, edited: usize) -> String {
    use std::fmt::Write as _;
    let mut text = format!("# Text {name}\n\n");
    for n in 0..6 {
        let round = if n == 3 { edited } else { 0 };
        write!(
            text,
            "## {name} section {n}\n\nThe {MARKER} of {name} rests at depth {n}, edition{round}.\n\n"
        )
        .expect("a String takes anything");
    }
    text
}

/// All that an index answers about every chunk it holds, without what differs between two ingests of one
/// corpus: the generation, and where on this host the documents lie.
///
/// # Panics
/// Where the daemon does not answer.
pub fn everything(world: &World) -> Vec<Value> {
    let mut hits = Vec::new();
    for mode in ["bm25", "dense"] {
        let answer = world.search(&["--mode", mode, "--top-k", "50", "--max-bytes", "1048576", MARKER]);
        for hit in answer["hits"].as_array().into_iter().flatten() {
            let mut hit = hit.clone();
            hit["citation"]["generation"] = Value::Null;
            hit["citation"]["open_path"] = Value::Null;
            hits.push(hit);
        }
    }
    hits
}

/// The round whose documents an answer is from.
///
/// # Panics
/// Where the answer is from the documents of more than one round.
pub fn round_of(answers: &[Value]) -> usize {
    let rounds: std::collections::BTreeSet<usize> = answers
        .iter()
        .filter_map(|hit| {
            hit["citation"]["source"].as_str()?.strip_prefix("moves/name")?.strip_suffix(".md")?.parse().ok()
        })
        .collect();
    let edited: std::collections::BTreeSet<usize> = answers
        .iter()
        .filter(|hit| ["part0.md", "part1.md"].iter().any(|part| hit["citation"]["source"] == *part))
        .filter_map(|hit| {
            let text = hit["text"].as_str().or(hit["indexed_text"].as_str())?;
            text.split("edition").nth(1)?.trim_end().trim_end_matches('.').parse().ok()
        })
        .filter(|edition| *edition != 0)
        .collect();
    assert_eq!(rounds.len(), 1, "an answer from several generations: {rounds:?}");
    let round = rounds.into_iter().next().unwrap_or_default();
    assert!(edited.iter().all(|edition| *edition == round), "{edited:?} in round {round}");
    round
}
