//! The passages before and after a hit in its document, from the same generation.
//!
//! Each passage stands in an answer once: where the next one is a hit itself, or given beside another, the answer goes on
//! there, and nothing beyond is given twice. Hits come first; what is left of `max_bytes` goes to the neighbours of the
//! best hit, the nearest first.
//!
//! Deliberately left out: checking them (`verify`), which is done with the hits, so that each source is opened once.

use std::collections::HashSet;

use tantivy::DocAddress;

use crate::error::Result;
use crate::lexical::Lexical;
use crate::lexical::record::ChunkRecord;
use crate::query::Side;

/// A neighbour as it was indexed.
pub(crate) struct Beside {
    pub(crate) side: Side,
    pub(crate) record: ChunkRecord,
}

/// The neighbours of an answer's hits.
#[derive(Default)]
pub(crate) struct Surroundings {
    /// Of each hit, in document order.
    pub(crate) of_hits: Vec<Vec<Beside>>,
    /// Bytes of text of those that did not fit.
    pub(crate) bytes_left_out: usize,
}

/// Up to `reach` neighbours on each side of the hits, best hit first, in `room` bytes of text.
pub(crate) fn surroundings<'a>(
    lexical: &Lexical,
    hits: impl Iterator<Item = (DocAddress, &'a ChunkRecord)> + Clone,
    reach: usize,
    room: usize,
) -> Result<Surroundings> {
    let mut given: HashSet<DocAddress> = hits.clone().map(|(address, _)| address).collect();
    let mut surroundings = Surroundings::default();
    let mut room = room;
    if reach == 0 {
        surroundings.of_hits.extend(hits.map(|_| Vec::new()));
        return Ok(surroundings);
    }
    for (address, record) in hits {
        let places = lexical.places_of(record.document_id)?;
        let at = places.iter().position(|place| *place == address).unwrap_or(places.len());
        let mut beside = Vec::new();
        let after = places[at..].iter().skip(1).take(reach);
        let before = places[..at].iter().rev().take(reach);
        for (side, places) in
            [(Side::Before, before.copied().collect::<Vec<_>>()), (Side::After, after.copied().collect())]
        {
            let mut fits = true;
            for place in places {
                if !given.insert(place) {
                    break;
                }
                let record = lexical.record(place)?;
                let bytes = record.text.len();
                // What comes behind a gap is no neighbour: it is only counted.
                fits &= bytes <= room;
                if fits {
                    room -= bytes;
                    beside.push(Beside { side, record });
                } else {
                    given.remove(&place);
                    surroundings.bytes_left_out += bytes;
                }
            }
        }
        beside.sort_by_key(|beside| beside.record.bytes.start);
        surroundings.of_hits.push(beside);
    }
    Ok(surroundings)
}
