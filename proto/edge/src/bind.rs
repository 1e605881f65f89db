//! Opens the places where is listened: TCP addresses, Unix sockets, and what systemd passed.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::UnixListener as StdUnixListener;
use std::path::{Path, PathBuf};

use listenfd::ListenFd;
use proto::places::MAX_SOCKET_PATH;
use rustix::fs::Mode;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};
use tokio::net::{TcpListener, TcpSocket, UnixListener};

use crate::config::Config;
use crate::error::Error;
use crate::listen::{Listen, Reach};
use crate::socket::Stream;
use crate::visit::Client;

/// Connections that the system holds until they are let in.
const BACKLOG: u32 = 1024;

/// An open place.
#[derive(Debug)]
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, Option<SocketFile>),
}

/// A socket's file, removed with the listener, unless another has taken its place.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    inode: (u64, u64),
}

impl Listener {
    /// Opens what the configuration names.
    pub(crate) fn open_all(config: &Config) -> Result<Vec<Self>, Error> {
        let mut listeners = Vec::new();
        for place in &config.listen {
            match place {
                Listen::Tcp(address) => listeners.push(Self::tcp(*address)?),
                Listen::Unix(path) => listeners.push(Self::unix(path, config.socket_mode)?),
                Listen::Systemd => listeners.extend(passed(config)?),
            }
        }
        Ok(listeners)
    }

    pub(crate) fn tcp(address: SocketAddr) -> Result<Self, Error> {
        let open = || {
            let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
            // A restart need not wait for the last connections of its predecessor to be forgotten.
            socket.set_reuseaddr(true)?;
            socket.bind(address)?;
            socket.listen(BACKLOG)
        };
        open().map(Self::Tcp).map_err(|source| Error::Bind { place: address.to_string(), source })
    }

    fn unix(path: &Path, mode: u32) -> Result<Self, Error> {
        if path.as_os_str().len() > MAX_SOCKET_PATH {
            return Err(Error::SocketPathTooLong { path: path.to_owned() });
        }
        let failed = |source| Error::Bind { place: format!("unix:{}", path.display()), source };
        clear(path).map_err(|stays| match stays {
            Stays::Alive => Error::Occupied { path: path.to_owned() },
            Stays::NoSocket => Error::NotASocket { path: path.to_owned() },
            Stays::Because(source) => failed(source),
        })?;
        let listener = bind_unix(path, mode).map_err(failed)?;
        let file = SocketFile::of(path).map_err(failed)?;
        UnixListener::from_std(listener).map(|listener| Self::Unix(listener, Some(file))).map_err(failed)
    }

    /// The address in the words of `--listen`.
    pub(crate) fn place(&self) -> Listen {
        match self {
            Self::Tcp(listener) => listener.local_addr().map_or(Listen::Systemd, Listen::Tcp),
            Self::Unix(_, Some(file)) => Listen::Unix(file.path.clone()),
            Self::Unix(listener, None) => listener
                .local_addr()
                .ok()
                .and_then(|address| address.as_pathname().map(Path::to_owned))
                .map_or(Listen::Systemd, Listen::Unix),
        }
    }

    pub(crate) fn bound(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(listener) => listener.local_addr().ok(),
            Self::Unix(..) => None,
        }
    }

    pub(crate) fn reach(&self) -> Reach {
        match self {
            // What nobody can tell may be reached by everybody.
            Self::Tcp(_) => self.bound().map_or(Reach::Published, Reach::of),
            Self::Unix(..) => Reach::Unix,
        }
    }

    pub(crate) async fn accept(&self) -> io::Result<(Stream, Client)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                // Answers are written at once, headers first: waiting for an acknowledgement would cost 40 ms.
                stream.set_nodelay(true)?;
                Ok((Stream::Tcp(stream), Client::Address(peer.ip().to_canonical())))
            }
            Self::Unix(listener, _) => {
                let (stream, _) = listener.accept().await?;
                Ok((Stream::Unix(stream), Client::Local))
            }
        }
    }
}

/// The sockets that systemd opened, each held to the same rules as if it had been named.
fn passed(config: &Config) -> Result<Vec<Listener>, Error> {
    let mut sockets = ListenFd::from_env();
    if sockets.len() == 0 {
        return Err(Error::NoSockets);
    }
    (0..sockets.len())
        .map(|index| {
            let listener =
                take(&mut sockets, index).map_err(|source| Error::ForeignSocket { index, source })?;
            config.admit(listener.reach(), &listener.place())?;
            Ok(listener)
        })
        .collect()
}

fn take(sockets: &mut ListenFd, index: usize) -> io::Result<Listener> {
    // A socket of another kind stays in its place.
    if let Ok(Some(listener)) = sockets.take_unix_listener(index) {
        listener.set_nonblocking(true)?;
        return Ok(Listener::Unix(UnixListener::from_std(listener)?, None));
    }
    let listener = sockets.take_tcp_listener(index)?.ok_or(io::ErrorKind::NotFound)?;
    listener.set_nonblocking(true)?;
    Ok(Listener::Tcp(TcpListener::from_std(listener)?))
}

/// Why a path is not cleared.
enum Stays {
    Alive,
    NoSocket,
    Because(io::Error),
}

/// Removes the socket that one who was killed left behind.
fn clear(path: &Path) -> Result<(), Stays> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Stays::Because(error)),
        Ok(found) if !found.file_type().is_socket() => return Err(Stays::NoSocket),
        Ok(_) => {}
    }
    match std::os::unix::net::UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(Stays::Because)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // A full backlog is life, too.
        Ok(_) => Err(Stays::Alive),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(Stays::Alive),
        Err(error) => Err(Stays::Because(error)),
    }
}

/// The mode is the socket's before it has a path, so that nobody slips in between.
fn bind_unix(path: &Path, mode: u32) -> io::Result<StdUnixListener> {
    let flags = rustix::net::SocketFlags::CLOEXEC | rustix::net::SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    let mode = Mode::from_raw_mode(mode);
    let before = rustix::fs::fchmod(&socket, mode);
    rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    // The umask narrowed it, and some systems know no mode of a socket without a path.
    if before.is_err() || fs::symlink_metadata(path)?.mode() & 0o777 != mode.as_raw_mode() {
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode.as_raw_mode()))?;
    }
    rustix::net::listen(&socket, BACKLOG.try_into().unwrap_or(i32::MAX))?;
    Ok(socket.into())
}

impl SocketFile {
    fn of(path: &Path) -> io::Result<Self> {
        let found = fs::symlink_metadata(path)?;
        Ok(Self { path: path.to_owned(), inode: (found.dev(), found.ino()) })
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let is_ours = fs::symlink_metadata(&self.path).is_ok_and(|now| (now.dev(), now.ino()) == self.inode);
        if is_ours && let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(%error, "the socket stays behind");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[tokio::test]
    async fn a_socket_is_its_owners_and_goes_with_the_listener() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("door.sock");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let listener = Listener::unix(&path, 0o600).unwrap();
        assert_eq!(mode(&path), 0o600);
        assert!(matches!(Listener::unix(&path, 0o600), Err(Error::Occupied { .. })));
        drop(listener);
        assert!(!path.exists());
        let _listener = Listener::unix(&path, 0o666).unwrap();
        assert_eq!(mode(&path), 0o666, "whatever the umask");
    }

    #[tokio::test]
    async fn a_socket_that_a_killed_process_left_is_replaced_and_a_file_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("door.sock");
        drop(StdUnixListener::bind(&path).unwrap());
        assert!(path.exists());
        drop(Listener::unix(&path, 0o600).unwrap());
        fs::write(&path, "precious").unwrap();
        assert!(matches!(Listener::unix(&path, 0o600), Err(Error::NotASocket { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"precious");
        let long = folder.path().join("x".repeat(120));
        assert!(matches!(Listener::unix(&long, 0o600), Err(Error::SocketPathTooLong { .. })));
    }

    #[tokio::test]
    async fn a_socket_that_took_its_place_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("door.sock");
        let listener = Listener::unix(&path, 0o600).unwrap();
        fs::remove_file(&path).unwrap();
        let _other = StdUnixListener::bind(&path).unwrap();
        drop(listener);
        assert!(path.exists());
    }
}
