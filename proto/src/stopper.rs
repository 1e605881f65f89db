//! Stops the daemon that listens at a socket: lets it finish what it has, and waits until it is gone.
//!
//! The process is the one that the socket's peer credentials name, never one from a file, so that a recycled
//! number kills no stranger. Deliberately left out: killing it.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tokio::net::UnixStream;
use tokio::time::{Instant, sleep};

use crate::access::NotPermitted;
use crate::line::nobody_listens;
use crate::places::SocketPath;
use crate::starter::PROGRAM;

/// How long a daemon may drain: longer than the longest deadline that is usual.
const PATIENCE: Duration = Duration::from_mins(1);

/// Why the daemon was not stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The socket is not for this user.
    #[error(transparent)]
    NotPermitted(NotPermitted),
    /// The socket does not open for another reason.
    #[error("cannot connect to {}", socket.as_path().display())]
    Connect {
        /// The socket.
        socket: SocketPath,
        /// What the system said.
        source: std::io::Error,
    },
    /// The socket's other end cannot be told, as across containers.
    #[error("cannot tell which process listens at {}", socket.as_path().display())]
    Unknown {
        /// The socket.
        socket: SocketPath,
    },
    /// The process that opened the socket is none of ours: a service manager that hands it on, most likely.
    #[error(
        "{} was opened by process {pid} ({name}), which is no {PROGRAM}: stop it where it was started",
        socket.as_path().display()
    )]
    Foreign {
        /// The socket.
        socket: SocketPath,
        /// The process.
        pid: i32,
        /// Its name.
        name: String,
    },
    /// It belongs to another user.
    #[error("may not stop process {pid}")]
    Signal {
        /// The process.
        pid: i32,
        /// What the system said.
        source: rustix::io::Errno,
    },
    /// It still has requests to finish.
    #[error("process {pid} did not end within {PATIENCE:?}")]
    TooSlow {
        /// The process.
        pid: i32,
    },
}

/// What a stop found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// This process listened, and is gone.
    Now(i32),
    /// Nothing listened before.
    Before,
}

/// Stops the daemon at `socket`, if one is there.
pub async fn stop(socket: &SocketPath) -> Result<Stopped, Error> {
    let connection = match UnixStream::connect(socket.as_path()).await {
        Ok(connection) => connection,
        Err(error) if nobody_listens(&error) => return Ok(Stopped::Before),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            return Err(Error::NotPermitted(NotPermitted::look(socket.clone())));
        }
        Err(source) => return Err(Error::Connect { socket: socket.clone(), source }),
    };
    let daemon = connection
        .peer_cred()
        .ok()
        .and_then(|peer| Pid::from_raw(peer.pid()?))
        .ok_or_else(|| Error::Unknown { socket: socket.clone() })?;
    let pid = daemon.as_raw_nonzero().get();
    if let Some(name) = foreign_name(pid) {
        return Err(Error::Foreign { socket: socket.clone(), pid, name });
    }
    kill_process(daemon, Signal::TERM).map_err(|source| Error::Signal { pid, source })?;
    // A daemon that drains waits for its connections, and this one is no request.
    drop(connection);
    wait_until_gone(daemon).await
}

async fn wait_until_gone(daemon: Pid) -> Result<Stopped, Error> {
    let pid = daemon.as_raw_nonzero().get();
    let deadline = Instant::now() + PATIENCE;
    let mut pause = Duration::from_millis(1);
    while runs(daemon) {
        if Instant::now() > deadline {
            return Err(Error::TooSlow { pid });
        }
        sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(50));
    }
    Ok(Stopped::Now(pid))
}

/// Whether the process is there and not only waiting for its parent to notice its end.
fn runs(daemon: Pid) -> bool {
    let dead = std::fs::read_to_string(format!("/proc/{}/stat", daemon.as_raw_nonzero()))
        .is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')));
    !dead && test_kill_process(daemon).is_ok()
}

/// The name of a process that is no daemon of ours; `None` also where the system does not tell names.
fn foreign_name(pid: i32) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end().to_owned()).filter(|name| name != PROGRAM)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    fn socket(folder: &tempfile::TempDir) -> SocketPath {
        SocketPath::try_from(folder.path().join("core.sock")).unwrap()
    }

    #[tokio::test]
    async fn without_a_daemon_there_is_nothing_to_stop() {
        let folder = tempfile::tempdir().unwrap();
        let socket = socket(&folder);
        assert_eq!(stop(&socket).await.unwrap(), Stopped::Before);
        drop(UnixListener::bind(socket.as_path()).unwrap());
        assert_eq!(stop(&socket).await.unwrap(), Stopped::Before, "a socket that was left behind");
    }

    #[tokio::test]
    async fn a_stranger_at_the_socket_is_not_signalled() {
        let folder = tempfile::tempdir().unwrap();
        let socket = socket(&folder);
        let _listener = UnixListener::bind(socket.as_path()).unwrap();
        let error = stop(&socket).await.unwrap_err();
        assert!(
            matches!(error, Error::Foreign { pid, .. } if pid.cast_unsigned() == std::process::id()),
            "{error}"
        );
    }
}
