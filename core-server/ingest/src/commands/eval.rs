//! `footnote eval`: how well a collection, or a folder, answers queries whose answers are known.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use engine::collection::CollectionName;
use engine::generation::Generation;
use engine::model::{Availability, RerankerChoice};
use engine::query::Caller;
use engine::stop::Stop;
use engine::{Config, Engine};

use super::{Places, print};
use crate::args::EvalArgs;
use crate::error::{Error, Result};
use crate::eval::asking::{AskedMode, Asking};
use crate::eval::bootstrap::Bootstrap;
use crate::eval::corpus::Corpus;
use crate::eval::echo;
use crate::eval::history::{self, Entry};
use crate::eval::html;
use crate::eval::judgments::{read_grades, read_queries};
use crate::eval::measure::{Measured, against_baseline};
use crate::eval::questions::Questions;
use crate::eval::quotes;
use crate::eval::report::Report;
use crate::eval::table::Table;
use crate::interrupt::Interrupt;
use crate::model_install::offers::RERANKER;
use crate::parent::known_collections;
use crate::progress::Progress;
use crate::scope::{Asked, resolve};
use crate::update::{ModelChoice, Update};

/// Exit code: something is worse than in the baseline, by more than chance would have it.
pub const REGRESSED: u8 = 12;

/// A model is loaded in a second or is not loaded at all.
const LOADING: Duration = Duration::from_mins(2);

/// Measures, and writes down what was found.
pub fn run(places: &Places, args: &EvalArgs) -> Result<ExitCode> {
    let baseline = args.baseline.as_deref().map(Report::read).transpose()?;
    let earlier = args.history.as_deref().map(history::read).transpose()?.unwrap_or_default();
    refuse_missing_folders(args)?;
    let interrupt = Interrupt::on_signals()
        .map_err(|error| Error::Usage(format!("signals cannot be listened for: {error}")))?;
    let progress = Progress::for_people();
    let subject = Subject::find(places, args, &interrupt, &progress)?;
    let mut report = measure(places, args, &subject, &interrupt, &progress)?;
    if let Some(baseline) = baseline {
        compare(&mut report, &baseline, bootstrap(args));
    }
    write(args, &report, earlier)?;
    let regressions = report.regressions(&args.fail_on_regression);
    for (mode, metric, difference) in &regressions {
        let (mode, metric) = (mode.word(), metric.title());
        let by = difference.estimate.mean.abs();
        anstream::eprintln!("footnote: {metric} of {mode} is worse than the baseline by {by:.4}");
    }
    Ok(if regressions.is_empty() { ExitCode::SUCCESS } else { REGRESSED.into() })
}

/// Measuring takes minutes, so what could not be written down is refused before.
fn refuse_missing_folders(args: &EvalArgs) -> Result<()> {
    for path in [&args.json, &args.html, &args.history].into_iter().flatten() {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return Err(Error::NoSuchPath { path: folder.to_owned() });
        }
    }
    Ok(())
}

fn compare(report: &mut Report, baseline: &Report, bootstrap: Bootstrap) {
    if baseline.corpus.sha256 != report.corpus.sha256 {
        report.warnings.push("the baseline was measured on other documents".to_owned());
    }
    if baseline.judgments.sha256 != report.judgments.sha256 {
        report.warnings.push("the baseline was measured with other queries or judgments".to_owned());
    }
    report.baseline = Some(against_baseline(report, baseline, bootstrap));
}

fn write(args: &EvalArgs, report: &Report, earlier: Vec<Entry>) -> Result<()> {
    let entry = Entry::of(report);
    if let Some(path) = &args.history {
        history::append(path, &entry)?;
    }
    if let Some(path) = &args.html {
        let mut runs: Vec<Entry> = earlier.into_iter().filter(|run| run.is_comparable(&entry)).collect();
        runs.push(entry);
        fs::write(path, html::page(report, &runs)?).map_err(Error::file("write", path))?;
    }
    match args.json.as_deref() {
        Some(path) if path == Path::new("-") => print(report.to_json()),
        json => {
            if let Some(path) = json {
                fs::write(path, report.to_json()).map_err(Error::file("write", path))?;
            }
            print(Table(report));
        }
    }
    Ok(())
}

/// What is asked: a collection in an index that is kept, or a folder in one that goes away with this.
struct Subject {
    index_dir: std::path::PathBuf,
    collection: CollectionName,
    name: String,
    warnings: Vec<String>,
    _scratch: Option<tempfile::TempDir>,
}

impl Subject {
    fn find(places: &Places, args: &EvalArgs, interrupt: &Interrupt, progress: &Progress) -> Result<Self> {
        let known = known_collections(&places.index_dir)?;
        let named = args.what.to_str().and_then(|name| name.parse::<CollectionName>().ok());
        match named.filter(|name| known.iter().any(|known| known.name == *name)) {
            Some(_) if args.model.is_some() || args.no_model => {
                Err(Error::Usage("a collection has its model already; --model is for a folder".to_owned()))
            }
            Some(collection) => Ok(Self {
                index_dir: places.index_dir.clone(),
                name: collection.to_string(),
                collection,
                warnings: Vec::new(),
                _scratch: None,
            }),
            None if places.cwd.join(&args.what).is_dir() => Self::ingest(places, args, interrupt, progress),
            None => match args.what.to_str().and_then(|name| name.parse().ok()) {
                Some(name) => Err(places.not_found(name)),
                None => Err(Error::NoSuchPath { path: args.what.clone() }),
            },
        }
    }

    fn ingest(places: &Places, args: &EvalArgs, interrupt: &Interrupt, progress: &Progress) -> Result<Self> {
        let scratch = tempfile::Builder::new().prefix("footnote-eval-").tempdir();
        let scratch = scratch.map_err(Error::file("make a folder in", &std::env::temp_dir()))?;
        let collection: CollectionName = "eval".parse().map_err(|error| Error::Usage(format!("{error}")))?;
        let asked = Asked {
            cwd: places.cwd.clone(),
            paths: vec![args.what.clone()],
            collection: Some(collection.clone()),
            ..Asked::default()
        };
        let model = match (&args.model, args.no_model) {
            (_, true) => ModelChoice::Without,
            (Some(name), false) => ModelChoice::Named(name.clone()),
            (None, false) => ModelChoice::Usual,
        };
        let index_dir = scratch.path().to_owned();
        let update =
            Update { index_dir: &index_dir, store: &places.store, model: &model, interrupt, progress };
        let mut warnings = Vec::new();
        let mut name = String::new();
        for target in resolve(&asked, &[])? {
            let summary = update.run(&target)?;
            name = target.scope.root.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if summary.is_partial() {
                warnings
                    .push(format!("{} files could not be read, and are not in it", summary.skipped.len()));
            }
        }
        Ok(Self { index_dir, collection, name, warnings, _scratch: Some(scratch) })
    }
}

fn measure(
    places: &Places,
    args: &EvalArgs,
    subject: &Subject,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<Report> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let config = Config {
        index_dir: subject.index_dir.clone(),
        model_dir: places.store.dir().to_owned(),
        source_roots: Vec::new(),
        sessions: cores,
        reranker: RerankerChoice::Installed,
        rerank_sessions: cores,
    };
    let engine = Engine::open_only(config, subject.collection.clone())?;
    let collection = engine.index().resolve(Some(&subject.collection), &Caller::default())?;
    let generation: &Generation = collection.generation();
    let corpus = Corpus::of(generation)?;
    let mut questions = questions(args, &corpus)?;
    questions.warnings.splice(0..0, subject.warnings.iter().cloned());
    let quoted = echo::quoted(&questions.queries, &corpus)?;
    questions.warn(
        &quoted,
        "asked in words that stand in the collection, word for word, and so easier than a real question",
    );
    let modes = modes(args, &engine, generation, &mut questions)?;
    let asking = Asking {
        engine: &engine,
        collection: &subject.collection,
        corpus: &corpus,
        questions: &questions,
        depth: args.depth,
        interrupt,
        progress,
    };
    let answers = modes.into_iter().map(|mode| asking.ask(mode)).collect::<Result<Vec<_>>>()?;
    let measured = Measured {
        corpus: corpus.identity(&subject.name),
        questions: &questions,
        answers: &answers,
        depth: args.depth,
        bootstrap: bootstrap(args),
    };
    Ok(measured.report())
}

fn questions(args: &EvalArgs, corpus: &Corpus<'_>) -> Result<Questions> {
    let queries = args.queries.as_deref().map(read_queries).transpose()?.unwrap_or_default();
    let mut questions = match (&args.quotes, &args.qrels) {
        (Some(quotes), _) => quotes::read(quotes, queries, corpus)?,
        (None, Some(qrels)) => Questions::by_document(queries, read_grades(qrels)?, corpus),
        (None, None) => Questions::by_document(queries, std::collections::BTreeMap::new(), corpus),
    };
    if let Some(unanswerable) = &args.unanswerable {
        questions.add_unanswerable(read_queries(unanswerable)?).map_err(Error::Usage)?;
    }
    if questions.queries.is_empty() {
        return Err(Error::Usage(
            "there is no query; write an object a line: {\"id\": \"q1\", \"text\": \"…\"}".to_owned(),
        ));
    }
    Ok(questions)
}

/// The modes asked for, or else all that there are. Waits until their model is there.
fn modes(
    args: &EvalArgs,
    engine: &Engine,
    generation: &Generation,
    questions: &mut Questions,
) -> Result<Vec<AskedMode>> {
    let mut modes = if args.modes.is_empty() { AskedMode::ALL.to_vec() } else { args.modes.clone() };
    modes.sort_unstable();
    modes.dedup();
    let manifest = generation.manifest();
    let bound = manifest.model.as_ref().filter(|_| manifest.vectors);
    let available = match bound {
        Some(bound) => engine.models().wait(bound, Instant::now() + LOADING, &Stop::never())?,
        None => Availability::NotInstalled,
    };
    if !matches!(available, Availability::Loaded(_)) && args.modes.is_empty() {
        modes.retain(|mode| *mode == AskedMode::Bm25);
        questions.warnings.push(match bound {
            Some(bound) => format!("only bm25 is measured: the model {} could not be loaded", bound.name),
            None => "only bm25 is measured: there are no vectors".to_owned(),
        });
    }
    if modes.contains(&AskedMode::Rerank) {
        let missing = || Error::NoSuchModel { name: RERANKER.to_owned() };
        engine.reranker().name().ok_or_else(missing)?;
        engine.reranker().wait(Instant::now() + LOADING)?;
    }
    Ok(modes)
}

fn bootstrap(args: &EvalArgs) -> Bootstrap {
    Bootstrap { seed: args.seed, resamples: args.resamples }
}
