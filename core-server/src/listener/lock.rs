//! Locks that die with their holder: one per socket, one per index directory.
//!
//! The files stay behind; removing a lock file would let two holders lock two files of one name.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use proto::places::settled;

use super::{Error, is_live};

/// How long a daemon that holds the lock and no longer listens is waited for: longer than a drain takes.
const PATIENCE: Duration = Duration::from_secs(15);

/// How often the lock is tried meanwhile.
const RETRY: Duration = Duration::from_millis(20);

/// A held lock.
#[derive(Debug)]
pub struct Lock {
    /// Closing it lets go.
    _file: File,
}

/// The name of the lock file of an index directory: the same for every way to write its path.
pub fn index_lock_name(index_dir: &Path) -> String {
    let settled = settled(index_dir).unwrap_or_else(|_| index_dir.to_owned());
    let hash = engine::id::Sha256::of(settled.as_os_str().as_bytes()).to_string();
    format!("index-{}.lock", &hash[..16])
}

/// Takes the lock at `path` for the daemon of `socket`, or says who serves `what`.
pub(super) async fn take(path: &Path, socket: &Path, what: &'static str) -> Result<Lock, Error> {
    if let Some(folder) = path.parent() {
        super::folder::create_private(folder)?;
    }
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        // In a folder like /tmp another user may have put a link here.
        .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)
        .map_err(Error::file("open the lock", path))?;
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::Error(source)) => return Err(Error::file("lock", path)(source)),
            Err(TryLockError::WouldBlock) => {}
        }
        let holder = Holder::read(&mut file);
        let lives = holder.socket.as_deref().is_some_and(is_live);
        if lives || began.elapsed() > PATIENCE {
            return Err(Error::AlreadyServed { held_by: holder.to_string(), what });
        }
        tokio::time::sleep(RETRY).await;
    }
    write_holder(&mut file, socket).map_err(Error::file("write the lock", path))?;
    Ok(Lock { _file: file })
}

fn write_holder(file: &mut File, socket: &Path) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    let mut text = format!("{}\n", std::process::id()).into_bytes();
    text.extend_from_slice(socket.as_os_str().as_bytes());
    text.push(b'\n');
    file.write_all(&text)
}

/// Who holds a lock, as far as the file says. Only for words: nobody is signalled by what it holds.
struct Holder {
    pid: Option<u32>,
    socket: Option<PathBuf>,
}

impl Holder {
    fn read(file: &mut File) -> Self {
        let mut text = Vec::new();
        let read = file.rewind().and_then(|()| file.read_to_end(&mut text));
        let mut lines = text.split(|byte| *byte == b'\n').take_while(|_| read.is_ok());
        let pid = lines.next().and_then(|line| std::str::from_utf8(line).ok()?.parse().ok());
        let socket = lines.next().filter(|line| !line.is_empty());
        Self { pid, socket: socket.map(|line| PathBuf::from(std::ffi::OsStr::from_bytes(line))) }
    }
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a footnoted")?;
        if let Some(pid) = self.pid {
            write!(f, " (pid {pid})")?;
        }
        if let Some(socket) = &self.socket {
            write!(f, " on {}", socket.display())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_has_one_lock_however_its_path_is_written() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("real")).unwrap();
        std::os::unix::fs::symlink("real", folder.path().join("link")).unwrap();
        let name = |relative: &str| index_lock_name(&folder.path().join(relative));
        assert_eq!(name("real/index"), name("link/index"));
        assert_eq!(name("real/index"), name("real/index/"));
        assert_ne!(name("real/index"), name("real/other"));
    }
}
