//! Puts the lexical side of a draft together: the parent's segments, without what changed, and the chunks of what did.
//!
//! Files are read, cut and analysed on all cores, a file at a time each, so that memory is bounded by the largest files.
//! Deliberately left out: what changed (`plan`), vectors (`vectors`), and publishing (`publish`).

use std::collections::{BTreeMap, HashMap};

use engine::generation::files::FileState;
use engine::generation::{Generation, LEXICAL_FOLDER, text_file};
use engine::id::{ChunkId, DocumentId, Sha256};
use engine::lexical::record::ChunkRecord;
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::admit::{Admitted, IgnoreReason, Refused, SkipReason, admit};
use crate::catalog::Seen;
use crate::chunk::{self, Document};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::lexical_writer::{Committed, LexicalWriter};
use crate::plan::Files;
use crate::progress::Progress;
use crate::publish::Draft;
use crate::scope::Target;
use crate::walk::Found;

/// What reading a file led to.
#[derive(Debug)]
pub enum Outcome {
    /// It is in the index now.
    Indexed(Indexed),
    /// It is not meant for the index.
    Ignored(IgnoreReason),
    /// It should have worked.
    Skipped(SkipReason, String),
    /// It went away in between.
    Gone,
}

/// A file that was read and cut.
#[derive(Debug)]
pub struct Indexed {
    /// What the file table will say.
    pub state: FileState,
    /// What was not understood.
    pub warnings: Vec<String>,
    /// The extractor's output, where there is one.
    text: Option<String>,
}

/// The files that are doubtful, compared by their hash: those that are the same, and those to be read.
pub fn compare(
    target: &Target,
    known: &Files,
    doubtful: Vec<Found>,
    interrupt: &Interrupt,
) -> Result<(HashMap<String, Seen>, Vec<Found>)> {
    let same: Vec<Option<Seen>> = doubtful
        .par_iter()
        .map(|found| {
            interrupt.check()?;
            let state = known.get(&found.source);
            let read = admit(&target.scope.root.join(&found.source), target.scope.max_file_bytes).ok();
            let same = read.zip(state).filter(|(admitted, state)| {
                admitted.sha256 == state.sha256
                    && admitted.source_class == state.source_class
                    && admitted.extractor == state.extractor.as_deref()
            });
            Ok(same.map(|(admitted, _)| Seen { sha256: admitted.sha256, fingerprint: admitted.fingerprint }))
        })
        .collect::<Result<_>>()?;
    let mut seen = HashMap::new();
    let mut changed = Vec::new();
    for (found, same) in doubtful.into_iter().zip(same) {
        match same {
            Some(same) => {
                seen.insert(found.source, same);
            }
            None => changed.push(found),
        }
    }
    Ok((seen, changed))
}

/// A lexical index that was written into a draft.
#[derive(Debug)]
pub struct Staged {
    /// What the index holds now.
    pub committed: Committed,
    /// What became of each file that was to be read.
    pub outcomes: BTreeMap<String, Outcome>,
}

/// What goes into a draft.
#[derive(Debug)]
pub struct Work<'a> {
    /// The collection.
    pub target: &'a Target,
    /// The generation whose segments are gone on with, where there is one.
    pub base: Option<&'a Generation>,
    /// Files that the base does not have, or has with another content.
    pub read: &'a [Found],
    /// Sources whose chunks leave the base.
    pub drop: &'a [String],
}

/// Writes the lexical index of `draft`, and the extracted texts that belong to it.
pub fn stage(
    draft: &mut Draft<'_>,
    work: &Work<'_>,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<Staged> {
    let folder = draft.folder(LEXICAL_FOLDER)?;
    if let Some(base) = work.base {
        share_index(draft, base)?;
    }
    let writer = match work.base {
        Some(_) => LexicalWriter::continue_from(&folder)?,
        None => LexicalWriter::create(&folder)?,
    };
    for source in work.drop {
        writer.delete_document(DocumentId::of_source(source));
    }
    progress.begin("reading", work.read.len() as u64);
    let outcomes: Result<Vec<(String, Outcome)>> = work
        .read
        .par_iter()
        .map(|found| {
            interrupt.check()?;
            let outcome = read(work.target, found, &writer)?;
            progress.advance(1);
            Ok((found.source.clone(), outcome))
        })
        .collect();
    progress.end();
    let mut outcomes: BTreeMap<String, Outcome> = outcomes?.into_iter().collect();
    interrupt.check()?;
    let committed = writer.commit_and_merge()?;
    for (source, outcome) in &mut outcomes {
        if let Outcome::Indexed(Indexed { text, .. }) = outcome
            && let Some(text) = text.take()
        {
            draft.write(&text_file(DocumentId::of_source(source)), text.as_bytes())?;
        }
    }
    Ok(Staged { committed, outcomes })
}

/// Links the segments of `base`; what the lexical writer replaces is copied.
fn share_index(draft: &mut Draft<'_>, base: &Generation) -> Result<()> {
    let prefix = format!("{LEXICAL_FOLDER}/");
    let files: Vec<&str> = base.manifest().files.iter().map(|file| file.path.as_str()).collect();
    for path in files.into_iter().filter(|path| path.starts_with(&prefix)) {
        let name = &path[prefix.len()..];
        if name == "meta.json" || name == ".managed.json" {
            draft.copy(base, path)?;
        } else {
            draft.link(base, path)?;
        }
    }
    Ok(())
}

fn read(target: &Target, found: &Found, writer: &LexicalWriter) -> Result<Outcome> {
    let path = target.scope.root.join(&found.source);
    let admitted = match admit(&path, target.scope.max_file_bytes) {
        Ok(admitted) => admitted,
        Err(Refused::Ignored(reason)) => return Ok(Outcome::Ignored(reason)),
        Err(Refused::Skipped(reason, detail)) => return Ok(Outcome::Skipped(reason, detail)),
        Err(Refused::Gone) => return Ok(Outcome::Gone),
    };
    let document = chunk::chunk(&found.source, &admitted.text);
    let records = records(&found.source, &admitted, &document);
    let chunks = u32::try_from(records.len()).unwrap_or(u32::MAX);
    writer.add_document(records).map_err(Error::from)?;
    let Admitted { text, sha256, bytes, source_class, extractor, fingerprint } = admitted;
    Ok(Outcome::Indexed(Indexed {
        state: FileState {
            bytes,
            sha256,
            source_class,
            extractor: extractor.map(str::to_owned),
            chunks,
            fingerprint,
        },
        warnings: document.warnings,
        text: extractor.map(|_| text),
    }))
}

/// The chunks of a document as the index holds them, with their ids.
pub fn records<'a>(
    source: &'a str,
    admitted: &'a Admitted,
    document: &'a Document,
) -> impl ExactSizeIterator<Item = ChunkRecord> + use<'a> {
    let document_id = DocumentId::of_source(source);
    let mut occurrences: HashMap<Sha256, u32> = HashMap::new();
    document.chunks.iter().map(move |chunk| {
        let text =
            admitted.text.get(chunk.bytes.start as usize..chunk.bytes.end as usize).unwrap_or_default();
        let text_sha256 = Sha256::of(text.as_bytes());
        let occurrence = occurrences.entry(text_sha256).or_default();
        let chunk_id = ChunkId::of_text(document_id, text_sha256, *occurrence);
        *occurrence += 1;
        ChunkRecord {
            chunk_id,
            document_id,
            source: source.to_owned(),
            source_class: admitted.source_class,
            extractor: admitted.extractor.map(str::to_owned),
            bytes: chunk.bytes,
            lines: chunk.lines,
            text_sha256,
            text: text.to_owned(),
            title: document.title.clone(),
            heading_path: chunk.heading_path.clone(),
            tags: document.tags.clone(),
            date: document.date.clone(),
            updated: document.updated.clone(),
        }
    })
}
