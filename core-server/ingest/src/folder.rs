//! Where things lie in a collection's folder, as the writer sees it.
//!
//! Deliberately left out: what a generation holds (`engine::generation`).

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use engine::collection::CollectionName;
use engine::generation::GenerationId;

use crate::durable;
use crate::error::{Error, Result};

/// The folder of one collection; it need not be there yet.
#[derive(Clone, Debug)]
pub struct CollectionFolder {
    name: CollectionName,
    path: PathBuf,
}

impl CollectionFolder {
    /// The folder of the collection `name` in the index directory `index`.
    pub fn new(index: &Path, name: &CollectionName) -> Self {
        Self { name: name.clone(), path: index.join(name.as_str()) }
    }

    /// The collection's name.
    pub fn name(&self) -> &CollectionName {
        &self.name
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file that names the current generation.
    pub fn current(&self) -> PathBuf {
        self.path.join("CURRENT")
    }

    /// The folder of all generations.
    pub fn generations(&self) -> PathBuf {
        self.path.join("generations")
    }

    /// The folder of one generation.
    pub fn generation(&self, id: GenerationId) -> PathBuf {
        self.generations().join(id.folder())
    }

    /// What only the writer opens: lock, catalog and work.
    pub fn writer(&self) -> PathBuf {
        self.path.join("writer")
    }

    /// The lock file.
    pub fn lock(&self) -> PathBuf {
        self.writer().join("lock")
    }

    /// Where a generation is put together, and where one that is thrown away goes first.
    pub fn work(&self) -> PathBuf {
        self.writer().join("work")
    }

    /// Creates every folder that is not there yet, up to what the lock needs.
    pub fn create_for_lock(&self) -> Result<()> {
        durable::create_folders(&self.path)?;
        durable::create_folder(&self.writer())
    }

    /// Creates what a publication needs, and throws away what an earlier process left half done. Holding the lock.
    pub fn prepare(&self) -> Result<()> {
        durable::remove_folder(&self.work())?;
        durable::create_folder(&self.work())?;
        durable::create_folder(&self.generations())
    }

    /// The generations there are, oldest first, whether they open or not.
    pub fn kept(&self) -> Result<Vec<GenerationId>> {
        let path = self.generations();
        let mut kept: Vec<GenerationId> =
            names_in(&path)?.iter().filter_map(|name| name.to_str()?.parse().ok()).collect();
        kept.sort_unstable();
        Ok(kept)
    }

    /// The number of the next generation: greater than every one there is, also after going back to an older one.
    pub fn next(&self) -> Result<GenerationId> {
        Ok(self.kept()?.last().map_or(GenerationId::FIRST, |last| last.next()))
    }
}

/// The names in a folder; none where it is not there.
pub fn names_in(path: &Path) -> Result<Vec<std::ffi::OsString>> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::file("list", path)(error)),
    };
    let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
    names.collect::<io::Result<_>>().map_err(Error::file("list", path))
}

/// The collections in an index directory by their folders' names, sorted, whether they open or not.
pub fn collections_in(index: &Path) -> Result<Vec<CollectionName>> {
    let parse = |name: &OsStr| name.to_str()?.parse::<CollectionName>().ok();
    let mut names: Vec<CollectionName> = names_in(index)?.iter().filter_map(|name| parse(name)).collect();
    names.retain(|name| index.join(name.as_str()).join("CURRENT").exists());
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_from_the_greatest_there_is() {
        let place = tempfile::tempdir().unwrap();
        let folder = CollectionFolder::new(place.path(), &"docs".parse().unwrap());
        assert_eq!(folder.next().unwrap(), GenerationId::FIRST);
        for name in ["00000003", "00000007", "7", "junk", "00000005.old"] {
            fs::create_dir_all(folder.generations().join(name)).unwrap();
        }
        assert_eq!(folder.kept().unwrap().iter().map(|id| id.number()).collect::<Vec<_>>(), [3, 7]);
        assert_eq!(folder.next().unwrap().number(), 8);
    }
}
