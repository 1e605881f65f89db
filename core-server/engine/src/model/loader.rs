//! Things of the model store in memory, by name: each loaded once, by a thread of its own.
//!
//! Nobody who asks ever loads; who asks may wait. What could not be loaded is tried again when its files or the
//! runtime are installed anew, and after half a minute. Deliberately left out: fetching anything.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::store::{Stamp, Store};
use crate::error::{Error, Result};

/// A failed load may have had a reason that passes (memory, descriptors), so it is tried again after this.
const RETRY_AFTER: Duration = Duration::from_secs(30);

/// What can be had of a model now.
#[derive(Clone, Debug)]
pub enum Availability<T> {
    /// It is not in the model store, or the runtime is not.
    NotInstalled,
    /// It is being loaded.
    Loading,
    /// It is in memory.
    Loaded(T),
    /// It could not be loaded; the log says why.
    Failed,
}

/// How one kind of thing is loaded: from which store, by which name, with how many sessions.
pub(super) type Load<T> = fn(&Store, &str, usize) -> Result<T>;

/// Things of one kind, by name.
pub(super) struct Loader<T>(Arc<Shared<T>>);

struct Shared<T> {
    store: Store,
    sessions: usize,
    load: Load<T>,
    entries: Mutex<BTreeMap<String, Entry<T>>>,
    /// An entry's state changed.
    changed: Condvar,
}

struct Entry<T> {
    state: Availability<T>,
    /// How the store looked when the state was reached.
    stamp: Stamp,
    /// When the state was reached.
    since: Instant,
}

impl<T: Clone + Send + 'static> Loader<T> {
    /// Loads nothing yet.
    pub(super) fn new(store: Store, sessions: usize, load: Load<T>) -> Self {
        let entries = Mutex::default();
        Self(Arc::new(Shared { store, sessions, load, entries, changed: Condvar::new() }))
    }

    pub(super) fn store(&self) -> &Store {
        &self.0.store
    }

    /// Lets go of what is not `wanted`.
    pub(super) fn retain(&self, wanted: impl Fn(&str) -> bool) {
        self.0.entries().retain(|name, _| wanted(name));
    }

    /// Begins to load `name` where that is due: it never was, what is there does not fit, or it deserves another
    /// try. Costs two looks at metadata where it is not settled; never waits.
    pub(super) fn attend(&self, name: &str, fits: impl Fn(&T) -> bool) {
        let shared = &self.0;
        let mut entries = shared.entries();
        let stamp = match entries.get(name) {
            Some(entry) if entry.is_settled(fits) => return,
            Some(_) | None => shared.store.stamp(name),
        };
        if entries.get(name).is_some_and(|entry| !entry.is_due(stamp)) {
            return;
        }
        if !stamp.is_installed() {
            entries.insert(name.to_owned(), Entry::new(Availability::NotInstalled, stamp));
            return;
        }
        entries.insert(name.to_owned(), Entry::new(Availability::Loading, stamp));
        if let Err(error) = shared.spawn(name, stamp) {
            tracing::error!(model = name, %error, "model not loaded");
            entries.insert(name.to_owned(), Entry::new(Availability::Failed, stamp));
        }
    }

    /// What there is of `name`; `None` where it was never attended to.
    pub(super) fn get(&self, name: &str) -> Option<Availability<T>> {
        self.0.entries().get(name).map(|entry| entry.state.clone())
    }

    /// Names of what is in memory.
    pub(super) fn loaded(&self) -> Vec<String> {
        let entries = self.0.entries();
        let loaded = entries.iter().filter(|(_, entry)| matches!(entry.state, Availability::Loaded(_)));
        loaded.map(|(name, _)| name.clone()).collect()
    }

    /// Waits until `name` is not being loaded any more, `at_most` so long.
    pub(super) fn wait_for_change(&self, name: &str, at_most: Duration) {
        let still_loading = |entries: &mut BTreeMap<String, Entry<T>>| {
            entries.get(name).is_some_and(|entry| matches!(entry.state, Availability::Loading))
        };
        let waited = self.0.changed.wait_timeout_while(self.0.entries(), at_most, still_loading);
        drop(waited);
    }

    #[cfg(test)]
    pub(super) fn pretend_to_load(&self, name: &str) {
        let entry = Entry::new(Availability::Loading, self.0.store.stamp(name));
        self.0.entries().insert(name.to_owned(), entry);
    }
}

impl<T: Clone + Send + 'static> Shared<T> {
    fn entries(&self) -> MutexGuard<'_, BTreeMap<String, Entry<T>>> {
        // Each change to the table is one assignment, so it is whole after any panic.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spawn(self: &Arc<Self>, name: &str, stamp: Stamp) -> std::io::Result<()> {
        let (shared, name) = (Arc::clone(self), name.to_owned());
        let load = move || {
            let state = shared.load(&name);
            let mut entries = shared.entries();
            // Gone where nobody wants it any more.
            if let Some(entry) = entries.get_mut(&name) {
                *entry = Entry::new(state, stamp);
            }
            drop(entries);
            shared.changed.notify_all();
        };
        thread::Builder::new().name("model-loader".to_owned()).spawn(load).map(drop)
    }

    fn load(&self, name: &str) -> Availability<T> {
        let begun = Instant::now();
        let loaded = catch_unwind(AssertUnwindSafe(|| (self.load)(&self.store, name, self.sessions)));
        match loaded {
            Ok(Ok(model)) => {
                tracing::info!(model = name, milliseconds = begun.elapsed().as_millis(), "model loaded");
                Availability::Loaded(model)
            }
            Ok(Err(error @ (Error::ModelNotInstalled { .. } | Error::RuntimeNotInstalled))) => {
                tracing::warn!(model = name, %error, "model not loaded");
                Availability::NotInstalled
            }
            Ok(Err(error)) => {
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                tracing::error!(model = name, %error, cause, "model not loaded");
                Availability::Failed
            }
            Err(_) => {
                tracing::error!(model = name, "model not loaded: its loader panicked");
                Availability::Failed
            }
        }
    }
}

impl<T> Entry<T> {
    fn new(state: Availability<T>, stamp: Stamp) -> Self {
        Self { state, stamp, since: Instant::now() }
    }

    /// Whether nothing in the store could make a difference: on its way, or what is wanted.
    fn is_settled(&self, fits: impl Fn(&T) -> bool) -> bool {
        match &self.state {
            Availability::Loading => true,
            Availability::Loaded(model) => fits(model),
            Availability::NotInstalled | Availability::Failed => false,
        }
    }

    /// Whether to load again, now that the store looks like `stamp`.
    fn is_due(&self, stamp: Stamp) -> bool {
        let retry = matches!(self.state, Availability::Failed) && self.since.elapsed() >= RETRY_AFTER;
        stamp != self.stamp || retry
    }
}
