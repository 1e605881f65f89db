//! The reranker of a process: which one, and what there is of it.
//!
//! It is loaded when the first question asks for it, since it takes as much memory as an embedder and most never do.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use super::Rerank;
use super::loader::{Availability, Loader};
use super::store::Store;
use crate::error::{Error, RerankerObstacle, Result};

/// A reranker in memory, ready to be asked by many threads.
pub type LoadedReranker = Arc<dyn Rerank>;

/// Which reranker a process has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RerankerChoice {
    /// The installed one; the first by name where there are several.
    #[default]
    Installed,
    /// The one called so.
    Named(String),
    /// None, whatever is installed.
    Off,
}

/// The reranker of a process. Cheap to ask from many threads.
pub struct Reranker {
    choice: RerankerChoice,
    loader: Loader<LoadedReranker>,
}

impl Reranker {
    /// The one of `store` that is chosen, to score on `sessions` threads at once. Loads nothing yet.
    pub fn new(store: Store, choice: RerankerChoice, sessions: usize) -> Self {
        Self { choice, loader: Loader::new(store, sessions, Store::load_reranker) }
    }

    /// The reranker. Where it was never asked for, it begins to be loaded: [`Error::WarmingUp`], as long as that
    /// takes. [`Error::RerankerUnavailable`] where there is none or it cannot be loaded.
    pub fn now(&self) -> Result<LoadedReranker> {
        let unavailable = |why| Err(Error::RerankerUnavailable { why });
        let Some(name) = self.name() else { return unavailable(RerankerObstacle::NoneInstalled) };
        self.loader.attend(&name, |_| true);
        match self.loader.get(&name) {
            Some(Availability::Loaded(model)) => Ok(model),
            Some(Availability::Loading) => Err(Error::WarmingUp),
            Some(Availability::Failed) => unavailable(RerankerObstacle::Failed),
            Some(Availability::NotInstalled) | None => unavailable(RerankerObstacle::NoneInstalled),
        }
    }

    /// Like [`Reranker::now`], but waits while it is being loaded, until `until`.
    pub fn wait(&self, until: Instant) -> Result<LoadedReranker> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match (self.now(), self.name()) {
                (Err(Error::WarmingUp), Some(name)) if !left.is_zero() => {
                    self.loader.wait_for_change(&name, left);
                }
                (settled, _) => return settled,
            }
        }
    }

    /// Its name, where there is one; nothing is loaded for it.
    pub fn name(&self) -> Option<String> {
        let store = self.loader.store();
        let reranks = |name: &str| {
            store.descriptor(name).ok().flatten().is_some_and(|descriptor| !descriptor.kind.embeds())
        };
        match &self.choice {
            RerankerChoice::Off => None,
            RerankerChoice::Named(name) => reranks(name).then(|| name.clone()),
            RerankerChoice::Installed => {
                let installed = store.list().unwrap_or_default().into_iter();
                let mut rerankers = installed.filter(|(_, descriptor)| !descriptor.kind.embeds());
                rerankers.next().map(|(name, _)| name)
            }
        }
    }

    /// Its name, where it is in memory.
    pub fn loaded(&self) -> Option<String> {
        self.loader.loaded().pop()
    }

    /// Whether it was asked for and could not be loaded.
    pub fn has_failed(&self) -> bool {
        let failed = |name: String| matches!(self.loader.get(&name), Some(Availability::Failed));
        self.name().is_some_and(failed)
    }
}

impl fmt::Debug for Reranker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reranker")
            .field("choice", &self.choice)
            .field("loaded", &self.loaded())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    use super::*;
    use crate::model::Descriptor;

    fn install(dir: &Path, name: &str, descriptor: &Descriptor) {
        fs::create_dir_all(dir.join(name)).unwrap();
        fs::write(dir.join(name).join("model.toml"), toml::to_string(descriptor).unwrap()).unwrap();
    }

    fn reranker(dir: &Path, choice: RerankerChoice) -> Reranker {
        Reranker::new(Store::open(dir), choice, 1)
    }

    fn soon(reranker: &Reranker) -> Result<LoadedReranker> {
        reranker.wait(Instant::now() + Duration::from_secs(20))
    }

    fn obstacle(reranker: &Reranker) -> RerankerObstacle {
        match soon(reranker) {
            Err(Error::RerankerUnavailable { why }) => why,
            Err(error) => panic!("{error}"),
            Ok(model) => panic!("{} was loaded", model.name()),
        }
    }

    #[test]
    fn the_installed_one_is_loaded_when_it_is_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        install(dir.path(), "a-embedder", &Descriptor::hashing(64));
        let reranker = reranker(dir.path(), RerankerChoice::Installed);
        assert_eq!((reranker.name(), obstacle(&reranker)), (None, RerankerObstacle::NoneInstalled));
        install(dir.path(), "words", &Descriptor::hashing_reranker());
        assert_eq!((reranker.name().as_deref(), reranker.loaded()), (Some("words"), None));
        let (first, second) = (soon(&reranker).unwrap(), soon(&reranker).unwrap());
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(reranker.loaded().as_deref(), Some("words"));
    }

    #[test]
    fn the_named_one_is_meant_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        install(dir.path(), "embedder", &Descriptor::hashing(64));
        install(dir.path(), "one", &Descriptor::hashing_reranker());
        install(dir.path(), "two", &Descriptor::hashing_reranker());
        let named = |name: &str| reranker(dir.path(), RerankerChoice::Named(name.to_owned()));
        assert_eq!(soon(&named("two")).unwrap().name(), "two");
        for name in ["embedder", "three", "../one"] {
            assert_eq!(obstacle(&named(name)), RerankerObstacle::NoneInstalled, "{name}");
        }
        assert_eq!(obstacle(&reranker(dir.path(), RerankerChoice::Off)), RerankerObstacle::NoneInstalled);
    }

    #[test]
    fn one_that_cannot_be_loaded_has_failed() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| crate::model::descriptor::ModelFile {
            path: name.to_owned(),
            bytes: 3,
            sha256: crate::id::Sha256::of(b"abc"),
        };
        let descriptor = Descriptor {
            kind: crate::model::Kind::Reranker,
            weights: Some(file("model.onnx")),
            tokenizer: Some(file("tokenizer.json")),
            ..Descriptor::hashing_reranker()
        };
        install(dir.path(), "gone", &descriptor);
        let reranker = reranker(dir.path(), RerankerChoice::Installed);
        assert!(!reranker.has_failed());
        assert_eq!(obstacle(&reranker), RerankerObstacle::Failed);
        assert!(reranker.has_failed());
    }
}
