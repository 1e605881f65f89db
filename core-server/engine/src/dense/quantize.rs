//! How a vector is stored and how a query meets it: f16 for the exact score, int8 for the scan.
//!
//! The stored f16 bytes are the vector; everything else is computed from them, so that carrying a vector from one
//! file to another changes nothing.

use half::f16;
use multiversion::multiversion;

/// Bytes per number of a stored vector.
pub const F16_BYTES: usize = 2;

/// Sums are kept in this many lanes, on every processor, so that a score is the same number everywhere.
const LANES: usize = 16;

/// The stored form of `vector`: little-endian f16 numbers.
pub fn encode(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|x| f16::from_f32(*x).to_le_bytes()).collect()
}

/// The numbers of a stored vector.
pub fn decode(stored: &[u8]) -> Vec<f32> {
    stored.chunks_exact(F16_BYTES).map(|bytes| f16::from_le_bytes([bytes[0], bytes[1]]).to_f32()).collect()
}

/// The int8 form of a stored vector, into `row` (whose rest is zeroed), and its scale: number × scale ≈ the vector's
/// number. The scale is the largest magnitude ÷ 127, so the largest number is ±127.
pub fn int8_row(stored: &[u8], row: &mut [u8]) -> f32 {
    let numbers = decode(stored);
    let largest = numbers.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
    row.fill(0);
    if !(largest.is_finite() && largest > 0.0) {
        return 0.0;
    }
    let scale = largest / 127.0;
    for (byte, x) in row.iter_mut().zip(&numbers) {
        #[expect(clippy::cast_possible_truncation, reason = "within ±127 by the scale")]
        let quantized = (x / scale).round() as i8;
        *byte = quantized.cast_unsigned();
    }
    scale
}

/// A query, ready for both forms of a vector.
#[derive(Clone, Debug)]
pub(super) struct Query {
    /// As many bits as leave a dot product with an int8 row within 32 bits; zeros up to the rows' stride.
    pub(super) coarse: Vec<i16>,
    /// The numbers as given.
    pub(super) exact: Vec<f32>,
}

impl Query {
    pub(super) fn new(query: &[f32], stride: usize) -> Self {
        let largest = query.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        let limit = i32::MAX / (127 * i32::try_from(stride).unwrap_or(i32::MAX / 127).max(1));
        let limit = i16::try_from(limit).unwrap_or(i16::MAX);
        let factor = if largest > 0.0 { f32::from(limit) / largest } else { 0.0 };
        let mut coarse = vec![0; stride];
        for (coarse, x) in coarse.iter_mut().zip(query) {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "within ±limit by the factor; `as` saturates"
            )]
            let quantized = (x * factor).round() as i16;
            *coarse = quantized.clamp(-limit, limit);
        }
        Self { coarse, exact: query.to_vec() }
    }
}

/// Dot products of `query` with int8 rows that lie `query.len()` bytes apart.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512vnni", "x86_64+avx2", "aarch64+neon"))]
pub(super) fn int8_dots(rows: &[u8], query: &[i16], dots: &mut [i32]) {
    for (row, dot) in rows.chunks_exact(query.len()).zip(dots) {
        *dot = row.iter().zip(query).map(|(x, y)| i32::from(x.cast_signed()) * i32::from(*y)).sum();
    }
}

/// The dot product of `query` with a stored vector.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2", "aarch64+neon"))]
pub(super) fn f16_dot(stored: &[u8], query: &[f32]) -> f32 {
    /// Shifts f16's exponent, biased by 15, to f32's, biased by 127. Multiplying also normalises subnormal numbers.
    const REBIAS: f32 = f32::from_bits((127 + 112) << 23);

    let widen = |bytes: &[u8]| {
        let bits = u32::from(u16::from_le_bytes([bytes[0], bytes[1]]));
        let magnitude = f32::from_bits((bits & 0x7fff) << 13) * REBIAS;
        f32::from_bits(magnitude.to_bits() | (bits & 0x8000) << 16)
    };
    let mut sums = [0.0_f32; LANES];
    let rows = stored.chunks_exact(F16_BYTES * LANES);
    let queries = query.chunks_exact(LANES);
    let rest = rows.remainder().chunks_exact(F16_BYTES).zip(queries.remainder());
    let rest: f32 = rest.map(|(bytes, y)| widen(bytes) * y).sum();
    for (row, query) in rows.zip(queries) {
        for lane in 0..LANES {
            sums[lane] += widen(&row[F16_BYTES * lane..F16_BYTES * lane + F16_BYTES]) * query[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn storing_what_was_stored_changes_nothing(vector in prop::collection::vec(-1.0_f32..1.0, 1..200)) {
            let stored = encode(&vector);
            prop_assert_eq!(encode(&decode(&stored)), stored);
        }

        #[test]
        fn an_int8_row_is_within_half_a_step(vector in prop::collection::vec(-1.0_f32..1.0, 1..200)) {
            let stored = encode(&vector);
            let mut row = vec![7; 256];
            let scale = int8_row(&stored, &mut row);
            for (x, byte) in decode(&stored).iter().zip(&row) {
                let back = f32::from(byte.cast_signed()) * scale;
                prop_assert!((x - back).abs() <= scale * 0.501, "{} {}", x, back);
            }
            prop_assert!(row[vector.len()..].iter().all(|byte| *byte == 0));
        }

        #[test]
        fn f16_dots_are_those_of_the_decoded_numbers(
            pairs in prop::collection::vec((-1.0_f32..1.0, -1.0_f32..1.0), 1..200)
        ) {
            let (row, query): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            let stored = encode(&row);
            let plain: f64 = decode(&stored).iter().zip(&query).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
            prop_assert!((f64::from(f16_dot(&stored, &query)) - plain).abs() < 1e-4);
        }

        #[test]
        fn int8_dots_are_exact(
            rows in prop::collection::vec(any::<u8>(), 3 * 128),
            query in prop::collection::vec(any::<i16>(), 128),
        ) {
            let mut dots = [0; 3];
            int8_dots(&rows, &query, &mut dots);
            for (row, dot) in rows.chunks(128).zip(dots) {
                let plain: i64 = row.iter().zip(&query).map(|(x, y)| i64::from(x.cast_signed()) * i64::from(*y)).sum();
                prop_assert_eq!(i64::from(dot), plain);
            }
        }
    }

    #[test]
    fn the_smallest_numbers_survive_widening() {
        for bits in (0_u16..0x7c00).step_by(7).chain([1, 0x3ff, 0x400, 0x7bff]) {
            let number = f16::from_bits(bits);
            for number in [number, -number] {
                let widened = f16_dot(&number.to_le_bytes(), &[1.0]);
                assert!((widened - number.to_f32()).abs() <= 0.0, "{number}");
            }
        }
    }

    #[test]
    fn no_query_overflows_a_dot_product() {
        for stride in [64, 384, 8192] {
            let query = Query::new(&vec![1.0; stride], stride);
            let mut dots = [0];
            int8_dots(&vec![127; stride], &query.coarse, &mut dots);
            let plain: i64 = query.coarse.iter().map(|x| i64::from(*x) * 127).sum();
            assert_eq!(i64::from(dots[0]), plain);
        }
    }

    #[test]
    fn a_vector_of_zeros_has_scale_zero() {
        let mut row = [1; 64];
        assert_eq!(int8_row(&encode(&[0.0; 64]), &mut row).to_bits(), 0);
        assert_eq!(row, [0; 64]);
    }
}
