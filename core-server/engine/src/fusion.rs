//! Two rankings made into one: a convex combination of their scores, each normalised to 0 … 1.
//!
//! Not reciprocal ranks: they forget by how much a passage is better, and where one leg knows nothing they still
//! give it half of the say (`docs/decisions/0004-lexical-ranking.md`). A leg's scores are normalised by its best and
//! its worst candidate, so both lists should be long: a hundred at least, whatever is asked for. A shorter BM25 list
//! holds all that have any of the words, and what it does not hold scores 0: then 0 is the worst, lest the last of
//! few good matches count for nothing.
//!
//! Deliberately left out: the legs themselves, and loading what they found.

mod script;

use std::cmp::Ordering;
use std::collections::HashMap;

use tantivy::DocAddress;

use crate::exact::Exact;
use crate::lexical::Candidate;
use crate::query::LegPlace;

pub use script::DenseWeight;
pub(crate) use script::can_read;

/// Candidates of each leg at least, where there are so many.
pub const DEPTH: usize = 100;

/// A chunk with what each leg says of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fused {
    /// Its row.
    pub address: DocAddress,
    /// Orders equal scores, ascending.
    pub tie: u64,
    /// What it is ranked by: the combined score, 0 to 1; or one leg's.
    pub score: f64,
    /// What it holds of what the question names literally. Greater comes first, whatever the scores.
    pub exact: Exact,
    /// Its rank among those that hold any of it, from 1.
    pub literal_rank: Option<u32>,
    /// Its place in the BM25 leg.
    pub bm25: Option<LegPlace>,
    /// Its place in the dense leg.
    pub dense: Option<LegPlace>,
}

/// Combines two legs, best first. The order of each list does not matter; a chunk that one leg does not name has
/// nothing from it.
pub fn fuse(bm25: &[Candidate], dense: &[Candidate], weight: DenseWeight) -> Vec<Fused> {
    let mut fused: HashMap<DocAddress, Fused> = HashMap::with_capacity(bm25.len() + dense.len());
    let worst_bm25 = if bm25.len() < DEPTH { Some(0.0) } else { None };
    for (candidate, place) in places(bm25, worst_bm25, 1.0 - weight.share()) {
        let fused = fused.entry(candidate.address).or_insert_with(|| Fused::alone(&candidate));
        fused.score += place.part;
        fused.bm25 = Some(place);
    }
    for (candidate, place) in places(dense, None, weight.share()) {
        let fused = fused.entry(candidate.address).or_insert_with(|| Fused::alone(&candidate));
        fused.score += place.part;
        fused.dense = Some(place);
    }
    let mut fused: Vec<Fused> = fused.into_values().collect();
    fused.sort_unstable_by(Fused::order);
    fused
}

impl Fused {
    /// A chunk that no leg has said anything of yet.
    pub(crate) fn alone(candidate: &Candidate) -> Self {
        let (address, tie) = (candidate.address, candidate.tie);
        let exact = Exact::default();
        Self { address, tie, score: 0.0, exact, literal_rank: None, bm25: None, dense: None }
    }

    fn order(left: &Self, right: &Self) -> Ordering {
        let scores = || right.score.total_cmp(&left.score);
        right.exact.cmp(&left.exact).then_with(scores).then(left.tie.cmp(&right.tie))
    }
}

/// Puts the chunks that hold what the question names literally before all others; `none` is what the others hold of it.
/// `holders` are best first. One that no leg has among its best is added as `alone` says.
pub fn put_first(
    ranked: &mut Vec<Fused>,
    holders: &[(Candidate, Exact)],
    none: Exact,
    alone: impl Fn(&Candidate) -> Fused,
) {
    let mut holders: HashMap<DocAddress, (&Candidate, Exact, u32)> = holders
        .iter()
        .zip(1..)
        .map(|((candidate, exact), rank)| (candidate.address, (candidate, *exact, rank)))
        .collect();
    for fused in &mut *ranked {
        fused.exact = none;
        if let Some((_, exact, rank)) = holders.remove(&fused.address) {
            (fused.exact, fused.literal_rank) = (exact, Some(rank));
        }
    }
    let others = holders.into_values();
    ranked.extend(others.map(|(candidate, exact, rank)| Fused {
        exact,
        literal_rank: Some(rank),
        ..alone(candidate)
    }));
    ranked.sort_unstable_by(Fused::order);
}

/// Each candidate with its place. Its part is `share` of its score between the `worst`, or else the leg's own, 0, and the
/// leg's best, 1. Where all are equal, all are best.
fn places(leg: &[Candidate], worst: Option<f64>, share: f64) -> impl Iterator<Item = (Candidate, LegPlace)> {
    let mut leg = leg.to_vec();
    leg.sort_unstable_by(Candidate::order);
    let best = leg.first().map_or(0.0, |candidate| f64::from(candidate.score));
    let worst = worst.or_else(|| leg.last().map(|candidate| candidate.score.into())).unwrap_or(0.0);
    let range = best - worst;
    leg.into_iter().zip(1..).map(move |(candidate, rank)| {
        let score = f64::from(candidate.score);
        let normalized = if range > 0.0 { (score - worst) / range } else { 1.0 };
        (candidate, LegPlace { score, rank, part: share * normalized })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn candidate(row: u32, score: f32) -> Candidate {
        Candidate { address: DocAddress::new(0, row), score, tie: u64::from(row.reverse_bits()) }
    }

    fn leg() -> impl Strategy<Value = Vec<Candidate>> {
        prop::collection::btree_map(0..60_u32, 0..50_u8, 0..40)
            .prop_map(|rows| rows.into_iter().map(|(row, score)| candidate(row, f32::from(score))).collect())
    }

    fn weight() -> impl Strategy<Value = DenseWeight> {
        (0.0..=1.0).prop_map(DenseWeight::new)
    }

    fn place_of(fused: &[Fused], row: u32) -> usize {
        fused.iter().position(|fused| fused.address.doc_id == row).unwrap()
    }

    proptest! {
        #[test]
        fn input_order_does_not_matter(
            (bm25, shuffled) in leg().prop_flat_map(|leg| (Just(leg.clone()), Just(leg).prop_shuffle())),
            dense in leg(),
            weight in weight(),
        ) {
            let reversed: Vec<Candidate> = dense.iter().rev().copied().collect();
            prop_assert_eq!(fuse(&bm25, &dense, weight), fuse(&shuffled, &reversed, weight));
        }

        #[test]
        fn a_chunk_in_both_legs_never_loses_to_itself_in_one(bm25 in leg(), dense in leg(), weight in weight()) {
            let both = fuse(&bm25, &dense, weight);
            for candidate in &bm25 {
                let row = candidate.address.doc_id;
                let elsewhere: Vec<Candidate> =
                    dense.iter().map(|other| if other.address.doc_id == row {
                        Candidate { address: DocAddress::new(0, 1000), ..*other }
                    } else { *other }).collect();
                prop_assert!(place_of(&both, row) <= place_of(&fuse(&bm25, &elsewhere, weight), row));
            }
        }

        #[test]
        fn scores_are_between_0_and_1_and_descend(bm25 in leg(), dense in leg(), weight in weight()) {
            let fused = fuse(&bm25, &dense, weight);
            prop_assert!(fused.iter().all(|fused| (0.0..=1.0 + 1e-9).contains(&fused.score)));
            prop_assert!(fused.is_sorted_by(|left, right| Fused::order(left, right).is_lt()));
        }
    }

    #[test]
    fn with_one_leg_its_order_stays() {
        let bm25 = [candidate(1, 3.0), candidate(2, 9.0), candidate(3, 5.0)];
        let rows = |fused: &[Fused]| fused.iter().map(|fused| fused.address.doc_id).collect::<Vec<_>>();
        assert_eq!(rows(&fuse(&bm25, &[], DenseWeight::new(0.5))), [2, 3, 1]);
        assert_eq!(rows(&fuse(&[], &bm25, DenseWeight::new(0.5))), [2, 3, 1]);
        assert_eq!(fuse(&[], &[], DenseWeight::new(0.5)), []);
    }

    #[test]
    fn the_last_of_few_matches_counts() {
        let bm25 = [candidate(1, 10.0), candidate(2, 9.5)];
        let dense = [candidate(3, 0.8), candidate(1, 0.7), candidate(4, 0.1)];
        let fused = fuse(&bm25, &dense, DenseWeight::new(0.5));
        assert_eq!(fused.iter().map(|fused| fused.address.doc_id).collect::<Vec<_>>(), [1, 3, 2, 4]);
        assert!((fused[2].score - 0.475).abs() < 1e-9);
    }

    #[test]
    fn what_holds_a_literal_is_first_wherever_the_legs_have_it() {
        let literals = crate::exact::literals("ERR_1 ERR_2");
        let holds = |text| Exact::of(&literals, text);
        let leg = [candidate(1, 3.0), candidate(2, 9.0), candidate(3, 5.0)];
        let mut fused = fuse(&leg, &leg, DenseWeight::new(0.5));
        let holders = [(candidate(3, 5.0), holds("ERR_1 ERR_2")), (candidate(7, 0.0), holds("ERR_2"))];
        put_first(&mut fused, &holders, Exact::none_of(2), Fused::alone);
        assert_eq!(fused.iter().map(|fused| fused.address.doc_id).collect::<Vec<_>>(), [3, 7, 2, 1]);
        let ranks: Vec<_> = fused.iter().map(|fused| fused.literal_rank).collect();
        assert_eq!(ranks, [Some(1), Some(2), None, None]);
        let raised: Vec<f64> = fused.iter().map(|fused| fused.exact.raised_share(fused.score)).collect();
        assert!(raised.is_sorted_by(|left, right| left > right), "{raised:?}");
        assert!(raised.iter().all(|score| (0.0..=1.0).contains(score)));
    }

    #[test]
    fn equal_scores_are_ordered_by_their_tie_breaker() {
        let leg = [candidate(1, 1.0), candidate(2, 1.0), candidate(3, 1.0)];
        let fused = fuse(&leg, &leg, DenseWeight::new(0.5));
        assert!(fused.is_sorted_by_key(|fused| fused.tie));
        assert!(fused.iter().all(|fused| (fused.score - 1.0).abs() < 1e-9));
    }
}
