//! The rows that a filter leaves, from the dictionaries of the fast fields: a condition is asked once for each distinct
//! path, tag or date of a segment, and then each row only which of them it has.

use std::collections::HashSet;

use tantivy::columnar::{Cardinality, StrColumn};
use tantivy::{DocId, SegmentReader};

use super::rows::Rows;
use super::schema::{DATE, SOURCE, TAG, UPDATED};
use super::{Lexical, failed};
use crate::error::Result;
use crate::filter::{Filter, Tag};
use crate::stop::Stop;

/// The rows of a lexical index that are alive and that a filter leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    segments: Vec<Rows>,
}

impl Selection {
    /// The rows of a segment.
    pub fn rows(&self, segment: u32) -> &Rows {
        &self.segments[segment as usize]
    }

    /// By segment.
    pub fn segments(&self) -> &[Rows] {
        &self.segments
    }

    /// How many chunks are left.
    pub fn chunks(&self) -> u64 {
        self.segments.iter().map(|rows| u64::from(rows.len())).sum()
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.segments.iter().all(Rows::is_empty)
    }
}

impl Lexical {
    /// The rows that `filter` leaves.
    pub fn select(&self, filter: &Filter, stop: &Stop) -> Result<Selection> {
        let segment = |(reader, dead): (&SegmentReader, &Vec<DocId>)| {
            stop.check()?;
            select(reader, dead, filter).map_err(failed("filtering chunks"))
        };
        let segments = self.searcher.segment_readers().iter().zip(&self.dead).map(segment);
        Ok(Selection { segments: segments.collect::<Result<_>>()? })
    }

    /// How many documents have a row in `selection`.
    pub fn documents_in(&self, selection: &Selection) -> Result<u64> {
        let mut sources = HashSet::new();
        for (reader, rows) in self.searcher.segment_readers().iter().zip(&selection.segments) {
            sources_of(reader, rows, &mut sources).map_err(failed("counting documents"))?;
        }
        Ok(sources.len() as u64)
    }
}

fn select(reader: &SegmentReader, dead: &[DocId], filter: &Filter) -> tantivy::Result<Rows> {
    let mut rows = Rows::all(reader.max_doc());
    for &row in dead {
        rows.remove(row);
    }
    if !filter.paths.is_empty() {
        rows.intersect(&rows_with(reader, SOURCE, |path| filter.paths.admit(path))?);
    }
    if !filter.tags_any.is_empty() {
        let wanted = |tag: &str| filter.tags_any.iter().any(|wanted| wanted.is(tag));
        rows.intersect(&rows_with(reader, TAG, wanted)?);
    }
    for wanted in &filter.tags_all {
        rows.intersect(&rows_with(reader, TAG, |tag| Tag::is(wanted, tag))?);
    }
    if !filter.dates.is_open() {
        let mut dated = rows_with(reader, DATE, |date| filter.dates.holds(date))?;
        dated.unite(&rows_with(reader, UPDATED, |date| filter.dates.holds(date))?);
        rows.intersect(&dated);
    }
    Ok(rows)
}

/// The rows, alive or not, with a value of `field` that is `wanted`.
fn rows_with(reader: &SegmentReader, field: &str, wanted: impl Fn(&str) -> bool) -> tantivy::Result<Rows> {
    let mut rows = Rows::none(reader.max_doc());
    let Some(column) = reader.fast_fields().str(field)? else { return Ok(rows) };
    let is_wanted = terms_that(&column, wanted)?;
    if !is_wanted.contains(&true) {
        return Ok(rows);
    }
    let ords = column.ords();
    let wants = |ord: u64| usize::try_from(ord).is_ok_and(|ord| is_wanted.get(ord) == Some(&true));
    let has_one = ords.get_cardinality() != Cardinality::Multivalued;
    for row in 0..reader.max_doc() {
        let has =
            if has_one { ords.first(row).is_some_and(wants) } else { ords.values_for_doc(row).any(wants) };
        if has {
            rows.insert(row);
        }
    }
    Ok(rows)
}

/// For each term of a column's dictionary, in its order, whether it is `wanted`.
fn terms_that(column: &StrColumn, wanted: impl Fn(&str) -> bool) -> tantivy::Result<Vec<bool>> {
    let mut terms = column.dictionary().stream()?;
    let mut are_wanted = Vec::with_capacity(column.num_terms());
    while terms.advance() {
        are_wanted.push(str::from_utf8(terms.key()).is_ok_and(&wanted));
    }
    Ok(are_wanted)
}

fn sources_of(reader: &SegmentReader, rows: &Rows, sources: &mut HashSet<String>) -> tantivy::Result<()> {
    let Some(column) = reader.fast_fields().str(SOURCE)? else { return Ok(()) };
    let ords: HashSet<u64> = rows.runs().flatten().filter_map(|row| column.ords().first(row)).collect();
    for ord in ords {
        let mut source = String::new();
        column.ord_to_str(ord, &mut source)?;
        sources.insert(source);
    }
    Ok(())
}
