//! The index directory: which collections there are, and the generation each is at.
//!
//! Reading is all that happens here: a directory that is not there, or not yet a collection, stays so. What cannot be
//! opened is left out of listings, with a reason, and refused by name with the error itself.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use arc_swap::ArcSwap;
use tracing::{debug, info, warn};

use crate::collection::CollectionName;
use crate::error::{Error, Result};
use crate::generation::current::{self, Current};
use crate::generation::{self, Generation};
use crate::query::{Caller, Notice};

/// How often a generation that vanished while it was being opened is looked for anew: as often as the writer may
/// have published and cleared away in that time.
const ATTEMPTS: usize = 3;

/// The collections beneath one directory, as of the last look at it.
#[derive(Debug)]
pub struct Index {
    dir: PathBuf,
    /// What is looked at, where that is not everything.
    only: Option<CollectionName>,
    seen: ArcSwap<Seen>,
    /// Held while looking, so that of two looks at once the older cannot win.
    looking: Mutex<()>,
    /// Every generation that was opened for a collection and may still be held by a request.
    opened: Mutex<Vec<Weak<Generation>>>,
}

/// What one look at the directory found.
#[derive(Debug, Default)]
pub struct Seen {
    /// The collections that open.
    pub collections: BTreeMap<CollectionName, Arc<Collection>>,
    /// What was left out, by name.
    pub skipped: Vec<Skipped>,
}

/// A directory that is no readable collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The directory's name.
    pub name: String,
    /// Why, without a path.
    pub why: &'static str,
}

/// A collection at one of its generations.
#[derive(Debug)]
pub struct Collection {
    name: CollectionName,
    folder: PathBuf,
    current: Current,
    generation: Arc<Generation>,
}

impl Index {
    /// Looks at `dir` for the first time; it need not exist.
    pub fn open(dir: PathBuf) -> Result<Self> {
        Self::look(dir, None)
    }

    /// Looks at one collection beneath `dir`, which need not be there, as if there were no other.
    pub fn open_only(dir: PathBuf, name: CollectionName) -> Result<Self> {
        Self::look(dir, Some(name))
    }

    fn look(dir: PathBuf, only: Option<CollectionName>) -> Result<Self> {
        let (seen, looking, opened) = Default::default();
        let index = Self { dir, only, seen, looking, opened };
        index.refresh()?;
        Ok(index)
    }

    /// Looks again. Collections whose `CURRENT` is as before keep their open generation; for everyone who holds an
    /// older one nothing changes. Where the directory cannot be read, what was seen before stays.
    pub fn refresh(&self) -> Result<()> {
        let _one_at_a_time = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.seen.load_full();
        let mut seen = Seen::default();
        for name in self.directories()? {
            self.look_at(&name, &before, &mut seen);
        }
        seen.skipped.sort_by(|a, b| a.name.cmp(&b.name));
        for skipped in seen.skipped.iter().filter(|skipped| !before.skipped.contains(skipped)) {
            warn!(collection = skipped.name, why = skipped.why, "collection left out");
        }
        self.seen.store(Arc::new(seen));
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).retain(|opened| opened.strong_count() > 0);
        Ok(())
    }

    /// What the last look found.
    pub fn seen(&self) -> Arc<Seen> {
        self.seen.load_full()
    }

    /// How many generations are held open: one per collection, and those that running requests began with.
    pub fn open_generations(&self) -> usize {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.iter().filter(|opened| opened.strong_count() > 0).count()
    }

    /// The collection that is meant: the one `named`, else the one whose root holds the caller's working directory
    /// (of several the deepest), else the only one there is.
    ///
    /// Who publishes and then asks gets what was published. For a name, one small read shows whether `CURRENT` is as
    /// before; which other collections there are matters only where none is named, and is looked at then.
    pub fn resolve(&self, named: Option<&CollectionName>, caller: &Caller) -> Result<Arc<Collection>> {
        if named.is_some() {
            let collection = self.resolve_seen(named, caller)?;
            if collection.is_current() {
                return Ok(collection);
            }
        }
        if let Err(error) = self.refresh() {
            debug!(error = &error as &dyn std::error::Error, "answered from what was seen before");
        }
        self.resolve_seen(named, caller)
    }

    fn resolve_seen(&self, named: Option<&CollectionName>, caller: &Caller) -> Result<Arc<Collection>> {
        let seen = self.seen();
        if let Some(name) = named {
            return self.by_name(name, &seen);
        }
        if let Some(collection) = caller.working_directory.as_deref().and_then(|at| seen.holding(at)) {
            return Ok(Arc::clone(collection));
        }
        let mut collections = seen.collections.values();
        match (collections.next(), collections.next()) {
            (Some(only), None) => Ok(Arc::clone(only)),
            (Some(_), Some(_)) => Err(Error::CollectionAmbiguous { known: seen.names() }),
            // What cannot be opened says more than that there is nothing.
            (None, _) => match seen.skipped.iter().find_map(|skipped| skipped.name.parse().ok()) {
                Some(name) => self.by_name(&name, &seen),
                None => Err(Error::NothingIngested),
            },
        }
    }

    fn by_name(&self, name: &CollectionName, seen: &Seen) -> Result<Arc<Collection>> {
        if let Some(collection) = seen.collections.get(name) {
            return Ok(Arc::clone(collection));
        }
        // Published since the last look, or not readable: opening it says which.
        let is_looked_at = self.only.as_ref().is_none_or(|only| only == name);
        match is_looked_at.then(|| Collection::open(&self.dir, name)).transpose()?.flatten() {
            Some(collection) => Ok(Arc::new(collection)),
            None if seen.collections.is_empty() => Err(Error::NothingIngested),
            None => Err(Error::CollectionNotFound { name: name.clone(), known: seen.names() }),
        }
    }

    /// Names of the directories to look at: those there are, but for hidden ones.
    fn directories(&self) -> Result<Vec<String>> {
        if let Some(only) = &self.only {
            return Ok(vec![only.to_string()]);
        }
        let failed = |source| Error::ReadIndex { path: self.dir.clone(), source };
        let entries = match std::fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.starts_with('.') && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn look_at(&self, name: &str, before: &Seen, seen: &mut Seen) {
        let Ok(name) = name.parse::<CollectionName>() else {
            seen.skipped.push(Skipped { name: name.to_owned(), why: "it is not a collection" });
            return;
        };
        let known = before.collections.get(&name);
        let opened = match (known, Current::read(&self.dir.join(name.as_str()))) {
            (Some(known), Ok(Some(current))) if known.current == current => Ok(Some(Arc::clone(known))),
            _ => Collection::open(&self.dir, &name).map(|opened| opened.map(|opened| self.opened(opened))),
        };
        match opened {
            Ok(Some(collection)) => {
                seen.collections.insert(name, collection);
            }
            Ok(None) if is_foreign(&self.dir.join(name.as_str())) => {
                seen.skipped.push(Skipped { name: name.into(), why: "it is not a collection" });
            }
            Ok(None) => {}
            // Out of files or memory, say: no reason to forget what is open.
            Err(error @ Error::ReadFile { .. }) if known.is_some() => {
                warn!(%error, collection = %name, "collection not reloaded");
                seen.collections.extend(known.map(|known| (name, Arc::clone(known))));
            }
            Err(error) => {
                let skipped = Skipped { name: name.into(), why: why(&error) };
                if !before.skipped.contains(&skipped) {
                    warn!(error = &error as &dyn std::error::Error, "collection does not open");
                }
                seen.skipped.push(skipped);
            }
        }
    }

    fn opened(&self, collection: Collection) -> Arc<Collection> {
        info!(collection = %collection.name, generation = %collection.current.generation, "generation opened");
        let opened = Arc::downgrade(&collection.generation);
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).push(opened);
        Arc::new(collection)
    }
}

impl Seen {
    /// Names of the collections that open.
    pub fn names(&self) -> Vec<CollectionName> {
        self.collections.keys().cloned().collect()
    }

    /// What was left out, as notices.
    pub fn notices(&self) -> Vec<Notice> {
        let notice =
            |skipped: &Skipped| Notice::CollectionSkipped { name: skipped.name.clone(), why: skipped.why };
        self.skipped.iter().map(notice).collect()
    }

    /// The collection with the deepest root that holds `directory`; none where two share that root.
    fn holding(&self, directory: &Path) -> Option<&Arc<Collection>> {
        let root =
            |collection: &&Arc<Collection>| collection.generation.manifest().scope.root.components().count();
        let holding = self.collections.values().filter(|collection| collection.holds(directory));
        let deepest = holding.clone().map(|collection| root(&collection)).max()?;
        let mut deepest = holding.filter(|collection| root(collection) == deepest);
        deepest.next().filter(|_| deepest.next().is_none())
    }
}

impl Collection {
    /// Opens the current generation of the collection `name` beneath the index directory `dir`; `None` where there
    /// is no such collection or it has no generation yet.
    pub fn open(dir: &Path, name: &CollectionName) -> Result<Option<Self>> {
        let folder = dir.join(name.as_str());
        let mut attempts = 0;
        loop {
            let Some(current) = Current::read(&folder)? else { return Ok(None) };
            attempts += 1;
            match open_whole(&folder, &current) {
                Ok(generation) if generation.manifest().collection != *name => {
                    return Err(Error::damaged(folder, "it is the folder of another collection"));
                }
                Ok(generation) => {
                    let generation = Arc::new(generation);
                    return Ok(Some(Self { name: name.clone(), folder, current, generation }));
                }
                Err(_) if attempts < ATTEMPTS && Current::read(&folder)? != Some(current) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Its name.
    pub fn name(&self) -> &CollectionName {
        &self.name
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its current generation.
    pub fn generation(&self) -> &Arc<Generation> {
        &self.generation
    }

    /// The other generations that are kept, newest first, each opened when it is reached. One that went away or does
    /// not open is left out.
    pub fn kept(&self) -> Result<impl Iterator<Item = Generation> + '_> {
        let ids = generation::list(&self.folder)?;
        let others = ids.into_iter().rev().filter(|id| *id != self.current.generation);
        Ok(others.filter_map(|id| {
            let folder = self.folder.join(generation::FOLDER).join(id.folder());
            Generation::open(&folder)
                .inspect_err(|error| {
                    if folder.exists() {
                        warn!(%error, collection = %self.name, generation = %id, "kept generation does not open");
                    }
                })
                .ok()
        }))
    }

    /// Whether `CURRENT` still names the generation that is open here.
    fn is_current(&self) -> bool {
        Current::read(&self.folder).is_ok_and(|current| current.as_ref() == Some(&self.current))
    }

    fn holds(&self, directory: &Path) -> bool {
        directory.starts_with(&self.generation.manifest().scope.root)
    }
}

/// Opens all of a generation now: its folder may be gone when a request asks for the rest.
fn open_whole(folder: &Path, current: &Current) -> Result<Generation> {
    let generation = Generation::open_current(folder, current)?;
    generation.lexical()?;
    generation.vectors()?;
    Ok(generation)
}

/// Whether a directory without `CURRENT` holds anything that a first ingest would not have put there.
fn is_foreign(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        name != "writer" && name != generation::FOLDER && !is_scratch(&name)
    })
}

/// Whether a file is on its way to be renamed.
fn is_scratch(name: &std::ffi::OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with('.') || name.starts_with(current::FILE_NAME)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "opening fails in few of all ways")]
fn why(error: &Error) -> &'static str {
    match error {
        Error::SchemaVersion { found, supported, .. } if found < supported => "it is in an older format",
        Error::SchemaVersion { .. } => "it is in a newer format",
        Error::ReadFile { .. } | Error::ReadIndex { .. } => "it cannot be read",
        _ => "it is damaged",
    }
}
