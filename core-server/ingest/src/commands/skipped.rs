//! `footnote skipped`: the files that should have been indexed and could not be.

use std::process::ExitCode;

use engine::generation::Generation;
use engine::generation::current::Current;
use serde_json::json;

use super::{Places, print};
use crate::args::OneCollection;
use crate::error::Result;
use crate::folder::CollectionFolder;
use crate::skipped;

/// Lists them, from the current generation.
pub fn run(places: &Places, args: &OneCollection) -> Result<ExitCode> {
    let name = places.collection(args)?;
    let folder = CollectionFolder::new(&places.index_dir, &name);
    let Some(current) = Current::read(folder.path())? else { return Err(places.not_found(name)) };
    let generation = Generation::open_current(folder.path(), &current)?;
    let skipped = skipped::read(&generation)?;
    let manifest = generation.manifest();
    if args.json {
        print(format_args!(
            "{}\n",
            json!({
                "collection": name,
                "generation": current.generation,
                "skipped": skipped,
                "ignored": manifest.ignored,
            })
        ));
        return Ok(ExitCode::SUCCESS);
    }
    for file in &skipped {
        let detail = if file.detail.is_empty() { String::new() } else { format!(" ({})", file.detail) };
        print(format_args!("{}: {}{detail}\n", file.source, file.reason.sentence()));
    }
    if skipped.is_empty() {
        print(format_args!("{name}: nothing was skipped\n"));
    }
    for (reason, number) in &manifest.ignored {
        print(format_args!("ignored as {reason}: {number}\n"));
    }
    Ok(ExitCode::SUCCESS)
}
