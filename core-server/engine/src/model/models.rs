//! The models that collections are bound to: each in memory once, loaded by a thread of its own.
//!
//! Nobody who asks ever loads; who asks may wait. A model that could not be loaded is tried again when its files or
//! the runtime are installed anew, and after half a minute. Deliberately left out: fetching anything.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::store::{Loaded, Stamp, Store};
use crate::error::{Error, Result};
use crate::generation::manifest::ModelIdentity;
use crate::query::ModelState;
use crate::stop::Stop;

/// A failed load may have had a reason that passes (memory, descriptors), so it is tried again after this.
const RETRY_AFTER: Duration = Duration::from_secs(30);

/// How often a waiting thread looks whether its caller went away.
const STOP_EVERY: Duration = Duration::from_millis(50);

/// The models of a process. Cheap to ask from many threads.
pub struct Models {
    shared: Arc<Shared>,
}

struct Shared {
    store: Store,
    sessions: usize,
    entries: Mutex<BTreeMap<String, Entry>>,
    /// An entry's state changed.
    changed: Condvar,
}

struct Entry {
    state: State,
    /// How the store looked when the state was reached.
    stamp: Stamp,
    /// When the state was reached.
    since: Instant,
}

enum State {
    NotInstalled,
    Loading,
    Loaded(Loaded),
    Failed,
}

/// What can be had of a model now.
#[derive(Clone)]
pub enum Availability {
    /// It is not in the model store, or the runtime is not.
    NotInstalled,
    /// It is being loaded.
    Loading,
    /// It is in memory, and it is the one that was asked for.
    Loaded(Loaded),
    /// It could not be loaded; the log says why.
    Failed,
}

impl Models {
    /// Models from `store`, each with `sessions` sessions. Loads nothing yet.
    pub fn new(store: Store, sessions: usize) -> Self {
        let entries = Mutex::default();
        Self { shared: Arc::new(Shared { store, sessions, entries, changed: Condvar::new() }) }
    }

    /// Takes `bound` for all that collections are bound to: begins to load what is new or deserves another try, and
    /// lets go of the rest. Costs two looks at metadata a model not loaded, so it may be called often; never waits.
    pub fn refresh<'a>(&self, bound: impl IntoIterator<Item = &'a ModelIdentity>) {
        let mut wanted: BTreeMap<&str, Vec<&ModelIdentity>> = BTreeMap::new();
        for identity in bound {
            wanted.entry(&identity.name).or_default().push(identity);
        }
        let mut entries = self.shared.entries();
        entries.retain(|name, _| wanted.contains_key(name.as_str()));
        for (name, identities) in wanted {
            self.shared.attend(&mut entries, name, &identities);
        }
    }

    /// What can be had of `bound` now. [`Error::ModelMismatch`] where another model is installed under its name.
    pub fn now(&self, bound: &ModelIdentity) -> Result<Availability> {
        let mut entries = self.shared.entries();
        if !entries.contains_key(&bound.name) {
            self.shared.attend(&mut entries, &bound.name, &[bound]);
        }
        entries.get(&bound.name).map_or(Ok(Availability::NotInstalled), |entry| entry.offer(bound))
    }

    /// Like [`Models::now`], but waits while the model is being loaded: until `until`, or until `stop` says that
    /// nobody waits any more, which is its error.
    pub fn wait(&self, bound: &ModelIdentity, until: Instant, stop: &Stop) -> Result<Availability> {
        loop {
            let availability = self.now(bound)?;
            if !matches!(availability, Availability::Loading) {
                return Ok(availability);
            }
            stop.check()?;
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Availability::Loading);
            }
            let left = stop
                .deadline()
                .map_or(left, |deadline| left.min(deadline.saturating_duration_since(Instant::now())));
            self.shared.wait_for_change(&bound.name, left.min(STOP_EVERY));
        }
    }

    /// What this process has of `bound`, for status. Another model under its name is none that could be used.
    pub fn state(&self, bound: &ModelIdentity) -> ModelState {
        match self.now(bound) {
            Ok(Availability::NotInstalled) => ModelState::NotInstalled,
            Ok(Availability::Loading) => ModelState::Loading,
            Ok(Availability::Loaded(_)) => ModelState::Loaded,
            Ok(Availability::Failed) | Err(_) => ModelState::Failed,
        }
    }

    /// Names of the models in memory.
    pub fn loaded(&self) -> Vec<String> {
        let entries = self.shared.entries();
        let loaded = entries.iter().filter(|(_, entry)| matches!(entry.state, State::Loaded(_)));
        loaded.map(|(name, _)| name.clone()).collect()
    }
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Models").field("store", &self.shared.store).field("loaded", &self.loaded()).finish()
    }
}

impl Shared {
    fn entries(&self) -> MutexGuard<'_, BTreeMap<String, Entry>> {
        // Each change to the table is one assignment, so it is whole after any panic.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to load `name` where that is due.
    fn attend(
        self: &Arc<Self>,
        entries: &mut BTreeMap<String, Entry>,
        name: &str,
        identities: &[&ModelIdentity],
    ) {
        let stamp = match entries.get(name) {
            Some(entry) if entry.is_settled(identities) => return,
            Some(_) | None => self.store.stamp(name),
        };
        if entries.get(name).is_some_and(|entry| !entry.is_due(stamp)) {
            return;
        }
        let state = if stamp.is_installed() { State::Loading } else { State::NotInstalled };
        let load = matches!(state, State::Loading);
        entries.insert(name.to_owned(), Entry::new(state, stamp));
        if load && let Err(error) = self.spawn(name, stamp) {
            tracing::error!(model = name, %error, "model not loaded");
            entries.insert(name.to_owned(), Entry::new(State::Failed, stamp));
        }
    }

    fn spawn(self: &Arc<Self>, name: &str, stamp: Stamp) -> std::io::Result<()> {
        let (shared, name) = (Arc::clone(self), name.to_owned());
        let load = move || {
            let state = shared.load(&name);
            let mut entries = shared.entries();
            // Gone where no collection is bound to it any more.
            if let Some(entry) = entries.get_mut(&name) {
                *entry = Entry::new(state, stamp);
            }
            drop(entries);
            shared.changed.notify_all();
        };
        thread::Builder::new().name("model-loader".to_owned()).spawn(load).map(drop)
    }

    fn load(&self, name: &str) -> State {
        let begun = Instant::now();
        let loaded = catch_unwind(AssertUnwindSafe(|| self.store.load(name, self.sessions)));
        match loaded {
            Ok(Ok(model)) => {
                tracing::info!(model = name, milliseconds = begun.elapsed().as_millis(), "model loaded");
                State::Loaded(model)
            }
            Ok(Err(error @ (Error::ModelNotInstalled { .. } | Error::RuntimeNotInstalled))) => {
                tracing::warn!(model = name, %error, "model not loaded");
                State::NotInstalled
            }
            Ok(Err(error)) => {
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                tracing::error!(model = name, %error, cause, "model not loaded");
                State::Failed
            }
            Err(_) => {
                tracing::error!(model = name, "model not loaded: its loader panicked");
                State::Failed
            }
        }
    }

    fn wait_for_change(&self, name: &str, at_most: Duration) {
        let still_loading = |entries: &mut BTreeMap<String, Entry>| {
            entries.get(name).is_some_and(|entry| matches!(entry.state, State::Loading))
        };
        let waited = self.changed.wait_timeout_while(self.entries(), at_most, still_loading);
        drop(waited);
    }
}

impl Entry {
    fn new(state: State, stamp: Stamp) -> Self {
        Self { state, stamp, since: Instant::now() }
    }

    /// Whether nothing in the store could make a difference: on its way, or what all want.
    fn is_settled(&self, identities: &[&ModelIdentity]) -> bool {
        match &self.state {
            State::Loading => true,
            State::Loaded(model) => identities.iter().all(|identity| *identity == model.identity()),
            State::NotInstalled | State::Failed => false,
        }
    }

    /// Whether to load again, now that the store looks like `stamp`.
    fn is_due(&self, stamp: Stamp) -> bool {
        let retry = matches!(self.state, State::Failed) && self.since.elapsed() >= RETRY_AFTER;
        stamp != self.stamp || retry
    }

    fn offer(&self, bound: &ModelIdentity) -> Result<Availability> {
        match &self.state {
            State::NotInstalled => Ok(Availability::NotInstalled),
            State::Loading => Ok(Availability::Loading),
            State::Failed => Ok(Availability::Failed),
            State::Loaded(model) if model.identity() == bound => Ok(Availability::Loaded(Arc::clone(model))),
            State::Loaded(model) => Err(mismatch(bound, model.identity())),
        }
    }
}

/// The error that shows both identities. [`Error::ModelMismatch`].
pub(crate) fn mismatch(bound: &ModelIdentity, found: &ModelIdentity) -> Error {
    Error::ModelMismatch { name: bound.name.clone(), bound: shown(bound), found: shown(found) }
}

fn shown(identity: &ModelIdentity) -> String {
    let ModelIdentity { weights, tokenizer, dimensions, pooling, max_tokens, .. } = identity;
    format!(
        "{} (weights {}, tokenizer {}, {dimensions} dimensions, {pooling}, {max_tokens} tokens)",
        identity.fingerprint().short(),
        weights.short(),
        tokenizer.short(),
    )
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::model::Descriptor;

    fn install(dir: &Path, name: &str, dimensions: u32) {
        let folder = dir.join(name);
        fs::create_dir_all(&folder).unwrap();
        let text = toml::to_string(&Descriptor::hashing(dimensions)).unwrap();
        fs::write(folder.join("new.toml"), text).unwrap();
        fs::rename(folder.join("new.toml"), folder.join("model.toml")).unwrap();
    }

    fn identity(dir: &Path, name: &str) -> ModelIdentity {
        Store::open(dir).load(name, 1).unwrap().identity().clone()
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    #[test]
    fn a_bound_model_is_loaded_once_and_let_go_of() {
        let dir = tempfile::tempdir().unwrap();
        install(dir.path(), "words", 64);
        let bound = identity(dir.path(), "words");
        let models = Models::new(Store::open(dir.path()), 1);
        assert_eq!(models.loaded(), Vec::<String>::new());
        models.refresh([&bound, &bound]);
        let take = || match models.wait(&bound, soon(), &Stop::never()).unwrap() {
            Availability::Loaded(model) => model,
            Availability::NotInstalled | Availability::Loading | Availability::Failed => panic!("not loaded"),
        };
        assert!(Arc::ptr_eq(&take(), &take()));
        models.refresh([&bound]);
        assert_eq!(models.loaded(), ["words"]);
        models.refresh([]);
        assert_eq!(models.loaded(), Vec::<String>::new());
    }

    #[test]
    fn a_model_installed_later_is_found() {
        let dir = tempfile::tempdir().unwrap();
        install(dir.path(), "words", 64);
        let bound = identity(dir.path(), "words");
        let elsewhere = tempfile::tempdir().unwrap();
        let models = Models::new(Store::open(elsewhere.path()), 1);
        models.refresh([&bound]);
        assert_eq!(models.state(&bound), ModelState::NotInstalled);
        install(elsewhere.path(), "words", 64);
        models.refresh([&bound]);
        let availability = models.wait(&bound, soon(), &Stop::never()).unwrap();
        assert!(matches!(availability, Availability::Loaded(_)));
    }

    #[test]
    fn another_model_under_the_same_name_is_refused_with_both_shown() {
        let dir = tempfile::tempdir().unwrap();
        install(dir.path(), "words", 64);
        let bound = identity(dir.path(), "words");
        install(dir.path(), "words", 128);
        let models = Models::new(Store::open(dir.path()), 1);
        models.refresh([&bound]);
        let Err(Error::ModelMismatch { bound: asked, found, .. }) =
            models.wait(&bound, soon(), &Stop::never())
        else {
            panic!("a mismatch passed");
        };
        assert!(asked.contains("64 dimensions") && found.contains("128 dimensions"), "{asked} {found}");
    }

    #[test]
    fn a_model_put_right_replaces_the_one_that_fits_nobody() {
        let dir = tempfile::tempdir().unwrap();
        install(dir.path(), "words", 64);
        let bound = identity(dir.path(), "words");
        install(dir.path(), "words", 128);
        let models = Models::new(Store::open(dir.path()), 1);
        models.refresh([&bound]);
        assert!(models.wait(&bound, soon(), &Stop::never()).is_err());
        install(dir.path(), "words", 64);
        models.refresh([&bound]);
        let availability = models.wait(&bound, soon(), &Stop::never()).unwrap();
        assert!(matches!(availability, Availability::Loaded(_)));
    }

    #[test]
    fn a_model_that_cannot_be_read_is_failed_until_its_files_change() {
        let dir = tempfile::tempdir().unwrap();
        install(dir.path(), "words", 64);
        let bound = identity(dir.path(), "words");
        fs::write(dir.path().join("words/model.toml"), "kind = \"hashing\"\n").unwrap();
        let models = Models::new(Store::open(dir.path()), 1);
        models.refresh([&bound]);
        let availability = models.wait(&bound, soon(), &Stop::never()).unwrap();
        assert!(matches!(availability, Availability::Failed));
        models.refresh([&bound]);
        assert_eq!(models.state(&bound), ModelState::Failed);
        install(dir.path(), "words", 64);
        models.refresh([&bound]);
        let availability = models.wait(&bound, soon(), &Stop::never()).unwrap();
        assert!(matches!(availability, Availability::Loaded(_)));
    }

    #[test]
    fn who_went_away_does_not_wait() {
        let dir = tempfile::tempdir().unwrap();
        install(dir.path(), "words", 64);
        let bound = identity(dir.path(), "words");
        let models = Models::new(Store::open(dir.path()), 1);
        let stop = Stop::never();
        stop.cancel();
        let entry = Entry::new(State::Loading, models.shared.store.stamp("words"));
        models.shared.entries().insert("words".to_owned(), entry);
        assert!(matches!(models.wait(&bound, soon(), &stop), Err(Error::Cancelled)));
        let now = Instant::now();
        assert!(matches!(models.wait(&bound, now, &Stop::never()), Ok(Availability::Loading)));
    }
}
