//! How fast documents are cut into chunks, on one core.
//!
//! ```text
//! cargo bench --workspace --bench chunk
//! ```

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ingest::chunk::chunk;

fn cutting(criterion: &mut Criterion) {
    let documents = [
        ("markdown", "a.md", markdown()),
        ("markdown_in_chinese", "a.md", chinese()),
        ("long_paragraphs", "a.md", paragraphs()),
        ("code", "a.rs", code()),
        ("log", "a.txt", log()),
        ("one_word", "a.txt", "x".repeat(1_000_000)),
    ];
    let mut group = criterion.benchmark_group("chunk");
    group.sample_size(20);
    for (name, source, text) in documents {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |bencher| bencher.iter(|| chunk(source, black_box(&text))));
    }
    group.finish();
}

/// Sections as documentation has them: prose, a list, a fence, a table.
fn markdown() -> String {
    let section = |n: usize| {
        format!(
            "## Section {n}\n\n{}\n\n- first item\n- second item\n\n```sh\nrun --number {n}\n```\n\n| a | b |\n|---|---|\n| {n} | x |\n\n",
            sentences(n % 13 + 3)
        )
    };
    filled(section)
}

fn chinese() -> String {
    filled(|n| {
        format!("## 第{n}节\n\n{}\n\n", "这是一个关于数据库的句子，说明了如何使用它。".repeat(n % 9 + 2))
    })
}

fn paragraphs() -> String {
    filled(|_| sentences(200) + "\n\n")
}

fn code() -> String {
    filled(|n| {
        format!(
            "/// Does {n}.\npub fn number_{n}(input: u32) -> u32 {{\n{}}}\n\n",
            "    let x = input + 1;\n".repeat(n % 40)
        )
    })
}

fn log() -> String {
    filled(|n| format!("2024-05-01T10:00:{:02} INFO request {n} took {} ms\n", n % 60, n % 977))
}

fn sentences(count: usize) -> String {
    let sentence = |n| format!("Sentence number {n} says something that is quite plain. ");
    (0..count).map(sentence).collect::<Vec<_>>().concat()
}

/// About a megabyte of pieces.
fn filled(piece: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for n in 0.. {
        if text.len() >= 1_000_000 {
            break;
        }
        text.push_str(&piece(n));
    }
    text
}

criterion_group!(benches, cutting);
criterion_main!(benches);
