//! `footnote rollback`: an earlier generation becomes the current one again.
//!
//! Numbers go on from the greatest there is. The files are what they are: the next ingest brings back what it finds.

use std::process::ExitCode;

use engine::generation::current::Current;
use engine::generation::manifest::Manifest;
use engine::generation::{Generation, GenerationId};
use serde_json::json;

use super::{Places, print};
use crate::args::RollbackArgs;
use crate::error::{Error, Result};
use crate::folder::CollectionFolder;
use crate::lock::WriterLock;
use crate::publish::make_current;

/// The generation that the current one was made from, else the one with the next smaller number: one that was never
/// current may lie in between.
fn before_current(folder: &CollectionFolder, kept: &[GenerationId]) -> Option<GenerationId> {
    // A damaged CURRENT is what one may want to get away from.
    let current = Current::read(folder.path()).ok().flatten().map(|current| current.generation);
    let parent = current
        .and_then(|current| Manifest::read(&folder.generation(current)).ok())
        .and_then(|(manifest, _)| manifest.parent);
    let smaller = kept.iter().copied().rev().find(|id| current.is_none_or(|current| *id < current));
    parent.filter(|parent| kept.contains(parent)).or(smaller)
}

/// Goes back, once the seal of the earlier generation was checked.
pub fn run(places: &Places, args: &RollbackArgs) -> Result<ExitCode> {
    let name = places.collection(&args.which)?;
    let folder = CollectionFolder::new(&places.index_dir, &name);
    let kept = folder.kept()?;
    if kept.is_empty() {
        return Err(places.not_found(name));
    }
    folder.create_for_lock()?;
    let _lock = WriterLock::take(&folder.lock(), &name)?;
    folder.prepare()?;
    let wanted = match args.to {
        Some(number) => kept.iter().copied().find(|id| id.number() == number),
        None => before_current(&folder, &kept),
    };
    let Some(wanted) = wanted else {
        let generation = args.to.and_then(|number| format!("{number:08}").parse().ok());
        return Err(Error::NoSuchGeneration { collection: name, generation, kept });
    };
    let path = folder.generation(wanted);
    let generation = Generation::open(&path)?;
    generation.check_seal()?;
    let (_, manifest_sha256) = Manifest::read(&path)?;
    make_current(&folder, &Current { generation: wanted, manifest_sha256 })?;
    let manifest = generation.manifest();
    if args.which.json {
        print(format_args!(
            "{}\n",
            json!({
                "collection": name,
                "generation": wanted,
                "published_at": manifest.published_at,
                "documents": manifest.documents,
                "chunks": manifest.chunks,
            })
        ));
    } else {
        print(format_args!(
            "{name} is at generation {wanted} of {:.0} again: {} documents, {} chunks\n",
            manifest.published_at, manifest.documents, manifest.chunks
        ));
    }
    Ok(ExitCode::SUCCESS)
}
