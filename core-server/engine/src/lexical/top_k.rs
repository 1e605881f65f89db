//! The best chunks for a query, exactly and always in the same order.
//!
//! Terms are taken one after the other, the one that can add most first, and what each adds to a chunk is summed up
//! in a table of the segment. tantivy's own collector (block-max WAND) adds in the order of its cursors, so that
//! equal chunks differ in the last bit by where they lie, and its bounds were computed with each segment's own
//! average length, so that with the whole index's they are none: the same corpus in other segments ranked
//! differently. `docs/decisions/0004-lexical-ranking.md` has the figures.

use std::cell::RefCell;
use std::cmp::Ordering;

use tantivy::postings::{Postings as _, TermInfo};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocId, DocSet as _, SegmentReader, Term};

use super::nearby::LOOKED_AROUND;
use super::query::{QueryTerm, WordQuery};
use super::rows::Rows;
use super::schema::{Ranked, fields};
use super::statistics::{alive_doc_freq, ceiling};
use super::{Lexical, Selection, failed};
use crate::error::Result;
use crate::stop::Stop;

/// A chunk that one leg of the ranking found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Its row.
    pub address: DocAddress,
    /// The leg's score.
    pub score: f32,
    /// Orders equal scores, ascending: the same in every index.
    pub tie: u64,
}

impl Candidate {
    /// Best first.
    pub fn order(left: &Self, right: &Self) -> Ordering {
        right.score.total_cmp(&left.score).then(left.tie.cmp(&right.tie))
    }
}

impl Lexical {
    /// The best `k` chunks for `query`, best first. A chunk that has none of its terms is not among them.
    pub fn search(&self, query: &WordQuery, k: usize, stop: &Stop) -> Result<Vec<Candidate>> {
        self.search_in(query, k, None, stop)
    }

    /// The same among the rows of a selection, with the scores that they have among all.
    pub fn search_in(
        &self,
        query: &WordQuery,
        k: usize,
        selection: Option<&Selection>,
        stop: &Stop,
    ) -> Result<Vec<Candidate>> {
        if k == 0 || query.terms.is_empty() || self.chunks() == 0 {
            return Ok(Vec::new());
        }
        let lists = self.lists(query).map_err(failed("looking up terms"))?;
        let mut best = Best { k: k.max(LOOKED_AROUND), candidates: Vec::new() };
        for segment in 0..self.segment_count() {
            let rows = selection.map(|selection| selection.rows(segment));
            if rows.is_none_or(|rows| !rows.is_empty()) {
                SCORES.with_borrow_mut(|scores| {
                    self.search_segment(segment, rows, &lists, scores, &mut best, stop)
                })?;
            }
        }
        let mut best = best.into_candidates();
        // Those behind have no higher score, and nobody's is lowered: the list stays in order.
        let leading = best.len().min(LOOKED_AROUND);
        self.look_around(&lists, &mut best[..leading], stop)?;
        best[..leading].sort_unstable_by(Candidate::order);
        best.truncate(k);
        Ok(best)
    }

    /// How many chunks have each term of `query` in its field, in the order of its terms.
    pub fn doc_freqs(&self, query: &WordQuery) -> Result<Vec<u64>> {
        let doc_freq = |term| Ok(self.list(term)?.map_or(0, |list| list.doc_freq));
        query.terms.iter().map(doc_freq).collect::<tantivy::Result<_>>().map_err(failed("looking up terms"))
    }

    /// The terms that any chunk has, those that can add most first.
    fn lists(&self, query: &WordQuery) -> tantivy::Result<Vec<List>> {
        let mut lists = Vec::new();
        for term in &query.terms {
            lists.extend(self.list(term)?);
        }
        lists.sort_by(|left, right| {
            right
                .ceiling
                .total_cmp(&left.ceiling)
                .then_with(|| (left.field, &left.text).cmp(&(right.field, &right.text)))
        });
        Ok(lists)
    }

    pub(super) fn list(&self, term: &QueryTerm) -> tantivy::Result<Option<List>> {
        let field = fields().ranked[term.field as usize].terms;
        let mut doc_freq = 0;
        let mut infos = Vec::new();
        for (reader, dead) in self.searcher.segment_readers().iter().zip(&self.dead) {
            let index = reader.inverted_index(field)?;
            let mut here = Vec::new();
            for text in std::iter::once(&term.text).chain(&term.also) {
                if let Some(info) = index.get_term_info(&Term::from_field_text(field, text))? {
                    doc_freq += u64::from(alive_doc_freq(reader, dead, &index, &info)?);
                    here.push(info);
                }
            }
            infos.push(here);
        }
        // Words that share a stem in one language and not in another are counted twice.
        let doc_freq = doc_freq.min(self.chunks());
        Ok((doc_freq > 0).then(|| List {
            field: term.field,
            text: term.text.clone(),
            doc_freq,
            ceiling: ceiling(self.chunks(), doc_freq, term.weight),
            infos,
        }))
    }

    /// The best `k` chunks in `rows` (by segment, ascending), best for `query` first. One that has none of its terms
    /// scores 0.
    pub(super) fn search_rows(
        &self,
        query: &WordQuery,
        rows: &[Vec<DocId>],
        k: usize,
        stop: &Stop,
    ) -> Result<Vec<Candidate>> {
        let mut candidates = Vec::new();
        if rows.iter().all(Vec::is_empty) {
            return Ok(candidates);
        }
        let lists = self.lists(query).map_err(failed("looking up terms"))?;
        for (segment, rows) in (0..).zip(rows).filter(|(_, rows)| !rows.is_empty()) {
            let mut scores = vec![0.0; rows.len()];
            for list in &lists {
                stop.check()?;
                self.add_to_rows(list, segment, rows, &mut scores).map_err(failed("reading postings"))?;
            }
            candidates.extend(rows.iter().zip(scores).map(|(&row, score)| {
                let address = DocAddress::new(segment, row);
                Candidate { address, score, tie: self.tie(address) }
            }));
        }
        if candidates.len() > k {
            candidates.select_nth_unstable_by(k, Candidate::order);
            candidates.truncate(k);
        }
        candidates.sort_unstable_by(Candidate::order);
        Ok(candidates)
    }

    /// Adds what a term is worth to each of `rows` (ascending) that has it, as [`add`](Self::add) does to all.
    pub(super) fn add_to_rows(
        &self,
        list: &List,
        segment: u32,
        rows: &[DocId],
        scores: &mut [f32],
    ) -> tantivy::Result<()> {
        let reader = self.searcher.segment_reader(segment);
        let field = fields().ranked[list.field as usize].terms;
        let (norms, lengths) = (reader.get_fieldnorms_reader(field)?, &self.lengths[list.field as usize]);
        let index = reader.inverted_index(field)?;
        for info in &list.infos[segment as usize] {
            let mut postings = index.read_postings_from_terminfo(info, IndexRecordOption::WithFreqs)?;
            for (&row, score) in rows.iter().zip(&mut *scores) {
                if postings.doc() < row {
                    postings.seek(row);
                }
                if postings.doc() == row {
                    *score +=
                        list.ceiling * lengths.saturation(norms.fieldnorm_id(row), postings.term_freq());
                }
            }
        }
        Ok(())
    }

    fn search_segment(
        &self,
        segment: u32,
        rows: Option<&Rows>,
        lists: &[List],
        scores: &mut Vec<f32>,
        best: &mut Best,
        stop: &Stop,
    ) -> Result<()> {
        if self.score(segment, lists, scores, stop)? {
            let reader = self.searcher.segment_reader(segment);
            let tie = |row| self.tie(DocAddress::new(segment, row));
            match rows {
                // A selection has no rows but those that are alive.
                Some(rows) => best.take(segment, scores, |row| rows.contains(row), tie),
                None => best.take(segment, scores, |row| !reader.is_deleted(row), tie),
            }
        }
        Ok(())
    }

    /// Fills `scores` with what each row of a segment is worth, and says whether any is worth anything.
    fn score(&self, segment: u32, lists: &[List], scores: &mut Vec<f32>, stop: &Stop) -> Result<bool> {
        let reader = self.searcher.segment_reader(segment);
        scores.clear();
        scores.resize(reader.max_doc() as usize, 0.0);
        let mut touched = false;
        for list in lists {
            for info in &list.infos[segment as usize] {
                stop.check()?;
                self.add(list, info, reader, scores).map_err(failed("reading postings"))?;
                touched = true;
            }
        }
        Ok(touched)
    }

    /// Adds what a term is worth to each row that has it.
    fn add(
        &self,
        list: &List,
        info: &TermInfo,
        reader: &SegmentReader,
        scores: &mut [f32],
    ) -> tantivy::Result<()> {
        let field = fields().ranked[list.field as usize].terms;
        let (norms, lengths) = (reader.get_fieldnorms_reader(field)?, &self.lengths[list.field as usize]);
        let index = reader.inverted_index(field)?;
        let mut postings = index.read_block_postings_from_terminfo(info, IndexRecordOption::WithFreqs)?;
        while postings.block_len() > 0 {
            for (&row, &term_freq) in postings.docs().iter().zip(postings.freqs()) {
                scores[row as usize] += list.ceiling * lengths.saturation(norms.fieldnorm_id(row), term_freq);
            }
            postings.advance();
        }
        Ok(())
    }
}

thread_local! {
    /// A score per row of the segment at hand, kept for the thread's next query: 4 bytes a chunk.
    static SCORES: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
}

/// A term and where its postings lie in each segment.
pub(super) struct List {
    pub(super) field: Ranked,
    text: String,
    /// How many chunks have it.
    pub(super) doc_freq: u64,
    ceiling: f32,
    /// By segment, one for each form that is there.
    pub(super) infos: Vec<Vec<TermInfo>>,
}

/// Rows that are looked at together.
const STRIDE: usize = 64;

/// The best `k` so far.
struct Best {
    k: usize,
    candidates: Vec<Candidate>,
}

impl Best {
    fn take(
        &mut self,
        segment: u32,
        scores: &[f32],
        counts: impl Fn(DocId) -> bool,
        tie: impl Fn(DocId) -> u64,
    ) {
        let mut threshold = self.threshold();
        for (rows, scores) in (0..).step_by(STRIDE).zip(scores.chunks(STRIDE)) {
            // Counted without a branch, so that a stretch of rows costs a few instructions: hardly any has one of the best.
            if scores.iter().filter(|score| **score >= threshold).count() == 0 {
                continue;
            }
            for (row, &score) in (rows..).zip(scores) {
                if score < threshold || !counts(row) {
                    continue;
                }
                let address = DocAddress::new(segment, row);
                self.candidates.push(Candidate { address, score, tie: tie(row) });
                if self.candidates.len() >= 2 * self.k + 64 {
                    self.cut();
                    threshold = self.threshold();
                }
            }
        }
        self.cut();
    }

    /// Below this, nothing is among the best. A row that has none of the terms scores 0.
    fn threshold(&self) -> f32 {
        if self.candidates.len() < self.k {
            f32::MIN_POSITIVE
        } else {
            self.candidates[..self.k].iter().map(|candidate| candidate.score).fold(f32::INFINITY, f32::min)
        }
    }

    fn cut(&mut self) {
        if self.candidates.len() > self.k {
            self.candidates.select_nth_unstable_by(self.k - 1, Candidate::order);
            self.candidates.truncate(self.k);
        }
    }

    fn into_candidates(mut self) -> Vec<Candidate> {
        self.candidates.sort_unstable_by(Candidate::order);
        self.candidates
    }
}
