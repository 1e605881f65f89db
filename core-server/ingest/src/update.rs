//! Brings one collection up to date.
//!
//! ```text
//! lock ─► parent ─► walk ─► plan ─► compare ─► stage ─► survey ─► embed ─► publish
//!                                                 └─ a large first one publishes without vectors already here
//! ```
//!
//! Deliberately left out: which collection (`scope`), and what each step does (its own module).

mod measure;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use engine::analysis::ANALYZER;
use engine::evidence::METHOD;
use engine::generation::current::Current;
use engine::generation::manifest::{Manifest, ModelIdentity, SCHEMA_VERSION};
use engine::generation::{Generation, LEXICAL_FOLDER, SKIPPED_FILE, VECTORS_FOLDER, text_file};
use engine::id::{DocumentId, Sha256};
use engine::lexical::Lexical;
use engine::model::{Loaded, Store};
use serde_json::json;

use crate::catalog::{Catalog, Seen};
use crate::chunk::CHUNKER;
use crate::embed::{self, identity_in_words};
use crate::error::{Error, Result};
use crate::file_table;
use crate::folder::CollectionFolder;
use crate::interrupt::Interrupt;
use crate::lock::WriterLock;
use crate::parent::Parent;
use crate::plan::{Files, Plan, plan};
use crate::progress::Progress;
use crate::publish::{self, Draft};
use crate::scope::{Target, joined};
use crate::skipped::{self, SkippedFile};
use crate::stage::{self, Outcome, Staged, Work};
use crate::summary::{DryRun, Summary, Vectors};
use crate::vectors::{self, Survey, Written, has_vectors_of};
use crate::walk::{WalkError, Walked, walk};

/// The model that a new collection is bound to where it is installed and nothing else is said.
pub const DEFAULT_MODEL: &str = "bge-small-en-v1.5";

/// With fewer chunks to embed than this, some three seconds, a first ingest publishes once and not twice.
const WORTH_TWO_GENERATIONS: usize = 256;

/// With fewer bytes free than this, a write that failed without a reason failed for want of room.
const NEARLY_FULL: u64 = 1 << 20;

/// Embeddings that the catalog keeps at least, and how many per chunk of the collection.
const KEPT_EMBEDDINGS: u64 = 20_000;
const KEPT_EMBEDDINGS_PER_CHUNK: u64 = 2;

/// Which model a person asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ModelChoice {
    /// The one that the collection is bound to, else the default, else the only one installed.
    #[default]
    Usual,
    /// This one, embedding all of it anew where the collection is bound to another.
    Named(String),
    /// None: a collection without vectors.
    Without,
}

/// What does not change from one collection to the next.
#[derive(Debug)]
pub struct Update<'a> {
    /// The index directory.
    pub index_dir: &'a Path,
    /// The model store.
    pub store: &'a Store,
    /// Which model.
    pub model: &'a ModelChoice,
    /// Whether to end.
    pub interrupt: &'a Interrupt,
    /// Who listens.
    pub progress: &'a Progress,
}

impl Update<'_> {
    /// Says what [`run`](Self::run) would do, and writes nothing.
    pub fn dry_run(&self, target: &Target) -> Result<DryRun> {
        let folder = CollectionFolder::new(self.index_dir, &target.collection);
        let parent = Parent::open(&folder)?;
        self.choose_model(target, parent.as_ref())?;
        let look = self.look(target, parent.as_ref(), &HashMap::new())?;
        Ok(DryRun {
            collection: target.collection.clone(),
            root: target.scope.root.clone(),
            unchanged: look.plan.unchanged + look.same.len(),
            add: look.plan.new.iter().map(|found| found.source.clone()).collect(),
            change: look.changed.iter().map(|found| found.source.clone()).collect(),
            remove: look.plan.gone.clone(),
            skipped: look.walked.skipped.iter().map(SkippedFile::from).collect(),
            ignored: counts_of(&look.walked),
        })
    }

    /// Brings the collection up to date, and says what was done.
    pub fn run(&self, target: &Target) -> Result<Summary> {
        let folder = CollectionFolder::new(self.index_dir, &target.collection);
        refuse_missing_root(target)?;
        let mut needed = 0;
        self.run_in(target, &folder, &mut needed).map_err(|error| {
            let is_full = error.is_disk_full() || error.is_catalog_io() && self.free_bytes() < NEARLY_FULL;
            if !is_full {
                return error;
            }
            let path = self.index_dir.to_owned();
            Error::DiskFull { path, free: self.free_bytes(), needed: needed.max(NEARLY_FULL) }
        })
    }

    fn run_in(&self, target: &Target, folder: &CollectionFolder, needed: &mut u64) -> Result<Summary> {
        let begun = Instant::now();
        folder.create_for_lock()?;
        let _lock = WriterLock::take(&folder.lock(), &target.collection)?;
        folder.prepare()?;
        let parent = Parent::open(folder)?;
        let target = &with_recorded_paths(target, parent.as_ref());
        let model = self.choose_model(target, parent.as_ref())?;
        let mut catalog = Catalog::open(&folder.writer())?;
        let seen = catalog.seen()?;
        let look = self.look(target, parent.as_ref(), &seen)?;
        *needed = look.bytes_to_read() * 3 + (1 << 20);
        let mut run = Run {
            update: self,
            folder,
            target,
            model,
            catalog: &mut catalog,
            seen,
            look,
            loaded: None,
            summary: Summary::new(target),
        };
        run.publish(parent, needed)?;
        let mut summary = run.summary;
        summary.seconds = begun.elapsed().as_secs_f64();
        catalog.close();
        Ok(summary)
    }

    fn look(&self, target: &Target, parent: Option<&Parent>, seen: &HashMap<String, Seen>) -> Result<Look> {
        let mut walked = walk(&target.scope, &target.look).map_err(|error| match error {
            WalkError::Root { root, .. } => Error::RootGone { name: target.collection.clone(), root },
            WalkError::Glob { glob, source } => Error::Glob { glob, why: source.kind().to_string() },
        })?;
        self.leave_out_ourselves(target, &mut walked);
        self.interrupt.check()?;
        let none = Files::new();
        let known = parent.filter(|parent| parent.is_usable()).map_or(&none, |parent| &parent.files);
        let root = &target.scope.root;
        let mut plan = plan(known, seen, &walked, target, |source| device_of(root, source));
        if let Some(parent) = parent.filter(|parent| !parent.is_usable()) {
            // All is read anew; what is not looked at now would be lost.
            let missed = parent.files.keys().filter(|source| !target.looks_at(source)).count();
            if missed > 0 {
                return Err(Error::Usage(format!(
                    "{} was written by another version and is built anew: ingest it without PATH",
                    target.collection
                )));
            }
        }
        let doubtful = std::mem::take(&mut plan.doubtful);
        let (same, changed) = stage::compare(target, known, doubtful, self.interrupt)?;
        Ok(Look { walked, plan, same, changed })
    }

    /// An index or a model store beneath the root is nobody's document.
    fn leave_out_ourselves(&self, target: &Target, walked: &mut Walked) {
        let ours: Vec<PathBuf> = [self.index_dir, self.store.dir()]
            .into_iter()
            .filter_map(|path| path.canonicalize().ok())
            .filter_map(|path| path.strip_prefix(&target.scope.root).map(Path::to_owned).ok())
            .filter(|path| !path.as_os_str().is_empty())
            .collect();
        if !ours.is_empty() {
            let is_ours = |source: &str| ours.iter().any(|path| Path::new(source).starts_with(path));
            walked.files.retain(|found| !is_ours(&found.source));
            walked.skipped.retain(|skipped| !is_ours(&skipped.source));
            walked.ignored.retain(|ignored| !is_ours(&ignored.source));
        }
    }

    fn choose_model(&self, target: &Target, parent: Option<&Parent>) -> Result<Model> {
        let bound = parent.and_then(|parent| parent.generation.manifest().model.clone());
        match (self.model, bound) {
            (ModelChoice::Without, _) => Ok(Model::Refused),
            (ModelChoice::Named(name), _) => match self.store.identity(name)? {
                Some(identity) => Ok(Model::Installed(identity)),
                None => Err(Error::NoSuchModel { name: name.clone() }),
            },
            (ModelChoice::Usual, Some(bound)) => match self.store.identity(&bound.name)? {
                Some(identity) if identity == bound => Ok(Model::Installed(bound)),
                Some(identity) => Err(Error::OtherModel {
                    name: target.collection.clone(),
                    bound: identity_in_words(&bound),
                    asked: identity_in_words(&identity),
                    asked_name: bound.name,
                }),
                None => Ok(Model::Away(bound)),
            },
            (ModelChoice::Usual, None) => self.usual_model(),
        }
    }

    fn usual_model(&self) -> Result<Model> {
        let embedders = self.store.list()?.into_iter().filter(|(_, descriptor)| descriptor.kind.embeds());
        let names: Vec<String> = embedders.map(|(name, _)| name).collect();
        let name = match names.as_slice() {
            [only] => Some(only),
            names => names.iter().find(|name| *name == DEFAULT_MODEL),
        };
        let Some(name) = name else { return Ok(Model::NoneInstalled(names)) };
        Ok(self.store.identity(name)?.map_or(Model::NoneInstalled(Vec::new()), Model::Installed))
    }

    fn free_bytes(&self) -> u64 {
        rustix::fs::statvfs(self.index_dir).map_or(0, |stat| stat.f_bavail * stat.f_frsize)
    }
}

/// The model that vectors are to be of.
enum Model {
    /// This one, and it can embed.
    Installed(ModelIdentity),
    /// The collection is bound to this one, and it is not installed: vectors that are there can be kept.
    Away(ModelIdentity),
    /// Nothing is bound, and which model is meant is not clear; these are installed.
    NoneInstalled(Vec<String>),
    /// The person wants none.
    Refused,
}

/// What a look at the files found.
struct Look {
    walked: Walked,
    plan: Plan,
    /// Files whose metadata changed and whose content did not.
    same: HashMap<String, Seen>,
    /// Files whose content changed.
    changed: Vec<crate::walk::Found>,
}

impl Look {
    fn bytes_to_read(&self) -> u64 {
        self.plan.new.iter().chain(&self.changed).map(|found| found.fingerprint.bytes).sum()
    }
}

/// One collection being brought up to date, under its lock.
struct Run<'a> {
    update: &'a Update<'a>,
    folder: &'a CollectionFolder,
    target: &'a Target,
    model: Model,
    catalog: &'a mut Catalog,
    seen: HashMap<String, Seen>,
    look: Look,
    /// The model, once it was needed.
    loaded: Option<Loaded>,
    summary: Summary,
}

/// What a generation says of itself beside its index.
struct Contents {
    files: Files,
    skipped: Vec<SkippedFile>,
    ignored: BTreeMap<String, u32>,
    chunks: u32,
    tokens: BTreeMap<String, u64>,
}

impl<'a> Run<'a> {
    fn publish(&mut self, parent: Option<Parent>, needed: &mut u64) -> Result<()> {
        let (staged, draft) = self.stage(parent.as_ref())?;
        let contents = self.contents(parent.as_ref(), staged.as_ref())?;
        self.summarise(&contents, parent.as_ref(), staged);
        let news = draft.is_some() || self.is_news(parent.as_ref(), &contents)?;
        let before = parent.as_ref().filter(|parent| parent.generation.manifest().vectors);
        match &self.model {
            Model::Installed(model) | Model::Away(model)
                if !news && before.is_some_and(|parent| has_vectors_of(&parent.generation, model)) =>
            {
                self.summary.vectors = Vectors::Complete { model: model.name.clone() };
                self.nothing_new(parent)
            }
            Model::Installed(model) => {
                let model = model.clone();
                self.publish_with_vectors(parent, draft, &contents, &model, needed)
            }
            Model::Away(model) if before.is_some() => {
                let model = model.clone();
                self.publish_with_what_is_there(parent.as_ref(), draft, &contents, &model)
            }
            Model::Away(model) => {
                self.summary.vectors = Vectors::ModelAway { model: model.name.clone() };
                self.publish_words_only(parent, draft, &contents, news)
            }
            Model::NoneInstalled(names) => {
                self.summary.vectors = Vectors::NoModel { installed: names.clone() };
                self.publish_words_only(parent, draft, &contents, news)
            }
            Model::Refused => {
                self.summary.vectors = Vectors::Refused;
                let bound =
                    parent.as_ref().is_some_and(|parent| parent.generation.manifest().model.is_some());
                self.publish_words_only(parent, draft, &contents, news || bound)
            }
        }
    }

    /// Puts the lexical side of a draft together where anything changed.
    fn stage(&mut self, parent: Option<&Parent>) -> Result<(Option<Staged>, Option<Draft<'a>>)> {
        let base = parent.filter(|parent| parent.is_usable());
        let read: Vec<_> = self.look.plan.new.iter().chain(&self.look.changed).cloned().collect();
        let changed = self.look.changed.iter().map(|found| found.source.clone());
        let drop: Vec<String> = self.look.plan.gone.iter().cloned().chain(changed).collect();
        if base.is_some() && read.is_empty() && drop.is_empty() {
            return Ok((None, None));
        }
        let mut draft = Draft::begin(self.folder)?;
        let work =
            Work { target: self.target, base: base.map(|base| &base.generation), read: &read, drop: &drop };
        let staged = stage::stage(&mut draft, &work, self.update.interrupt, self.update.progress)?;
        let indexed = staged.outcomes.values().any(|outcome| matches!(outcome, Outcome::Indexed(_)));
        if base.is_some() && drop.is_empty() && !indexed {
            // All that seemed new is not meant for the index, or cannot be read: the index stays as it is.
            return Ok((Some(staged), None));
        }
        Ok((Some(staged), Some(draft)))
    }

    fn contents(&self, parent: Option<&Parent>, staged: Option<&Staged>) -> Result<Contents> {
        let mut files =
            parent.filter(|parent| parent.is_usable()).map_or_else(Files::new, |parent| parent.files.clone());
        for source in &self.look.plan.gone {
            files.remove(source);
        }
        for found in &self.look.changed {
            files.remove(&found.source);
        }
        for (source, seen) in self.seen.iter().chain(&self.look.same) {
            if let Some(state) = files.get_mut(source).filter(|state| state.sha256 == seen.sha256) {
                state.fingerprint = seen.fingerprint;
            }
        }
        let mut skipped: Vec<SkippedFile> = self.look.walked.skipped.iter().map(SkippedFile::from).collect();
        let mut ignored = counts_of(&self.look.walked);
        for (source, outcome) in staged.iter().flat_map(|staged| &staged.outcomes) {
            match outcome {
                Outcome::Indexed(indexed) => {
                    files.insert(source.clone(), indexed.state.clone());
                }
                Outcome::Ignored(reason) => *ignored.entry(reason.to_string()).or_default() += 1,
                Outcome::Skipped(reason, detail) => {
                    skipped.push(SkippedFile {
                        source: source.clone(),
                        reason: *reason,
                        detail: detail.clone(),
                    });
                }
                Outcome::Gone => {}
            }
        }
        if let Some(parent) = parent {
            let before = skipped::read(&parent.generation)?;
            skipped.extend(before.into_iter().filter(|file| !self.target.looks_at(&file.source)));
            if self.target.look != self.target.scope.paths {
                // Only a look at everything can count everything.
                ignored.clone_from(&parent.generation.manifest().ignored);
            }
        }
        skipped.sort_by(|a, b| a.source.cmp(&b.source));
        skipped.dedup_by(|a, b| a.source == b.source);
        let (chunks, tokens) = match (staged, parent) {
            (Some(staged), _) => (staged.committed.chunks, staged.committed.tokens.clone()),
            (None, Some(parent)) => {
                let manifest = parent.generation.manifest();
                (u64::from(manifest.chunks), manifest.tokens.clone())
            }
            (None, None) => (0, BTreeMap::new()),
        };
        let chunks = u32::try_from(chunks).unwrap_or(u32::MAX);
        Ok(Contents { files, skipped, ignored, chunks, tokens })
    }

    /// Whether a generation without any change of its index is worth publishing.
    fn is_news(&self, parent: Option<&Parent>, contents: &Contents) -> Result<bool> {
        let Some(parent) = parent else { return Ok(true) };
        let manifest = parent.generation.manifest();
        let is_measured = manifest.evidence.as_ref().is_some_and(|evidence| evidence.method == METHOD);
        Ok(!parent.is_current
            || contents.chunks > 0 && !is_measured
            || manifest.scope != self.target.scope
            || manifest.ignored != contents.ignored
            || skipped::read(&parent.generation)? != contents.skipped)
    }

    /// The last generation says all there is to say; what was compared need not be compared again.
    fn nothing_new(&mut self, parent: Option<Parent>) -> Result<()> {
        self.catalog.keep_seen(self.look.same.iter().map(|(source, seen)| (source.as_str(), seen)))?;
        if let Some(parent) = parent {
            self.summary.generation = parent.generation.id().number();
            publish::prune(self.folder, parent.generation.id())?;
        }
        Ok(())
    }

    fn publish_words_only(
        &mut self,
        parent: Option<Parent>,
        draft: Option<Draft<'a>>,
        contents: &Contents,
        news: bool,
    ) -> Result<()> {
        if !news {
            return self.nothing_new(parent);
        }
        let draft = match draft {
            Some(draft) => draft,
            None => self.draft_of(parent.as_ref())?,
        };
        let bound = match &self.model {
            Model::Away(model) => Some(model.clone()),
            Model::Installed(_) | Model::NoneInstalled(_) | Model::Refused => None,
        };
        self.seal(parent.as_ref(), draft, contents, Side { vectors: false, bound })?;
        Ok(())
    }

    /// The model is not there: vectors are kept where every chunk has one all the same.
    fn publish_with_what_is_there(
        &mut self,
        parent: Option<&Parent>,
        draft: Option<Draft<'a>>,
        contents: &Contents,
        model: &ModelIdentity,
    ) -> Result<()> {
        let mut draft = match draft {
            Some(draft) => draft,
            None => self.draft_of(parent)?,
        };
        let lexical = Lexical::open_counted(&draft.path().join(LEXICAL_FOLDER), &contents.tokens)?;
        let base = parent.map(|parent| &parent.generation);
        let survey = vectors::survey(&lexical, base, model, self.catalog)?;
        let complete = survey.missing.is_empty()
            && vectors::write(&mut draft, &survey, base, model, self.catalog)? == Written::Complete;
        if complete {
            self.summary.vectors = Vectors::Complete { model: model.name.clone() };
        } else {
            draft.forget(VECTORS_FOLDER)?;
            self.summary.vectors = Vectors::ModelAway { model: model.name.clone() };
        }
        self.seal(parent, draft, contents, Side { vectors: complete, bound: Some(model.clone()) })?;
        Ok(())
    }

    fn publish_with_vectors(
        &mut self,
        mut parent: Option<Parent>,
        mut draft: Option<Draft<'a>>,
        contents: &Contents,
        model: &ModelIdentity,
        needed: &mut u64,
    ) -> Result<()> {
        let folder = match (&draft, &parent) {
            (None, Some(parent)) => parent.generation.folder().join(LEXICAL_FOLDER),
            (draft, _) => {
                let draft = draft.as_ref().ok_or(Error::NothingToIngest)?;
                draft.path().join(LEXICAL_FOLDER)
            }
        };
        let mut lexical = Lexical::open_counted(&folder, &contents.tokens)?;
        let base = parent.as_ref().map(|parent| &parent.generation);
        let mut survey = vectors::survey(&lexical, base, model, self.catalog)?;
        *needed += survey.missing.len() as u64 * u64::from(model.dimensions) * 6;
        let had_vectors = base.is_some_and(|base| base.manifest().vectors);
        if survey.missing.len() >= WORTH_TWO_GENERATIONS
            && !had_vectors
            && let Some(draft) = draft.take()
        {
            let published =
                self.seal(parent.as_ref(), draft, contents, Side { vectors: false, bound: None })?;
            self.say_searchable(&published);
            lexical = Lexical::open_counted(&published.folder().join(LEXICAL_FOLDER), &contents.tokens)?;
            parent = Some(Parent::of(published, true)?);
        }
        loop {
            self.embed(&survey, &lexical, model)?;
            let mut complete = match draft.take() {
                Some(draft) => draft,
                None => self.draft_of(parent.as_ref())?,
            };
            let base = parent.as_ref().map(|parent| &parent.generation);
            if vectors::write(&mut complete, &survey, base, model, self.catalog)? == Written::Complete {
                self.summary.vectors = Vectors::Complete { model: model.name.clone() };
                let side = Side { vectors: true, bound: Some(model.clone()) };
                self.seal(parent.as_ref(), complete, contents, side)?;
                return Ok(());
            }
            // The catalog was damaged while it was in use: what it lost is made again.
            complete.forget(VECTORS_FOLDER)?;
            draft = Some(complete);
            survey = vectors::survey(&lexical, base, model, self.catalog)?;
        }
    }

    /// The model, in memory until the collection is done.
    fn loaded(&mut self, name: &str, sessions: usize) -> Result<Loaded> {
        if let Some(loaded) = &self.loaded {
            return Ok(Loaded::clone(loaded));
        }
        let loaded = self.update.store.load(name, sessions)?;
        self.loaded = Some(Loaded::clone(&loaded));
        Ok(loaded)
    }

    fn say_searchable(&self, published: &Generation) {
        let (collection, chunks) = (&self.target.collection, published.manifest().chunks);
        self.update.progress.say(
            "searchable",
            &format!("{collection} can be searched by words (bm25) now: {chunks} chunks"),
            json!({"collection": collection, "generation": published.id().number(), "chunks": chunks}),
        );
    }

    fn embed(&mut self, survey: &Survey, lexical: &Lexical, model: &ModelIdentity) -> Result<()> {
        if survey.missing.is_empty() {
            return Ok(());
        }
        let sessions = thread::available_parallelism().map_or(1, usize::from).min(survey.missing.len());
        let loaded = self.loaded(&model.name, sessions)?;
        if loaded.identity() != model {
            return Err(Error::OtherModel {
                name: self.target.collection.clone(),
                bound: identity_in_words(model),
                asked: identity_in_words(loaded.identity()),
                asked_name: model.name.clone(),
            });
        }
        let Update { interrupt, progress, .. } = self.update;
        let embedded =
            embed::embed(loaded.as_ref(), lexical, &survey.missing, self.catalog, interrupt, progress)?;
        self.summary.embedded += embedded.texts;
        self.summary.truncated += embedded.truncated;
        Ok(())
    }

    /// A draft with the parent's index as it is.
    fn draft_of(&self, parent: Option<&Parent>) -> Result<Draft<'a>> {
        let mut draft = Draft::begin(self.folder)?;
        if let Some(parent) = parent {
            draft.link_all(&parent.generation, LEXICAL_FOLDER)?;
        }
        Ok(draft)
    }

    /// Writes what belongs to a generation beside its index, publishes it, and opens it.
    fn seal(
        &mut self,
        parent: Option<&Parent>,
        mut draft: Draft<'a>,
        contents: &Contents,
        side: Side,
    ) -> Result<Generation> {
        let base = parent.map(|parent| (&parent.generation, &parent.files));
        let file_segments = file_table::write(&mut draft, base, &contents.files)?;
        let skipped = skipped::lines(&contents.skipped);
        draft.write(SKIPPED_FILE, skipped.as_bytes())?;
        if let Some(parent) = parent {
            keep_texts(&mut draft, &parent.generation, contents)?;
        }
        self.update.interrupt.check()?;
        let evidence = self.calibrate(parent, &draft, contents, &side)?;
        let manifest = Manifest {
            schema_version: SCHEMA_VERSION,
            written_by: concat!("footnote-index ", env!("CARGO_PKG_VERSION")).to_owned(),
            collection: self.target.collection.clone(),
            generation: draft.generation(),
            parent: parent.map(|parent| parent.generation.id()),
            published_at: jiff::Timestamp::now(),
            scope: self.target.scope.clone(),
            chunker: CHUNKER.to_owned(),
            analyzer: ANALYZER.to_owned(),
            model: side.bound,
            vectors: side.vectors,
            documents: u32::try_from(contents.files.len()).unwrap_or(u32::MAX),
            chunks: contents.chunks,
            tokens: contents.tokens.clone(),
            skipped: skipped::counts(&contents.skipped),
            ignored: contents.ignored.clone(),
            evidence,
            file_segments,
            files: Vec::new(),
        };
        let current = draft.publish(manifest)?;
        self.published(&current, contents.chunks)?;
        Ok(Generation::open_current(self.folder.path(), &current)?)
    }

    /// What is to be done once a generation is current. None of it matters to a reader.
    fn published(&mut self, current: &Current, chunks: u32) -> Result<()> {
        self.summary.generation = current.generation.number();
        self.summary.published = true;
        publish::prune(self.folder, current.generation)?;
        let kept = (u64::from(chunks) * KEPT_EMBEDDINGS_PER_CHUNK).max(KEPT_EMBEDDINGS);
        self.catalog.forget_seen()?;
        self.catalog.prune_embeddings(kept)?;
        self.catalog.note("published", &current.generation.to_string())
    }

    fn summarise(&mut self, contents: &Contents, parent: Option<&Parent>, staged: Option<Staged>) {
        let none = Files::new();
        let before = parent.map_or(&none, |parent| &parent.files);
        let gone: HashSet<Sha256> =
            self.look.plan.gone.iter().filter_map(|source| Some(before.get(source)?.sha256)).collect();
        let summary = &mut self.summary;
        summary.documents = contents.files.len();
        summary.chunks = contents.chunks;
        summary.unchanged = self.look.plan.unchanged + self.look.same.len();
        summary.unmounted = self.look.plan.unmounted;
        summary.removed = self.look.plan.gone.len();
        summary.ignored = counts_of(&self.look.walked);
        summary.skipped = self.look.walked.skipped.iter().map(SkippedFile::from).collect();
        for ignored in &self.look.walked.ignored {
            summary.name_ignored(ignored.reason, &ignored.source);
        }
        for (source, outcome) in staged.map(|staged| staged.outcomes).into_iter().flatten() {
            match outcome {
                Outcome::Indexed(indexed) => {
                    if before.contains_key(&source) {
                        summary.changed += 1;
                    } else if gone.contains(&indexed.state.sha256) {
                        summary.renamed += 1;
                    } else {
                        summary.added += 1;
                    }
                    summary
                        .warnings
                        .extend(indexed.warnings.into_iter().map(|warning| (source.clone(), warning)));
                }
                Outcome::Ignored(reason) => {
                    *summary.ignored.entry(reason.to_string()).or_default() += 1;
                    summary.name_ignored(reason, &source);
                }
                Outcome::Skipped(reason, detail) => {
                    summary.skipped.push(SkippedFile { source, reason, detail });
                }
                Outcome::Gone => summary.removed += usize::from(before.contains_key(&source)),
            }
        }
        summary.removed -= summary.renamed.min(summary.removed);
        summary.skipped.sort_by(|a, b| a.source.cmp(&b.source));
        summary.lost = summary.skipped.iter().filter(|file| before.contains_key(&file.source)).count();
    }
}

/// Links the extractors' output of every document that the draft holds and did not read anew.
fn keep_texts(draft: &mut Draft<'_>, parent: &Generation, contents: &Contents) -> Result<()> {
    for (source, _) in contents.files.iter().filter(|(_, state)| state.extractor.is_some()) {
        let path = text_file(DocumentId::of_source(source));
        if !draft.path().join(&path).exists() {
            draft.link(parent, &path)?;
        }
    }
    Ok(())
}

/// What a generation has beside words.
struct Side {
    vectors: bool,
    bound: Option<ModelIdentity>,
}

fn counts_of(walked: &Walked) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for ignored in &walked.ignored {
        *counts.entry(ignored.reason.to_string()).or_default() += 1;
    }
    counts
}

/// Another ingest may have recorded more paths between the look at the index and the lock.
fn with_recorded_paths(target: &Target, parent: Option<&Parent>) -> Target {
    let mut target = target.clone();
    if let Some(parent) = parent {
        let recorded = &parent.generation.manifest().scope;
        if recorded.root == target.scope.root {
            target.scope.paths = joined(target.scope.paths.iter().chain(&recorded.paths).cloned());
        }
    }
    target
}

fn refuse_missing_root(target: &Target) -> Result<()> {
    if target.scope.root.is_dir() {
        Ok(())
    } else {
        Err(Error::RootGone { name: target.collection.clone(), root: target.scope.root.clone() })
    }
}

/// The device of the folder that `source` is in, or of the nearest one above it that is there.
fn device_of(root: &Path, source: &str) -> Option<u64> {
    let path = root.join(source);
    let above = path.ancestors().skip(1).take_while(|folder| folder.starts_with(root));
    above.filter_map(|folder| fs::metadata(folder).ok()).map(|metadata| metadata.dev()).next()
}
