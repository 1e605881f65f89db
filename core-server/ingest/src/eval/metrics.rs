//! How good one ranking is: the measures of the field, each of one query.
//!
//! Conventions are `trec_eval`'s: what was not judged is not relevant; a relevant item that is not in the index still
//! counts in the denominators; a query for which nothing was found has 0 everywhere. `trec_eval` orders equal scores
//! by name; here no two items tie, since the order is the one that was answered.
//!
//! Deliberately left out: means and their intervals (`bootstrap`).

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

/// A measure.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
pub enum Metric {
    /// Normalised discounted cumulative gain of the first ten (Järvelin and Kekäläinen, ACM TOIS 20(4), 2002): the sum of
    /// grade ÷ log2(rank + 1), divided by that of the best order there could be. Grades are gains as they are.
    #[serde(rename = "ndcg@10")]
    #[value(name = "ndcg@10")]
    Ndcg10,
    /// The share of relevant items that are among the first ten.
    #[serde(rename = "recall@10")]
    #[value(name = "recall@10")]
    Recall10,
    /// The share of relevant items that are among the first fifty.
    #[serde(rename = "recall@50")]
    #[value(name = "recall@50")]
    Recall50,
    /// The share of relevant items that are among the first hundred.
    #[serde(rename = "recall@100")]
    #[value(name = "recall@100")]
    Recall100,
    /// One divided by the rank of the first relevant item, 0 where none is among the first ten (Voorhees, TREC-8, 1999).
    #[serde(rename = "mrr@10")]
    #[value(name = "mrr@10")]
    Mrr10,
    /// Average precision of the first hundred: the precision at the rank of each relevant item found there, summed up and
    /// divided by the number of relevant items (Buckley and Voorhees, SIGIR 2000).
    #[serde(rename = "map@100")]
    #[value(name = "map@100")]
    Map100,
}

impl Metric {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 6] =
        [Self::Ndcg10, Self::Recall10, Self::Recall50, Self::Recall100, Self::Mrr10, Self::Map100];

    /// As it is written: `nDCG@10`.
    pub fn title(self) -> &'static str {
        match self {
            Self::Ndcg10 => "nDCG@10",
            Self::Recall10 => "recall@10",
            Self::Recall50 => "recall@50",
            Self::Recall100 => "recall@100",
            Self::Mrr10 => "MRR@10",
            Self::Map100 => "MAP@100",
        }
    }

    /// Its value for one query, 0 to 1.
    pub fn of(self, ranking: &Graded) -> f64 {
        match self {
            Self::Ndcg10 => ranking.ndcg(10),
            Self::Recall10 => ranking.recall(10),
            Self::Recall50 => ranking.recall(50),
            Self::Recall100 => ranking.recall(100),
            Self::Mrr10 => ranking.reciprocal_rank(10),
            Self::Map100 => ranking.average_precision(100),
        }
    }
}

/// One query's ranking, seen through its judgments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graded {
    /// The grade at each rank; 0 for what is not relevant or was not judged.
    found: Vec<u32>,
    /// The grades of all relevant items, highest first.
    ideal: Vec<u32>,
}

impl Graded {
    /// Looks each of `items`, best first, up in `grades`. An item that comes again counts once, at its best rank.
    pub fn new<'a>(items: impl IntoIterator<Item = &'a str>, grades: &BTreeMap<String, u32>) -> Self {
        let mut seen = HashSet::new();
        let found = items.into_iter().filter(|item| seen.insert(*item));
        let found = found.map(|item| grades.get(item).copied().unwrap_or(0)).collect();
        let mut ideal: Vec<u32> = grades.values().copied().filter(|grade| *grade > 0).collect();
        ideal.sort_unstable_by(|left, right| right.cmp(left));
        Self { found, ideal }
    }

    /// The rank of the first relevant item, from 1.
    pub fn first(&self) -> Option<usize> {
        self.found.iter().position(|grade| *grade > 0).map(|at| at + 1)
    }

    /// The share of relevant items among the first `depth`; 0 where there is none.
    pub fn recall(&self, depth: usize) -> f64 {
        ratio(relevant(self.top(depth)), self.ideal.len())
    }

    fn ndcg(&self, depth: usize) -> f64 {
        let best = gain(&self.ideal[..self.ideal.len().min(depth)]);
        if best > 0.0 { gain(self.top(depth)) / best } else { 0.0 }
    }

    fn reciprocal_rank(&self, depth: usize) -> f64 {
        self.first().filter(|rank| *rank <= depth).map_or(0.0, |rank| ratio(1, rank))
    }

    fn average_precision(&self, depth: usize) -> f64 {
        let mut hits = 0;
        let mut sum = 0.0;
        for (rank, grade) in (1..).zip(self.top(depth)) {
            if *grade > 0 {
                hits += 1;
                sum += ratio(hits, rank);
            }
        }
        if self.ideal.is_empty() { 0.0 } else { sum * ratio(1, self.ideal.len()) }
    }

    fn top(&self, depth: usize) -> &[u32] {
        &self.found[..self.found.len().min(depth)]
    }
}

fn relevant(grades: &[u32]) -> usize {
    grades.iter().filter(|grade| **grade > 0).count()
}

fn gain(grades: &[u32]) -> f64 {
    (2_u32..).zip(grades).map(|(discount, grade)| f64::from(*grade) / f64::from(discount).log2()).sum()
}

#[expect(clippy::cast_precision_loss, reason = "ranks and counts are far below 2^52")]
fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn grades(pairs: &[(&str, u32)]) -> BTreeMap<String, u32> {
        pairs.iter().map(|(item, grade)| ((*item).to_owned(), *grade)).collect()
    }

    fn values(items: &[&str], judged: &[(&str, u32)]) -> [f64; 6] {
        let graded = Graded::new(items.iter().copied(), &grades(judged));
        Metric::ALL.map(|metric| metric.of(&graded))
    }

    fn close(found: [f64; 6], expected: [f64; 6]) {
        for ((found, expected), metric) in found.iter().zip(expected).zip(Metric::ALL) {
            assert!((found - expected).abs() < 1e-4, "{}: {found} instead of {expected}", metric.title());
        }
    }

    /// By hand. Gains 3, 2, 3, 0, 1, 2 are the worked example in Wikipedia's article on discounted cumulative gain: DCG
    /// 6.861; here all relevant items are those six, so the ideal order 3, 3, 2, 2, 1, 0 gives 7.141.
    #[test]
    fn a_published_example_of_ndcg() {
        let judged = [("a", 3), ("b", 2), ("c", 3), ("d", 0), ("e", 1), ("f", 2)];
        let found = values(&["a", "b", "c", "d", "e", "f"], &judged);
        assert!((found[0] - 6.8611 / 7.1410).abs() < 1e-4, "{}", found[0]);
    }

    /// The example of average precision in Manning, Raghavan and Schütze's book follows the same formula: relevant at
    /// ranks 1, 3 and 6 of ten, of four relevant: (1/1 + 2/3 + 3/6) / 4.
    #[test]
    fn values_worked_out_by_hand() {
        let items = ["r1", "x", "r2", "y", "z", "r3"];
        let judged = [("r1", 1), ("r2", 1), ("r3", 1), ("r4", 1)];
        let dcg = 1.0 + 1.0 / 2.0 + 1.0 / 7.0_f64.log2();
        let ideal = 1.0 + 1.0 / 3.0_f64.log2() + 1.0 / 2.0 + 1.0 / 5.0_f64.log2();
        close(values(&items, &judged), [dcg / ideal, 0.75, 0.75, 0.75, 1.0, (1.0 + 2.0 / 3.0 + 0.5) / 4.0]);
        let late: Vec<String> = (0..10).map(|n| format!("x{n}")).chain(["r".to_owned()]).collect();
        let late: Vec<&str> = late.iter().map(String::as_str).collect();
        close(values(&late, &[("r", 2)]), [0.0, 0.0, 1.0, 1.0, 0.0, 1.0 / 11.0]);
    }

    #[test]
    fn nothing_found_and_nothing_relevant_are_0() {
        close(values(&[], &[("a", 1)]), [0.0; 6]);
        close(values(&["a"], &[]), [0.0; 6]);
        close(values(&["a"], &[("a", 0)]), [0.0; 6]);
    }

    #[test]
    fn an_item_that_comes_again_counts_once() {
        close(values(&["a", "a", "b"], &[("a", 1), ("b", 1)]), values(&["a", "b"], &[("a", 1), ("b", 1)]));
    }

    fn ranking() -> impl Strategy<Value = (Vec<String>, BTreeMap<String, u32>)> {
        let judged = prop::collection::btree_map("[a-h]", 0..4_u32, 1..8);
        let items = Just(('a'..='z').map(String::from).collect::<Vec<_>>()).prop_shuffle();
        (items, judged)
    }

    fn all(items: &[String], judged: &BTreeMap<String, u32>) -> [f64; 6] {
        let graded = Graded::new(items.iter().map(String::as_str), judged);
        Metric::ALL.map(|metric| metric.of(&graded))
    }

    proptest! {
        #[test]
        fn the_order_among_what_is_not_relevant_does_not_matter((items, judged) in ranking()) {
            let is_relevant = |item: &String| judged.get(item).is_some_and(|grade| *grade > 0);
            let mut others = items.iter().filter(|item| !is_relevant(item)).rev();
            let swapped: Vec<String> = items
                .iter()
                .map(|item| if is_relevant(item) { item } else { others.next().unwrap() }.clone())
                .collect();
            prop_assert_eq!(all(&items, &judged).map(f64::to_bits), all(&swapped, &judged).map(f64::to_bits));
        }

        #[test]
        fn values_are_between_0_and_1_and_the_best_order_has_all((items, judged) in ranking()) {
            prop_assert!(all(&items, &judged).iter().all(|value| (0.0..=1.0 + 1e-12).contains(value)));
            let mut best = items.clone();
            best.sort_by_key(|item| std::cmp::Reverse(judged.get(item).copied().unwrap_or(0)));
            let expected = if judged.values().any(|grade| *grade > 0) { 1.0 } else { 0.0 };
            prop_assert!(all(&best, &judged).iter().all(|value| (value - expected).abs() < 1e-12));
        }

        #[test]
        fn moving_a_relevant_item_up_never_harms((items, judged) in ranking(), at in 1..26_usize) {
            let grade = |item: &String| judged.get(item).copied().unwrap_or(0);
            let mut better = items.clone();
            if grade(&better[at]) > grade(&better[at - 1]) {
                better.swap(at, at - 1);
            }
            for (after, before) in all(&better, &judged).iter().zip(all(&items, &judged)) {
                prop_assert!(*after >= before - 1e-12);
            }
        }
    }
}
