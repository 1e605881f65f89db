//! Ingest without vectors beside its limit (reading and cutting alone, on all cores), and what a second look costs.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use engine::model::Store;
use ingest::admit::admit;
use ingest::chunk::chunk;
use ingest::interrupt::Interrupt;
use ingest::parent::known_collections;
use ingest::progress::Progress;
use ingest::scope::{Asked, Known, MAX_FILE_BYTES, resolve};
use ingest::update::{ModelChoice, Update};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

/// Chunks in a document, one a section.
const CHUNKS: usize = 10;

fn benchmarks(criterion: &mut Criterion) {
    for chunks in [1_000, 10_000] {
        let place = tempfile::tempdir().unwrap();
        let files = corpus(&place.path().join("docs"), chunks / CHUNKS);
        let mut group = criterion.benchmark_group("ingest");
        group.sample_size(10).throughput(Throughput::Elements(chunks as u64));
        group.bench_function(BenchmarkId::new("read_and_cut", chunks), |bencher| {
            bencher.iter(|| files.par_iter().map(|path| cut(path)).sum::<usize>());
        });
        group.bench_function(BenchmarkId::new("from_nothing", chunks), |bencher| {
            bencher.iter_batched(
                || fs::remove_dir_all(place.path().join("index")).ok(),
                |_| ingest(place.path()),
                BatchSize::PerIteration,
            );
        });
        ingest(place.path());
        group.bench_function(BenchmarkId::new("unchanged", chunks), |bencher| {
            bencher.iter(|| ingest(place.path()));
        });
        let mut edits = 0;
        group.bench_function(BenchmarkId::new("one_file_edited", chunks), |bencher| {
            bencher.iter_batched(
                || {
                    edits += 1;
                    let text = fs::read_to_string(&files[0]).unwrap();
                    fs::write(&files[0], format!("{text}\nEdit {edits}.\n")).unwrap();
                },
                |()| ingest(place.path()),
                BatchSize::PerIteration,
            );
        });
        group.finish();
    }
}

fn cut(path: &Path) -> usize {
    let admitted = admit(path, MAX_FILE_BYTES).unwrap();
    black_box(chunk(&path.to_string_lossy(), &admitted.text)).chunks.len()
}

fn ingest(place: &Path) {
    let index_dir = place.join("index");
    let known: Vec<Known> = known_collections(&index_dir).unwrap();
    let asked = Asked { cwd: place.to_owned(), paths: vec!["docs".into()], ..Asked::default() };
    let update = Update {
        index_dir: &index_dir,
        store: &Store::open(place.join("models")),
        model: &ModelChoice::Without,
        interrupt: &Interrupt::never(),
        progress: &Progress::quiet(),
    };
    for target in resolve(&asked, &known).unwrap() {
        update.run(&target).unwrap();
    }
}

/// Documents of prose that differ in every sentence, with the word frequencies of a made-up language.
fn corpus(folder: &Path, documents: usize) -> Vec<PathBuf> {
    let mut random = 1u64;
    let mut word = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Small numbers are frequent, as short words are.
        let rank = (random >> 40) % ((random >> 20) % 20_000 + 1);
        let mut text = String::new();
        let mut rest = rank + 1;
        while rest > 0 {
            let syllables = ["ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zan"];
            text.push_str(syllables[(rest % 10) as usize]);
            rest /= 10;
        }
        text
    };
    let mut files = Vec::new();
    for document in 0..documents {
        let path = folder.join(format!("{}/{document}.md", document % 100));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut text = format!("# Document {document}\n\n");
        for section in 0..CHUNKS {
            write!(text, "## Section {section} {}\n\n", word()).unwrap();
            for _ in 0..15 {
                let sentence: Vec<String> = (0..12).map(|_| word()).collect();
                write!(text, "The {}. ", sentence.join(" ")).unwrap();
            }
            text.push_str("\n\n");
        }
        fs::write(&path, text).unwrap();
        files.push(path);
    }
    files
}

criterion_group!(benches, benchmarks);
criterion_main!(benches);
