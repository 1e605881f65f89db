//! Why a socket is closed to this user, and what opens it.
//!
//! Deliberately left out: user databases beyond `/etc/passwd` and `/etc/group`; a name that they do not hold is
//! a number.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::places::SocketPath;

/// A socket, and who may use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotPermitted {
    /// The socket.
    pub socket: SocketPath,
    /// Who may use it, as far as it can be seen from outside.
    pub admits: Option<Admits>,
}

/// Who may use a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admits {
    /// Its owner alone.
    Owner(String),
    /// Its owner and the members of a group.
    Group(String),
}

impl NotPermitted {
    /// Looks at the socket's modes or, where its folder is closed too, at the folder's, which the daemon gives
    /// the same group.
    pub fn look(socket: SocketPath) -> Self {
        let admits = socket
            .as_path()
            .ancestors()
            .take(2)
            .find_map(|path| fs::symlink_metadata(path).ok())
            .map(|metadata| admits(metadata.mode(), metadata.uid(), metadata.gid()));
        Self { socket, admits }
    }

    /// What opens the socket.
    pub fn remedy(&self) -> String {
        match &self.admits {
            Some(Admits::Group(group)) => format!(
                "have yourself added to the group `{group}` (`sudo usermod -aG {group} \"$USER\"`), then log in again"
            ),
            Some(Admits::Owner(owner)) => format!(
                "ask as `{owner}`, or have the daemon started with `--socket-group` and a group that you are in"
            ),
            None => "name another socket with `--socket`, or ask whoever runs the daemon".to_owned(),
        }
    }
}

impl fmt::Display for NotPermitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "you may not use the daemon's socket {}", self.socket.as_path().display())
    }
}

impl std::error::Error for NotPermitted {}

fn admits(mode: u32, uid: u32, gid: u32) -> Admits {
    if mode & 0o070 == 0 {
        Admits::Owner(name("/etc/passwd", uid))
    } else {
        Admits::Group(name("/etc/group", gid))
    }
}

/// The name beside an id: both files have it in the first field and the id in the third.
fn name(database: &str, id: u32) -> String {
    let id = id.to_string();
    fs::read_to_string(database)
        .unwrap_or_default()
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>())
        .find(|fields| fields.get(2) == Some(&id.as_str()))
        .map_or(id.clone(), |fields| fields[0].to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_group_to_join_is_named() {
        assert_eq!(admits(0o660, 0, 0), Admits::Group("root".into()));
        assert_eq!(admits(0o600, 0, 0), Admits::Owner("root".into()));
        assert_eq!(admits(0o750, 0, 4_000_000_000), Admits::Group("4000000000".into()));
    }

    #[test]
    fn a_closed_socket_is_looked_at_or_else_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let socket = SocketPath::try_from(folder.path().join("core.sock")).unwrap();
        let refused = NotPermitted::look(socket);
        assert!(matches!(refused.admits, Some(Admits::Owner(_))), "{refused:?}");
        assert!(refused.remedy().contains("--socket-group"));
    }
}
