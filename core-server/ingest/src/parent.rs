//! The generation that an ingest goes on from.
//!
//! That is the current one. Where it is damaged, the newest of the kept ones that opens takes its place, with a
//! warning, and the files are compared with that; where none opens, or an older version of this program wrote them all,
//! everything is read anew. What a newer version of
//! this program wrote is refused, for it would be lost.
//!
//! Deliberately left out: repairing anything. A generation is never written again.

use std::path::Path;

use engine::analysis::ANALYZER;
use engine::collection::CollectionName;
use engine::generation::Generation;
use engine::generation::current::Current;
use engine::generation::manifest::{Manifest, SCHEMA_VERSION};
use tracing::warn;

use crate::chunk::CHUNKER;
use crate::error::{Error, Result};
use crate::file_table;
use crate::folder::{CollectionFolder, collections_in};
use crate::plan::Files;
use crate::scope::Known;

/// A generation to go on from, with its file table.
#[derive(Debug)]
pub struct Parent {
    /// The generation.
    pub generation: Generation,
    /// The files that it holds.
    pub files: Files,
    /// Whether it is the one that `CURRENT` names.
    pub is_current: bool,
}

impl Parent {
    /// Opens the generation to go on from; `None` where there is none that opens.
    pub fn open(folder: &CollectionFolder) -> Result<Option<Self>> {
        let current = match Current::read(folder.path()) {
            Ok(Some(current)) => {
                let generation = Generation::open_current(folder.path(), &current);
                match generation.map_err(Error::from).and_then(|generation| Self::of(generation, true)) {
                    Ok(parent) => return Ok(Some(parent)),
                    Err(error) => Some(refuse_newer(error)?),
                }
            }
            Ok(None) => None,
            Err(error) => Some(error.into()),
        };
        let Some(error) = current else { return Ok(None) };
        warn!(error = %chain(&error), collection = %folder.name(), "the current generation is damaged");
        for id in folder.kept()?.into_iter().rev() {
            let opened = Generation::open(&folder.generation(id)).map_err(Error::from);
            match opened.and_then(|generation| Self::of(generation, false)) {
                Ok(parent) => {
                    warn!(generation = %id, "going on from an older generation");
                    return Ok(Some(parent));
                }
                Err(error) => {
                    refuse_newer(error)?;
                }
            }
        }
        warn!("no generation opens: everything is read anew");
        Ok(None)
    }

    /// The generation now published.
    pub fn of(generation: Generation, is_current: bool) -> Result<Self> {
        let files = file_table::read(&generation)?;
        generation.lexical()?;
        Ok(Self { generation, files, is_current })
    }

    /// Whether its segments can be gone on with: chunks and terms are what this program would make.
    pub fn is_usable(&self) -> bool {
        let manifest = self.generation.manifest();
        manifest.chunker == CHUNKER && manifest.analyzer == ANALYZER
    }
}

/// The collections of an index directory with what they look at. One that does not open is left out; `Parent::open` says
/// more where it is asked for by name.
pub fn known_collections(index: &Path) -> Result<Vec<Known>> {
    let names = collections_in(index)?;
    Ok(names.into_iter().filter_map(|name| scope_of(index, &name)).collect())
}

fn scope_of(index: &Path, name: &CollectionName) -> Option<Known> {
    let folder = CollectionFolder::new(index, name);
    let current = Current::read(folder.path()).ok().flatten().map(|current| current.generation);
    let kept = folder.kept().unwrap_or_default().into_iter().rev();
    let (_, scope) = current
        .into_iter()
        .chain(kept)
        .find_map(|id| Manifest::read_scope(&folder.generation(id)).ok())
        .filter(|(collection, _)| collection == name)?;
    Some(Known { name: name.clone(), scope })
}

fn refuse_newer(error: Error) -> Result<Error> {
    let newer = matches!(
        &error,
        Error::Engine(engine::Error::SchemaVersion { found, .. }) if *found > SCHEMA_VERSION
    );
    if newer { Err(error) } else { Ok(error) }
}

/// An error with its causes in one line.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
