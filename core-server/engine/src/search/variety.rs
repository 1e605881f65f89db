//! From ranked candidates to the hits of an answer: each text once, and no document all over the list while others
//! answer too.
//!
//! Copies of a text, and passages that overlap a better one, are left out; where else a text stands is told beside its
//! hit. Each further passage of a document counts for less, so that two documents that answer about equally well take
//! turns, and one that answers much better still has the list to itself. A document's best passage keeps its score: the
//! order of documents is the ranking's own.
//!
//! Candidates are read one by one, as many as it takes. For as long as the candidates are the same, the first hits of many
//! are the hits of few.

use std::collections::{HashMap, HashSet, VecDeque};

use super::Found;
use crate::error::Result;
use crate::exact::Exact;
use crate::fusion::Fused;
use crate::id::{DocumentId, Sha256};
use crate::lexical::Lexical;
use crate::lexical::record::ChunkRecord;
use crate::query::ScoreScale;

/// What each further passage of a document has of its score. Seven passages count for half of what they would have
/// alone; less, and a manual would be pushed out of the answer to a question about it.
const FURTHER: f64 = 0.9;

/// Ranked candidates, read when they are wanted, without copies and overlaps.
pub(super) struct Candidates<'a> {
    lexical: &'a Lexical,
    scale: ScoreScale,
    /// The least that a score can be, or is.
    least: f64,
    ranked: std::vec::IntoIter<Fused>,
    /// Read already, and not taken yet.
    read: VecDeque<Found>,
    texts: HashSet<Sha256>,
    /// The bytes that are taken up, by document.
    taken: HashMap<DocumentId, Vec<(u32, u32)>>,
}

impl<'a> Candidates<'a> {
    /// `ranked` is best first.
    pub(super) fn new(lexical: &'a Lexical, ranked: Vec<Fused>, scale: ScoreScale) -> Self {
        // Cosines lie close together, and 0 is far from all of them.
        let least = match scale {
            ScoreScale::Cosine => ranked.last().map_or(0.0, |last| last.score),
            ScoreScale::Bm25 | ScoreScale::Fused | ScoreScale::Rerank => 0.0,
        };
        Self {
            lexical,
            scale,
            least,
            ranked: ranked.into_iter(),
            read: VecDeque::new(),
            texts: HashSet::new(),
            taken: HashMap::new(),
        }
    }

    /// Whether there are `wanted`; reads as many.
    pub(super) fn has(&mut self, wanted: usize) -> Result<bool> {
        while self.read.len() < wanted {
            let Some(place) = self.ranked.next() else { return Ok(false) };
            let record = self.lexical.record(place.address)?;
            if self.is_new(&record) {
                self.read.push_back(Found {
                    place,
                    record,
                    scale: self.scale,
                    rerank_score: None,
                    nth_of_document: 1,
                });
            }
        }
        Ok(true)
    }

    /// The best `count`, or all there are.
    pub(super) fn take(&mut self, count: usize) -> Result<Vec<Found>> {
        self.has(count)?;
        Ok(self.read.drain(..count.min(self.read.len())).collect())
    }

    /// Takes back what was taken last.
    pub(super) fn put_back(&mut self, found: Vec<Found>) {
        found.into_iter().rev().for_each(|found| self.read.push_front(found));
    }

    /// What the next one counts for at most.
    fn next_worth(&mut self) -> Result<Option<Worth>> {
        Ok(self.has(1)?.then(|| Worth { exact: self.read[0].place.exact, score: self.read[0].place.score }))
    }

    fn is_new(&mut self, record: &ChunkRecord) -> bool {
        let (start, end) = (record.bytes.start, record.bytes.end);
        let taken = self.taken.entry(record.document_id).or_default();
        if taken.iter().any(|&(other_start, other_end)| start < other_end && other_start < end) {
            return false;
        }
        if !self.texts.insert(record.text_sha256) {
            return false;
        }
        taken.push((start, end));
        true
    }
}

/// The hits of an answer, `count` at most: of `front`, which comes first, and then of the `candidates` behind it.
pub(super) fn spread(front: Vec<Found>, candidates: &mut Candidates<'_>, count: usize) -> Result<Vec<Found>> {
    let mut hits = Hits { least: 0.0, picked: Vec::with_capacity(count), passages: HashMap::new() };
    let mut waiting = front;
    while hits.picked.len() < count && !waiting.is_empty() {
        hits.pick(&mut waiting);
    }
    hits.least = candidates.least;
    while hits.picked.len() < count {
        // One that is not read yet counts for its score at most.
        while let Some(worth) = candidates.next_worth()?
            && hits.best(&waiting).is_none_or(|(_, best)| worth.beats(best))
        {
            waiting.extend(candidates.take(1)?);
        }
        if waiting.is_empty() {
            break;
        }
        hits.pick(&mut waiting);
    }
    Ok(hits.picked)
}

/// What a candidate counts for. What the question names literally comes before any score.
#[derive(Clone, Copy)]
struct Worth {
    exact: Exact,
    score: f64,
}

impl Worth {
    fn beats(self, other: Self) -> bool {
        (self.exact.cmp(&other.exact)).then(self.score.total_cmp(&other.score)).is_gt()
    }
}

struct Hits {
    least: f64,
    picked: Vec<Found>,
    /// How many of each document were picked.
    passages: HashMap<DocumentId, u32>,
}

impl Hits {
    /// Where the best of `waiting` is and what it counts for; of equals the first.
    fn best(&self, waiting: &[Found]) -> Option<(usize, Worth)> {
        let worths = waiting.iter().map(|found| self.worth(found)).enumerate();
        worths.reduce(|best, other| if other.1.beats(best.1) { other } else { best })
    }

    fn worth(&self, found: &Found) -> Worth {
        let before = self.passages.get(&found.record.document_id).copied().unwrap_or_default();
        let above = (found.place.score - self.least) * FURTHER.powf(f64::from(before));
        Worth { exact: found.place.exact, score: self.least + above }
    }

    fn pick(&mut self, waiting: &mut Vec<Found>) {
        let Some((index, worth)) = self.best(waiting) else { return };
        let mut found = waiting.remove(index);
        let passages = self.passages.entry(found.record.document_id).or_default();
        *passages += 1;
        found.nth_of_document = *passages;
        found.rescore(worth.score);
        self.picked.push(found);
    }
}

#[cfg(test)]
mod tests {
    use tantivy::DocAddress;

    use super::*;
    use crate::search::tests::found;

    /// Candidates in memory, so that no index is needed: all of them waiting.
    fn order(scores: &[(&str, f64)], count: usize) -> Vec<(String, f64)> {
        let waiting = (0..).zip(scores).map(|(row, (source, score))| found(row, source, *score)).collect();
        let mut hits = Hits { least: 0.0, picked: Vec::new(), passages: HashMap::new() };
        let mut waiting: Vec<Found> = waiting;
        while hits.picked.len() < count && !waiting.is_empty() {
            hits.pick(&mut waiting);
        }
        hits.picked.into_iter().map(|found| (found.record.source, found.place.score)).collect()
    }

    fn sources(scores: &[(&str, f64)], count: usize) -> String {
        order(scores, count).into_iter().map(|(source, _)| source).collect()
    }

    #[test]
    fn documents_that_answer_about_equally_take_turns() {
        let scores = [("a", 1.0), ("a", 0.98), ("a", 0.97), ("b", 0.95), ("a", 0.94), ("c", 0.85)];
        assert_eq!(sources(&scores, 6), "abacaa");
    }

    #[test]
    fn a_document_that_answers_much_better_has_the_list_to_itself() {
        let scores = [("a", 1.0), ("a", 0.98), ("a", 0.97), ("b", 0.5), ("c", 0.4)];
        assert_eq!(sources(&scores, 5), "aaabc");
    }

    #[test]
    fn scores_descend_and_the_first_of_many_are_those_of_few() {
        let scores: Vec<(&str, f64)> = (0..40_u32)
            .map(|row| (["a", "b", "c", "d"][(row * row % 7 % 4) as usize], 1.0 - f64::from(row) / 100.0))
            .collect();
        let all = order(&scores, 40);
        assert_eq!(all.len(), 40);
        assert!(all.is_sorted_by(|left, right| left.1 >= right.1));
        for count in 0..40 {
            assert_eq!(order(&scores, count), all[..count]);
        }
    }

    #[test]
    fn the_order_of_documents_is_that_of_their_best_passages() {
        let scores = [("b", 0.9), ("a", 0.8), ("b", 0.79), ("c", 0.7), ("a", 0.69), ("d", 0.1)];
        let mut seen = HashSet::new();
        let documents: String = sources(&scores, 6).chars().filter(|source| seen.insert(*source)).collect();
        assert_eq!(documents, "bacd");
    }

    #[test]
    fn what_is_named_literally_stays_first_however_many_of_a_document_it_is() {
        let literals = crate::exact::literals("ERR_CONN_7781");
        let mut waiting: Vec<Found> = (0..6).map(|row| found(row, "a", 0.2)).collect();
        for holder in &mut waiting {
            holder.place.exact = Exact::of(&literals, "ERR_CONN_7781");
        }
        waiting.push(found(9, "b", 1.0));
        let mut hits = Hits { least: 0.0, picked: Vec::new(), passages: HashMap::new() };
        while !waiting.is_empty() {
            hits.pick(&mut waiting);
        }
        assert_eq!(hits.picked[6].record.source, "b");
    }

    #[test]
    fn parts_of_a_score_are_lessened_with_it() {
        let mut hit = found(0, "a", 0.8);
        let part = |part| Some(crate::query::LegPlace { score: 9.0, rank: 1, part });
        (hit.place.bm25, hit.place.dense) = (part(0.5), part(0.3));
        hit.rescore(0.4);
        let parts = [hit.place.bm25, hit.place.dense].map(|place| place.unwrap().part);
        assert!((parts[0] - 0.25).abs() < 1e-9 && (parts[1] - 0.15).abs() < 1e-9, "{parts:?}");
        assert_eq!(hit.place.address, DocAddress::new(0, 0));
    }
}
