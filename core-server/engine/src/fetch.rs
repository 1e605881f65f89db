//! Fetching one passage, by its id or its footnote, from the current generation or one that is kept.

use std::sync::Arc;
use std::time::Instant;

use crate::citation::LineRange;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::footnote::Footnote;
use crate::generation::Generation;
use crate::id::{ChunkId, DocumentId};
use crate::index::Collection;
use crate::lexical::record::ChunkRecord;
use crate::query::{Caller, FetchChunk, FetchedChunk, Passage, PassageName, Stats};
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
    let (cited, chunk) = find(&collection, &fetch.passage, stop)?;
    let load = began.elapsed();
    let current = collection.generation();
    let began = Instant::now();
    let generations = Generations { cited: &cited, current };
    let mut findings = engine.verifier().check(collection.name(), generations, &[&chunk], stop)?;
    let verify = began.elapsed();
    let finding = findings.pop().ok_or_else(|| not_found(&collection))?;
    let superseded_by = superseding(current, &chunk, &finding.place)?;
    let path_of = || engine.verifier().path_of(collection.name(), current, &finding.place.source);
    let open_path = caller.open_paths.then(path_of).flatten();
    Ok(FetchedChunk {
        collection: collection.name().clone(),
        generation: current.id(),
        passage: Passage::new(collection.name(), cited.id(), chunk, finding, open_path),
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
) -> Result<(Arc<Generation>, ChunkRecord)> {
    let current = collection.generation();
    if let Some(chunk) = find_in(current, passage)? {
        return Ok((Arc::clone(current), chunk));
    }
    for kept in collection.kept()? {
        stop.check()?;
        if let Some(chunk) = find_in(&kept, passage)? {
            return Ok((Arc::new(kept), chunk));
        }
    }
    Err(not_found(collection))
}

fn find_in(generation: &Generation, passage: &PassageName) -> Result<Option<ChunkRecord>> {
    match passage {
        PassageName::Id(id) => Ok(generation.lexical()?.chunk(*id)?.map(|(_, chunk)| chunk)),
        PassageName::Footnote(footnote) => find_footnote(generation, footnote),
    }
}

/// The chunk whose text a footnote was made of. A footnote carries lines as they were found, which may have moved on
/// since the generation was made, so of several chunks with the same hash in the document the closest is meant.
fn find_footnote(generation: &Generation, footnote: &Footnote) -> Result<Option<ChunkRecord>> {
    let chunks = generation.lexical()?.chunks_of(DocumentId::of_source(&footnote.source))?;
    let same_text = chunks
        .into_iter()
        .map(|(_, chunk)| chunk)
        .filter(|chunk| chunk.text_sha256.as_bytes().starts_with(&footnote.sha256_prefix));
    Ok(same_text.min_by_key(|chunk| distance(chunk.lines, footnote.lines)))
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
