//! Fusion of two legs: its cost hangs on their length, not on the collection's, which only moves the rows apart.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "the numbers of a benchmark are small"
)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use engine::fusion::{DEPTH, DenseWeight, fuse};
use engine::lexical::Candidate;
use tantivy::DocAddress;

fn leg(chunks: u32, seed: u32) -> Vec<Candidate> {
    let candidate = |i: u32| {
        let row = (i.wrapping_mul(2_654_435_761).wrapping_add(seed)) % chunks;
        Candidate {
            address: DocAddress::new(0, row),
            score: 1.0 / (i + 1) as f32,
            tie: u64::from(row.reverse_bits()),
        }
    };
    let mut leg: Vec<Candidate> = (0..DEPTH as u32).map(candidate).collect();
    leg.sort_by_key(|candidate| candidate.address);
    leg.dedup_by_key(|candidate| candidate.address);
    leg.sort_by(Candidate::order);
    leg
}

fn benchmark(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fusion");
    for chunks in [1_000, 10_000, 100_000] {
        let (bm25, dense) = (leg(chunks, 1), leg(chunks, 77));
        group.bench_function(BenchmarkId::new("fuse", chunks), |bencher| {
            bencher.iter(|| fuse(&bm25, &dense, DenseWeight::new(0.5)));
        });
    }
    group.finish();
}

criterion_group!(benches, benchmark);
criterion_main!(benches);
