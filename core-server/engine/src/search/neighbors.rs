//! What stands around a hit in its document, from the same generation: so many passages on each side, and its whole section.
//!
//! Each passage stands in an answer once: where the next one is a hit itself, or given beside another, the answer goes on
//! there, and nothing beyond is given twice. Hits come first; what is left of `max_bytes` goes to what is around the best
//! hit, the nearest first. A section is given whole or not at all.
//!
//! Deliberately left out: checking them (`verify`), which is done with the hits, so that each source is opened once.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use tantivy::DocAddress;

use crate::error::Result;
use crate::lexical::Lexical;
use crate::lexical::record::ChunkRecord;
use crate::query::{Reach, Side};

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
    /// Hits whose section did not fit.
    pub(crate) sections_left_out: usize,
}

/// What stands around the hits, best hit first, in `room` bytes of text.
pub(crate) fn surroundings<'a>(
    lexical: &Lexical,
    hits: impl Iterator<Item = (DocAddress, &'a ChunkRecord)> + Clone,
    reach: Reach,
    room: usize,
) -> Result<Surroundings> {
    let mut giving = Giving {
        lexical,
        room,
        given: hits.clone().map(|(address, _)| address).collect(),
        promised: HashMap::new(),
        surroundings: Surroundings::default(),
    };
    for (address, record) in hits {
        let beside = match reach {
            Reach { neighbors: 0, section: false } => Vec::new(),
            reach => giving.around(address, record, reach)?,
        };
        giving.surroundings.of_hits.push(beside);
    }
    Ok(giving.surroundings)
}

/// An answer's surroundings while they are put together.
struct Giving<'a> {
    lexical: &'a Lexical,
    room: usize,
    /// What stands in the answer already.
    given: HashSet<DocAddress>,
    /// What has its room already, since it belongs to a section that fits: another hit of that section may bring it.
    promised: HashMap<DocAddress, ChunkRecord>,
    surroundings: Surroundings,
}

impl Giving<'_> {
    fn around(&mut self, address: DocAddress, hit: &ChunkRecord, reach: Reach) -> Result<Vec<Beside>> {
        let places = self.lexical.places_of(hit.document_id)?;
        let Some(at) = places.iter().position(|place| *place == address) else { return Ok(Vec::new()) };
        let mut around = at.saturating_sub(reach.neighbors)..(at + 1 + reach.neighbors).min(places.len());
        if reach.section {
            match self.section(&places, at, hit)? {
                Some(section) => {
                    around = around.start.min(section.start)..around.end.max(section.end);
                }
                None => self.surroundings.sections_left_out += 1,
            }
        }
        let mut beside = Vec::new();
        self.side(Side::Before, places[around.start..at].iter().rev(), &mut beside)?;
        self.side(Side::After, places[at + 1..around.end].iter(), &mut beside)?;
        beside.sort_by_key(|beside| beside.record.bytes.start);
        Ok(beside)
    }

    /// The section of the hit at `at` with those within it, if all of it fits that is not given yet. Its room is then taken.
    fn section(
        &mut self,
        places: &[DocAddress],
        at: usize,
        hit: &ChunkRecord,
    ) -> Result<Option<Range<usize>>> {
        let mut section = at..at + 1;
        let (mut room, mut new) = (self.room, Vec::new());
        let down = (0..at).rev();
        let up = at + 1..places.len();
        for (side, indices) in [(Side::Before, down.collect::<Vec<_>>()), (Side::After, up.collect())] {
            for index in indices {
                let record = self.lexical.record(places[index])?;
                if !belongs(&record, hit) {
                    break;
                }
                match side {
                    Side::Before => section.start = index,
                    Side::After => section.end = index + 1,
                }
                if self.given.contains(&places[index]) || self.promised.contains_key(&places[index]) {
                    continue;
                }
                let Some(left) = room.checked_sub(record.text.len()) else { return Ok(None) };
                room = left;
                new.push((places[index], record));
            }
        }
        self.room = room;
        self.promised.extend(new);
        Ok(Some(section))
    }

    /// Gives the passages on one side of a hit, the nearest first, up to one that the answer has.
    fn side<'p>(
        &mut self,
        side: Side,
        places: impl Iterator<Item = &'p DocAddress>,
        beside: &mut Vec<Beside>,
    ) -> Result<()> {
        let mut fits = true;
        for place in places {
            if self.given.contains(place) {
                break;
            }
            let promised = self.promised.remove(place);
            let has_room = promised.is_some();
            let record = promised.map_or_else(|| self.lexical.record(*place), Ok)?;
            let bytes = record.text.len();
            // What comes behind a gap is no neighbour: it is only counted.
            fits &= has_room || bytes <= self.room;
            if fits {
                self.room -= if has_room { 0 } else { bytes };
                self.given.insert(*place);
                beside.push(Beside { side, record });
            } else {
                self.surroundings.bytes_left_out += bytes;
            }
        }
        Ok(())
    }
}

/// Whether a passage of the same document, next to others that do, belongs to a hit's section: it has the headings of the hit,
/// and perhaps further ones below them. What stands above all headings belongs together.
fn belongs(record: &ChunkRecord, hit: &ChunkRecord) -> bool {
    let (headings, above) = (&record.heading_path, &hit.heading_path);
    if above.is_empty() { headings.is_empty() } else { headings.starts_with(above) }
}
