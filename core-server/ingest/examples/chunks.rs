//! Cuts real folders into chunks and counts what a model's tokenizer makes of them.
//!
//! ```text
//! cargo run --release --workspace --example chunks -- tokenizer.json DIR...   # figures
//! cargo run --release --workspace --example chunks -- - FILE                  # the chunks themselves
//! ```

#![expect(clippy::print_stdout, reason = "printing is what an example is for")]

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use ingest::chunk::{Chunk, chunk};
use tokenizers::Tokenizer;

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let tokenizer = arguments.next().context("which tokenizer?")?;
    for path in arguments {
        if tokenizer == Path::new("-") {
            show(&path)?;
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

fn figures(tokenizer: &Path, folder: &Path) -> Result<()> {
    let mut tokenizer = Tokenizer::from_file(tokenizer).map_err(anyhow::Error::msg)?;
    tokenizer.with_truncation(None).map_err(anyhow::Error::msg)?;
    tokenizer.with_padding(None);

    let (mut files, mut bytes) = (0, 0);
    let mut seconds = 0.0;
    let mut tokens = Vec::new();
    for entry in ignore::WalkBuilder::new(folder).sort_by_file_path(Path::cmp).build() {
        let path = entry?.into_path();
        let source = path.to_string_lossy().into_owned();
        if ingest::kind::Kind::of(&source).is_none() || !path.is_file() {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let start = Instant::now();
        let document = chunk(&source, &text);
        seconds += start.elapsed().as_secs_f64();
        files += 1;
        bytes += text.len();
        for chunk in &document.chunks {
            let embedded = format!("{}\n{}", chunk.heading_path.join(" > "), slice(chunk, &text));
            let encoding = tokenizer.encode_fast(embedded, true).map_err(anyhow::Error::msg)?;
            tokens.push((encoding.len(), format!("{source}:{}", chunk.lines.start)));
        }
    }
    tokens.sort();
    let at =
        |share: f64| tokens.get(((tokens.len() - 1) as f64 * share) as usize).map_or(0, |(count, _)| *count);
    let over = tokens.iter().filter(|(count, _)| *count > 512).count();
    let small = tokens.iter().filter(|(count, _)| *count < 48).count();
    println!(
        "{}: {files} files, {bytes} bytes, {} chunks, {:.0} MB/s; tokens p1 {} p10 {} p25 {} p50 {} p75 {} p90 {} p99 {} max {}; \
         over 512: {over} ({:.3} %), under 48: {small} ({:.1} %)",
        folder.display(),
        tokens.len(),
        bytes as f64 / 1e6 / seconds,
        at(0.01),
        at(0.10),
        at(0.25),
        at(0.50),
        at(0.75),
        at(0.90),
        at(0.99),
        at(1.0),
        over as f64 * 100.0 / tokens.len() as f64,
        small as f64 * 100.0 / tokens.len() as f64,
    );
    for (count, place) in tokens.iter().rev().take(3) {
        println!("  {count} {place}");
    }
    Ok(())
}

fn slice<'a>(chunk: &Chunk, text: &'a str) -> &'a str {
    &text[chunk.bytes.start as usize..chunk.bytes.end as usize]
}
