//! The copies of a hit's text: which of them is cited, and where else it stands.
//!
//! Copies are one hit, the best-ranked of them. Where that does not stand in its source any more and another does, the
//! other is cited instead: who reads the answer is given a place that is there. What the hit was ranked by stays as it was.

use std::sync::Arc;

use tantivy::DocAddress;

use super::{Found, Question, count, timed};
use crate::citation::{Citation, Verdict};
use crate::engine::Engine;
use crate::error::Result;
use crate::footnote::Footnote;
use crate::index::Collection;
use crate::lexical::Selection;
use crate::lexical::record::ChunkRecord;
use crate::query::AlsoAt;
use crate::verify::Finding;

/// Further places of a text that are listed, and looked at where a hit's own does not stand; all are counted.
const PLACES_LISTED: usize = 20;

impl Question<'_> {
    /// Cites another copy of each hit that does not stand, where one does. Says whether any was exchanged.
    pub(super) fn exchange(
        &mut self,
        engine: &Engine,
        collection: &Collection,
        hits: &mut [Found],
        findings: &[Finding],
    ) -> Result<bool> {
        let mut copies = Vec::new();
        for (number, (hit, finding)) in hits.iter().zip(findings).enumerate() {
            // A file that was renamed may be a copy that was there all along.
            if !stands(finding) || finding.place.source != hit.record.source {
                for place in self.copies(hit.place.address, &hit.record)?.0 {
                    copies.push((number, place, self.generation.lexical()?.record(place)?));
                }
            }
        }
        if copies.is_empty() {
            return Ok(false);
        }
        let records: Vec<&ChunkRecord> = copies.iter().map(|(.., record)| record).collect();
        let found = self.check(engine, collection, &records)?;
        let mut exchanged = None;
        for ((number, address, record), finding) in copies.into_iter().zip(found) {
            if exchanged != Some(number) && finding.verdict() == Verdict::Verified {
                exchanged = Some(number);
                (hits[number].place.address, hits[number].record) = (address, record);
            }
        }
        Ok(exchanged.is_some())
    }

    /// Where else the text of the hit at `address` stands, as it was indexed.
    pub(super) fn also_at(
        &mut self,
        collection: &Collection,
        address: DocAddress,
        record: &ChunkRecord,
    ) -> Result<AlsoAt> {
        let (places, count) = self.copies(address, record)?;
        let (lexical, generation) = (self.generation.lexical()?, self.generation.id());
        timed(&mut self.stats.load, || {
            let records =
                places.into_iter().map(|place| lexical.record(place)).collect::<Result<Vec<_>>>()?;
            let mut cited: Vec<Citation> =
                records.into_iter().map(|record| Citation::as_indexed(record, generation)).collect();
            cited.sort_by(|left, right| {
                (&left.source, left.bytes.start).cmp(&(&right.source, right.bytes.start))
            });
            let listed = cited.iter().map(|citation| Footnote::of(collection.name(), citation)).collect();
            Ok(AlsoAt { listed, count })
        })
    }

    /// The first of the other rows with the text of the hit at `address`, among those that the filter leaves, and how many
    /// there are.
    fn copies(&mut self, address: DocAddress, record: &ChunkRecord) -> Result<(Vec<DocAddress>, u32)> {
        let lexical = self.generation.lexical()?;
        timed(&mut self.stats.load, || {
            let mut places = lexical.places_of_text(record.text_sha256)?;
            places.retain(|place| {
                let left =
                    |selection: &Arc<Selection>| selection.rows(place.segment_ord).contains(place.doc_id);
                *place != address && self.selection.as_ref().is_none_or(left)
            });
            let count = count(places.len());
            places.sort_by_key(|place| lexical.tie(*place));
            places.truncate(PLACES_LISTED);
            Ok((places, count))
        })
    }
}

/// Whether the text is there, or was not looked for.
fn stands(finding: &Finding) -> bool {
    match finding.verdict() {
        Verdict::Verified | Verdict::Relocated | Verdict::NotChecked => true,
        Verdict::Drifted | Verdict::Missing | Verdict::Unresolvable => false,
    }
}
