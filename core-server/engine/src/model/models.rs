//! The embedders that collections are bound to, each in memory once.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use super::loader::{Availability, Loader};
use super::store::{Loaded, Store};
use crate::error::{Error, Result};
use crate::generation::manifest::ModelIdentity;
use crate::query::ModelState;
use crate::stop::Stop;

/// How often a waiting thread looks whether its caller went away.
const STOP_EVERY: Duration = Duration::from_millis(50);

/// The embedders of a process. Cheap to ask from many threads.
pub struct Models {
    loader: Loader<Loaded>,
}

impl Models {
    /// Models from `store`, each with `sessions` sessions. Loads nothing yet.
    pub fn new(store: Store, sessions: usize) -> Self {
        Self { loader: Loader::new(store, sessions, Store::load) }
    }

    /// Takes `bound` for all that collections are bound to: begins to load what is new or deserves another try, and
    /// lets go of the rest. Costs two looks at metadata a model not loaded, so it may be called often; never waits.
    pub fn refresh<'a>(&self, bound: impl IntoIterator<Item = &'a ModelIdentity>) {
        let mut wanted: BTreeMap<&str, Vec<&ModelIdentity>> = BTreeMap::new();
        for identity in bound {
            wanted.entry(&identity.name).or_default().push(identity);
        }
        self.loader.retain(|name| wanted.contains_key(name));
        for (name, identities) in wanted {
            self.loader.attend(name, |model| identities.iter().all(|identity| *identity == model.identity()));
        }
    }

    /// What can be had of `bound` now. [`Error::ModelMismatch`] where another model is installed under its name.
    pub fn now(&self, bound: &ModelIdentity) -> Result<Availability<Loaded>> {
        let known = self.loader.get(&bound.name).or_else(|| {
            self.loader.attend(&bound.name, |model| model.identity() == bound);
            self.loader.get(&bound.name)
        });
        match known {
            Some(Availability::Loaded(model)) if model.identity() != bound => {
                Err(mismatch(bound, model.identity()))
            }
            Some(availability) => Ok(availability),
            None => Ok(Availability::NotInstalled),
        }
    }

    /// Like [`Models::now`], but waits while the model is being loaded: until `until`, or until `stop` says that
    /// nobody waits any more, which is its error.
    pub fn wait(&self, bound: &ModelIdentity, until: Instant, stop: &Stop) -> Result<Availability<Loaded>> {
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
            self.loader.wait_for_change(&bound.name, left.min(STOP_EVERY));
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
        self.loader.loaded()
    }
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Models").field("store", self.loader.store()).field("loaded", &self.loaded()).finish()
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
    use std::sync::Arc;

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
        models.loader.pretend_to_load("words");
        assert!(matches!(models.wait(&bound, soon(), &stop), Err(Error::Cancelled)));
        let now = Instant::now();
        assert!(matches!(models.wait(&bound, now, &Stop::never()), Ok(Availability::Loading)));
    }
}
