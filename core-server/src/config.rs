//! What was typed, and what it means. Refused before anything is opened.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Parser;
use clap::builder::NonEmptyStringValueParser;
use engine::SourceRoot;
use engine::model::RerankerChoice;
use proto::duration::TypedDuration;
use proto::places;
use proto::settings::{self, Log, LogArgs, SocketArgs, StoreArgs, Surroundings};

use crate::admission::RERANK_WORKERS;
use crate::listener::{Group, Place, ResolveGroup, Uid, index_lock_name};

/// Requests that are in at once: enough for a burst of every front's clients, and few enough that the last in
/// line is answered within its deadline.
const MAX_IN_FLIGHT: NonZeroU32 = NonZeroU32::new(64).expect("not zero");

/// What is logged where nobody says anything.
const LOG_LEVEL: &str = "info";

/// Serves questions about the collections of one index directory on a Unix socket.
///
/// It only reads, also where it may write. Programs that ask start it by themselves.
#[derive(Debug, Parser)]
#[command(name = "footnoted", version, max_term_width = 100)]
pub struct Args {
    #[command(flatten)]
    stores: StoreArgs,
    #[command(flatten)]
    socket: SocketArgs,
    #[command(flatten)]
    log: LogArgs,
    /// Let members of this group connect: the socket gets mode 0660, its folder 0750
    #[arg(long, env = "FOOTNOTE_SOCKET_GROUP", value_name = "GROUP", value_parser = NonEmptyStringValueParser::new())]
    socket_group: Option<String>,
    /// Let this user connect too, as far as the socket's modes do; may be given more than once
    #[arg(long, env = "FOOTNOTE_ALLOW_UID", value_name = "UID", value_delimiter = ',')]
    allow_uid: Vec<u32>,
    /// Read sources only beneath this folder, which stands for the root with that label; may be given more
    /// than once
    #[arg(long, env = "FOOTNOTE_SOURCE_ROOT", value_name = "[LABEL=]DIR", value_delimiter = ',')]
    source_root: Vec<String>,
    /// How many requests are let in at once [default: 64]
    #[arg(long, env = "FOOTNOTE_MAX_IN_FLIGHT", value_name = "N")]
    max_in_flight: Option<NonZeroU32>,
    /// How many queries are embedded at once, one model session each [default: the number of cores]
    #[arg(long, env = "FOOTNOTE_SESSIONS", value_name = "N")]
    sessions: Option<NonZeroU32>,
    /// The model that reranks for those who ask for it, or `none` [default: the installed one]
    #[arg(long, env = "FOOTNOTE_RERANKER", value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    reranker: Option<String>,
    /// Leave after this long without a request: seconds, or with ms, s, m, h [default: never]
    #[arg(long, env = "FOOTNOTE_IDLE_EXIT", value_name = "DURATION")]
    idle_exit: Option<TypedDuration>,
}

/// What the daemon was told.
#[derive(Clone, Debug)]
pub struct Config {
    /// What it reads.
    pub engine: engine::Config,
    /// Where it listens, and to whom.
    pub place: Place,
    /// How much it does at once.
    pub limits: Limits,
    /// When it leaves by itself.
    pub idle_exit: Option<Duration>,
}

/// How much is done at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Requests that are in.
    pub max_in_flight: usize,
    /// Those of them that compute.
    pub workers: usize,
}

impl Limits {
    /// Threads that compute or wait for those that do.
    pub fn threads(&self) -> usize {
        self.workers + RERANK_WORKERS
    }
}

/// Why the flags are refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Shared settings are.
    #[error(transparent)]
    Settings(#[from] settings::Error),
    /// The group is unknown.
    #[error("--socket-group")]
    Group(#[from] ResolveGroup),
    /// A source root cannot be.
    #[error("--source-root {given}: {why}")]
    SourceRoot {
        /// What was given.
        given: String,
        /// What is wrong with it.
        why: String,
    },
}

impl Args {
    /// Says what is logged: first, so that all else can be.
    pub fn log(&self, surroundings: &Surroundings) -> Log {
        self.log.clone().settle(LOG_LEVEL, surroundings)
    }

    /// Says what it all means.
    pub fn settle(self, surroundings: &Surroundings) -> Result<Config, Error> {
        let file = &surroundings.file;
        let stores = self.stores.settle(surroundings)?;
        let socket = self.socket.settle(&stores, surroundings)?;
        let given = |flags: Vec<String>, file: &Option<Vec<String>>| {
            if flags.is_empty() { file.clone().unwrap_or_default() } else { flags }
        };
        let source_roots = given(self.source_root, &file.source_root)
            .iter()
            .map(|given| source_root(given))
            .collect::<Result<_, _>>()?;
        let allowed = if self.allow_uid.is_empty() {
            file.allow_uid.clone().unwrap_or_default()
        } else {
            self.allow_uid
        };
        let group = self.socket_group.or_else(|| file.socket_group.clone());
        let max_in_flight = self
            .max_in_flight
            .or_else(|| file.max_in_flight.and_then(NonZeroU32::new))
            .unwrap_or(MAX_IN_FLIGHT);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Config {
            place: Place {
                index_lock: surroundings.base.run.join(index_lock_name(&stores.index_dir)),
                socket,
                group: group.map(|name| Group::resolve(&name)).transpose()?,
                allowed_uids: allowed.into_iter().map(Uid).collect(),
            },
            engine: engine::Config {
                index_dir: stores.index_dir,
                model_dir: stores.model_dir,
                source_roots,
                sessions: self
                    .sessions
                    .or_else(|| file.sessions.and_then(NonZeroU32::new))
                    .map_or(cores, |sessions| sessions.get() as usize),
                reranker: self
                    .reranker
                    .or_else(|| file.reranker.clone())
                    .map_or_else(Default::default, reranker),
                // Half of the machine: the other half is for those who ask plainly.
                rerank_sessions: (cores / 2).max(1),
            },
            limits: Limits { max_in_flight: max_in_flight.get() as usize, workers: cores },
            idle_exit: self.idle_exit.or(file.idle_exit).map(TypedDuration::get),
        })
    }
}

fn reranker(name: String) -> RerankerChoice {
    if name == "none" { RerankerChoice::Off } else { RerankerChoice::Named(name) }
}

/// `DIR` or `LABEL=DIR`. A folder that has `=` in its name is written `./a=b` or with its whole path.
fn source_root(given: &str) -> Result<SourceRoot, Error> {
    let refused = |why: String| Error::SourceRoot { given: given.to_owned(), why };
    let (label, folder) = match given.split_once('=') {
        Some((label, folder)) if !label.contains('/') => (Some(label), folder),
        Some(_) | None => (None, given),
    };
    if label.is_some_and(str::is_empty) || folder.is_empty() {
        return Err(refused("write DIR or LABEL=DIR".to_owned()));
    }
    let path: PathBuf = places::absolute(Path::new(folder)).map_err(|error| refused(error.to_string()))?;
    Ok(SourceRoot { label: label.map(str::to_owned), path })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto::config_file::ConfigFile;
    use proto::places::BaseDirs;

    fn settle(flags: &[&str], file: ConfigFile) -> Result<Config, Error> {
        let base = BaseDirs::look_up(|_| None, Some("/home/ada".into())).unwrap();
        Args::parse_from([&["footnoted"], flags].concat()).settle(&Surroundings { base, file })
    }

    #[test]
    fn a_flag_wins_over_the_file() {
        let file = ConfigFile { max_in_flight: Some(7), allow_uid: Some(vec![1]), ..ConfigFile::default() };
        let from_file = settle(&[], file.clone()).unwrap();
        assert_eq!(from_file.limits.max_in_flight, 7);
        assert_eq!(from_file.place.allowed_uids, [Uid(1)]);
        let typed = settle(&["--max-in-flight", "9", "--allow-uid", "2", "--allow-uid", "3"], file).unwrap();
        assert_eq!(typed.limits.max_in_flight, 9);
        assert_eq!(typed.place.allowed_uids, [Uid(2), Uid(3)]);
        assert_eq!(settle(&[], ConfigFile::default()).unwrap().limits.max_in_flight, 64);
    }

    #[test]
    fn a_reranker_may_be_named_or_refused() {
        let chosen = |flags: &[&str]| settle(flags, ConfigFile::default()).unwrap().engine.reranker;
        assert_eq!(chosen(&[]), RerankerChoice::Installed);
        assert_eq!(chosen(&["--reranker", "none"]), RerankerChoice::Off);
        assert_eq!(chosen(&["--reranker", "mine"]), RerankerChoice::Named("mine".to_owned()));
        let file = ConfigFile { reranker: Some("none".to_owned()), ..ConfigFile::default() };
        assert_eq!(settle(&[], file).unwrap().engine.reranker, RerankerChoice::Off);
    }

    #[test]
    fn source_roots_may_have_a_label() {
        let root = |given| source_root(given).unwrap();
        assert_eq!(root("/srv"), SourceRoot { label: None, path: "/srv".into() });
        assert_eq!(root("docs=/srv"), SourceRoot { label: Some("docs".into()), path: "/srv".into() });
        assert_eq!(root("/a=b"), SourceRoot { label: None, path: "/a=b".into() });
        for given in ["", "=", "docs=", "=/srv"] {
            assert!(source_root(given).is_err(), "{given}");
        }
    }

    #[test]
    fn a_group_that_nobody_knows_is_refused() {
        let refused = settle(&["--socket-group", "no-such-group-here"], ConfigFile::default());
        assert!(matches!(refused, Err(Error::Group(_))));
    }

    #[test]
    fn a_socket_path_that_is_too_long_is_refused() {
        let path = format!("/{}", "x".repeat(200));
        let error = settle(&["--socket", &path], ConfigFile::default()).unwrap_err().to_string();
        assert!(error.contains("bytes"), "{error}");
    }
}
