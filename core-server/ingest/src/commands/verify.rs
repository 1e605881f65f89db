//! `footnote verify`: the seal of the current generation, and every citation in it against its source.

use std::collections::BTreeMap;
use std::process::ExitCode;

use engine::citation::{LineRange, Reason, Verdict};
use engine::collection::CollectionName;
use engine::generation::Generation;
use engine::generation::current::Current;
use engine::id::DocumentId;
use engine::stop::Stop;
use engine::verify::{Generations, Verifier};
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use serde::Serialize;
use serde_json::json;

use super::{Places, print};
use crate::args::VerifyArgs;
use crate::error::Result;
use crate::file_table;
use crate::folder::CollectionFolder;

/// Exit code: some text does not stand where it was cited.
const NOT_ALL_STAND: u8 = 9;

/// So many are named to a person.
const FIRST: usize = 20;

/// A citation that does not stand.
#[derive(Debug, Serialize)]
struct Fallen {
    source: String,
    lines: LineRange,
    verdict: Verdict,
    reason: Reason,
}

/// Reads and hashes the whole generation, then checks its citations on all cores.
pub fn run(places: &Places, args: &VerifyArgs) -> Result<ExitCode> {
    let name = places.collection(&args.which)?;
    let folder = CollectionFolder::new(&places.index_dir, &name);
    let Some(current) = Current::read(folder.path())? else { return Err(places.not_found(name)) };
    let generation = Generation::open_current(folder.path(), &current)?;
    generation.check_seal()?;
    generation.vectors()?;
    let (verdicts, fallen) = check(&name, &generation)?;
    let checked: u64 = verdicts.values().sum();
    let held = u64::from(generation.manifest().chunks);
    if checked != held {
        let what = format!("its file table leads to {checked} chunks, its index holds {held}");
        return Err(engine::Error::Damaged { path: generation.folder().to_owned(), what }.into());
    }
    if args.which.json {
        let verdicts: serde_json::Map<_, _> =
            verdicts.iter().map(|(verdict, number)| (word(verdict), json!(number))).collect();
        let manifest = generation.manifest();
        print(format_args!(
            "{}\n",
            json!({
                "collection": name,
                "generation": current.generation,
                "documents": manifest.documents,
                "chunks": manifest.chunks,
                "verdicts": verdicts,
                "failed": fallen,
            })
        ));
    } else {
        tell(&name, &generation, &verdicts, &fallen);
    }
    Ok(if fallen.is_empty() { ExitCode::SUCCESS } else { NOT_ALL_STAND.into() })
}

fn check(name: &CollectionName, generation: &Generation) -> Result<(BTreeMap<Verdict, u64>, Vec<Fallen>)> {
    let lexical = generation.lexical()?;
    let verifier = Verifier::new(Vec::new());
    let generations = Generations { cited: generation, current: generation };
    let sources: Vec<String> = file_table::read(generation)?.into_keys().collect();
    let checked: Vec<(BTreeMap<Verdict, u64>, Vec<Fallen>)> = sources
        .into_par_iter()
        .map(|source| {
            let chunks = lexical.chunks_of(DocumentId::of_source(&source))?;
            let records: Vec<_> = chunks.iter().map(|(_, record)| record).collect();
            let findings = verifier.check(name, generations, &records, &Stop::never())?;
            let mut verdicts = BTreeMap::new();
            let mut fallen = Vec::new();
            for (finding, record) in findings.iter().zip(&records) {
                let verdict = finding.verdict();
                *verdicts.entry(verdict).or_default() += 1;
                if !matches!(verdict, Verdict::Verified | Verdict::Relocated) {
                    let (source, lines) = (record.source.clone(), record.lines);
                    fallen.push(Fallen { source, lines, verdict, reason: finding.reason });
                }
            }
            Ok((verdicts, fallen))
        })
        .collect::<Result<_>>()?;
    let mut verdicts = BTreeMap::new();
    let mut fallen = Vec::new();
    for (counts, some) in checked {
        for (verdict, count) in counts {
            *verdicts.entry(verdict).or_default() += count;
        }
        fallen.extend(some);
    }
    Ok((verdicts, fallen))
}

fn tell(
    name: &CollectionName,
    generation: &Generation,
    verdicts: &BTreeMap<Verdict, u64>,
    fallen: &[Fallen],
) {
    for Fallen { source, lines, verdict, reason } in fallen.iter().take(FIRST) {
        print(format_args!("{source}:{}-{}: {} ({})\n", lines.start, lines.end, word(verdict), word(reason)));
    }
    if fallen.len() > FIRST {
        print(format_args!("… and {} more; --json lists all\n", fallen.len() - FIRST));
    }
    let counts: Vec<String> =
        verdicts.iter().map(|(verdict, number)| format!("{number} {}", word(verdict))).collect();
    let counts = if counts.is_empty() { "nothing to check".to_owned() } else { counts.join(", ") };
    print(format_args!("{name}, generation {}: the seal is whole; {counts}\n", generation.id()));
    if !fallen.is_empty() {
        print("`footnote ingest` brings the collection up to date\n");
    }
}

/// The word of a verdict or reason, as on every surface.
fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}
