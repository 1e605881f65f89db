//! One writer per collection: an OS lock that dies with its holder.
//!
//! The lock is `flock` on `writer/lock`; the file's content is the holder's process number, for the words of the one
//! that comes second, and means nothing without the lock. Deliberately left out: waiting. Who comes second is told so.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::thread;
use std::time::Duration;

use engine::collection::CollectionName;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::durable;
use crate::error::{Error, Result};

/// The right to write a collection, held until dropped.
#[derive(Debug)]
pub struct WriterLock {
    _file: File,
}

impl WriterLock {
    /// Takes the lock at `path`, whose folder must be there; [`Error::AnotherWriter`] where another process holds it.
    pub fn take(path: &Path, collection: &CollectionName) -> Result<Self> {
        loop {
            let mut file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(durable::OPEN_MODE)
                .open(path)
                .map_err(Error::file("open", path))?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => {
                    return Err(Error::AnotherWriter {
                        collection: collection.clone(),
                        pid: holder(&mut file),
                    });
                }
                Err(errno) => return Err(Error::file("lock", path)(errno.into())),
            }
            // Between opening and locking the collection may have been removed, and the lock would be on nothing.
            if !is_still_at(&file, path) {
                continue;
            }
            file.set_permissions(Permissions::from_mode(durable::OPEN_MODE))
                .and_then(|()| file.set_len(0))
                .and_then(|()| writeln!(file, "{}", std::process::id()))
                .map_err(Error::file("write", path))?;
            return Ok(Self { _file: file });
        }
    }
}

/// The process number in the file. A holder writes it right after it took the lock, so an empty file is looked at again.
fn holder(file: &mut File) -> Option<u32> {
    for _ in 0..20 {
        let mut text = String::new();
        file.rewind().and_then(|()| file.read_to_string(&mut text)).ok()?;
        if let Some(pid) = text.strip_suffix('\n').and_then(|pid| pid.parse().ok()) {
            return Some(pid);
        }
        thread::sleep(Duration::from_millis(5));
    }
    None
}

fn is_still_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), path.metadata()) {
        (Ok(held), Ok(named)) => held.dev() == named.dev() && held.ino() == named.ino(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_writer_is_told_who_is_first() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("lock");
        let name: CollectionName = "docs".parse().unwrap();
        let held = WriterLock::take(&path, &name).unwrap();
        // flock belongs to the open file, so that a second opening in this process is a second holder.
        let refused = WriterLock::take(&path, &name).unwrap_err();
        assert!(matches!(refused, Error::AnotherWriter { pid: Some(pid), .. } if pid == std::process::id()));
        assert_eq!(refused.exit_code(), 10);
        drop(held);
        WriterLock::take(&path, &name).unwrap();
    }

    #[test]
    fn a_stale_number_keeps_nobody_out() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("lock");
        std::fs::write(&path, "1\n").unwrap();
        WriterLock::take(&path, &"docs".parse().unwrap()).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{}\n", std::process::id()));
    }
}
