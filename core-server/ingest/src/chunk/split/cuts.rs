//! Which of the places between atoms are cuts, by rank and size.

use super::atoms::Atom;
use super::{LARGEST, level};
use crate::chunk::measure::TOKEN;

/// Sections are joined while they are no larger than this together.
const JOINED_SECTIONS: u64 = 150 * TOKEN;

/// A piece smaller than this is joined with a neighbour where the two are one chunk.
const SMALLEST: u64 = 48 * TOKEN;

/// Where there are many places of one level, cuts are this far apart where they can be.
const APART: u64 = 120 * TOKEN;

/// How many atoms' texts tell two places apart that are followed by equal atoms.
const CONTEXT: usize = 8;

/// The ranks of all places, of which the `i`th is before atom `i` and the last behind the last atom.
pub(super) struct Ranks {
    /// The cost of all that is before a place.
    before: Vec<u64>,
    /// Higher numbers are cut first. Both ends are higher than all.
    ranks: Vec<u128>,
}

/// The nearest neighbours of a place.
#[derive(Clone, Copy, Default)]
struct Neighbours {
    left: usize,
    right: usize,
}

impl Ranks {
    pub(super) fn of(atoms: &[Atom]) -> Self {
        let mut before = vec![0u64];
        before.extend(atoms.iter().scan(0u64, |sum, atom| {
            *sum = sum.saturating_add(atom.cost);
            Some(*sum)
        }));
        let contexts = contexts(atoms);
        // Level, urgency, hash, hash of the context.
        let ranks = atoms.iter().zip(contexts).map(|(atom, context)| {
            u128::from(atom.level) << 72 | u128::from(atom.hash) << 32 | u128::from(context)
        });
        let mut this = Self { before, ranks: ranks.chain([u128::MAX]).collect() };
        this.ranks[0] = u128::MAX;
        this.rank_by_size();
        this
    }

    /// Puts urgency between level and hash.
    fn rank_by_size(&mut self) {
        let levels: Vec<u128> = self.ranks.iter().map(|rank| rank >> 72).collect();
        let must: Vec<bool> = neighbours(&levels, |neighbour, place| neighbour >= place)
            .into_iter()
            .zip(&levels)
            .map(|(around, &level)| self.span(around.left, around.right) > limit(level))
            .collect();
        let bare: Vec<u128> =
            self.ranks.iter().zip(&must).map(|(rank, &must)| rank | u128::from(must) << 71).collect();
        let around = neighbours(&bare, |neighbour, place| neighbour > place);
        for place in 1..self.ranks.len() - 1 {
            let Neighbours { left, right } = around[place];
            let distance = self.span(left, place).min(self.span(place, right));
            let urgency: u128 = if must[place] { 3 } else { u128::from((distance * 2 / APART).min(2)) };
            self.ranks[place] |= urgency << 64;
        }
    }

    fn span(&self, from: usize, to: usize) -> u64 {
        self.before[to] - self.before[from]
    }

    fn level(&self, place: usize) -> u128 {
        self.ranks[place] >> 72
    }

    /// The places that are cuts, the beginning included, the end not.
    pub(super) fn cuts(&self) -> Vec<usize> {
        let end = self.ranks.len() - 1;
        let mut is_cut = vec![false; end];
        is_cut[0] = true;
        let equals = Equals::of(&self.ranks);
        for &Span { first, left, right } in &equals.spans {
            let limit = limit(self.level(first));
            if self.span(left, right) <= limit {
                continue;
            }
            // Places of equal rank are followed by equal texts, so it matters little which of them are cuts: pieces
            // are filled one after another.
            let mut since = left;
            let mut place = first;
            loop {
                let next = equals.next[place];
                if self.span(since, next.unwrap_or(right)) > limit {
                    is_cut[place] = true;
                    since = place;
                }
                match next {
                    Some(next) => place = next,
                    None => break,
                }
            }
        }
        (0..end).filter(|&place| is_cut[place]).collect()
    }
}

/// How large a piece may be at whose inner place of this level nothing is cut.
fn limit(level: u128) -> u64 {
    if level >= u128::from(level::LAST_HEADING) { JOINED_SECTIONS } else { LARGEST }
}

/// Places of equal rank between two neighbours of higher rank.
struct Span {
    first: usize,
    left: usize,
    right: usize,
}

/// All places, those of equal rank within one span together.
struct Equals {
    spans: Vec<Span>,
    /// The next place of equal rank in the same span.
    next: Vec<Option<usize>>,
}

impl Equals {
    fn of(ranks: &[u128]) -> Self {
        let mut next = vec![None; ranks.len()];
        let mut spans = Vec::new();
        // Spans that are open to the right, ranks descending, each with the last of its places.
        let mut open: Vec<(Span, usize)> = Vec::new();
        for place in 1..ranks.len() {
            while let Some((mut span, _)) = open.pop_if(|(_, last)| ranks[*last] < ranks[place]) {
                span.right = place;
                spans.push(span);
            }
            match open.last_mut() {
                Some((_, last)) if ranks[*last] == ranks[place] => {
                    next[*last] = Some(place);
                    *last = place;
                }
                _ => {
                    let left = open.last().map_or(0, |(_, last)| *last);
                    open.push((Span { first: place, left, right: place }, place));
                }
            }
        }
        Self { spans, next }
    }
}

/// Each place's nearest neighbours that are above it, as `above(neighbour, place)` has it; the ends are above all.
fn neighbours(ranks: &[u128], above: impl Fn(u128, u128) -> bool) -> Vec<Neighbours> {
    let end = ranks.len() - 1;
    let mut around = vec![Neighbours::default(); ranks.len()];
    let mut open: Vec<usize> = Vec::new();
    for place in 1..end {
        while open.pop_if(|top| !above(ranks[*top], ranks[place])).is_some() {}
        around[place].left = open.last().copied().unwrap_or(0);
        open.push(place);
    }
    open.clear();
    for place in (1..end).rev() {
        while open.pop_if(|top| !above(ranks[*top], ranks[place])).is_some() {}
        around[place].right = open.last().copied().unwrap_or(end);
        open.push(place);
    }
    around
}

/// For each place a hash of the atoms behind it, so that equal atoms in unlike company differ.
fn contexts(atoms: &[Atom]) -> Vec<u32> {
    const PRIME: u32 = 0x9e37_79b1;
    let weight = PRIME.wrapping_pow(u32::try_from(CONTEXT).unwrap_or(1));
    let mut contexts = vec![0; atoms.len()];
    let mut rolling = 0u32;
    for at in (0..atoms.len()).rev() {
        let leaving = atoms.get(at + CONTEXT).map_or(0, |atom| atom.hash);
        rolling = rolling.wrapping_mul(PRIME).wrapping_add(atoms[at].hash);
        rolling = rolling.wrapping_sub(leaving.wrapping_mul(weight));
        contexts[at] = (rolling ^ rolling >> 15).wrapping_mul(PRIME);
    }
    contexts
}

/// Joins pieces that are too small to stand alone with a neighbour, across the lower of their two borders.
pub(super) fn without_crumbs(ranks: &Ranks, cuts: &[usize]) -> Vec<usize> {
    let end = ranks.ranks.len() - 1;
    let mut kept: Vec<usize> = Vec::with_capacity(cuts.len());
    let mut joined_to_next = false;
    for (index, &cut) in cuts.iter().enumerate() {
        if std::mem::take(&mut joined_to_next) {
            // This border is gone: the piece began before it.
        } else {
            kept.push(cut);
        }
        let start = kept.last().copied().unwrap_or(cut);
        let next = cuts.get(index + 1).copied().unwrap_or(end);
        if ranks.span(start, next) >= SMALLEST {
            continue;
        }
        let behind = cuts.get(index + 2).copied().unwrap_or(end);
        let fits_next = next < end && ranks.span(start, behind) <= LARGEST;
        let previous = kept.len().checked_sub(2).map(|at| kept[at]);
        let fits_previous = previous.is_some_and(|previous| ranks.span(previous, next) <= LARGEST);
        if fits_next && !(fits_previous && ranks.ranks[start] < ranks.ranks[next]) {
            joined_to_next = true;
        } else if fits_previous {
            kept.pop();
        }
    }
    kept
}
