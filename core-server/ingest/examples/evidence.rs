//! Measures evidence: how often each level is said of a collection's own questions, of other collections' and of
//! nonsense, in every mode.
//!
//! `cargo run --release --workspace --example evidence -- INDEX MODELS COLLECTIONS NAME…`, with COLLECTIONS as `footnote
//! eval` takes them (`NAME/queries.jsonl`, `NAME/qrels.tsv`), each ingested into INDEX under its name.

#![expect(clippy::print_stdout, reason = "a table for a person")]
#![expect(clippy::cast_precision_loss, reason = "counts for that table")]

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use engine::evidence::Level;
use engine::model::RerankerChoice;
use engine::query::{Caller, Mode, Search};
use engine::stop::Stop;
use engine::{Config, Engine, Error};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng as _, SeedableRng as _};

/// Questions asked of each collection at most.
const MOST: usize = 100;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().context("INDEX MODELS COLLECTIONS NAME…");
    let (index, models, collections) = (next()?, next()?, next()?);
    let names: Vec<String> = arguments.collect();
    engine::model::forbid_telemetry();
    let engine = Engine::open(Config {
        index_dir: index.into(),
        model_dir: models.into(),
        source_roots: Vec::new(),
        sessions: 1,
        reranker: RerankerChoice::Off,
        rerank_sessions: 1,
    })?;
    let questions: Vec<Vec<String>> =
        names.iter().map(|name| questions(&Path::new(&collections).join(name))).collect::<Result<_>>()?;
    println!("{:16} {:7} {:>20} {:>20} {:>20}  ms", "none/weak/enough", "mode", "own", "others'", "nonsense");
    for (at, name) in names.iter().enumerate() {
        let others: Vec<String> = questions
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != at)
            .flat_map(|(_, asked)| asked.clone())
            .collect();
        for mode in [Mode::Bm25, Mode::Dense, Mode::Hybrid] {
            let mut row = Vec::new();
            let (mut spent, mut asked) = (Duration::ZERO, 0);
            for set in [&questions[at], &others, &nonsense()] {
                let mut levels = [0_usize; 3];
                for question in set {
                    let (level, time) = ask(&engine, name, question, mode)?;
                    levels[level as usize] += 1;
                    spent += time;
                    asked += 1;
                }
                let share = |count: usize| format!("{:.1}", 100.0 * count as f64 / set.len().max(1) as f64);
                row.push(levels.map(share).join("/"));
            }
            let time = 1e3 * spent.as_secs_f64() / f64::from(asked);
            println!(
                "{name:16} {:7} {:>20} {:>20} {:>20}  {time:.3}",
                format!("{mode:?}"),
                row[0],
                row[1],
                row[2]
            );
        }
    }
    Ok(())
}

fn ask(engine: &Engine, name: &str, question: &str, mode: Mode) -> Result<(Level, Duration)> {
    let search =
        Search { collection: Some(name.parse()?), mode: Some(mode), verify: false, ..Search::new(question) };
    let begun = Instant::now();
    loop {
        match engine.search(&search, &Caller::default(), &Stop::never()) {
            Err(Error::WarmingUp) if begun.elapsed() < Duration::from_mins(1) => {
                std::thread::sleep(Duration::from_millis(20));
            }
            answer => {
                let answer = answer?;
                return Ok((answer.evidence.level, answer.stats.evidence));
            }
        }
    }
}

/// Some of a collection's questions that are answered there, evenly drawn.
fn questions(folder: &Path) -> Result<Vec<String>> {
    let qrels = fs::read_to_string(folder.join("qrels.tsv"))?;
    let grade = |line: &str| line.split('\t').nth(2).and_then(|grade| grade.trim().parse::<f64>().ok());
    let answered: HashSet<&str> = qrels
        .lines()
        .filter(|line| grade(line).is_some_and(|grade| grade > 0.0))
        .filter_map(|line| line.split('\t').next())
        .collect();
    let mut questions = Vec::new();
    for line in fs::read_to_string(folder.join("queries.jsonl"))?.lines() {
        let query: serde_json::Value = serde_json::from_str(line)?;
        let id = query["id"].as_str().map_or_else(|| query["id"].to_string(), str::to_owned);
        if answered.contains(&*id) {
            questions.extend(query["text"].as_str().map(str::to_owned));
        }
    }
    let step = questions.len().div_ceil(MOST).max(1);
    Ok(questions.into_iter().step_by(step).collect())
}

/// Words that nobody ever wrote: syllables, letters, ideographs.
fn nonsense() -> Vec<String> {
    let mut generator = Pcg64Mcg::seed_from_u64(7);
    let mut below = |end: u32| {
        let scaled = u64::from(generator.next_u32()) * u64::from(end);
        u32::try_from(scaled >> 32).unwrap_or_default()
    };
    let mut one_of = |from: &str| {
        let characters: Vec<char> = from.chars().collect();
        characters[below(u32::try_from(characters.len()).unwrap_or_default()) as usize]
    };
    let mut questions = Vec::new();
    for at in 0..90 {
        let mut word = || -> String {
            let length = one_of("2345").to_digit(10).unwrap_or_default();
            match at % 3 {
                0 => (0..length).flat_map(|_| [one_of("bdfgklmnprstvz"), one_of("aeiou")]).collect(),
                1 => (0..2 * length).map(|_| one_of("abcdefghijklmnopqrstuvwxyz")).collect(),
                _ => (0..length).map(|_| one_of("鬱朧龕驫麤靐齉爨虋纛")).collect(),
            }
        };
        questions.push((0..=at / 3 % 6).map(|_| word()).collect::<Vec<_>>().join(" "));
    }
    questions
}
