//! `footnote ingest`.

use std::process::ExitCode;

use super::{Places, parse_name, print};
use crate::args::IngestArgs;
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::parent::known_collections;
use crate::progress::Progress;
use crate::scope::{Asked, resolve};
use crate::update::{ModelChoice, Update};

/// Exit code: something that should have worked was skipped.
const PARTIAL: u8 = 8;

/// Brings every collection that PATHs belong to up to date.
pub fn run(places: &Places, args: IngestArgs) -> Result<ExitCode> {
    let asked = asked(places, &args)?;
    let model = match (args.model, args.no_model) {
        (_, true) => ModelChoice::Without,
        (Some(name), false) => ModelChoice::Named(name),
        (None, false) => ModelChoice::Usual,
    };
    let targets = resolve(&asked, &known_collections(&places.index_dir)?)?;
    let interrupt = Interrupt::on_signals()
        .map_err(|error| Error::Usage(format!("signals cannot be listened for: {error}")))?;
    let progress = if args.json { Progress::for_machines() } else { Progress::for_people() };
    let update = Update {
        index_dir: &places.index_dir,
        store: &places.store,
        model: &model,
        interrupt: &interrupt,
        progress: &progress,
    };
    let mut partial = false;
    for target in &targets {
        if args.dry_run {
            let found = update.dry_run(target)?;
            if args.json { print(format_args!("{}\n", found.to_json())) } else { print(&found) }
        } else {
            let summary = update.run(target)?;
            partial |= summary.is_partial();
            if args.json { print(format_args!("{}\n", summary.to_json())) } else { print(&summary) }
        }
    }
    Ok(if partial { PARTIAL.into() } else { ExitCode::SUCCESS })
}

fn asked(places: &Places, args: &IngestArgs) -> Result<Asked> {
    let named = args.collection.clone().settle(&places.surroundings);
    let given = |globs: &[String]| (!globs.is_empty()).then(|| globs.to_vec());
    Ok(Asked {
        cwd: places.cwd.clone(),
        paths: args.paths.clone(),
        collection: named.as_deref().map(parse_name).transpose()?,
        root: args.root.clone(),
        include: given(&args.include),
        exclude: given(&args.exclude),
        max_file_bytes: args.max_file_bytes,
    })
}
