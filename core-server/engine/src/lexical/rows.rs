//! A set of a segment's rows, a bit each.

use std::ops::Range;

use tantivy::DocId;

/// Rows of one segment. All operations are on sets of segments with the same number of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    words: Vec<u64>,
    max: DocId,
}

impl Rows {
    /// None of `max` rows.
    pub fn none(max: DocId) -> Self {
        Self { words: vec![0; (max as usize).div_ceil(64)], max }
    }

    /// All of `max` rows.
    pub fn all(max: DocId) -> Self {
        let mut rows = Self { words: vec![u64::MAX; (max as usize).div_ceil(64)], max };
        if let Some(last) = rows.words.last_mut().filter(|_| !max.is_multiple_of(64)) {
            *last = (1 << (max % 64)) - 1;
        }
        rows
    }

    /// Puts a row in.
    pub fn insert(&mut self, row: DocId) {
        self.words[row as usize / 64] |= 1 << (row % 64);
    }

    /// Takes a row out.
    pub fn remove(&mut self, row: DocId) {
        self.words[row as usize / 64] &= !(1 << (row % 64));
    }

    /// Keeps what is in `other` as well.
    pub fn intersect(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= other);
    }

    /// Adds what is in `other`.
    pub fn unite(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    /// Whether a row is in.
    pub fn contains(&self, row: DocId) -> bool {
        self.words.get(row as usize / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// Whether none is in.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// How many are in.
    pub fn len(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// How many rows the segment has.
    pub fn max(&self) -> DocId {
        self.max
    }

    /// The rows that are in, as stretches without a gap, in order.
    pub fn runs(&self) -> impl Iterator<Item = Range<DocId>> + '_ {
        let mut from = 0;
        std::iter::from_fn(move || {
            let start = self.next(from, 0)?;
            let end = self.next(start, u64::MAX).unwrap_or(self.max);
            from = end;
            Some(start..end)
        })
    }

    /// The first row from `from` on that is in or, with all bits of `flip` set, out.
    fn next(&self, from: DocId, flip: u64) -> Option<DocId> {
        let mut masked = u64::MAX << (from % 64);
        for (index, word) in self.words.iter().enumerate().skip(from as usize / 64) {
            let found = (word ^ flip) & masked;
            if found != 0 {
                let row = u32::try_from(index).ok()? * 64 + found.trailing_zeros();
                return (row < self.max).then_some(row);
            }
            masked = u64::MAX;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn rows(max: DocId, members: &BTreeSet<DocId>) -> Rows {
        let mut rows = Rows::none(max);
        for &row in members {
            rows.insert(row);
        }
        rows
    }

    fn members(rows: &Rows) -> BTreeSet<DocId> {
        (0..rows.max()).filter(|&row| rows.contains(row)).collect()
    }

    #[test]
    fn all_rows_are_one_run() {
        for max in [0, 1, 63, 64, 65, 128, 1000] {
            let all = Rows::all(max);
            assert_eq!(all.len(), max);
            assert_eq!(
                all.runs().collect::<Vec<_>>(),
                (max > 0).then_some(0..max).into_iter().collect::<Vec<_>>()
            );
            assert!(!all.contains(max) && all.is_empty() == (max == 0) && Rows::none(max).is_empty());
            assert_eq!(Rows::none(max).runs().next(), None);
        }
    }

    proptest! {
        #[test]
        fn they_are_as_a_set_is(
            max in 1_u32..300,
            left in prop::collection::btree_set(0_u32..300, 0..120),
            right in prop::collection::btree_set(0_u32..300, 0..120),
        ) {
            let within = |set: BTreeSet<u32>| set.into_iter().filter(|row| *row < max).collect::<BTreeSet<_>>();
            let (left, right) = (within(left), within(right));
            let (mut both, mut either) = (rows(max, &left), rows(max, &left));
            both.intersect(&rows(max, &right));
            either.unite(&rows(max, &right));
            prop_assert_eq!(members(&both), left.intersection(&right).copied().collect::<BTreeSet<_>>());
            prop_assert_eq!(members(&either), left.union(&right).copied().collect::<BTreeSet<_>>());
            prop_assert_eq!(either.len() as usize, members(&either).len());
            prop_assert_eq!(either.runs().flatten().collect::<BTreeSet<_>>(), members(&either));
            prop_assert!(either.runs().zip(either.runs().skip(1)).all(|(run, next)| run.end < next.start));
            for row in right {
                either.remove(row);
                prop_assert!(!either.contains(row));
            }
        }
    }
}
