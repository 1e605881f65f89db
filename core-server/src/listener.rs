//! The Unix socket: who may reach it, who owns it, and how it comes and goes.
//!
//! A socket is bound, given its modes and only then listened on, so that nobody connects under wrong modes
//! whatever the umask is. Ownership is a lock that dies with its holder, never the socket file: a file left
//! by `kill -9` is replaced, a listening one is not. Deliberately left out: what is said over a connection.

mod folder;
mod lock;
mod peer;

use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use proto::places::SocketPath;
use tokio::net::{UnixListener, UnixSocket, UnixStream};
use tracing::{info, warn};

pub use lock::{Lock, index_lock_name};
pub use peer::{Gid, Group, Peers, ResolveGroup, Uid};

/// Connections that wait to be accepted; the system's own limit is usually lower.
const BACKLOG: u32 = 1024;

/// After a failed `accept`, as when no file descriptor is left: time for others to give some back.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Where to listen and whom to let in.
#[derive(Clone, Debug)]
pub struct Place {
    /// The socket.
    pub socket: SocketPath,
    /// The lock that stands for the index directory, one per directory.
    pub index_lock: PathBuf,
    /// The group whose members may connect.
    pub group: Option<Group>,
    /// Other users who may connect, as far as the modes let them.
    pub allowed_uids: Vec<Uid>,
}

/// Why the socket was not bound.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A daemon owns the socket or the index already.
    #[error("{held_by} already serves {what}; stop it with `footnote down`, or ask it")]
    AlreadyServed {
        /// The other process, as its lock names it.
        held_by: String,
        /// The socket or the index.
        what: &'static str,
    },
    /// Something that took no lock listens there.
    #[error("another program listens on {}", path.display())]
    Occupied {
        /// The socket.
        path: PathBuf,
    },
    /// What stands there is no socket.
    #[error("{} exists and is not a socket", path.display())]
    NotASocket {
        /// The path.
        path: PathBuf,
    },
    /// The folder could be used by others to put a socket of theirs in this one's place.
    #[error("others may write to {}: choose another folder for the socket, or `chmod go-w` this one", path.display())]
    OpenFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The group's members could not reach the socket.
    #[error(
        "members of {group} cannot reach the socket: {} has mode {mode:04o}; choose a socket in a folder that they can \
         enter, for example beneath /run",
        path.display()
    )]
    GroupKeptOut {
        /// The group.
        group: Group,
        /// The folder in the way.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// An allowed user could not reach the socket.
    #[error("--allow-uid {uid}: the socket's modes keep this user out; {remedy}")]
    UserKeptOut {
        /// The user.
        uid: Uid,
        /// What lets them in.
        remedy: String,
    },
    /// Something about a file failed.
    #[error("cannot {doing} {}", path.display())]
    File {
        /// What was to be done.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { doing, path: path.to_owned(), source }
    }
}

/// The bound socket. Dropping it removes the socket file, unless another one stands in its place by then.
#[derive(Debug)]
pub struct Listener {
    /// `None` once closed.
    accepts: Option<UnixListener>,
    path: PathBuf,
    /// Device and inode of the socket file that is ours.
    identity: (u64, u64),
    peers: Peers,
    /// Held until the process has nothing left to answer.
    _locks: [Lock; 2],
}

impl Listener {
    /// Takes the locks, replaces a socket that a killed daemon left behind, and listens.
    ///
    /// A daemon that still drains is waited for; one that listens is an error.
    pub async fn bind(place: &Place) -> Result<Self, Error> {
        let peers = Peers::new(place.group.clone(), &place.allowed_uids)?;
        let path = place.socket.as_path();
        let index_lock = lock_index(place).await?;
        folder::prepare(path, place.group.as_ref())?;
        let socket_lock = lock::take(&place.socket.owner_lock(), path, "this socket").await?;
        remove_stale(path)?;
        let (listener, identity) = listen(path, place.group.as_ref())?;
        info!(socket = %path.display(), "listening");
        Ok(Self {
            accepts: Some(listener),
            path: path.to_owned(),
            identity,
            peers,
            _locks: [index_lock, socket_lock],
        })
    }

    /// Waits for the next connection of a peer that may connect. Others are closed unheard.
    ///
    /// # Panics
    /// Never; waits for ever once closed.
    pub async fn accept(&self) -> UnixStream {
        let Some(listener) = &self.accepts else { return std::future::pending().await };
        loop {
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    warn!(%error, "connection not accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            match self.peers.admit(&stream, &self.path) {
                Ok(()) => return stream,
                Err(refusal) => warn!(%refusal, "connection refused"),
            }
        }
    }

    /// Stops listening and removes the socket file; the locks are kept, so that a successor waits.
    pub fn close(&mut self) {
        if self.accepts.take().is_some()
            && identity(&self.path).ok() == Some(self.identity)
            && let Err(error) = std::fs::remove_file(&self.path)
        {
            warn!(%error, "socket file not removed");
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.close();
    }
}

/// Takes the lock of the index directory; beside the socket where its own folder cannot be written to, as in a
/// container whose root is read-only.
async fn lock_index(place: &Place) -> Result<Lock, Error> {
    let path = place.socket.as_path();
    let taken = lock::take(&place.index_lock, path, "this index").await;
    match (taken, place.index_lock.file_name()) {
        (Err(Error::File { .. }), Some(name)) => {
            lock::take(&path.with_file_name(name), path, "this index").await
        }
        (taken, _) => taken,
    }
}

/// Binds, sets the modes and listens, in this order: nobody can connect before the last step.
fn listen(path: &Path, group: Option<&Group>) -> Result<(UnixListener, (u64, u64)), Error> {
    let socket = UnixSocket::new_stream().map_err(Error::file("make", path))?;
    socket.bind(path).map_err(Error::file("bind", path))?;
    if let Some(group) = group {
        folder::give_to(path, group)?;
    }
    let mode = if group.is_some() { 0o660 } else { 0o600 };
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode))
        .map_err(Error::file("set the mode of", path))?;
    let listener = socket.listen(BACKLOG).map_err(Error::file("listen on", path))?;
    Ok((listener, identity(path).map_err(Error::file("look at", path))?))
}

/// Removes what a killed daemon left. Called with the socket's lock held.
fn remove_stale(path: &Path) -> Result<(), Error> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(Error::file("look at", path)(source)),
        Ok(metadata) if !metadata.file_type().is_socket() => {
            return Err(Error::NotASocket { path: path.to_owned() });
        }
        Ok(_) => {}
    }
    if is_live(path) {
        return Err(Error::Occupied { path: path.to_owned() });
    }
    std::fs::remove_file(path).map_err(Error::file("remove the stale", path))?;
    info!(socket = %path.display(), "stale socket removed");
    Ok(())
}

/// Whether somebody listens there. Anything but a plain refusal counts as yes.
fn is_live(path: &Path) -> bool {
    match StdUnixStream::connect(path) {
        Ok(_) => true,
        Err(error) => !matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound),
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    std::fs::symlink_metadata(path).map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn place(folder: &Path) -> Place {
        Place {
            socket: folder.join("run/core.sock").try_into().unwrap(),
            index_lock: folder.join("run/index.lock"),
            group: None,
            allowed_uids: vec![],
        }
    }

    fn mode(path: &Path) -> u32 {
        std::fs::symlink_metadata(path).unwrap().mode() & 0o7777
    }

    #[tokio::test]
    async fn the_socket_is_private_in_a_private_folder() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        let listener = Listener::bind(&place).await.unwrap();
        assert_eq!(mode(place.socket.as_path()), 0o600);
        assert_eq!(mode(&folder.path().join("run")), 0o700);
        assert_eq!(mode(&place.socket.owner_lock()), 0o600);
        drop(listener);
        assert!(!place.socket.as_path().exists());
    }

    #[tokio::test]
    async fn a_group_gets_socket_and_folder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let gid = std::fs::metadata(folder.path()).unwrap().gid();
        let group = Some(Group { name: "g".into(), gid: Gid(gid) });
        let place = Place { group, ..place(folder.path()) };
        let _listener = Listener::bind(&place).await.unwrap();
        assert_eq!(mode(place.socket.as_path()), 0o660);
        assert_eq!(mode(&folder.path().join("run")), 0o750);
    }

    #[tokio::test]
    async fn a_group_that_cannot_enter_a_folder_on_the_way_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o700)).unwrap();
        let gid = std::fs::metadata(folder.path()).unwrap().gid();
        let group = Some(Group { name: "g".into(), gid: Gid(gid) });
        let refused = Listener::bind(&Place { group, ..place(folder.path()) }).await.unwrap_err();
        assert!(matches!(&refused, Error::GroupKeptOut { path, .. } if path == folder.path()), "{refused}");
    }

    #[tokio::test]
    async fn a_folder_that_others_may_write_to_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        std::fs::create_dir(folder.path().join("run")).unwrap();
        std::fs::set_permissions(folder.path().join("run"), PermissionsExt::from_mode(0o777)).unwrap();
        assert!(matches!(Listener::bind(&place).await, Err(Error::OpenFolder { .. })));
    }

    #[tokio::test]
    async fn a_socket_that_a_killed_daemon_left_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        std::fs::create_dir(folder.path().join("run")).unwrap();
        drop(std::os::unix::net::UnixListener::bind(place.socket.as_path()).unwrap());
        assert!(place.socket.as_path().exists());
        let listener = Listener::bind(&place).await.unwrap();
        let (_client, _) = tokio::join!(
            async { UnixStream::connect(place.socket.as_path()).await.unwrap() },
            listener.accept()
        );
    }

    #[tokio::test]
    async fn a_live_socket_is_never_stolen() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        let _first = Listener::bind(&place).await.unwrap();
        let refused = Listener::bind(&place).await.unwrap_err().to_string();
        assert!(refused.contains(&format!("pid {}", std::process::id())), "{refused}");
        assert!(std::os::unix::net::UnixStream::connect(place.socket.as_path()).is_ok());
    }

    #[tokio::test]
    async fn a_socket_of_another_program_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        std::fs::create_dir(folder.path().join("run")).unwrap();
        let _other = std::os::unix::net::UnixListener::bind(place.socket.as_path()).unwrap();
        assert!(matches!(Listener::bind(&place).await, Err(Error::Occupied { .. })));
    }

    #[tokio::test]
    async fn a_file_is_no_socket() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        std::fs::create_dir(folder.path().join("run")).unwrap();
        std::fs::write(place.socket.as_path(), "precious").unwrap();
        assert!(matches!(Listener::bind(&place).await, Err(Error::NotASocket { .. })));
        assert_eq!(std::fs::read(place.socket.as_path()).unwrap(), b"precious");
    }

    #[tokio::test]
    async fn one_index_has_one_daemon_whatever_its_sockets() {
        let folder = tempfile::tempdir().unwrap();
        let first = place(folder.path());
        let second =
            Place { socket: folder.path().join("run/other.sock").try_into().unwrap(), ..first.clone() };
        let _listener = Listener::bind(&first).await.unwrap();
        let refused = Listener::bind(&second).await.unwrap_err().to_string();
        assert!(refused.contains("this index") && refused.contains("core.sock"), "{refused}");
    }

    #[tokio::test]
    async fn a_successor_waits_for_one_that_drains() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        let mut first = Listener::bind(&place).await.unwrap();
        first.close();
        let successor = Listener::bind(&place);
        tokio::pin!(successor);
        tokio::select! {
            biased;
            _ = &mut successor => panic!("the first still holds the lock"),
            () = tokio::task::yield_now() => {}
        }
        drop(first);
        assert!(successor.await.is_ok());
    }

    #[tokio::test]
    async fn a_socket_that_took_its_place_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        let listener = Listener::bind(&place).await.unwrap();
        std::fs::remove_file(place.socket.as_path()).unwrap();
        let _other = std::os::unix::net::UnixListener::bind(place.socket.as_path()).unwrap();
        drop(listener);
        assert!(place.socket.as_path().exists());
    }

    #[tokio::test]
    async fn an_index_lock_that_cannot_be_written_stands_beside_the_socket() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("no-folder"), "").unwrap();
        let index_lock = folder.path().join("no-folder/index.lock");
        let place = Place { index_lock, ..place(folder.path()) };
        let _listener = Listener::bind(&place).await.unwrap();
        assert!(folder.path().join("run/index.lock").exists());
    }

    /// The stranger's number; nobody's.
    const STRANGER: Uid = Uid(64_321);

    /// Binds a socket whose modes keep nobody out, and lets a stranger connect: root can become one, others let
    /// the daemon believe that it is somebody else.
    async fn let_stranger_connect(allowed: Vec<Uid>) -> usize {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        let mut listener = Listener::bind(&place).await.unwrap();
        let is_root = rustix::process::geteuid().is_root();
        let own = if is_root { Uid(0) } else { Uid(64_322) };
        let allowed = if is_root { allowed } else { vec![] };
        listener.peers = Peers::of(own, allowed);
        let open =
            |path: &Path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        open(folder.path(), 0o755);
        open(&folder.path().join("run"), 0o755);
        open(place.socket.as_path(), 0o666);
        let path = place.socket.as_path().to_owned();
        let client = std::thread::spawn(move || {
            if is_root {
                let uid = rustix::thread::Uid::from_raw(STRANGER.0);
                rustix::thread::set_thread_res_uid(uid, uid, uid).unwrap();
            }
            StdUnixStream::connect(path).unwrap().read(&mut [0; 8]).unwrap()
        });
        let read = tokio::task::spawn_blocking(|| client.join().unwrap());
        tokio::select! {
            mut stream = listener.accept() => {
                tokio::io::AsyncWriteExt::write_all(&mut stream, b"hello").await.unwrap();
                5
            }
            read = read => read.unwrap(),
        }
    }

    #[tokio::test]
    async fn a_stranger_is_closed_unheard() {
        assert_eq!(let_stranger_connect(vec![]).await, 0);
    }

    #[tokio::test]
    async fn an_allowed_user_is_heard() {
        if rustix::process::geteuid().is_root() {
            assert_eq!(let_stranger_connect(vec![STRANGER]).await, 5);
        }
    }
}
