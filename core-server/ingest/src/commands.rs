//! The commands of `footnote-index`, each a function of what was typed and where things are.

pub mod eval;
pub mod ingest;
pub mod model;
pub mod remove;
pub mod rollback;
pub mod skipped;
pub mod verify;

use std::env;
use std::io::{self, Write as _};
use std::path::PathBuf;

use engine::collection::CollectionName;
use engine::model::Store;
use proto::settings::{Stores, Surroundings};

use crate::args::OneCollection;
use crate::error::{Error, Result};
use crate::parent::known_collections;
use crate::scope::{Asked, resolve};

/// Where things are.
#[derive(Debug)]
pub struct Places {
    /// The index directory.
    pub index_dir: PathBuf,
    /// The model store.
    pub store: Store,
    /// The working directory.
    pub cwd: PathBuf,
    /// What flags that were not given fall back to.
    pub surroundings: Surroundings,
}

impl Places {
    /// Takes note of them; nothing need be there yet.
    pub fn new(stores: Stores, surroundings: Surroundings) -> Result<Self> {
        let cwd = env::current_dir().map_err(Error::file("tell the working directory", ".".as_ref()))?;
        Ok(Self { index_dir: stores.index_dir, store: Store::open(stores.model_dir), cwd, surroundings })
    }

    /// The collection that is meant, by the same rules as without PATH at an ingest.
    fn collection(&self, one: &OneCollection) -> Result<CollectionName> {
        let named = one.name.clone().or_else(|| one.collection.clone().settle(&self.surroundings));
        if let Some(name) = named {
            return parse_name(&name);
        }
        let asked = Asked { cwd: self.cwd.clone(), ..Asked::default() };
        let targets = resolve(&asked, &known_collections(&self.index_dir)?)?;
        targets.into_iter().next().map(|target| target.collection).ok_or(Error::NothingToIngest)
    }

    fn not_found(&self, name: CollectionName) -> Error {
        let known = known_collections(&self.index_dir).unwrap_or_default();
        Error::NoSuchCollection { name, known: known.into_iter().map(|known| known.name).collect() }
    }
}

fn parse_name(name: &str) -> Result<CollectionName> {
    name.parse().map_err(|error| Error::Usage(format!("{name:?} is no collection's name: {error}")))
}

/// Prints to standard output. A reader that went away is no error.
fn print(text: impl std::fmt::Display) {
    write!(anstream::stdout(), "{text}").and_then(|()| io::stdout().flush()).ok();
}
