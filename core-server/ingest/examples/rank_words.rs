//! Measures the lexical ranking: nDCG@10 and time per query on a judged collection.
//!
//! `cargo run --release --workspace --example rank_words -- DIR…`, each DIR with `docs/*`, `queries.jsonl` (`id`,
//! `text`) and `qrels.tsv` (query, document, grade). A document is ranked by its best chunk.

#![expect(clippy::print_stdout, reason = "a table for a person")]
#![expect(clippy::cast_precision_loss, reason = "ranks and sizes for that table")]

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, bail};
use engine::lexical::Lexical;
use engine::stop::Stop;
use ingest::admit::{Refused, admit};
use ingest::chunk::chunk;
use ingest::lexical_writer::LexicalWriter;
use ingest::stage::records;

fn main() -> Result<()> {
    for folder in std::env::args().skip(1) {
        measure(Path::new(&folder))?;
    }
    Ok(())
}

fn measure(folder: &Path) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let writer = LexicalWriter::create(scratch.path())?;
    let begun = Instant::now();
    let mut bytes = 0;
    for entry in fs::read_dir(folder.join("docs"))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let admitted = match admit(&path, u64::MAX) {
            Ok(admitted) => admitted,
            Err(Refused::Ignored(_)) => continue,
            Err(refused) => bail!("{}: {refused:?}", path.display()),
        };
        bytes += admitted.text.len();
        writer.add_document(records(&name, &admitted, &chunk(&name, &admitted.text)))?;
    }
    let committed = writer.commit_and_merge()?;
    let building = begun.elapsed();
    let lexical = Lexical::open(scratch.path())?;
    let judged = judgements(folder)?;
    let (mut sum, mut queries, mut asking) = (0.0, 0, 0.0);
    for line in fs::read_to_string(folder.join("queries.jsonl"))?.lines() {
        let query: serde_json::Value = serde_json::from_str(line)?;
        let (id, text) = (query["id"].to_string(), query["text"].as_str().unwrap_or_default());
        let Some(grades) = judged.get(id.trim_matches('"')) else { continue };
        let asked = Instant::now();
        let candidates = lexical.search(&lexical.query(text), 100, &Stop::never())?;
        asking += asked.elapsed().as_secs_f64();
        let mut documents: Vec<String> = Vec::new();
        for candidate in candidates {
            let source = lexical.record(candidate.address)?.source;
            let document = source.rsplit_once('.').map_or(&*source, |(stem, _)| stem).to_owned();
            if !documents.contains(&document) {
                documents.push(document);
            }
        }
        sum += ndcg(&documents, grades);
        queries += 1;
    }
    println!(
        "{:14} nDCG@10 {:.4} queries {queries} chunks {} built {:.2} s of {:.1} MB, {:.3} ms/query",
        folder.file_name().unwrap_or_default().to_string_lossy(),
        sum / f64::from(queries),
        committed.chunks,
        building.as_secs_f64(),
        bytes as f64 / 1e6,
        1e3 * asking / f64::from(queries)
    );
    Ok(())
}

type Grades = BTreeMap<String, f64>;

fn judgements(folder: &Path) -> Result<HashMap<String, Grades>> {
    let mut judged: HashMap<String, Grades> = HashMap::new();
    for line in fs::read_to_string(folder.join("qrels.tsv"))?.lines() {
        let mut parts = line.split('\t');
        if let (Some(query), Some(document), Some(grade)) = (parts.next(), parts.next(), parts.next())
            && let Ok(grade) = grade.trim().parse::<f64>()
            && grade > 0.0
        {
            judged.entry(query.to_owned()).or_default().insert(document.to_owned(), grade);
        }
    }
    Ok(judged)
}

fn ndcg(documents: &[String], grades: &Grades) -> f64 {
    let gain = |grade: f64, rank: usize| grade / (rank as f64 + 2.0).log2();
    let found = documents.iter().take(10).enumerate();
    let found: f64 =
        found.map(|(rank, document)| gain(grades.get(document).copied().unwrap_or(0.0), rank)).sum();
    let mut ideal: Vec<f64> = grades.values().copied().collect();
    ideal.sort_by(|left, right| right.total_cmp(left));
    let ideal: f64 = ideal.iter().take(10).enumerate().map(|(rank, grade)| gain(*grade, rank)).sum();
    if ideal > 0.0 { found / ideal } else { 0.0 }
}
