//! A vector for every chunk of a draft: carried over, cached, or embedded.
//!
//! A segment that the parent has too keeps its vector file. The chunks of every other segment are known by their
//! embed keys; a vector is looked for in the catalog, then among those rows of the parent that are not carried over,
//! and only then embedded. So an edit embeds what it touched, and a lost catalog costs nothing that the parent has.
//!
//! Deliberately left out: the file format (`vector_writer`), and running the model (`embed`).

use std::collections::{HashMap, HashSet};

use engine::dense::VectorSegment;
use engine::generation::manifest::ModelIdentity;
use engine::generation::{Generation, VECTORS_FOLDER, vector_file};
use engine::id::Sha256;
use engine::lexical::{Lexical, Segment};
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use tantivy::DocAddress;

use crate::catalog::Catalog;
use crate::embed::{Missing, embed_key};
use crate::error::Result;
use crate::publish::Draft;
use crate::vector_writer::VectorWriter;

/// Rows looked up in the catalog at once while a file is written.
const BATCH: usize = 2000;

/// What a lexical index needs so that every chunk of it has a vector.
#[derive(Debug)]
pub struct Survey {
    /// Files that the parent has already.
    pub carried: Vec<String>,
    /// Segments whose file has to be written, with the key of each row; dead rows have none.
    pub fresh: Vec<Fresh>,
    /// Chunks whose vector nobody knows, each text once.
    pub missing: Vec<Missing>,
}

/// A segment whose vector file has to be written.
#[derive(Debug)]
pub struct Fresh {
    segment: Segment,
    keys: Vec<Option<Sha256>>,
}

/// Finds out what `lexical` needs. `parent` counts only where its vectors are of the same model.
pub fn survey(
    lexical: &Lexical,
    parent: Option<&Generation>,
    model: &ModelIdentity,
    catalog: &mut Catalog,
) -> Result<Survey> {
    let parent = parent.filter(|parent| has_vectors_of(parent, model));
    let fingerprint = model.fingerprint();
    let mut carried = Vec::new();
    let mut fresh = Vec::new();
    let mut rows: Vec<Missing> = Vec::new();
    for (ord, segment) in (0..).zip(lexical.segments()) {
        let file = vector_file(&segment.id);
        if parent.is_some_and(|parent| parent.manifest().sealed(&file).is_some()) {
            carried.push(file);
            continue;
        }
        let keys = keys_of(lexical, ord, &segment, &fingerprint)?;
        let alive = (0..)
            .zip(&keys)
            .filter_map(|(row, key)| key.map(|key| Missing { address: DocAddress::new(ord, row), key }));
        rows.extend(alive);
        fresh.push(Fresh { segment, keys });
    }
    let mut seen = HashSet::with_capacity(rows.len());
    rows.retain(|row| seen.insert(row.key));
    let keys: Vec<Sha256> = rows.iter().map(|row| row.key).collect();
    let known = catalog.known(&keys, model.dimensions)?;
    rows.retain(|row| !known.contains(&row.key));
    if let Some(parent) = parent
        && !rows.is_empty()
    {
        let wanted = rows.iter().map(|row| row.key).collect();
        let saved = salvage(parent, lexical, &fingerprint, wanted, catalog)?;
        rows.retain(|row| !saved.contains(&row.key));
    }
    Ok(Survey { carried, fresh, missing: rows })
}

/// Links and writes the vector files that `survey` named. Every key has to be in the catalog by now; those that a
/// damaged catalog lost meanwhile are returned, and nothing is complete then.
pub fn write(
    draft: &mut Draft<'_>,
    survey: &Survey,
    parent: Option<&Generation>,
    model: &ModelIdentity,
    catalog: &mut Catalog,
) -> Result<Written> {
    if let Some(parent) = parent {
        for file in &survey.carried {
            draft.link(parent, file)?;
        }
    }
    let folder = draft.folder(VECTORS_FOLDER)?;
    for fresh in &survey.fresh {
        let path = folder.join(format!("{}.vec", fresh.segment.id));
        let mut writer = VectorWriter::create(path, model.dimensions, fresh.segment.max_doc)?;
        for batch in fresh.keys.chunks(BATCH) {
            let keys: Vec<Sha256> = batch.iter().flatten().copied().collect();
            let vectors = catalog.embeddings(&keys, model.dimensions)?;
            for key in batch {
                match key.map(|key| vectors.get(&key)) {
                    Some(Some(vector)) => writer.push(vector)?,
                    Some(None) => return Ok(Written::Lost),
                    None => writer.push_absent()?,
                }
            }
        }
        writer.finish()?;
    }
    Ok(Written::Complete)
}

/// Whether every chunk got its vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// Every one.
    Complete,
    /// The catalog was damaged and lost some; ask again.
    Lost,
}

/// Whether the vectors of `generation` can stand beside those of `model`.
pub fn has_vectors_of(generation: &Generation, model: &ModelIdentity) -> bool {
    generation.manifest().vectors && generation.manifest().model.as_ref() == Some(model)
}

/// The embed key of each row; dead rows have none.
fn keys_of(lexical: &Lexical, ord: u32, segment: &Segment, model: &Sha256) -> Result<Vec<Option<Sha256>>> {
    let reader = lexical.searcher().segment_reader(ord);
    (0..segment.max_doc)
        .into_par_iter()
        .map(|row| {
            if reader.is_deleted(row) {
                return Ok(None);
            }
            let record = lexical.record(DocAddress::new(ord, row))?;
            Ok(Some(embed_key(model, &record.embedded_text())))
        })
        .collect()
}

/// Copies wanted vectors into the catalog from those rows of the parent that the new index does not carry over.
fn salvage(
    parent: &Generation,
    lexical: &Lexical,
    model: &Sha256,
    mut wanted: HashSet<Sha256>,
    catalog: &mut Catalog,
) -> Result<HashSet<Sha256>> {
    let before = parent.lexical()?;
    let carried: HashMap<String, u32> =
        (0..).zip(lexical.segments()).map(|(ord, segment)| (segment.id, ord)).collect();
    let mut saved = HashSet::new();
    let mut batch = Vec::new();
    for (ord, segment) in (0..).zip(before.segments()) {
        let reader = before.searcher().segment_reader(ord);
        let now = carried.get(&segment.id).map(|ord| lexical.searcher().segment_reader(*ord));
        let left = |row: &u32| !reader.is_deleted(*row) && now.is_none_or(|now| now.is_deleted(*row));
        let rows: Vec<u32> = (0..segment.max_doc).filter(left).collect();
        if rows.is_empty() {
            continue;
        }
        let vectors = VectorSegment::open(parent.folder().join(vector_file(&segment.id)))?;
        for row in rows {
            let record = before.record(DocAddress::new(ord, row))?;
            let key = embed_key(model, &record.embedded_text());
            if let Some(vector) = vectors.row(row)
                && wanted.remove(&key)
            {
                batch.push((key, vector.to_vec()));
                saved.insert(key);
            }
            if batch.len() >= BATCH {
                catalog.keep_embeddings(&std::mem::take(&mut batch))?;
            }
        }
    }
    catalog.keep_embeddings(&batch)?;
    Ok(saved)
}
