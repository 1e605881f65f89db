//! Cuts real folders into chunks and counts what a model's tokenizer makes of them.
//!
//! ```text
//! cargo run --release --workspace --example chunks -- tokenizer.json DIR...   # figures
//! cargo run --release --workspace --example chunks -- - FILE                  # the chunks themselves
//! cargo run --release --workspace --example chunks -- edits DIR...            # what one line more changes
//! ```

#![expect(clippy::print_stdout, reason = "printing is what an example is for")]

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use ingest::chunk::{Chunk, chunk};
use tokenizers::Tokenizer;

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let tokenizer = arguments.next().context("which tokenizer?")?;
    for path in arguments {
        if tokenizer == Path::new("-") {
            show(&path)?;
        } else if tokenizer == Path::new("edits") {
            edits(&path)?;
        } else {
            figures(&tokenizer, &path)?;
        }
    }
    Ok(())
}

fn show(path: &Path) -> Result<()> {
    let text = std::fs::read_to_string(path)?;
    let document = chunk(&path.to_string_lossy(), &text);
    println!(
        "{:?} {:?} {:?} {:?} {:?}",
        document.title, document.tags, document.date, document.updated, document.warnings
    );
    for chunk in &document.chunks {
        println!("\n━━ {}-{} {}", chunk.lines.start, chunk.lines.end, chunk.heading_path.join(" > "));
        println!("{}", slice(chunk, &text));
    }
    Ok(())
}

/// Puts a line at each of some places of every file, and counts the chunks whose text is new.
fn edits(folder: &Path) -> Result<()> {
    let mut new_chunks = [0; 12];
    for path in texts(folder)? {
        let source = path.to_string_lossy().into_owned();
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let old = chunk(&source, &text);
        let old: HashSet<&str> = old.chunks.iter().map(|chunk| slice(chunk, &text)).collect();
        let line_starts: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
        for at in line_starts.iter().step_by((line_starts.len() / 10).max(1)) {
            let edited = format!("{}One line more of plain words.\n{}", &text[..*at], &text[*at..]);
            let chunks = chunk(&source, &edited).chunks;
            let new = chunks.iter().filter(|chunk| !old.contains(slice(chunk, &edited))).count();
            new_chunks[new.min(11)] += 1;
        }
    }
    println!("{}: edits by number of new chunks: {new_chunks:?}", folder.display());
    Ok(())
}

/// Files of a known kind beneath `folder`, in order.
fn texts(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = ignore::WalkBuilder::new(folder).sort_by_file_path(Path::cmp).build();
    let paths = entries.map(|entry| entry.map(ignore::DirEntry::into_path)).collect::<Result<Vec<_>, _>>()?;
    let is_known =
        |path: &PathBuf| ingest::kind::Kind::of(&path.to_string_lossy()).is_some() && path.is_file();
    Ok(paths.into_iter().filter(is_known).collect())
}

fn figures(tokenizer: &Path, folder: &Path) -> Result<()> {
    let mut tokenizer = Tokenizer::from_file(tokenizer).map_err(anyhow::Error::msg)?;
    tokenizer.with_truncation(None).map_err(anyhow::Error::msg)?;
    tokenizer.with_padding(None);

    let (mut files, mut bytes) = (0, 0);
    let mut spent = Duration::ZERO;
    let mut tokens = Vec::new();
    for path in texts(folder)? {
        let source = path.to_string_lossy().into_owned();
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let start = Instant::now();
        let document = chunk(&source, &text);
        spent += start.elapsed();
        files += 1;
        bytes += text.len();
        for chunk in &document.chunks {
            let embedded = format!("{}\n{}", chunk.heading_path.join(" > "), slice(chunk, &text));
            let encoding = tokenizer.encode_fast(embedded, true).map_err(anyhow::Error::msg)?;
            tokens.push((encoding.len(), format!("{source}:{}", chunk.lines.start)));
        }
    }
    tokens.sort();
    let at = |hundredth: usize| {
        tokens.get((tokens.len().saturating_sub(1)) * hundredth / 100).map_or(0, |(count, _)| *count)
    };
    let over = tokens.iter().filter(|(count, _)| *count > 512).count();
    let small = tokens.iter().filter(|(count, _)| *count < 48).count();
    println!(
        "{}: {files} files, {bytes} bytes, {} chunks, {} MB/s; tokens p1 {} p10 {} p25 {} p50 {} p75 {} p90 {} p99 {} max {}; \
         over 512: {over}, under 48: {small}",
        folder.display(),
        tokens.len(),
        bytes as u128 / spent.as_micros().max(1),
        at(1),
        at(10),
        at(25),
        at(50),
        at(75),
        at(90),
        at(99),
        at(100),
    );
    for (count, place) in tokens.iter().rev().take(3) {
        println!("  {count} {place}");
    }
    Ok(())
}

fn slice<'a>(chunk: &Chunk, text: &'a str) -> &'a str {
    &text[chunk.bytes.start as usize..chunk.bytes.end as usize]
}
