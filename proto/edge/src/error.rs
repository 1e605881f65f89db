//! Why a gateway does not open its door.

use std::io;
use std::path::PathBuf;

use proto::places::MAX_SOCKET_PATH;

/// Why there is no door. Nothing was opened where the flags are at fault.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Others than those on this host would come in, and nobody said that they may.
    #[error(
        "{place} can be reached from other hosts: add --allow-remote-access where that is meant, or listen at 127.0.0.1"
    )]
    Published {
        /// Where it was to listen.
        place: String,
    },
    /// Behind a door that only this host can reach, the host's name is all that keeps web pages out.
    #[error(
        "--any-host is refused at {place}: every web page that is opened on this host could ask; name hosts with \
         --allowed-host"
    )]
    AnyHostOnLoopback {
        /// Where it was to listen.
        place: String,
    },
    /// One says which name is ours alone, the other that all are.
    #[error("--any-host and --public-url contradict each other: leave one out")]
    AnyHostAndPublicUrl,
    /// The address is taken, not ours, or not allowed.
    #[error("cannot listen at {place}")]
    Bind {
        /// Where.
        place: String,
        /// What the system said.
        source: io::Error,
    },
    /// The system takes no socket at such a long path.
    #[error(
        "the socket path {} has {} bytes, and a Unix socket takes {MAX_SOCKET_PATH} at most",
        path.display(),
        path.as_os_str().len()
    )]
    SocketPathTooLong {
        /// The path.
        path: PathBuf,
    },
    /// Somebody listens at this socket.
    #[error("somebody listens at {} already", path.display())]
    Occupied {
        /// The socket.
        path: PathBuf,
    },
    /// What is there is left alone.
    #[error("{} exists and is no socket", path.display())]
    NotASocket {
        /// The path.
        path: PathBuf,
    },
    /// Nobody opened sockets for this process.
    #[error("--listen systemd: systemd passed no sockets (LISTEN_FDS); start it by a .socket unit")]
    NoSockets,
    /// A socket that was passed is neither TCP nor a Unix stream that listens.
    #[error("--listen systemd: socket {index} is neither TCP nor a Unix stream")]
    ForeignSocket {
        /// Its place in the row, from 0.
        index: usize,
        /// What the system said.
        source: io::Error,
    },
}
