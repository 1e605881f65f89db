//! `footnote remove`: a collection leaves the index. Its documents are not touched.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use engine::collection::CollectionName;
use serde_json::json;

use super::{Places, parse_name, print};
use crate::args::RemoveArgs;
use crate::durable;
use crate::error::{Error, Result};
use crate::folder::{CollectionFolder, names_in};
use crate::lock::WriterLock;

/// How the folder of a collection begins that is being removed: hidden, so that no reader takes it for one.
const REMOVED_PREFIX: &str = ".removed-";

/// Removes it, once the person said yes.
pub fn run(places: &Places, args: &RemoveArgs) -> Result<ExitCode> {
    let name = parse_name(&args.name)?;
    let folder = CollectionFolder::new(&places.index_dir, &name);
    if !folder.path().is_dir() || !is_ours(&folder)? {
        return Err(places.not_found(name));
    }
    if !args.yes {
        ask(&name)?;
    }
    folder.create_for_lock()?;
    let lock = WriterLock::take(&folder.lock(), &name)?;
    sweep(&places.index_dir)?;
    let away = places.index_dir.join(format!("{REMOVED_PREFIX}{name}"));
    durable::rename(folder.path(), &away)?;
    durable::sync_folder(&places.index_dir)?;
    durable::remove_folder(&away)?;
    drop(lock);
    if args.json {
        print(format_args!("{}\n", json!({"collection": name, "removed": true})));
    } else {
        print(format_args!("{name} was removed from the index; its documents are where they were\n"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a folder is a collection's, whole or damaged: nothing else is ever removed.
fn is_ours(folder: &CollectionFolder) -> Result<bool> {
    let known = |name: &std::ffi::OsString| name == "CURRENT" || name == "generations" || name == "writer";
    let names = names_in(folder.path())?;
    Ok(names.iter().any(known)
        && names.iter().all(|name| known(name) || name.to_string_lossy().starts_with('.')))
}

/// Removes what an earlier removal left half done.
fn sweep(index: &Path) -> Result<()> {
    for name in names_in(index)? {
        if name.to_string_lossy().starts_with(REMOVED_PREFIX) {
            durable::remove_folder(&index.join(name))?;
        }
    }
    Ok(())
}

fn ask(name: &CollectionName) -> Result<()> {
    if !io::stdin().is_terminal() {
        return Err(Error::Declined("nobody can be asked here; `--yes` removes without asking"));
    }
    write!(io::stderr(), "Remove the collection {name} from the index? Its documents stay. [y/N] ").ok();
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(Error::file("read the answer from", Path::new("-")))?;
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Error::Declined("the answer was no")),
    }
}
