//! Fetching one passage, by its id or its footnote, from the current generation or one that is kept.

use std::sync::Arc;
use std::time::Instant;

use tantivy::DocAddress;

use crate::citation::LineRange;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::footnote::Footnote;
use crate::generation::Generation;
use crate::id::{ChunkId, DocumentId};
use crate::index::Collection;
use crate::lexical::record::ChunkRecord;
use crate::query::{Caller, FetchChunk, FetchedChunk, Neighbor, PassageName, Reach, Stats};
use crate::search::{Beside, Speaker, surroundings};
use crate::stop::Stop;
use crate::verify::{Generations, Place};

pub(crate) fn fetch_chunk(
    engine: &Engine,
    fetch: &FetchChunk,
    caller: &Caller,
    stop: &Stop,
) -> Result<FetchedChunk> {
    let named = fetch.collection.as_ref().or(match &fetch.passage {
        PassageName::Footnote(footnote) => Some(&footnote.collection),
        PassageName::Id(_) => None,
    });
    let collection = engine.index().resolve(named, caller)?;
    let began = Instant::now();
    let (cited, address, chunk) = find(&collection, &fetch.passage, stop)?;
    let hit = std::iter::once((address, &chunk));
    let reach = Reach { neighbors: fetch.neighbors, section: false };
    let beside = surroundings(cited.lexical()?, hit, reach, usize::MAX)?.of_hits;
    let beside: Vec<Beside> = beside.into_iter().flatten().collect();
    let load = began.elapsed();
    let current = collection.generation();
    let began = Instant::now();
    let generations = Generations { cited: &cited, current };
    let chunks: Vec<&ChunkRecord> =
        std::iter::once(&chunk).chain(beside.iter().map(|beside| &beside.record)).collect();
    let findings = engine.verifier().check(collection.name(), generations, &chunks, stop)?;
    let mut findings = findings.into_iter();
    let verify = began.elapsed();
    let finding = findings.next().ok_or_else(|| not_found(&collection))?;
    let superseded_by = superseding(current, &chunk, &finding.place)?;
    let speaker = Speaker { engine, collection: &collection, generation: &cited, caller };
    let neighbor =
        |(Beside { side, record }, finding)| Neighbor { side, passage: speaker.passage(record, finding) };
    let neighbors = beside.into_iter().zip(findings).map(neighbor).collect();
    Ok(FetchedChunk {
        collection: collection.name().clone(),
        generation: current.id(),
        passage: speaker.passage(chunk, finding),
        neighbors,
        found_in: cited.id(),
        superseded_by,
        stats: Stats { load, verify, ..Stats::default() },
    })
}

/// The newest generation that holds the passage, the current one before all others, and the passage in it.
fn find(
    collection: &Collection,
    passage: &PassageName,
    stop: &Stop,
) -> Result<(Arc<Generation>, DocAddress, ChunkRecord)> {
    let current = collection.generation();
    if let Some((address, chunk)) = find_in(current, passage)? {
        return Ok((Arc::clone(current), address, chunk));
    }
    for kept in collection.kept()? {
        stop.check()?;
        if let Some((address, chunk)) = find_in(&kept, passage)? {
            return Ok((Arc::new(kept), address, chunk));
        }
    }
    Err(not_found(collection))
}

fn find_in(generation: &Generation, passage: &PassageName) -> Result<Option<(DocAddress, ChunkRecord)>> {
    match passage {
        PassageName::Id(id) => generation.lexical()?.chunk(*id),
        PassageName::Footnote(footnote) => find_footnote(generation, footnote),
    }
}

/// The chunk whose text a footnote was made of. A footnote carries lines as they were found, which may have moved on
/// since the generation was made, so of several chunks with the same hash in the document the closest is meant.
fn find_footnote(generation: &Generation, footnote: &Footnote) -> Result<Option<(DocAddress, ChunkRecord)>> {
    let chunks = generation.lexical()?.chunks_of(DocumentId::of_source(&footnote.source))?;
    let same_text = chunks
        .into_iter()
        .filter(|(_, chunk)| chunk.text_sha256.as_bytes().starts_with(&footnote.sha256_prefix));
    Ok(same_text.min_by_key(|(_, chunk)| distance(chunk.lines, footnote.lines)))
}

fn distance(a: LineRange, b: LineRange) -> u32 {
    a.start.abs_diff(b.start).saturating_add(a.end.abs_diff(b.end))
}

/// Chunks of the current generation that stand where the passage stands, or stood, unless it is one of them.
fn superseding(current: &Generation, chunk: &ChunkRecord, place: &Place) -> Result<Vec<ChunkId>> {
    if current.lexical()?.chunk(chunk.chunk_id)?.is_some() {
        return Ok(Vec::new());
    }
    let chunks = current.lexical()?.chunks_of(DocumentId::of_source(&place.source))?;
    let overlaps = |other: &ChunkRecord| {
        other.bytes.start < place.bytes.end.max(place.bytes.start + 1) && place.bytes.start < other.bytes.end
    };
    Ok(chunks.into_iter().map(|(_, chunk)| chunk).filter(overlaps).map(|chunk| chunk.chunk_id).collect())
}

fn not_found(collection: &Collection) -> Error {
    Error::ChunkNotFound { collection: collection.name().clone() }
}
