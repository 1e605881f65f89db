//! How far a mean can be trusted: percentile bootstrap over queries (Efron and Tibshirani, 1993; for retrieval: Sakai,
//! SIGIR 2006).
//!
//! Queries are drawn with replacement, as many as there are; the mean is taken; that again and again. The middle 95 % of
//! the means are the interval. Two rankings are compared by the differences of the same queries (paired), and differ
//! where the interval of the mean difference excludes 0. All columns see the same draws. The generator is portable and
//! seeded, so that the same values give the same interval on every machine.
//!
//! Deliberately left out: corrections for looking at many measures at once. One is to be chosen before looking.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng as _, SeedableRng as _};
use serde::{Deserialize, Serialize};

/// How often queries are drawn anew where nothing else is said.
pub const RESAMPLES: usize = 10_000;

/// The share of the means that an interval holds.
pub const CONFIDENCE: f64 = 0.95;

/// A mean over queries, and where it may lie.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
}

impl Estimate {
    /// Whether a difference is one: the interval lies wholly above 0.
    pub fn is_gain(&self) -> bool {
        self.low > 0.0
    }

    /// Whether a difference is one: the interval lies wholly below 0.
    pub fn is_loss(&self) -> bool {
        self.high < 0.0
    }
}

/// How to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bootstrap {
    /// Where the generator begins.
    pub seed: u64,
    /// How often queries are drawn anew, at least once.
    pub resamples: usize,
}

impl Bootstrap {
    /// The estimate of each column of `rows`: one row a query, each with the same number of values. None where there is
    /// no row.
    pub fn estimate(&self, rows: &[Vec<f64>]) -> Option<Vec<Estimate>> {
        let columns = rows.first()?.len();
        let means = mean_of(rows.iter(), columns, rows.len());
        let mut drawn = vec![Vec::with_capacity(self.resamples); columns];
        let mut generator = Pcg64Mcg::seed_from_u64(self.seed);
        for _ in 0..self.resamples.max(1) {
            let sample = (0..rows.len()).map(|_| &rows[below(&mut generator, rows.len())]);
            for (drawn, mean) in drawn.iter_mut().zip(mean_of(sample, columns, rows.len())) {
                drawn.push(mean);
            }
        }
        let estimates = means.into_iter().zip(drawn).map(|(mean, mut drawn)| {
            drawn.sort_unstable_by(f64::total_cmp);
            let tail = tail(drawn.len());
            Estimate { mean, low: drawn[tail], high: drawn[drawn.len() - 1 - tail] }
        });
        Some(estimates.collect())
    }
}

fn mean_of<'a>(rows: impl Iterator<Item = &'a Vec<f64>>, columns: usize, count: usize) -> Vec<f64> {
    let mut sums = vec![0.0; columns];
    for row in rows {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += value;
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "nobody asks 2^52 queries")]
    let count = count as f64;
    sums.iter().map(|sum| sum / count).collect()
}

/// How many of the means lie outside on each side.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a fortieth of a count"
)]
fn tail(resamples: usize) -> usize {
    (resamples as f64 * (1.0 - CONFIDENCE) / 2.0) as usize
}

/// A number below `end`, each as likely as the others but for one part in 2^64 ÷ `end`.
fn below(generator: &mut Pcg64Mcg, end: usize) -> usize {
    let scaled = u128::from(generator.next_u64()) * end as u128;
    usize::try_from(scaled >> 64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DRAW: Bootstrap = Bootstrap { seed: 7, resamples: 2_000 };

    fn one(values: &[f64]) -> Estimate {
        let rows: Vec<Vec<f64>> = values.iter().map(|value| vec![*value]).collect();
        DRAW.estimate(&rows).unwrap()[0]
    }

    #[test]
    fn without_queries_nothing_is_estimated() {
        assert_eq!(DRAW.estimate(&[]), None);
    }

    #[test]
    fn equal_rankings_do_not_differ() {
        let none = one(&[0.0; 40]);
        assert_eq!(none, Estimate { mean: 0.0, low: 0.0, high: 0.0 });
        assert!(!none.is_gain() && !none.is_loss());
    }

    /// The interval of a mean of 400 coin tosses: a half, plus and minus 1.96 ÷ 2 ÷ √400.
    #[test]
    fn the_interval_is_as_wide_as_theory_says() {
        let tosses: Vec<f64> = (0..400).map(|n| f64::from(n % 2)).collect();
        let estimate = Bootstrap { seed: 1, resamples: 10_000 }
            .estimate(&tosses.iter().map(|toss| vec![*toss]).collect::<Vec<_>>());
        let Estimate { mean, low, high } = estimate.unwrap()[0];
        assert!((mean - 0.5).abs() < 1e-9, "{mean}");
        assert!((low - 0.451).abs() < 0.005 && (high - 0.549).abs() < 0.005, "{low} to {high}");
    }

    #[test]
    fn a_clear_loss_is_one_and_a_single_query_is_not_enough_to_doubt_the_rest() {
        assert!(one(&[-0.2, -0.1, -0.3, -0.2, -0.15, -0.2, -0.1, -0.25]).is_loss());
        let mut values = vec![0.0; 30];
        values[0] = -1.0;
        assert!(!one(&values).is_loss());
    }

    #[test]
    fn the_seed_decides_the_interval() {
        let values: Vec<f64> = (0..50).map(|n| f64::from(n * n % 17) / 17.0).collect();
        let rows: Vec<Vec<f64>> = values.iter().map(|value| vec![*value]).collect();
        assert_eq!(DRAW.estimate(&rows), DRAW.estimate(&rows));
        assert_ne!(DRAW.estimate(&rows), Bootstrap { seed: 8, ..DRAW }.estimate(&rows));
        // Portable: these were drawn once, and are drawn ever after.
        let mut generator = Pcg64Mcg::seed_from_u64(42);
        let drawn: Vec<usize> = (0..8).map(|_| below(&mut generator, 10)).collect();
        assert_eq!(drawn, [5, 1, 3, 2, 1, 3, 1, 8]);
    }

    proptest! {
        #[test]
        fn the_mean_lies_within_its_interval_and_columns_do_not_disturb_each_other(
            values in prop::collection::vec((0.0..=1.0, 0.0..=1.0), 1..40),
        ) {
            let rows: Vec<Vec<f64>> = values.iter().map(|(a, b)| vec![*a, *b]).collect();
            let both = DRAW.estimate(&rows).unwrap();
            for estimate in &both {
                prop_assert!(estimate.low <= estimate.mean + 1e-9 && estimate.mean <= estimate.high + 1e-9);
            }
            let alone: Vec<Vec<f64>> = values.iter().map(|(a, _)| vec![*a]).collect();
            prop_assert_eq!(both[0], DRAW.estimate(&alone).unwrap()[0]);
        }
    }
}
