//! The exact scan: every int8 row against the query, the best again by their f16 rows.

use std::ops::Range;

use tantivy::DocAddress;
use tantivy::fastfield::AliveBitSet;

use super::quantize::{Query, f16_dot, int8_dots};
use super::segment::VectorSegment;
use crate::error::{Error, Result};
use crate::lexical::rows::Rows;
use crate::stop::Stop;

/// A document and its cosine to the query.
pub type Scanned = (DocAddress, f32);

/// Rows between two looks at `stop`: some ten microseconds.
const BLOCK: u32 = 1024;

/// At least so many are scored again.
const RESCORED_AT_LEAST: usize = 100;

/// And so many beyond `k`: how far int8 rounding moves a row past the last place.
const RESCORED_BEYOND: usize = 32;

/// Which of a segment's rows are looked at.
#[derive(Clone, Copy)]
pub enum Among<'a> {
    /// Those that are alive.
    Alive(&'a AliveBitSet),
    /// These. No other row is read.
    Selected(&'a Rows),
}

/// The `k` documents that are closest to `query` among those wanted, best first; of a segment without a word about it
/// all are. Equal scores are ordered by `tie`, smaller first, so that the answer does not hang on how documents are
/// spread over segments; `tie` is asked only then.
///
/// A segment's place in `segments` is its ordinal in the addresses. [`Error::Damaged`] where a segment's vectors are
/// not as long as `query`.
pub fn scan(
    segments: &[(&VectorSegment, Option<Among<'_>>)],
    query: &[f32],
    k: usize,
    tie: &dyn Fn(DocAddress) -> u64,
    stop: &Stop,
) -> Result<Vec<Scanned>> {
    let Some((first, _)) = segments.first() else { return Ok(Vec::new()) };
    let query = Query::new(query, first.stride());
    let mut best = Best::new(RESCORED_AT_LEAST.max(k + RESCORED_BEYOND));
    for (ordinal, (segment, among)) in (0..).zip(segments) {
        fits(segment, *among, &query)?;
        let mut scan = SegmentScan { segment, ordinal, query: &query, best: &mut best, stop };
        match among {
            Some(Among::Selected(rows)) => {
                for run in rows.runs() {
                    scan.rows(run, |_| true)?;
                }
            }
            // Whether a row is alive is asked last: few rows come so far.
            Some(Among::Alive(alive)) => scan.rows(0..segment.rows(), |row| alive.is_alive(row))?,
            None => scan.rows(0..segment.rows(), |_| true)?,
        }
    }
    let mut scanned: Vec<Scanned> = best.into_candidates(tie);
    for (address, score) in &mut scanned {
        let (segment, _) = segments[address.segment_ord as usize];
        let exact = segment.row(address.doc_id).map_or(f32::NAN, |stored| f16_dot(stored, &query.exact));
        *score = if exact.is_nan() { f32::NEG_INFINITY } else { exact };
    }
    sort(&mut scanned, tie);
    scanned.truncate(k);
    Ok(scanned)
}

/// Checks what the caller put together, so that no row is looked up where there is none.
fn fits(segment: &VectorSegment, among: Option<Among<'_>>, query: &Query) -> Result<()> {
    let damaged = |what| Err(Error::Damaged { path: segment.path().to_owned(), what });
    let (dimensions, wanted) = (segment.dimensions() as usize, query.exact.len());
    if dimensions != wanted {
        return damaged(format!("its vectors have {dimensions} dimensions, the query {wanted}"));
    }
    let documents = match among {
        Some(Among::Alive(alive)) => alive.bitset().max_value(),
        Some(Among::Selected(rows)) => rows.max(),
        None => segment.rows(),
    };
    if documents == segment.rows() {
        Ok(())
    } else {
        damaged(format!("it has {} rows, the lexical segment {documents} documents", segment.rows()))
    }
}

/// One segment being scanned.
struct SegmentScan<'a> {
    segment: &'a VectorSegment,
    ordinal: u32,
    query: &'a Query,
    best: &'a mut Best,
    stop: &'a Stop,
}

impl SegmentScan<'_> {
    /// Scores the `rows` and keeps the best of those that count.
    fn rows(&mut self, rows: Range<u32>, counts: impl Fn(u32) -> bool) -> Result<()> {
        let mut dots = [0; BLOCK as usize];
        for start in rows.clone().step_by(BLOCK as usize) {
            self.stop.check()?;
            let count = BLOCK.min(rows.end - start);
            let dots = &mut dots[..count as usize];
            int8_dots(self.segment.int8_rows(start, count), &self.query.coarse, dots);
            for ((row, dot), scale) in (start..).zip(dots).zip(self.segment.scales(start, count)) {
                #[expect(clippy::cast_precision_loss, reason = "the rows are coarser than that")]
                let score = *dot as f32 * scale;
                if score >= self.best.worst && counts(row) {
                    self.best.push(DocAddress::new(self.ordinal, row), score);
                }
            }
        }
        Ok(())
    }
}

/// The best by int8 score, with all that are equal to the last of them.
struct Best {
    wanted: usize,
    /// What a candidate must reach. Not a number never does.
    worst: f32,
    candidates: Vec<Scanned>,
    /// How many candidates are gathered before the bad ones are thrown away.
    room: usize,
}

impl Best {
    fn new(wanted: usize) -> Self {
        let room = 4 * wanted;
        Self { wanted, worst: f32::NEG_INFINITY, candidates: Vec::with_capacity(room), room }
    }

    fn push(&mut self, address: DocAddress, score: f32) {
        self.candidates.push((address, score));
        if self.candidates.len() >= self.room {
            self.prune();
            // Where a great many are equal, none can be thrown away yet: look less often.
            self.room = self.room.max(2 * self.candidates.len());
        }
    }

    fn prune(&mut self) {
        if self.candidates.len() <= self.wanted {
            return;
        }
        let last = self.wanted - 1;
        let (_, (_, worst), _) = self.candidates.select_nth_unstable_by(last, |a, b| b.1.total_cmp(&a.1));
        self.worst = *worst;
        self.candidates.retain(|(_, score)| *score >= self.worst);
    }

    /// The wanted ones, in no order; which of the equal ones is for `tie` to say.
    fn into_candidates(mut self, tie: &dyn Fn(DocAddress) -> u64) -> Vec<Scanned> {
        self.prune();
        if self.candidates.len() > self.wanted {
            sort(&mut self.candidates, tie);
            self.candidates.truncate(self.wanted);
        }
        self.candidates
    }
}

/// Best first; equal scores by `tie`, smaller first.
fn sort(scanned: &mut [Scanned], tie: &dyn Fn(DocAddress) -> u64) {
    scanned.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| (tie(a.0), a.0).cmp(&(tie(b.0), b.0))));
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;
    use tantivy::BitSet;
    use tantivy::directory::OwnedBytes;
    use tantivy::fastfield::write_alive_bitset;

    use super::super::quantize::{decode, encode, int8_row};
    use super::super::segment::Layout;
    use super::*;

    /// A segment of these vectors; the file is unlinked, the mapping stays.
    fn segment(dimensions: u32, vectors: &[Vec<f32>]) -> VectorSegment {
        let layout = Layout::new(dimensions, u32::try_from(vectors.len()).unwrap());
        let place = |number: u64| usize::try_from(number).unwrap();
        let mut bytes = layout.header().to_vec();
        bytes.resize(place(layout.bytes), 0);
        for (row, vector) in vectors.iter().enumerate() {
            let stored = encode(vector);
            let int8_at = place(layout.int8_at) + row * place(layout.int8_stride);
            let scale = int8_row(&stored, &mut bytes[int8_at..int8_at + place(layout.int8_stride)]);
            let scale_at = place(layout.scales_at) + 4 * row;
            bytes[scale_at..scale_at + 4].copy_from_slice(&scale.to_le_bytes());
            let f16_at = place(layout.f16_at) + row * place(layout.f16_stride);
            bytes[f16_at..f16_at + stored.len()].copy_from_slice(&stored);
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.vec");
        fs::write(&path, bytes).unwrap();
        VectorSegment::open(path).unwrap()
    }

    /// Unit vectors that are the same for the same seed.
    fn random_vectors(count: usize, dimensions: usize, seed: u64) -> Vec<Vec<f32>> {
        let mut state = seed;
        let mut next = || {
            // Twelve uniform numbers make a good enough normal one.
            let mut uniform = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                f64::from(u32::try_from(state >> 33).unwrap()) / f64::from(1_u32 << 31)
            };
            (0..12).map(|_| uniform()).sum::<f64>() - 6.0
        };
        (0..count)
            .map(|_| {
                let vector: Vec<f64> = (0..dimensions).map(|_| next()).collect();
                let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
                #[expect(clippy::cast_possible_truncation, reason = "a component of a unit vector fits f32")]
                vector.iter().map(|x| (x / length) as f32).collect()
            })
            .collect()
    }

    /// All scores by the stored numbers, best first.
    fn by_brute_force(vectors: &[Vec<f32>], query: &[f32]) -> Vec<(u32, f64)> {
        let score = |vector: &Vec<f32>| {
            let stored = decode(&encode(vector));
            stored.iter().zip(query).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>()
        };
        let mut scores: Vec<(u32, f64)> = (0..).zip(vectors.iter().map(score)).collect();
        scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        scores
    }

    fn by_row(address: DocAddress) -> u64 {
        u64::from(address.doc_id)
    }

    fn alive_without(rows: u32, dead: &[u32]) -> AliveBitSet {
        let mut bits = BitSet::with_max_value_and_full(rows);
        for row in dead {
            bits.remove(*row);
        }
        let mut bytes = Vec::new();
        write_alive_bitset(&bits, &mut bytes).unwrap();
        AliveBitSet::open(OwnedBytes::new(bytes))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn scores_are_those_of_brute_force_and_descend(
            rows in 1_usize..700, dimensions in 1_usize..130, k in 1_usize..60, seed in any::<u64>()
        ) {
            let vectors = random_vectors(rows, dimensions, seed);
            let query = &random_vectors(1, dimensions, seed ^ 1)[0];
            let segment = segment(u32::try_from(dimensions).unwrap(), &vectors);
            let found = scan(&[(&segment, None)], query, k, &by_row, &Stop::never()).unwrap();
            prop_assert_eq!(found.len(), k.min(rows));
            prop_assert!(found.windows(2).all(|pair| pair[0].1 >= pair[1].1));
            let expected = by_brute_force(&vectors, query);
            for ((address, score), (_, at_its_rank)) in found.iter().zip(&expected) {
                let own = expected.iter().find(|(row, _)| *row == address.doc_id).unwrap().1;
                prop_assert!((f64::from(*score) - own).abs() < 1e-5);
                // Up to quantisation, its rank is the right one.
                prop_assert!((own - at_its_rank).abs() < 0.01, "{} {}", own, at_its_rank);
            }
        }

        #[test]
        fn the_answer_does_not_hang_on_segments(cut in 0_usize..=300, seed in any::<u64>()) {
            let mut vectors = random_vectors(150, 32, seed);
            // Every vector twice: as many ties as there can be.
            vectors.extend(vectors.clone());
            let query = &random_vectors(1, 32, seed ^ 1)[0];
            let whole = segment(32, &vectors);
            let parts = [segment(32, &vectors[..cut]), segment(32, &vectors[cut..])];
            let of_whole = scan(&[(&whole, None)], query, 20, &by_row, &Stop::never()).unwrap();
            let number = |address: DocAddress| {
                let before = if address.segment_ord == 0 { 0 } else { cut };
                u64::from(address.doc_id) + u64::try_from(before).unwrap()
            };
            let of_parts =
                scan(&[(&parts[0], None), (&parts[1], None)], query, 20, &number, &Stop::never()).unwrap();
            let numbered: Vec<(u64, f32)> =
                of_parts.iter().map(|(address, score)| (number(*address), *score)).collect();
            let expected: Vec<(u64, f32)> =
                of_whole.iter().map(|(address, score)| (by_row(*address), *score)).collect();
            prop_assert_eq!(numbered, expected);
        }
    }

    #[test]
    fn the_top_ten_are_the_right_ones_nearly_always() {
        let vectors = random_vectors(5000, 384, 7);
        let segment = segment(384, &vectors);
        let mut right = 0;
        for query in random_vectors(50, 384, 8) {
            let found = scan(&[(&segment, None)], &query, 10, &by_row, &Stop::never()).unwrap();
            let expected: Vec<u32> =
                by_brute_force(&vectors, &query).iter().take(10).map(|(row, _)| *row).collect();
            right += found.iter().filter(|(address, _)| expected.contains(&address.doc_id)).count();
        }
        assert!(right >= 495, "{right} of 500");
    }

    #[test]
    fn the_dead_are_not_found() {
        let vectors = random_vectors(300, 64, 3);
        let segment = segment(64, &vectors);
        let order = by_brute_force(&vectors, &vectors[5]);
        let dead: Vec<u32> = order.iter().take(50).map(|(row, _)| *row).collect();
        let alive = alive_without(300, &dead);
        let found = scan(&[(&segment, Some(Among::Alive(&alive)))], &vectors[5], 10, &by_row, &Stop::never())
            .unwrap();
        let expected: Vec<u32> = order.iter().skip(50).take(10).map(|(row, _)| *row).collect();
        assert_eq!(found.iter().map(|(address, _)| address.doc_id).collect::<Vec<_>>(), expected);
    }

    proptest! {
        #[test]
        fn among_selected_rows_the_best_are_those_of_all(
            rows in 1_usize..200,
            dimensions in 1_usize..100,
            k in 1_usize..30,
            seed in any::<u64>(),
            share in 0_u64..20,
        ) {
            let vectors = random_vectors(rows, dimensions, seed);
            let query = &random_vectors(1, dimensions, seed ^ 1)[0];
            let segment = segment(u32::try_from(dimensions).unwrap(), &vectors);
            let mut selected = Rows::none(segment.rows());
            (0..segment.rows()).filter(|row| u64::from(*row).wrapping_mul(seed | 1) % 20 < share).for_each(|row| selected.insert(row));
            let all = scan(&[(&segment, None)], query, rows, &by_row, &Stop::never()).unwrap();
            let expected: Vec<Scanned> =
                all.into_iter().filter(|(address, _)| selected.contains(address.doc_id)).take(k).collect();
            let among = Some(Among::Selected(&selected));
            let found = scan(&[(&segment, among)], query, k, &by_row, &Stop::never()).unwrap();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn ten_thousand_equal_vectors_are_ordered_by_their_tie() {
        let vectors = vec![vec![0.6, 0.8]; 10_000];
        let segment = segment(2, &vectors);
        let last_first = |address: DocAddress| u64::from(u32::MAX - address.doc_id);
        let found = scan(&[(&segment, None)], &[1.0, 0.0], 5, &last_first, &Stop::never()).unwrap();
        let rows: Vec<u32> = found.iter().map(|(address, _)| address.doc_id).collect();
        assert_eq!(rows, [9999, 9998, 9997, 9996, 9995]);
    }

    #[test]
    fn nothing_is_found_where_nothing_is() {
        let never = Stop::never();
        assert_eq!(scan(&[], &[1.0], 10, &by_row, &never).unwrap(), []);
        let empty = segment(2, &[]);
        assert_eq!(scan(&[(&empty, None)], &[1.0, 0.0], 10, &by_row, &never).unwrap(), []);
    }

    #[test]
    fn a_query_of_another_length_is_refused() {
        let segment = segment(64, &random_vectors(3, 64, 1));
        assert!(matches!(
            scan(&[(&segment, None)], &[1.0; 32], 10, &by_row, &Stop::never()),
            Err(Error::Damaged { .. })
        ));
    }

    #[test]
    fn a_scan_that_nobody_waits_for_stops() {
        let segment = segment(64, &random_vectors(3, 64, 1));
        let stop = Stop::never();
        stop.cancel();
        assert!(matches!(scan(&[(&segment, None)], &[0.1; 64], 1, &by_row, &stop), Err(Error::Cancelled)));
    }
}
