//! The model store while something is installed: one process at a time, and nothing visible before it is whole.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::error::{Error, Result};

/// The file whose lock the installing process holds. It stays; the lock dies with its holder.
const LOCK: &str = ".lock";

/// How the names of unfinished folders begin.
const UNFINISHED: &str = ".installing-";

/// The store, locked for this process.
pub(super) struct Staging {
    store: PathBuf,
    folder: TempDir,
    /// Holds the lock.
    _lock: File,
}

impl Staging {
    /// Waits for other installs to end, and clears away what dead ones have left.
    pub(super) fn open(store: &Path) -> Result<Self> {
        fs::create_dir_all(store).map_err(Error::file("create", store))?;
        let path = store.join(LOCK);
        let lock = File::options().create(true).truncate(false).write(true).open(&path);
        let lock = lock.map_err(Error::file("write", &path))?;
        lock.lock().map_err(Error::file("lock", &path))?;
        for entry in fs::read_dir(store).map_err(Error::file("read", store))?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
                fs::remove_dir_all(entry.path()).map_err(Error::file("remove", &entry.path()))?;
            }
        }
        let folder = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(store);
        Ok(Self {
            store: store.to_owned(),
            folder: folder.map_err(Error::file("write in", store))?,
            _lock: lock,
        })
    }

    /// A new empty folder that vanishes with this unless it is published.
    pub(super) fn folder(&self, name: &str) -> Result<PathBuf> {
        let path = self.folder.path().join(name);
        fs::create_dir(&path).map_err(Error::file("create", &path))?;
        Ok(path)
    }

    /// Gives a complete folder its name in the store, in the place of what had it. Everything in it is on the disk
    /// before it can be seen.
    pub(super) fn publish(&self, folder: &Path, name: &str) -> Result<()> {
        sync(folder)?;
        let target = self.store.join(name);
        let old = self.folder.path().join("old");
        if target.exists() {
            fs::rename(&target, &old).map_err(Error::file("replace", &target))?;
        }
        fs::rename(folder, &target).map_err(Error::file("rename", folder))?;
        sync(&self.store)?;
        if old.exists() {
            fs::remove_dir_all(&old).map_err(Error::file("remove", &old))?;
        }
        Ok(())
    }

    /// Takes a name out of the store again.
    pub(super) fn withdraw(&self, name: &str) -> Result<()> {
        let target = self.store.join(name);
        fs::remove_dir_all(&target).map_err(Error::file("remove", &target))
    }
}

/// Writes a new small file and waits until it is on the disk.
pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    use std::io::Write as _;
    let mut file = File::create_new(path).map_err(Error::file("write", path))?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(Error::file("write", path))
}

fn sync(folder: &Path) -> Result<()> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(Error::file("sync", folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_published_vanishes() {
        let store = tempfile::tempdir().unwrap();
        let staging = Staging::open(store.path()).unwrap();
        staging.folder("model").unwrap();
        drop(staging);
        let left: Vec<_> =
            fs::read_dir(store.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, [LOCK]);
    }

    #[test]
    fn what_a_dead_install_left_is_cleared_away() {
        let store = tempfile::tempdir().unwrap();
        let left = store.path().join(".installing-dead");
        fs::create_dir(&left).unwrap();
        fs::write(left.join("half"), b"x").unwrap();
        let staging = Staging::open(store.path()).unwrap();
        assert!(!left.exists());
        drop(staging);
    }

    #[test]
    fn a_published_folder_replaces_the_old_one() {
        let store = tempfile::tempdir().unwrap();
        fs::create_dir(store.path().join("model")).unwrap();
        fs::write(store.path().join("model/old"), b"x").unwrap();
        let staging = Staging::open(store.path()).unwrap();
        let folder = staging.folder("model").unwrap();
        write(&folder.join("new"), "y").unwrap();
        staging.publish(&folder, "model").unwrap();
        drop(staging);
        assert!(store.path().join("model/new").exists());
        assert!(!store.path().join("model/old").exists());
    }
}
