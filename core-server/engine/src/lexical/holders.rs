//! Chunks that hold literals of a question: all of them, as far as anyone will look, the best by BM25 first.
//!
//! A literal's words are terms of every chunk that holds it, so the chunks that have them all are candidates. Which of
//! them hold it is read from their text, in the order of BM25, until enough hold all that was asked for, some ten
//! microseconds each; `stop` is looked at between them. None is missed, unless a literal is made of words so common that
//! more than [`READ`] chunks have them all: then as many are read, the best by BM25, and the answer says so.

use tantivy::postings::SegmentPostings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet as _, SegmentReader, TERMINATED, Term};

use super::query::WordQuery;
use super::schema::{Ranked, fields};
use super::selection::Selection;
use super::top_k::Candidate;
use super::{Lexical, failed};
use crate::analysis::{self, Language};
use crate::error::Result;
use crate::exact::{Exact, Literal};
use crate::stop::Stop;

/// Candidates of one literal that are read at most: a fifth of a second.
pub const READ: usize = 20_000;

/// So many chunks may hold what looks like a name and may be a word.
const FEW: u64 = 20;

/// What was found of a question's literals.
#[derive(Debug, Default)]
pub struct Holders {
    /// Chunks that hold any of them: those that hold most of them first, most exactly, and best by BM25.
    pub best: Vec<(Candidate, Exact)>,
    /// Whether there may be more than were read: more than [`READ`] chunks have all words of a literal.
    pub cut_short: bool,
}

impl Lexical {
    /// The best `k` chunks that hold any of `literals`, among those in `selection` where there is one; ranked by `query`
    /// where they hold the same.
    pub fn holders(
        &self,
        literals: &[Literal],
        query: &WordQuery,
        k: usize,
        selection: Option<&Selection>,
        stop: &Stop,
    ) -> Result<Holders> {
        let (rows, cut_short) = self.rows_to_read(literals, query, selection, stop)?;
        let (mut best, mut perfect) = (Vec::new(), 0);
        for candidate in self.search_rows(query, &rows, usize::MAX, stop)? {
            stop.check()?;
            if perfect == k {
                break;
            }
            let exact = Exact::of(literals, &self.record(candidate.address)?.text);
            perfect += usize::from(exact.is_all());
            if !exact.is_none() {
                best.push((candidate, exact));
            }
        }
        best.sort_by(|(left, left_exact), (right, right_exact)| {
            right_exact.cmp(left_exact).then_with(|| Candidate::order(left, right))
        });
        best.truncate(k);
        // With enough that hold all of it, what was not read would be behind them.
        Ok(Holders { best, cut_short: cut_short && perfect < k })
    }

    /// By segment, the rows whose text may hold any of `literals`, ascending; and whether they are not all.
    fn rows_to_read(
        &self,
        literals: &[Literal],
        query: &WordQuery,
        selection: Option<&Selection>,
        stop: &Stop,
    ) -> Result<(Vec<Vec<DocId>>, bool)> {
        let mut all = vec![Vec::new(); self.searcher.segment_readers().len()];
        let mut cut_short = false;
        for literal in literals {
            let mut rows = self.candidates(literal).map_err(failed("looking up a literal"))?;
            if let Some(selection) = selection {
                for (segment, rows) in (0..).zip(&mut rows) {
                    rows.retain(|&row| selection.rows(segment).contains(row));
                }
            }
            // Each literal has its own, lest one of common words leaves nothing to a rare one.
            if rows.iter().map(Vec::len).sum::<usize>() > READ {
                cut_short = true;
                let best = self.search_rows(query, &rows, READ, stop)?;
                rows.iter_mut().for_each(Vec::clear);
                for Candidate { address, .. } in best {
                    rows[address.segment_ord as usize].push(address.doc_id);
                }
            }
            all.iter_mut().zip(rows).for_each(|(all, rows)| all.extend(rows));
        }
        for rows in &mut all {
            rows.sort_unstable();
            rows.dedup();
        }
        Ok((all, cut_short))
    }

    /// Those of `literals` that tell chunks apart. What may be a word is one where more than `FEW` chunks have it, and
    /// words are ranked. Counted in the whole collection, as everything that weighs words.
    pub fn telling(&self, literals: Vec<Literal>) -> Result<Vec<Literal>> {
        let mut telling = Vec::with_capacity(literals.len());
        for literal in literals {
            if !literal.may_be_a_word() || self.holders_at_most(&literal)? <= FEW {
                telling.push(literal);
            }
        }
        Ok(telling)
    }

    /// How many chunks have the rarest of a literal's terms, which mostly is the whole: no more hold it as a whole.
    fn holders_at_most(&self, literal: &Literal) -> Result<u64> {
        let query = self.query(literal.text());
        let doc_freqs = self.doc_freqs(&query)?;
        let is_of_text = |field| matches!(field, Ranked::Words | Ranked::Exact);
        let of_text = query.terms.iter().zip(doc_freqs).filter(|(term, _)| is_of_text(term.field));
        Ok(of_text.map(|(_, doc_freq)| doc_freq).min().unwrap_or(0))
    }

    /// By segment, the rows that have all words of `literal`.
    fn candidates(&self, literal: &Literal) -> tantivy::Result<Vec<Vec<DocId>>> {
        let readers = self.searcher.segment_readers();
        let mut rows = vec![Vec::new(); readers.len()];
        for terms in self.terms_of(literal) {
            for (reader, rows) in readers.iter().zip(&mut rows) {
                rows_with_all(reader, &terms, rows)?;
            }
        }
        for rows in &mut rows {
            rows.sort_unstable();
            rows.dedup();
        }
        Ok(rows)
    }

    /// What a chunk that holds `literal` has for terms, as often as it depends on the chunk's language.
    fn terms_of(&self, literal: &Literal) -> Vec<Vec<String>> {
        let languages = match self.languages() {
            [] => &[Language::English],
            languages => languages,
        };
        let mut readings: Vec<Vec<String>> = Vec::new();
        for &language in languages {
            let terms = analysis::terms_of_literal(literal.text(), language);
            if !terms.is_empty() && !readings.contains(&terms) {
                readings.push(terms);
            }
        }
        readings
    }
}

/// Adds the rows of a segment that are alive and have all of `terms` in their text.
fn rows_with_all(reader: &SegmentReader, terms: &[String], rows: &mut Vec<DocId>) -> tantivy::Result<()> {
    let field = fields().ranked[Ranked::Words as usize].terms;
    let index = reader.inverted_index(field)?;
    let mut lists: Vec<SegmentPostings> = Vec::with_capacity(terms.len());
    for term in terms {
        let Some(list) =
            index.read_postings(&Term::from_field_text(field, term), IndexRecordOption::Basic)?
        else {
            return Ok(());
        };
        lists.push(list);
    }
    // The shortest list leads.
    lists.sort_by_key(SegmentPostings::size_hint);
    let Some((lead, others)) = lists.split_first_mut() else { return Ok(()) };
    let mut row = lead.doc();
    'rows: while row != TERMINATED {
        for other in &mut *others {
            let next = if other.doc() < row { other.seek(row) } else { other.doc() };
            if next > row {
                row = lead.seek(next);
                continue 'rows;
            }
        }
        if !reader.is_deleted(row) {
            rows.push(row);
        }
        row = lead.advance();
    }
    Ok(())
}
