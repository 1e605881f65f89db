//! The lexical side at 1,000, 10,000 and 100,000 chunks: analysis, ranking, and loading what was found.
//!
//! Chunks are made of a vocabulary in which, as in a language, few words are common and most are rare; a query has
//! five words, of which one is common. No stop word is among them, so every word is looked up in every field.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the numbers of a benchmark are small"
)]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot be set up has nothing to measure")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use engine::analysis::{Language, Reading, analyze};
use engine::citation::{ByteRange, LineRange, SourceClass};
use engine::evidence::LEADING;
use engine::exact::literals;
use engine::id::{ChunkId, DocumentId, Sha256};
use engine::lexical::Lexical;
use engine::lexical::directory::Exclusive;
use engine::lexical::record::ChunkRecord;
use engine::lexical::schema::{fields, settings};
use engine::stop::Stop;
use tantivy::{Index, IndexWriter};
use tempfile::TempDir;

/// Numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The rank of a word in Zipf's distribution (exponent 1) over `vocabulary` words, by inversion of its integral.
    fn rank(&mut self, vocabulary: f64) -> u64 {
        (vocabulary.powf(self.unit()) - 1.0) as u64
    }

    fn word(&mut self) -> String {
        word(self.rank(200_000.0))
    }
}

/// A pronounceable word for a rank; short ones are common.
fn word(mut rank: u64) -> String {
    let mut word = String::new();
    rank += 20;
    while rank > 0 {
        word.push("bcdfghjklmnpqrstvwxz".as_bytes()[(rank % 20) as usize].into());
        word.push("aeiou".as_bytes()[(rank % 5) as usize].into());
        rank /= 20;
    }
    word
}

fn record(number: u32, numbers: &mut Numbers) -> ChunkRecord {
    let source = format!("docs/part-{}/page-{}.md", number / 1000, number / 10);
    let document_id = DocumentId::of_source(&source);
    let mut text = (0..150).map(|_| numbers.word()).collect::<Vec<_>>().join(" ");
    text.push_str(&format_args!(" ERR_CONN_{number}").to_string());
    let text_sha256 = Sha256::of(text.as_bytes());
    ChunkRecord {
        chunk_id: ChunkId::of_text(document_id, text_sha256, 0),
        document_id,
        source,
        source_class: SourceClass::Text,
        extractor: None,
        bytes: ByteRange { start: 0, end: text.len() as u32 },
        lines: LineRange { start: 1, end: 10 },
        text_sha256,
        title: Some(format!("{} {}", numbers.word(), numbers.word())),
        heading_path: vec![numbers.word(), numbers.word()],
        tags: Vec::new(),
        date: None,
        updated: None,
        text,
    }
}

fn build(chunks: u32) -> (TempDir, Lexical) {
    let folder = tempfile::tempdir().unwrap();
    let directory = Exclusive::open(folder.path()).unwrap();
    let index = Index::create(directory, fields().schema.clone(), settings()).unwrap();
    let mut writer: IndexWriter = index.writer_with_num_threads(1, 400 << 20).unwrap();
    let mut numbers = Numbers(1);
    for number in 0..chunks {
        writer.add_document(record(number, &mut numbers).to_document()).unwrap();
    }
    writer.commit().unwrap();
    writer.wait_merging_threads().unwrap();
    let lexical = Lexical::open(folder.path()).unwrap();
    (folder, lexical)
}

fn query(numbers: &mut Numbers) -> String {
    let mut words: Vec<String> = (0..4).map(|_| word(200 + numbers.rank(20_000.0))).collect();
    words.push(word(10 + numbers.rank(50.0)));
    words.join(" ")
}

fn benchmark(criterion: &mut Criterion) {
    let mut numbers = Numbers(2);
    let texts: Vec<ChunkRecord> = (0..100).map(|number| record(number, &mut numbers)).collect();
    let mut group = criterion.benchmark_group("analysis");
    group.throughput(Throughput::Bytes(texts.iter().map(|record| record.text.len() as u64).sum()));
    group.bench_function("analyze", |bencher| {
        bencher.iter(|| {
            let mut terms = 0;
            for record in &texts {
                analyze(&record.text, Reading::of_text_in(None), |_, term| terms += black_box(term).len());
            }
            terms
        });
    });
    group.bench_function("language", |bencher| {
        bencher.iter(|| texts.iter().filter_map(|record| Language::of(&record.text)).count());
    });
    group.bench_function("to_document", |bencher| {
        bencher.iter(|| texts.iter().map(|record| record.to_document().len()).sum::<usize>());
    });
    group.finish();

    let question = "why does parse_config_file fail with ERR_CONN_7781 in \"the main pool\" of v1.2.3?";
    let prose = "why does the service fail to connect to the main pool after an upgrade?";
    for (name, query) in [("literals_of_a_question", question), ("literals_of_prose", prose)] {
        criterion.bench_function(name, |bencher| bencher.iter(|| literals(black_box(query)).len()));
    }

    for chunks in [1_000, 10_000, 100_000] {
        let (_folder, lexical) = build(chunks);
        let mut numbers = Numbers(3);
        let queries: Vec<String> = (0..200).map(|_| query(&mut numbers)).collect();
        let mut group = criterion.benchmark_group("lexical");
        for k in [10, 100] {
            let mut next = queries.iter().cycle();
            group.bench_function(BenchmarkId::new(format!("search_top_{k}"), chunks), |bencher| {
                bencher.iter(|| {
                    let query = lexical.query(next.next().unwrap());
                    lexical.search(&query, k, &Stop::never()).unwrap().len()
                });
            });
        }
        let mut next = (0..chunks).cycle();
        group.bench_function(BenchmarkId::new("one_identifier", chunks), |bencher| {
            bencher.iter(|| {
                let query = format!("what is ERR_CONN_{}", next.next().unwrap());
                let literals = literals(&query);
                lexical
                    .holders(&literals, &lexical.query(&query), 100, None, &Stop::never())
                    .unwrap()
                    .best
                    .len()
            });
        });
        // Its words are common, and no chunk holds it: every chunk that has them is read.
        let phrase = format!("\"{} {} {}\"", word(0), word(0), word(1));
        let phrase_literals = literals(&phrase);
        group.bench_function(BenchmarkId::new("a_phrase_of_common_words", chunks), |bencher| {
            bencher.iter(|| {
                let query = lexical.query(&phrase);
                lexical.holders(&phrase_literals, &query, 100, None, &Stop::never()).unwrap().best.len()
            });
        });
        let found: Vec<_> = queries
            .iter()
            .map(|query| lexical.search(&lexical.query(query), 10, &Stop::never()).unwrap())
            .collect();
        let mut next = queries.iter().zip(&found).cycle();
        group.bench_function(BenchmarkId::new("known_words_in_3", chunks), |bencher| {
            bencher.iter(|| {
                let (query, found) = next.next().unwrap();
                let leading: Vec<_> = found.iter().take(LEADING).map(|found| found.address).collect();
                lexical.known_words(&lexical.query(query), &leading).unwrap().len()
            });
        });
        let mut next = found.iter().cycle();
        group.bench_function(BenchmarkId::new("load_10", chunks), |bencher| {
            bencher.iter(|| {
                let found = next.next().unwrap();
                found.iter().map(|found| lexical.record(found.address).unwrap().text.len()).sum::<usize>()
            });
        });
        group.finish();
    }
}

criterion_group!(benches, benchmark);
criterion_main!(benches);
