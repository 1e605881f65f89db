//! A client's configuration on disk: read once, copied beside itself, replaced as a whole.
//!
//! What is unusual about the file itself (a link to nothing, not UTF-8, read-only, several names) is said and left
//! alone. Deliberately left out: what is in it.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::Access;
use tempfile::NamedTempFile;

use super::client::Scope;

/// What the name of a copy adds.
const BACKUP: &str = ".footnote-backup";

/// More than any configuration has.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Why a file is left alone.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// It cannot be read.
    #[error("it cannot be read")]
    Read(#[source] io::Error),
    /// It cannot be written.
    #[error("it cannot be written")]
    Write(#[source] io::Error),
    /// It cannot be copied.
    #[error("it cannot be copied to {}", .0.display())]
    Copy(PathBuf, #[source] io::Error),
    /// It may only be read.
    #[error("it is read-only")]
    ReadOnly,
    /// It is a symbolic link, and nothing is where that leads.
    #[error("it is a link to something that is not there")]
    Dangling,
    /// It is something else than a file.
    #[error("it is {0}")]
    NoFile(&'static str),
    /// Another name would keep the old content.
    #[error("it has several names (hard links), and a change would reach only one")]
    SeveralNames,
    /// It is larger than any configuration.
    #[error("it is larger than 64 MiB")]
    TooLarge,
    /// It is not UTF-8.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// It lies in a project by name and elsewhere in truth.
    #[error("it is a link that leads out of the project")]
    Outside,
    /// Someone wrote it meanwhile.
    #[error("someone else has just written it; try again")]
    Changed,
}

impl Error {
    /// Whether another user, or another mode, would help.
    pub(crate) fn is_permission(&self) -> bool {
        match self {
            Self::ReadOnly => true,
            Self::Read(error) | Self::Write(error) | Self::Copy(_, error) => {
                error.kind() == io::ErrorKind::PermissionDenied
            }
            Self::Dangling
            | Self::NoFile(_)
            | Self::SeveralNames
            | Self::TooLarge
            | Self::NotUtf8
            | Self::Outside
            | Self::Changed => false,
        }
    }
}

/// A configuration, there or not yet.
#[derive(Debug)]
pub(crate) struct Configuration {
    /// Where it is, links followed.
    pub(crate) path: PathBuf,
    /// What it holds, if it is there.
    pub(crate) text: Option<String>,
    scope: Scope,
}

impl Configuration {
    /// Reads it.
    pub(crate) fn read(path: &Path, scope: Scope) -> Result<Self, Error> {
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if path.symlink_metadata().is_ok() {
                    return Err(Error::Dangling);
                }
                return Ok(Self { path: path.to_owned(), text: None, scope });
            }
            Err(error) => return Err(Error::Read(error)),
        };
        if let Scope::Project(folder) = &scope
            && !folder.canonicalize().is_ok_and(|folder| real.starts_with(folder))
        {
            return Err(Error::Outside);
        }
        let metadata = real.metadata().map_err(Error::Read)?;
        if !metadata.is_file() {
            return Err(Error::NoFile(if metadata.is_dir() { "a folder" } else { "not a regular file" }));
        }
        if metadata.len() > MAX_BYTES {
            return Err(Error::TooLarge);
        }
        let bytes = fs::read(&real).map_err(Error::Read)?;
        let text = String::from_utf8(bytes).map_err(|_| Error::NotUtf8)?;
        Ok(Self { path: real, text: Some(text), scope })
    }

    /// What earlier copies of it hold, newest first.
    pub(crate) fn backups(&self) -> Vec<String> {
        let mut texts: Vec<_> = self
            .backup_names()
            .take_while(|name| name.symlink_metadata().is_ok())
            .filter_map(|name| read_copy(&name))
            .collect();
        texts.reverse();
        texts
    }

    /// Copies it beside itself and says where to. A copy that is there already and holds the same is enough;
    /// none is written over.
    pub(crate) fn back_up(&self) -> Result<Option<PathBuf>, Error> {
        let Some(text) = &self.text else { return Ok(None) };
        let metadata = self.writable()?;
        for name in self.backup_names() {
            let failed = |error| Error::Copy(name.clone(), error);
            let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&name);
            match created {
                Ok(mut copy) => {
                    own_alike(&copy, &metadata).map_err(failed)?;
                    copy.write_all(text.as_bytes()).and_then(|()| copy.sync_all()).map_err(failed)?;
                    return Ok(Some(name));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if read_copy(&name).as_ref() == Some(text) {
                        return Ok(Some(name));
                    }
                }
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(None)
    }

    /// Gives it another content, all at once: whoever reads it finds the old one or the new one.
    pub(crate) fn replace(&self, text: &str) -> Result<(), Error> {
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        if self.text.is_none() {
            fs::create_dir_all(folder).map_err(Error::Write)?;
        }
        let mode = if self.scope == Scope::User { 0o600 } else { 0o666 };
        let mut new = tempfile::Builder::new()
            .prefix(".footnote-")
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(folder)
            .map_err(Error::Write)?;
        if self.text.is_some() {
            own_alike(new.as_file(), &self.writable()?).map_err(Error::Write)?;
        }
        new.write_all(text.as_bytes()).and_then(|()| new.as_file().sync_all()).map_err(Error::Write)?;
        self.take_place(new)?;
        sync(folder)
    }

    /// Removes it.
    pub(crate) fn remove(&self) -> Result<(), Error> {
        self.writable()?;
        self.unchanged()?;
        fs::remove_file(&self.path).map_err(Error::Write)?;
        sync(self.path.parent().unwrap_or(Path::new("/")))
    }

    /// Makes sure that it may be changed: a rename would not ask.
    pub(crate) fn writable(&self) -> Result<Metadata, Error> {
        let metadata = self.path.symlink_metadata().map_err(Error::Read)?;
        if metadata.mode() & 0o222 == 0 || rustix::fs::access(&self.path, Access::WRITE_OK).is_err() {
            return Err(Error::ReadOnly);
        }
        if metadata.nlink() > 1 {
            return Err(Error::SeveralNames);
        }
        Ok(metadata)
    }

    fn take_place(&self, new: NamedTempFile) -> Result<(), Error> {
        if self.text.is_none() {
            return match new.persist_noclobber(&self.path) {
                Ok(_) => Ok(()),
                Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => Err(Error::Changed),
                Err(refused) => Err(Error::Write(refused.error)),
            };
        }
        self.unchanged()?;
        new.persist(&self.path).map_err(|refused| Error::Write(refused.error))?;
        Ok(())
    }

    /// Makes sure that nobody wrote it since it was read. A client that writes in the moment before the rename
    /// loses its change: there is no lock that all of them know.
    fn unchanged(&self) -> Result<(), Error> {
        let now = fs::read(&self.path).map_err(Error::Read)?;
        if self.text.as_deref().map(str::as_bytes) == Some(&now) { Ok(()) } else { Err(Error::Changed) }
    }

    fn backup_names(&self) -> impl Iterator<Item = PathBuf> {
        let name = |suffix: String| {
            let mut path = self.path.clone().into_os_string();
            path.push(suffix);
            PathBuf::from(path)
        };
        (1..1000).map(move |number| match number {
            1 => name(BACKUP.to_owned()),
            _ => name(format!("{BACKUP}-{number}")),
        })
    }
}

/// Gives a new file the mode and the owners of another.
fn own_alike(file: &File, other: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (other.uid(), other.gid()) {
        std::os::unix::fs::fchown(file, Some(other.uid()), Some(other.gid()))?;
    }
    file.set_permissions(Permissions::from_mode(other.mode() & 0o7777))
}

/// What a copy holds; nothing where it is none of ours by its look.
fn read_copy(name: &Path) -> Option<String> {
    let metadata = name.symlink_metadata().ok()?;
    let usual = metadata.is_file() && metadata.len() <= MAX_BYTES;
    usual.then(|| fs::read_to_string(name).ok()).flatten()
}

fn sync(folder: &Path) -> Result<(), Error> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(Error::Write)
}
