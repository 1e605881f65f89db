//! What a filter costs at 1,000, 10,000 and 100,000 chunks, ten to a document: finding what it leaves the first time,
//! and ranking among that. And what it costs to show a question's words in ten passages.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot be set up has nothing to measure")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use engine::citation::{ByteRange, LineRange, SourceClass};
use engine::filter::{Filter, Paths, Period, Tag};
use engine::highlight::Highlighter;
use engine::id::{ChunkId, DocumentId, Sha256};
use engine::lexical::directory::Exclusive;
use engine::lexical::record::ChunkRecord;
use engine::lexical::schema::{fields, settings};
use engine::lexical::{Lexical, WordQuery};
use engine::stop::Stop;
use tantivy::{Index, IndexWriter};
use tempfile::TempDir;

/// A word that is common where `rank` is small.
fn word(number: u32) -> String {
    let rank = u64::from(number).wrapping_mul(2_654_435_761) % 10_007;
    format!("w{}", rank * rank / 20_000)
}

fn record(number: u32) -> ChunkRecord {
    let document = number / 10;
    let source = format!("docs/part-{}/chapter-{}/page-{document}.md", document / 1000, document / 50);
    let document_id = DocumentId::of_source(&source);
    let text = (0..150).map(|i| word(number * 150 + i)).collect::<Vec<_>>().join(" ");
    let text_sha256 = Sha256::of(text.as_bytes());
    ChunkRecord {
        chunk_id: ChunkId::of_text(document_id, text_sha256, 0),
        document_id,
        source,
        source_class: SourceClass::Text,
        extractor: None,
        bytes: ByteRange { start: 0, end: 1 },
        lines: LineRange { start: 1, end: 10 },
        text_sha256,
        title: None,
        heading_path: Vec::new(),
        tags: vec![format!("tag{}", document % 40), format!("kind{}", document % 3)],
        date: Some(format!("20{:02}-{:02}-{:02}", document % 25, document % 12 + 1, document % 28 + 1)),
        updated: None,
        text,
    }
}

fn build(chunks: u32) -> (TempDir, Lexical) {
    let folder = tempfile::tempdir().unwrap();
    let directory = Exclusive::open(folder.path()).unwrap();
    let index = Index::create(directory, fields().schema.clone(), settings()).unwrap();
    let mut writer: IndexWriter = index.writer_with_num_threads(1, 400 << 20).unwrap();
    for number in 0..chunks {
        writer.add_document(record(number).to_document()).unwrap();
    }
    writer.commit().unwrap();
    writer.wait_merging_threads().unwrap();
    let lexical = Lexical::open(folder.path()).unwrap();
    (folder, lexical)
}

fn filters() -> Vec<(&'static str, Filter)> {
    vec![
        ("one tag", Filter { tags_any: vec![Tag::new("tag7")], ..Filter::default() }),
        ("globs", Filter { paths: Paths::new(&["docs/part-0", "!*-3*.md"]).unwrap(), ..Filter::default() }),
        (
            "dates",
            Filter {
                dates: Period { from: "2012-01-01".parse().ok(), until: "2013-12-31".parse().ok() },
                ..Filter::default()
            },
        ),
    ]
}

fn benchmark(criterion: &mut Criterion) {
    for chunks in [1_000, 10_000, 100_000] {
        let (_folder, lexical) = build(chunks);
        let query = WordQuery::of("w3 w17 w120 w900 w2500", &[]);
        let mut group = criterion.benchmark_group("filter");
        group.bench_function(BenchmarkId::new("best 10 unfiltered", chunks), |bencher| {
            bencher.iter(|| lexical.search(&query, 10, &Stop::never()).unwrap().len());
        });
        for (name, filter) in filters() {
            group.bench_function(BenchmarkId::new(format!("select: {name}"), chunks), |bencher| {
                bencher.iter(|| lexical.select(black_box(&filter), &Stop::never()).unwrap().chunks());
            });
            let selection = lexical.select(&filter, &Stop::never()).unwrap();
            group.bench_function(BenchmarkId::new(format!("best 10: {name}"), chunks), |bencher| {
                bencher
                    .iter(|| lexical.search_in(&query, 10, Some(&selection), &Stop::never()).unwrap().len());
            });
        }
        group.finish();
    }
    let texts: Vec<String> = (0..10).map(|number| record(number).text).collect();
    let mut group = criterion.benchmark_group("highlight");
    group.bench_function("ten passages of 150 words", |bencher| {
        let highlighter = Highlighter::of("how is the w3 of w17 restored w120", &[]);
        bencher.iter(|| texts.iter().map(|text| highlighter.ranges(text).len()).sum::<usize>());
    });
    let prose = "Cordon the node first, then wait until every lease has moved. A drain that takes longer than ten \
                 minutes is stuck on a volume; stop the writers, restore the newest snapshot and compare row counts. ";
    let prose = prose.repeat(5);
    group.bench_function("a passage of 170 words of prose", |bencher| {
        let highlighter = Highlighter::of("how do I drain a node before restoring its snapshot", &[]);
        bencher.iter(|| highlighter.ranges(black_box(&prose)).len());
    });
    group.finish();
}

criterion_group!(benches, benchmark);
criterion_main!(benches);
