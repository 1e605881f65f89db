//! Who connects: the kernel says, and this decides.
//!
//! Modes let in whom they should; the credentials are checked all the same, because a folder may be opened or
//! a socket's mode be changed later.

use std::fmt;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::process::geteuid;
use tokio::net::UnixStream;

use super::Error;

/// What those may who are neither owner nor in the group.
const OTHERS: u32 = 0o007;

/// A user's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uid(pub u32);

impl Uid {
    const ROOT: Self = Self(0);
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for Uid {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// A group's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gid(pub u32);

/// A group, as it was named and as the system knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The name or number given.
    pub name: String,
    /// Its number.
    pub gid: Gid,
}

/// A group that the system does not know.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("no group is named {0} in /etc/group; a number is taken as it is")]
pub struct ResolveGroup(String);

impl Group {
    /// Looks up a name in `/etc/group`; a number stands for itself.
    pub fn resolve(name: &str) -> Result<Self, ResolveGroup> {
        let known = std::fs::read_to_string("/etc/group").unwrap_or_default();
        Self::look_up(name, &known)
    }

    fn look_up(name: &str, group_file: &str) -> Result<Self, ResolveGroup> {
        let by_name = || rows(group_file).find(|row| row[0] == name)?.get(2)?.parse().ok();
        let gid = name.parse().ok().or_else(by_name).ok_or_else(|| ResolveGroup(name.to_owned()))?;
        Ok(Self { name: name.to_owned(), gid: Gid(gid) })
    }

    /// Whether the user is known not to be a member. A user whom the system does not know may be one.
    fn keeps_out(&self, uid: Uid, passwd_file: &str, group_file: &str) -> bool {
        let gid = self.gid.0.to_string();
        let number = uid.to_string();
        let Some(user) = rows(passwd_file).find(|row| row.get(2) == Some(&number.as_str())) else {
            return false;
        };
        let primary = user.get(3) == Some(&gid.as_str());
        let listed = rows(group_file).any(|row| {
            row.get(2) == Some(&gid.as_str())
                && row.get(3).is_some_and(|members| members.split(',').any(|member| member == user[0]))
        });
        !primary && !listed
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "group {}", self.name)
    }
}

/// Rows of a file like `/etc/passwd`.
fn rows(file: &str) -> impl Iterator<Item = Vec<&str>> {
    file.lines().map(|line| line.split(':').collect())
}

/// Whose connections are taken.
#[derive(Clone, Debug)]
pub struct Peers {
    own: Uid,
    allowed: Vec<Uid>,
    group: Option<Group>,
}

/// Why a connection was not taken.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The system did not say who it is.
    #[error("the peer's credentials are unknown")]
    Unknown,
    /// It is none of those who may connect.
    #[error("user {uid} may not connect")]
    NotAllowed {
        /// Who it is.
        uid: Uid,
    },
}

impl Peers {
    /// Same user, root, `allowed`, and the members of `group`.
    ///
    /// Refuses an allowed user whom the socket's modes would keep out.
    pub fn new(group: Option<Group>, allowed: &[Uid]) -> Result<Self, Error> {
        let own = Uid(geteuid().as_raw());
        for uid in allowed.iter().copied().filter(|uid| *uid != own && *uid != Uid::ROOT) {
            let remedy = match &group {
                None => format!("name a group that user {uid} is in with --socket-group"),
                Some(group) => {
                    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
                    if !group.keeps_out(uid, &read("/etc/passwd"), &read("/etc/group")) {
                        continue;
                    }
                    format!("add user {uid} to {group}")
                }
            };
            return Err(Error::UserKeptOut { uid, remedy });
        }
        Ok(Self { own, allowed: allowed.to_vec(), group })
    }

    /// Those of a daemon that runs as `own` and whose flags were looked at.
    #[cfg(test)]
    pub(super) fn of(own: Uid, allowed: Vec<Uid>) -> Self {
        Self { own, allowed, group: None }
    }

    pub(super) fn admit(&self, stream: &UnixStream, socket: &Path) -> Result<(), Refusal> {
        let uid = stream.peer_cred().ok().map(|credentials| Uid(credentials.uid()));
        self.decide(uid, || self.only_group_may_connect(socket))
    }

    /// `by_group`: whether one who could connect and is not the owner must be a member of the group.
    fn decide(&self, uid: Option<Uid>, by_group: impl FnOnce() -> bool) -> Result<(), Refusal> {
        let uid = uid.ok_or(Refusal::Unknown)?;
        let named = uid == self.own || uid == Uid::ROOT || self.allowed.contains(&uid);
        if named || by_group() { Ok(()) } else { Err(Refusal::NotAllowed { uid }) }
    }

    /// Whether the socket's modes are still those that admit owner and group alone.
    fn only_group_may_connect(&self, socket: &Path) -> bool {
        let Some(group) = &self.group else { return false };
        std::fs::symlink_metadata(socket)
            .is_ok_and(|metadata| metadata.gid() == group.gid.0 && metadata.mode() & OTHERS == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str =
        "root:x:0:0::/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\nweb:x:33:33::/:/bin/false\n";
    const GROUP: &str = "root:x:0:\nfootnote:x:500:web,other\nada:x:1000:\n";

    #[test]
    fn a_group_is_found_by_name_or_taken_by_number() {
        assert_eq!(Group::look_up("footnote", GROUP).unwrap().gid, Gid(500));
        assert_eq!(Group::look_up("77", GROUP).unwrap().gid, Gid(77));
        assert_eq!(Group::look_up("nobody-knows", GROUP), Err(ResolveGroup("nobody-knows".into())));
    }

    #[test]
    fn members_are_kept_in_and_others_out() {
        let group = Group::look_up("footnote", GROUP).unwrap();
        assert!(!group.keeps_out(Uid(33), PASSWD, GROUP), "listed");
        assert!(group.keeps_out(Uid(1000), PASSWD, GROUP), "not listed");
        assert!(!group.keeps_out(Uid(4242), PASSWD, GROUP), "unknown to the system");
        let primary = Group::look_up("ada", GROUP).unwrap();
        assert!(!primary.keeps_out(Uid(1000), PASSWD, GROUP), "primary group");
    }

    #[test]
    fn an_allowed_user_behind_closed_modes_is_refused_at_start() {
        let stranger = Uid(geteuid().as_raw() + 4321);
        let error = Peers::new(None, &[stranger]).unwrap_err().to_string();
        assert!(error.contains("--socket-group"), "{error}");
        assert!(Peers::new(None, &[Uid(geteuid().as_raw()), Uid::ROOT]).is_ok());
    }

    #[test]
    fn peers_are_taken_by_uid_and_strangers_only_through_the_group() {
        let peers = Peers { own: Uid(1000), allowed: vec![Uid(33)], group: None };
        for uid in [1000, 0, 33] {
            assert_eq!(peers.decide(Some(Uid(uid)), || false), Ok(()), "{uid}");
        }
        assert_eq!(peers.decide(Some(Uid(44)), || false), Err(Refusal::NotAllowed { uid: Uid(44) }));
        assert_eq!(peers.decide(Some(Uid(44)), || true), Ok(()));
        assert_eq!(peers.decide(None, || true), Err(Refusal::Unknown));
    }

    #[test]
    fn a_group_admits_nobody_once_the_socket_is_open_to_all() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s");
        std::fs::write(&socket, "").unwrap();
        let gid = Gid(std::fs::metadata(&socket).unwrap().gid());
        let group = Group { name: "g".into(), gid };
        let peers = Peers { own: Uid(1), allowed: vec![], group: Some(group) };
        for (mode, admits) in [(0o660, true), (0o666, false)] {
            std::fs::set_permissions(&socket, PermissionsExt::from_mode(mode)).unwrap();
            assert_eq!(peers.only_group_may_connect(&socket), admits, "{mode:o}");
        }
    }
}
