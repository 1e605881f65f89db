//! Brings one collection up to date.
//!
//! ```text
//! lock ─► parent ─► walk ─► plan ─► compare ─► stage ─► survey ─► embed ─► publish
//!                                                 └─ a large first one publishes without vectors already here
//! ```
//!
//! Deliberately left out: which collection (`scope`), and what each step does (its own module).

mod contents;
mod measure;
mod publishing;

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use engine::generation::manifest::ModelIdentity;
use engine::model::{Loaded, Store};

use self::contents::counts_of;
use crate::catalog::{Catalog, Seen};
use crate::embed::identity_in_words;
use crate::error::{Error, Result};
use crate::folder::CollectionFolder;
use crate::interrupt::Interrupt;
use crate::lock::WriterLock;
use crate::parent::Parent;
use crate::plan::{Files, Plan, plan};
use crate::progress::Progress;
use crate::scope::{Target, joined};
use crate::skipped::SkippedFile;
use crate::stage;
use crate::summary::{DryRun, Summary};
use crate::walk::{WalkError, Walked, walk};

/// The model that a new collection is bound to where it is installed and nothing else is said.
pub const DEFAULT_MODEL: &str = "bge-small-en-v1.5";

/// With fewer bytes free than this, a write that failed without a reason failed for want of room.
const NEARLY_FULL: u64 = 1 << 20;

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
