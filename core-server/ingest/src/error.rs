//! What can go wrong while writing, said to the person who can mend it.

use std::io;
use std::path::{Path, PathBuf};

use engine::collection::CollectionName;
use engine::generation::GenerationId;

/// The result of everything fallible here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
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
    /// A reader of the index failed.
    #[error(transparent)]
    Engine(#[from] engine::Error),
    /// A model could not be installed.
    #[error(transparent)]
    ModelInstall(#[from] crate::model_install::Error),
    /// The catalog failed in a way that starting afresh does not mend.
    #[error("the catalog failed while {doing}")]
    Catalog {
        /// What was being done.
        doing: &'static str,
        /// What SQLite said.
        source: sqlx::Error,
    },
    /// Another process writes the collection.
    #[error(
        "another ingest of {collection} runs{}; wait for it or stop it, then ask again",
        pid.map(|pid| format!(", process {pid}")).unwrap_or_default()
    )]
    AnotherWriter {
        /// The collection.
        collection: CollectionName,
        /// The other process, where it has written its number down.
        pid: Option<u32>,
    },
    /// Ctrl-C or a request to end.
    #[error(
        "interrupted; what was embedded so far is kept, and the next `footnote ingest` goes on from there"
    )]
    Interrupted,
    /// The disk has no room left.
    #[error(
        "the disk of {} is full: {} are free, about {} more were needed; the collection is as it was before",
        path.display(),
        bytes_in_words(*free),
        bytes_in_words(*needed)
    )]
    DiskFull {
        /// The index directory.
        path: PathBuf,
        /// Bytes free there.
        free: u64,
        /// Bytes that were to be written.
        needed: u64,
    },
    /// A collection with that name has another root.
    #[error(
        "the collection {name} has the root {}, not {}; choose another name with --collection NAME",
        recorded.display(),
        asked.display()
    )]
    OtherRoot {
        /// The collection.
        name: CollectionName,
        /// The root that it was ingested with.
        recorded: PathBuf,
        /// The root asked for.
        asked: PathBuf,
    },
    /// A path lies outside the collection's root.
    #[error("{} is not beneath {}, the root of the collection {name}", path.display(), root.display())]
    OutsideRoot {
        /// The collection.
        name: CollectionName,
        /// The path given.
        path: PathBuf,
        /// The collection's root.
        root: PathBuf,
    },
    /// A path is not there, and nothing beneath it was ever ingested.
    #[error("{} is not there", path.display())]
    NoSuchPath {
        /// The path given.
        path: PathBuf,
    },
    /// The root of a collection is not there.
    #[error(
        "{}, the root of the collection {name}, is not there; the collection is left as it is. \
         If it is gone for good, `footnote remove {name}` removes the collection",
        root.display()
    )]
    RootGone {
        /// The collection.
        name: CollectionName,
        /// Its root.
        root: PathBuf,
    },
    /// No path was given and none is recorded.
    #[error("nothing says what to ingest; name a folder: `footnote ingest DIR`")]
    NothingToIngest,
    /// No path was given and more than one collection could be meant.
    #[error("more than one collection could be meant; name one with --collection: {}", list(known))]
    Ambiguous {
        /// The names there are.
        known: Vec<CollectionName>,
    },
    /// No collection has that name.
    #[error("no collection is named {name}; there {}", there_are(known))]
    NoSuchCollection {
        /// The name given.
        name: CollectionName,
        /// The names there are.
        known: Vec<CollectionName>,
    },
    /// A glob cannot be understood.
    #[error("the glob {glob:?} cannot be understood: {why}")]
    Glob {
        /// The glob.
        glob: String,
        /// What is wrong with it.
        why: String,
    },
    /// A line of a file that was given cannot be used.
    #[error("{}, line {line}: {what}", path.display())]
    BadLine {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it, and what to do.
        what: String,
    },
    /// A plot of a report could not be drawn.
    #[error("a plot cannot be drawn: {0}")]
    Plot(String),
    /// A flag's value cannot be used.
    #[error("{0}")]
    Usage(String),
    /// The collection is bound to another model.
    #[error(
        "the collection {name} is embedded with {bound}, the model {asked} is another; \
         `--model {asked_name}` embeds all of it anew"
    )]
    OtherModel {
        /// The collection.
        name: CollectionName,
        /// The identity that the collection is bound to.
        bound: String,
        /// The identity found in the model store.
        asked: String,
        /// Its name.
        asked_name: String,
    },
    /// The model asked for is not in the store.
    #[error(
        "no model is installed as {name}; `footnote model list` shows what is, `footnote model install` adds one"
    )]
    NoSuchModel {
        /// The name given.
        name: String,
    },
    /// The generation to go back to is not kept.
    #[error("the collection {collection} keeps no generation {}; it keeps {}", wanted(*generation), list(kept))]
    NoSuchGeneration {
        /// The collection.
        collection: CollectionName,
        /// The one asked for; none where an earlier one was meant.
        generation: Option<GenerationId>,
        /// The ones there are.
        kept: Vec<GenerationId>,
    },
    /// The person said no, or could not be asked.
    #[error("nothing was removed: {0}")]
    Declined(&'static str),
    /// A vector file was given what it cannot hold.
    #[error("{} cannot be written: {what}", path.display())]
    Vectors {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        what: String,
    },
    /// The lexical index could not be written.
    #[error("the lexical index could not be written while {doing}")]
    Lexical {
        /// What was being done.
        doing: &'static str,
        /// What tantivy said.
        source: tantivy::TantivyError,
    },
}

impl Error {
    /// For `map_err`: what was to be done to the file at `path`.
    pub fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { doing, path, source }
    }

    /// Whether SQLite could not write, for which it has no clearer word where the disk is full.
    pub fn is_catalog_io(&self) -> bool {
        let Self::Catalog { source, .. } = self else { return false };
        let code = source.as_database_error().and_then(|error| error.code()?.parse::<u32>().ok());
        // 10 is SQLITE_IOERR, 13 SQLITE_FULL; the low byte is the primary code.
        code.is_some_and(|code| matches!(code & 0xff, 10 | 13))
    }

    /// Whether a disk without room is behind it.
    pub fn is_disk_full(&self) -> bool {
        let mut cause: Option<&dyn std::error::Error> = Some(self);
        while let Some(error) = cause {
            if let Some(io) = error.downcast_ref::<io::Error>()
                && matches!(io.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
            {
                return true;
            }
            // tantivy and SQLite wrap what the system said in texts of their own.
            let text = error.to_string();
            if text.contains("No space left on device") || text.contains("database or disk is full") {
                return true;
            }
            cause = error.source();
        }
        false
    }

    /// The exit code of a process that ends with this.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_)
            | Self::BadLine { .. }
            | Self::Glob { .. }
            | Self::NothingToIngest
            | Self::Ambiguous { .. }
            | Self::OutsideRoot { .. }
            | Self::OtherRoot { .. }
            | Self::NoSuchPath { .. } => 2,
            Self::NoSuchCollection { .. } | Self::NoSuchGeneration { .. } => 3,
            Self::OtherModel { .. } | Self::NoSuchModel { .. } => 5,
            Self::AnotherWriter { .. } => 10,
            Self::Interrupted => 130,
            Self::Engine(error) => engine_exit_code(error),
            Self::ModelInstall(error) => error.exit_code(),
            Self::File { .. }
            | Self::Catalog { .. }
            | Self::DiskFull { .. }
            | Self::RootGone { .. }
            | Self::Declined(_)
            | Self::Plot(_)
            | Self::Vectors { .. }
            | Self::Lexical { .. } => 1,
        }
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the enum is open, and what is unknown is internal")]
fn engine_exit_code(error: &engine::Error) -> u8 {
    match error {
        engine::Error::CollectionNotFound { .. }
        | engine::Error::NothingIngested
        | engine::Error::ChunkNotFound { .. } => 3,
        engine::Error::ModelMismatch { .. }
        | engine::Error::ModeUnavailable { .. }
        | engine::Error::RerankerUnavailable { .. } => 5,
        engine::Error::Damaged { .. } | engine::Error::SchemaVersion { .. } => 7,
        _ => 1,
    }
}

/// `1.5 MB` and the like.
pub(crate) fn bytes_in_words(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "kB", "MB", "GB", "TB"];
    let mut unit = 0;
    let mut scale = 1u64;
    while unit + 1 < UNITS.len() && bytes / scale >= 1000 {
        unit += 1;
        scale *= 1000;
    }
    let tenths = (bytes % scale) * 10 / scale;
    if unit == 0 || bytes / scale >= 100 {
        format!("{} {}", bytes / scale, UNITS[unit])
    } else {
        format!("{}.{tenths} {}", bytes / scale, UNITS[unit])
    }
}

fn list<T: ToString>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn there_are(known: &[CollectionName]) -> String {
    match known {
        [] => "is none yet".to_owned(),
        [one] => format!("is {one}"),
        several => format!("are {}", list(several)),
    }
}

fn wanted(generation: Option<GenerationId>) -> String {
    generation.map_or_else(|| "before the current one".to_owned(), |id| id.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_said_in_words() {
        for (bytes, words) in [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (1500, "1.5 kB"),
            (123_456, "123 kB"),
            (2_000_000_000, "2.0 GB"),
        ] {
            assert_eq!(bytes_in_words(bytes), words);
        }
    }

    #[test]
    fn a_full_disk_is_recognised_behind_other_errors() {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        assert!(Error::File { doing: "write", path: "x".into(), source: full }.is_disk_full());
        let wrapped = tantivy::TantivyError::SystemError("No space left on device (os error 28)".into());
        assert!(Error::Lexical { doing: "committing", source: wrapped }.is_disk_full());
        let other = io::Error::from(io::ErrorKind::NotFound);
        assert!(!Error::File { doing: "write", path: "x".into(), source: other }.is_disk_full());
    }
}
