//! The folder that holds the socket: 0700, or 0750 and given to a group.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::process::geteuid;

use super::{Error, Group};

/// Any of the bits that let others than owner and group write.
const WRITE_BY_OTHERS: u32 = 0o022;
/// Only owners remove what is theirs, as in /tmp.
const STICKY: u32 = 0o1000;

/// Makes the folder of `socket` where there is none, and sees that it keeps out whom it should, and lets in
/// the group.
pub(super) fn prepare(socket: &Path, group: Option<&Group>) -> Result<(), Error> {
    let Some(folder) = socket.parent() else { return Ok(()) };
    create_private(folder)?;
    let metadata = std::fs::metadata(folder).map_err(Error::file("look at", folder))?;
    let writable = metadata.mode() & WRITE_BY_OTHERS != 0;
    if writable && metadata.mode() & STICKY == 0 {
        return Err(Error::OpenFolder { path: folder.to_owned() });
    }
    let Some(group) = group else { return Ok(()) };
    let ours = metadata.uid() == geteuid().as_raw() && metadata.mode() & 0o7777 == 0o700;
    if ours && holds_only_ours(folder) {
        give_to(folder, group)?;
        set_mode(folder, 0o750)?;
    }
    keeps_in(folder, group)
}

/// Creates a folder and those above it, readable by us alone. One that exists is left as it is.
pub(super) fn create_private(folder: &Path) -> Result<(), Error> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        create_private(parent)?;
    }
    match DirBuilder::new().mode(0o700).create(folder) {
        // The umask may have taken bits away; it never adds any.
        Ok(()) => set_mode(folder, 0o700),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        Err(source) => Err(Error::file("create the folder", folder)(source)),
    }
}

/// Gives a file or folder of ours to the group.
pub(super) fn give_to(path: &Path, group: &Group) -> Result<(), Error> {
    std::os::unix::fs::chown(path, None, Some(group.gid.0)).map_err(Error::file("give to the group", path))
}

/// Whether nothing but sockets and locks is in there, so that opening it to the group gives nothing else away.
fn holds_only_ours(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|entries| {
        entries.flatten().all(|entry| {
            let name = entry.file_name();
            let suffixes = [".sock", ".lock", ".start"];
            suffixes.iter().any(|suffix| name.as_encoded_bytes().ends_with(suffix.as_bytes()))
        })
    })
}

/// Sees that members of the group may pass each folder on the way.
fn keeps_in(folder: &Path, group: &Group) -> Result<(), Error> {
    for folder in folder.ancestors() {
        let metadata = std::fs::metadata(folder).map_err(Error::file("look at", folder))?;
        let mode = metadata.mode() & 0o7777;
        // Where the group is the folder's, its bits count and not those of others.
        let passable = if metadata.gid() == group.gid.0 { mode & 0o010 } else { mode & 0o001 };
        if passable == 0 {
            return Err(Error::GroupKeptOut { group: group.clone(), path: folder.to_owned(), mode });
        }
    }
    Ok(())
}

fn set_mode(path: &Path, mode: u32) -> Result<(), Error> {
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(path, permissions).map_err(Error::file("set the mode of", path))
}
