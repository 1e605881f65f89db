//! Where things are by default: index, models, logs, configuration, socket.
//!
//! Deliberately left out: which of flag, variable and file wins (`settings`), and creating anything. Asking
//! where something is never makes it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{env, io};

use sha2::{Digest, Sha256};

/// The longest path that a Unix socket takes, in bytes: `sun_path` without its closing NUL.
pub const MAX_SOCKET_PATH: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// The folder of ours beneath every base directory.
const OURS: &str = "footnote";

/// Why a place cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Neither the environment nor the user database names a home directory.
    #[error("there is no home directory: set HOME, or XDG_CONFIG_HOME, XDG_DATA_HOME and XDG_STATE_HOME")]
    NoHome,
    /// The working directory is gone, and a relative path was given.
    #[error("cannot tell where {} is", path.display())]
    WorkingDirectory {
        /// The relative path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system takes no socket at such a long path.
    #[error(
        "the socket path {} has {} bytes, and a Unix socket takes {MAX_SOCKET_PATH} at most: give a shorter one \
         with --socket or FOOTNOTE_SOCKET",
        path.display(), path.as_os_str().len()
    )]
    SocketPathTooLong {
        /// The path.
        path: PathBuf,
    },
}

/// The base directories of the XDG specification, each with our folder at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseDirs {
    /// The user's home, where there is one.
    pub home: Option<PathBuf>,
    /// `$XDG_CONFIG_HOME/footnote`.
    pub config: PathBuf,
    /// `$XDG_DATA_HOME/footnote`.
    pub data: PathBuf,
    /// `$XDG_STATE_HOME/footnote`.
    pub state: PathBuf,
    /// `$XDG_RUNTIME_DIR/footnote`, or `run` beneath the state directory where that variable is not set.
    pub run: PathBuf,
}

impl BaseDirs {
    /// Reads them from the environment of this process.
    pub fn from_environment() -> Result<Self, Error> {
        Self::look_up(|name| env::var_os(name), env::home_dir())
    }

    /// Reads them from the given variables. As the specification demands, what is empty or relative counts as unset.
    pub fn look_up(
        variable: impl Fn(&str) -> Option<OsString>,
        home: Option<PathBuf>,
    ) -> Result<Self, Error> {
        let set = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = home.filter(|path| path.is_absolute());
        let base = |name: &str, beneath_home: &str| {
            set(name)
                .or_else(|| home.as_ref().map(|home| home.join(beneath_home)))
                .map(|base| base.join(OURS))
                .ok_or(Error::NoHome)
        };
        let state = base("XDG_STATE_HOME", ".local/state")?;
        let run = set("XDG_RUNTIME_DIR").map_or_else(|| state.join("run"), |runtime| runtime.join(OURS));
        let config = base("XDG_CONFIG_HOME", ".config")?;
        let data = base("XDG_DATA_HOME", ".local/share")?;
        Ok(Self { home, config, data, state, run })
    }

    /// The configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The index directory where none is given.
    pub fn index_dir(&self) -> PathBuf {
        self.data.join("index")
    }

    /// The model store where none is given.
    pub fn model_dir(&self) -> PathBuf {
        self.data.join("models")
    }

    /// The socket of the daemon that serves `index_dir`, where none is given: `core.sock` for the default
    /// index directory, `core-<8 hex>.sock` for another, from its path.
    pub fn socket(&self, index_dir: &Path) -> Result<SocketPath, Error> {
        let index_dir = settled(index_dir)?;
        let name = if index_dir == settled(&self.index_dir())? {
            "core.sock".to_owned()
        } else {
            format!("core-{}.sock", short_hash(&index_dir))
        };
        SocketPath::try_from(self.run.join(name))
    }

    /// The log of the daemon behind `socket`, where it was started by one who asked.
    pub fn log_file(&self, socket: &SocketPath) -> PathBuf {
        let stem = socket.0.file_stem().unwrap_or_default().to_string_lossy();
        if socket.0.parent() == Some(&self.run) {
            self.state.join(format!("{stem}.log"))
        } else {
            self.state.join(format!("{stem}-{}.log", short_hash(&socket.0)))
        }
    }
}

/// An absolute path at which the system takes a socket.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SocketPath(PathBuf);

impl SocketPath {
    /// The path.
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// The file that the daemon holds locked while it owns this socket.
    pub fn owner_lock(&self) -> PathBuf {
        self.beside(".lock")
    }

    /// The file that one who starts the daemon holds locked until it serves.
    pub fn start_lock(&self) -> PathBuf {
        self.beside(".start")
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        let mut path = self.0.clone().into_os_string();
        path.push(suffix);
        path.into()
    }
}

impl TryFrom<PathBuf> for SocketPath {
    type Error = Error;

    fn try_from(path: PathBuf) -> Result<Self, Error> {
        let path = absolute(&path)?;
        if path.as_os_str().len() > MAX_SOCKET_PATH {
            return Err(Error::SocketPathTooLong { path });
        }
        Ok(Self(path))
    }
}

/// Makes a path absolute without looking at what is there.
pub fn absolute(path: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(path).map_err(|source| Error::WorkingDirectory { path: path.to_owned(), source })
}

/// The path without links, as far as it exists: the same before and after the rest of it is created, so that
/// all processes give one index directory one name.
pub fn settled(path: &Path) -> Result<PathBuf, Error> {
    let path = absolute(path)?;
    for ancestor in path.ancestors() {
        if let Ok(real) = ancestor.canonicalize() {
            let rest = path.strip_prefix(ancestor).unwrap_or(Path::new(""));
            return Ok(if rest.as_os_str().is_empty() { real } else { real.join(rest) });
        }
    }
    Ok(path)
}

fn short_hash(path: &Path) -> String {
    hex::encode(&Sha256::digest(path.as_os_str().as_bytes())[..4])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base_dirs(variables: &[(&str, &str)]) -> BaseDirs {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        BaseDirs::look_up(variable, Some("/home/ada".into())).unwrap()
    }

    #[test]
    fn places_are_those_of_the_specification() {
        let plain = base_dirs(&[]);
        assert_eq!(plain.index_dir(), Path::new("/home/ada/.local/share/footnote/index"));
        assert_eq!(plain.model_dir(), Path::new("/home/ada/.local/share/footnote/models"));
        assert_eq!(plain.config_file(), Path::new("/home/ada/.config/footnote/config.toml"));
        let socket = plain.socket(&plain.index_dir()).unwrap();
        assert_eq!(socket.as_path(), Path::new("/home/ada/.local/state/footnote/run/core.sock"));
        assert_eq!(plain.log_file(&socket), Path::new("/home/ada/.local/state/footnote/core.log"));

        let moved = base_dirs(&[("XDG_RUNTIME_DIR", "/run/user/7"), ("XDG_DATA_HOME", "/data")]);
        assert_eq!(moved.index_dir(), Path::new("/data/footnote/index"));
        assert_eq!(moved.run, Path::new("/run/user/7/footnote"));
    }

    #[test]
    fn empty_and_relative_variables_count_as_unset() {
        assert_eq!(base_dirs(&[("XDG_DATA_HOME", ""), ("XDG_RUNTIME_DIR", "run")]), base_dirs(&[]));
    }

    #[test]
    fn without_a_home_every_base_must_be_named() {
        assert!(matches!(BaseDirs::look_up(|_| None, None), Err(Error::NoHome)));
        assert!(BaseDirs::look_up(|_| Some("/x".into()), None).is_ok());
    }

    #[test]
    fn another_index_directory_has_a_socket_of_its_own() {
        let base = base_dirs(&[]);
        let socket = base.socket(Path::new("/srv/index")).unwrap();
        let name = socket.as_path().file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(name.len(), "core-01234567.sock".len(), "{name}");
        assert_ne!(socket, base.socket(Path::new("/srv/index2")).unwrap());
        assert_eq!(socket, base.socket(Path::new("/srv/index/")).unwrap());
    }

    #[test]
    fn one_index_directory_has_one_socket_through_links_and_before_it_exists() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, folder.path().join("link")).unwrap();
        let base = base_dirs(&[]);
        let before = base.socket(&folder.path().join("link/index")).unwrap();
        std::fs::create_dir(real.join("index")).unwrap();
        assert_eq!(before, base.socket(&real.join("index")).unwrap());
    }

    #[test]
    fn a_long_socket_path_is_refused_with_the_remedy() {
        let longest = format!("/{}", "a".repeat(MAX_SOCKET_PATH - 1));
        assert!(SocketPath::try_from(PathBuf::from(&longest)).is_ok());
        let error = SocketPath::try_from(PathBuf::from(longest + "a")).unwrap_err().to_string();
        assert!(error.contains("108 bytes") || !cfg!(target_os = "linux"), "{error}");
        assert!(error.contains("--socket"), "{error}");
    }

    #[test]
    fn a_socket_elsewhere_has_a_log_of_its_own() {
        let base = base_dirs(&[]);
        let log = |path: &str| base.log_file(&SocketPath::try_from(PathBuf::from(path)).unwrap());
        assert_ne!(log("/a/core.sock"), log("/b/core.sock"));
        assert_ne!(log("/a/core.sock"), base.state.join("core.log"));
    }
}
