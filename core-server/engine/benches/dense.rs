//! The exact scan at 1,000, 10,000 and 100,000 vectors of 384 numbers, on one core.
//!
//! `cargo bench --workspace --bench dense`. The limit beside it is reading the int8 rows at all, measured as `read`.

#![expect(clippy::expect_used, reason = "a benchmark that cannot set its stage has failed")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use engine::dense::segment::Layout;
use engine::dense::{VectorSegment, quantize, scan};
use engine::stop::Stop;
use tantivy::DocAddress;

const DIMENSIONS: u32 = 384;

fn dense(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("dense");
    let mut numbers = Numbers(1);
    for rows in [1_000, 10_000, 100_000] {
        let segment = segment(rows, &mut numbers);
        let query: Vec<f32> = numbers.vector();
        group.throughput(Throughput::Elements(u64::from(rows)));
        for k in [10, 100] {
            group.bench_function(BenchmarkId::new(format!("scan-top-{k}"), rows), |bencher| {
                let by_row = |address: DocAddress| u64::from(address.doc_id);
                bencher.iter(|| scan(&[(&segment, None)], black_box(&query), k, &by_row, &Stop::never()));
            });
        }
        let bytes = vec![1_u8; rows as usize * DIMENSIONS as usize];
        group.bench_function(BenchmarkId::new("read", rows), |bencher| {
            bencher.iter(|| {
                let (words, _) = black_box(&bytes).as_chunks::<8>();
                words.iter().fold(0_u64, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word)))
            });
        });
    }
    group.finish();
}

/// A segment of random unit vectors, mapped from a file that is unlinked already.
fn segment(rows: u32, numbers: &mut Numbers) -> VectorSegment {
    let layout = Layout::new(DIMENSIONS, rows);
    let place = |number: u64| usize::try_from(number).expect("fits memory");
    let mut bytes = layout.header().to_vec();
    bytes.resize(place(layout.bytes), 0);
    for row in 0..u64::from(rows) {
        let stored = quantize::encode(&numbers.vector());
        let int8_at = place(layout.int8_at + row * layout.int8_stride);
        let scale = quantize::int8_row(&stored, &mut bytes[int8_at..int8_at + place(layout.int8_stride)]);
        let scale_at = place(layout.scales_at + 4 * row);
        bytes[scale_at..scale_at + 4].copy_from_slice(&scale.to_le_bytes());
        let f16_at = place(layout.f16_at + row * layout.f16_stride);
        bytes[f16_at..f16_at + stored.len()].copy_from_slice(&stored);
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("bench.vec");
    std::fs::write(&path, bytes).expect("a file in it");
    VectorSegment::open(path).expect("a whole vector file")
}

/// Reproducible numbers: a linear congruential generator.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f32::from(u16::try_from(self.0 >> 48).expect("sixteen bits")) / 32_768.0 - 1.0
    }

    fn vector(&mut self) -> Vec<f32> {
        let vector: Vec<f32> = (0..DIMENSIONS).map(|_| self.next()).collect();
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter().map(|x| x / length).collect()
    }
}

criterion_group!(benches, dense);
criterion_main!(benches);
