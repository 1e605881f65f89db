//! What stands near a passage speaks for it: a word of the question that the passage lacks and its document has close by
//! counts in part.
//!
//! A document is cut into passages by length and headings, and a question's words do not fall on one side of a cut.
//! Without this, a passage that has two of three words is worth the same whether the third stands in the next paragraph
//! or nowhere. For each term of the text, with `w(c)` its BM25 score in the passage `c`:
//!
//! ```text
//! max(w(c), SHARE × the largest w of the passages at most AROUND before or behind c in its document)
//! ```
//!
//! Bounded to what is close, so that the passages of a book are not worth more than a note for all that the book says.
//! `docs/decisions/0004-lexical-ranking.md` has the figures.

use tantivy::columnar::Column;
use tantivy::{DocId, SegmentReader};

use super::schema::{Ranked, SOURCE};
use super::top_k::{Candidate, List};
use super::{Lexical, failed};
use crate::error::Result;
use crate::stop::Stop;

/// So many of the best passages are looked around. At least as many as an answer can have, so that a passage in an answer
/// has one score, whatever else was asked for.
pub(super) const LOOKED_AROUND: usize = 50;

/// How far, in passages to either side.
const AROUND: u32 = 4;

/// What a word counts that stands near, against one that stands in the passage.
const SHARE: f32 = 0.5;

/// By row of a segment, a number of its document's source. The passages of a document have neighbouring rows, in their order.
pub(super) fn sources(reader: &SegmentReader) -> tantivy::Result<Column<u64>> {
    let sources = reader.fast_fields().str(SOURCE)?;
    Ok(sources.map_or_else(|| Column::build_empty_column(reader.max_doc()), |sources| sources.ords().clone()))
}

/// A passage and where those near it are, itself included, as places in a list of rows.
struct View {
    candidate: usize,
    row: usize,
    first: usize,
    last: usize,
}

impl Lexical {
    /// Adds to the score of each candidate what stands near it.
    pub(super) fn look_around(
        &self,
        lists: &[List],
        candidates: &mut [Candidate],
        stop: &Stop,
    ) -> Result<()> {
        for segment in 0..self.segment_count() {
            let (rows, views) = self.views(segment, candidates);
            if views.is_empty() {
                continue;
            }
            for list in lists.iter().filter(|list| list.field == Ranked::Words) {
                stop.check()?;
                let mut worth = vec![0.0; rows.len()];
                self.add_to_rows(list, segment, &rows, &mut worth).map_err(failed("reading postings"))?;
                for view in &views {
                    let near = worth[view.first..=view.last].iter().copied().fold(0.0, f32::max);
                    candidates[view.candidate].score += (SHARE * near - worth[view.row]).max(0.0);
                }
            }
        }
        Ok(())
    }

    /// The rows of a segment that are near any candidate, ascending, and what each candidate sees of them.
    fn views(&self, segment: u32, candidates: &[Candidate]) -> (Vec<DocId>, Vec<View>) {
        let here = |candidate: &Candidate| candidate.address.segment_ord == segment;
        let mut here: Vec<(DocId, usize)> = (0..candidates.len())
            .filter(|&at| here(&candidates[at]))
            .map(|at| (candidates[at].address.doc_id, at))
            .collect();
        here.sort_unstable();
        let (mut rows, mut views): (Vec<DocId>, Vec<View>) = (Vec::new(), Vec::with_capacity(here.len()));
        for (row, candidate) in here {
            let (first, last) = self.near(segment, row);
            if first == last {
                continue; // The only passage of its document.
            }
            let next = rows.last().map_or(first, |last| first.max(last + 1));
            rows.extend(next..=last);
            let place = |row| rows.partition_point(|&before| before < row);
            views.push(View { candidate, row: place(row), first: place(first), last: place(last) });
        }
        (rows, views)
    }

    /// The first and the last row of those near a row that are of its document.
    fn near(&self, segment: u32, row: DocId) -> (DocId, DocId) {
        let reader = self.searcher.segment_reader(segment);
        let sources = &self.sources[segment as usize];
        let source = sources.first(row);
        let is_same =
            |&near: &DocId| source.is_some() && sources.first(near) == source && !reader.is_deleted(near);
        let before = (row.saturating_sub(AROUND)..row).rev().take_while(is_same);
        let behind = (row + 1..=row.saturating_add(AROUND)).take_while(|&near| near < reader.max_doc());
        (before.last().unwrap_or(row), behind.take_while(is_same).last().unwrap_or(row))
    }
}
