//! Files and folders that are there after a power cut, with modes that no umask changes.
//!
//! Each function here is one durable step, so that a trace of the process reads like this file. Deliberately left
//! out: in which order the steps make a generation (`publish`).

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use crate::error::{Error, Result};

/// The mode of every folder of an index.
pub const FOLDER_MODE: u32 = 0o700;
/// The mode of a file that may still be written.
pub const OPEN_MODE: u32 = 0o600;
/// The mode of a file that is part of a sealed generation.
pub const SEALED_MODE: u32 = 0o400;

/// Creates `path` where it is not there yet, and makes the entry durable. The folder above must be there.
pub fn create_folder(path: &Path) -> Result<()> {
    if make_folder(path)? { path.parent().map_or(Ok(()), sync_folder) } else { Ok(()) }
}

/// Creates `path`, not yet durably; says whether it was not there before.
pub fn make_folder(path: &Path) -> Result<bool> {
    match fs::create_dir(path) {
        Ok(()) => chmod(path, FOLDER_MODE).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(false),
        Err(source) => Err(Error::File { doing: "create the folder", path: path.to_owned(), source }),
    }
}

/// Creates `path` and whatever is missing above it.
pub fn create_folders(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) {
        create_folders(above)?;
    }
    create_folder(path)
}

/// Writes a new file and makes its content durable; the entry is durable once the folder is synced.
pub fn write_new(path: &Path, content: &[u8]) -> Result<()> {
    let mut file = create_new(path)?;
    file.write_all(content).map_err(Error::file("write", path))?;
    file.sync_all().map_err(Error::file("sync", path))
}

/// Creates a new file, open for writing.
pub fn create_new(path: &Path) -> Result<File> {
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(OPEN_MODE)
        .open(path)
        .map_err(Error::file("create", path))?;
    file.set_permissions(Permissions::from_mode(OPEN_MODE)).map_err(Error::file("set the mode of", path))?;
    Ok(file)
}

/// Puts `from` into another folder by a hard link, or by a copy where the file system has no hard links.
pub fn link_or_copy(from: &Path, to: &Path) -> Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => Ok(()),
        Err(error)
            if error.kind() == io::ErrorKind::NotFound || error.kind() == io::ErrorKind::StorageFull =>
        {
            Err(Error::File { doing: "link", path: from.to_owned(), source: error })
        }
        Err(_) => {
            copy(from, to)?;
            sync_file(to)
        }
    }
}

/// Copies a file; the copy may be written.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    let mut source = File::open(from).map_err(Error::file("read", from))?;
    let mut target = create_new(to)?;
    io::copy(&mut source, &mut target).map_err(Error::file("copy", from))?;
    Ok(())
}

/// Makes a file's content durable.
pub fn sync_file(path: &Path) -> Result<()> {
    File::open(path).and_then(|file| file.sync_all()).map_err(Error::file("sync", path))
}

/// Makes a folder's entries durable.
pub fn sync_folder(path: &Path) -> Result<()> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    match File::open(path).and_then(|folder| folder.sync_all()) {
        Ok(()) => Ok(()),
        // A folder above the index may be one that this user may search but not read; then its file system decides.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(source) => Err(Error::File { doing: "sync the folder", path: path.to_owned(), source }),
    }
}

/// Sets a mode whatever the umask is.
pub fn chmod(path: &Path, mode: u32) -> Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode)).map_err(Error::file("set the mode of", path))
}

/// Renames within one file system.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(Error::file("rename", from))
}

/// Removes a folder with all it holds; it need not be there.
pub fn remove_folder(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(Error::File { doing: "remove the folder", path: path.to_owned(), source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_files_are_for_their_owner_only() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("a/b/c");
        create_folders(&folder).unwrap();
        let file = folder.join("f");
        write_new(&file, b"x").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), FOLDER_MODE);
        assert_eq!(mode(&place.path().join("a")), FOLDER_MODE);
        assert_eq!(mode(&file), OPEN_MODE);
    }

    #[test]
    fn a_file_is_never_overwritten() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("f");
        write_new(&file, b"x").unwrap();
        assert!(write_new(&file, b"y").is_err());
    }
}
