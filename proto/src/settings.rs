//! What a process was told, and by whom: a flag wins over its `FOOTNOTE_*` variable, the variable over the
//! configuration file, the file over the default. The same in every process.
//!
//! Each `…Args` is a group of flags for a program's clap parser to flatten; it takes the groups it needs. clap
//! puts the flag before the variable; `settle` puts the file and the default behind them. Deliberately left
//! out: flags of a single program.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{BoolishValueParser, NonEmptyStringValueParser};
use serde::Deserialize;

use crate::config_file::{self, ConfigFile};
use crate::duration::TypedDuration;
use crate::form::Form;
use crate::places::{self, BaseDirs, SocketPath, absolute};

/// How long an answer is waited for where nothing else is said: longer than a model takes to load.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// After how long without a request a daemon leaves that was started by one who asked.
pub const AUTOSTART_IDLE_EXIT: Duration = Duration::from_hours(2);

/// Why settings are refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A place cannot be told.
    #[error(transparent)]
    Place(#[from] places::Error),
    /// The configuration file is not obeyed.
    #[error(transparent)]
    ConfigFile(#[from] config_file::Error),
    /// No collection can have that name.
    #[error("--collection {name}: it must be {}", Form::Collection.words())]
    Collection {
        /// What was given.
        name: String,
    },
}

/// What surrounds a process besides its flags: base directories and configuration file, read once.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Where things are by default.
    pub base: BaseDirs,
    /// What the configuration file says.
    pub file: ConfigFile,
}

impl Surroundings {
    /// Reads the environment and the configuration file.
    pub fn read() -> Result<Self, Error> {
        let base = BaseDirs::from_environment()?;
        let file = ConfigFile::read(&base)?;
        Ok(Self { base, file })
    }
}

/// Where index and models are.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
#[command(about = None, long_about = None, next_help_heading = "Places")]
pub struct StoreArgs {
    /// The directory that holds the collections
    #[arg(long, env = "FOOTNOTE_INDEX_DIR", value_name = "DIR", global = true)]
    pub index_dir: Option<PathBuf>,
    /// The directory that holds runtime and models
    #[arg(long, env = "FOOTNOTE_MODEL_DIR", value_name = "DIR", global = true)]
    pub model_dir: Option<PathBuf>,
}

/// Where index and models are, absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stores {
    /// The directory that holds the collections.
    pub index_dir: PathBuf,
    /// The directory that holds runtime and models.
    pub model_dir: PathBuf,
}

impl StoreArgs {
    /// Says where index and models are.
    pub fn settle(self, surroundings: &Surroundings) -> Result<Stores, Error> {
        let Surroundings { base, file } = surroundings;
        let index_dir = self.index_dir.or_else(|| file.index_dir.clone()).unwrap_or_else(|| base.index_dir());
        let model_dir = self.model_dir.or_else(|| file.model_dir.clone()).unwrap_or_else(|| base.model_dir());
        Ok(Stores { index_dir: absolute(&index_dir)?, model_dir: absolute(&model_dir)? })
    }
}

/// Where the daemon listens.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
#[command(about = None, long_about = None, next_help_heading = "Places")]
pub struct SocketArgs {
    /// The daemon's socket [default: one for each index directory]
    #[arg(long, env = "FOOTNOTE_SOCKET", value_name = "PATH", global = true)]
    pub socket: Option<PathBuf>,
}

impl SocketArgs {
    /// Says where the daemon that serves `stores` listens.
    ///
    /// An index directory that was typed has a socket of its own; the file's socket goes with the file's index.
    pub fn settle(self, stores: &Stores, surroundings: &Surroundings) -> Result<SocketPath, Error> {
        let Surroundings { base, file } = surroundings;
        let file_index_dir = file.index_dir.clone().unwrap_or_else(|| base.index_dir());
        let from_file = || {
            file.socket.clone().filter(|_| absolute(&file_index_dir).ok() == Some(stores.index_dir.clone()))
        };
        match self.socket.or_else(from_file) {
            Some(path) => Ok(SocketPath::try_from(path)?),
            None => Ok(base.socket(&stores.index_dir)?),
        }
    }
}

/// Which collection is meant.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
#[command(about = None, long_about = None)]
pub struct CollectionArgs {
    /// The collection [default: the one that holds the working directory, or the only one]
    #[arg(long, short, env = "FOOTNOTE_COLLECTION", value_name = "NAME")]
    pub collection: Option<String>,
}

impl CollectionArgs {
    /// Says which collection is named, if any. Its grammar is looked at where it is used.
    pub fn settle(self, surroundings: &Surroundings) -> Option<String> {
        self.collection.or_else(|| surroundings.file.collection.clone())
    }

    /// The same for a server, whose callers are not those who named it: a name that cannot be is refused before anybody
    /// asks.
    pub fn settle_for_others(self, surroundings: &Surroundings) -> Result<Option<String>, Error> {
        match self.settle(surroundings) {
            Some(name) if !Form::Collection.matches(&name) => Err(Error::Collection { name }),
            collection => Ok(collection),
        }
    }
}

/// How the daemon is asked by one who may start it.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
#[command(about = None, long_about = None, next_help_heading = "Asking")]
pub struct CallArgs {
    /// Fail where no daemon runs instead of starting one
    #[arg(long, env = "FOOTNOTE_NO_AUTOSTART", global = true, value_parser = BoolishValueParser::new())]
    pub no_autostart: bool,
    #[command(flatten)]
    timeout: TimeoutArgs,
}

/// How long the daemon is waited for: all that one says who never starts it.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
#[command(about = None, long_about = None, next_help_heading = "Asking")]
pub struct TimeoutArgs {
    /// How long to wait for an answer: seconds, or with ms, s, m, h [default: 30s]
    #[arg(long, env = "FOOTNOTE_TIMEOUT", value_name = "DURATION", global = true)]
    pub timeout: Option<TypedDuration>,
}

/// How the daemon is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calls {
    /// What happens where no daemon runs.
    pub autostart: Autostart,
    /// How long an answer is waited for.
    pub timeout: Duration,
}

/// What happens where no daemon runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Autostart {
    /// One is started.
    Start,
    /// The call fails.
    Never,
}

impl CallArgs {
    /// Says how the daemon is asked.
    pub fn settle(self, surroundings: &Surroundings) -> Calls {
        let never = self.no_autostart || surroundings.file.no_autostart == Some(true);
        let autostart = if never { Autostart::Never } else { Autostart::Start };
        Calls { autostart, timeout: self.timeout.settle(surroundings) }
    }
}

impl TimeoutArgs {
    /// Says how long an answer is waited for.
    pub fn settle(self, surroundings: &Surroundings) -> Duration {
        self.timeout.or(surroundings.file.timeout).map_or(DEFAULT_TIMEOUT, TypedDuration::get)
    }
}

/// What is logged, how and where.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
#[command(about = None, long_about = None, next_help_heading = "Logging")]
pub struct LogArgs {
    /// What to log: a level, or a filter such as `info,core_server=debug`
    #[arg(long, env = "FOOTNOTE_LOG_LEVEL", value_name = "FILTER", global = true,
          value_parser = NonEmptyStringValueParser::new())]
    pub log_level: Option<String>,
    /// How to log
    #[arg(long, env = "FOOTNOTE_LOG_FORMAT", value_name = "FORMAT", global = true)]
    pub log_format: Option<LogFormat>,
    /// Log to this file instead of standard error
    // Neither variable nor key: two processes would write one file.
    #[arg(long, value_name = "FILE", global = true)]
    pub log_file: Option<PathBuf>,
}

/// What is logged, how and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// A level or filter, in `tracing`'s grammar.
    pub filter: String,
    /// The form of a line.
    pub format: LogFormat,
    /// The file; standard error where there is none.
    pub file: Option<PathBuf>,
}

/// The form of a log line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For machines: one JSON object a line.
    Json,
}

impl LogArgs {
    /// Says what is logged, `default_level` where nobody says anything.
    pub fn settle(self, default_level: &str, surroundings: &Surroundings) -> Log {
        let file = &surroundings.file;
        Log {
            filter: self
                .log_level
                .or_else(|| file.log_level.clone())
                .unwrap_or_else(|| default_level.to_owned()),
            format: self.log_format.or(file.log_format).unwrap_or_default(),
            file: self.log_file,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Everything {
        #[command(flatten)]
        stores: StoreArgs,
        #[command(flatten)]
        socket: SocketArgs,
        #[command(flatten)]
        collection: CollectionArgs,
        #[command(flatten)]
        calls: CallArgs,
        #[command(flatten)]
        log: LogArgs,
    }

    fn surroundings(file: ConfigFile) -> Surroundings {
        Surroundings { base: BaseDirs::look_up(|_| None, Some("/home/ada".into())).unwrap(), file }
    }

    fn parse(flags: &[&str]) -> Everything {
        Everything::parse_from([&["test"], flags].concat())
    }

    #[test]
    fn a_flag_wins_over_the_file_and_the_file_over_the_default() {
        let file = ConfigFile {
            index_dir: Some("/file/index".into()),
            timeout: Some(Duration::from_secs(9).into()),
            no_autostart: Some(true),
            ..ConfigFile::default()
        };
        let (empty, full) = (surroundings(ConfigFile::default()), surroundings(file));
        let index = |flags: &[&str], around| parse(flags).stores.settle(around).unwrap().index_dir;
        assert_eq!(index(&[], &empty), empty.base.index_dir());
        assert_eq!(index(&[], &full), PathBuf::from("/file/index"));
        assert_eq!(index(&["--index-dir", "/flag"], &full), PathBuf::from("/flag"));

        let calls = |flags: &[&str], around| parse(flags).calls.settle(around);
        assert_eq!(calls(&[], &empty), Calls { autostart: Autostart::Start, timeout: DEFAULT_TIMEOUT });
        assert_eq!(calls(&["--timeout", "250ms"], &full).timeout, Duration::from_millis(250));
        assert_eq!(calls(&[], &full).autostart, Autostart::Never);
        assert_eq!(calls(&["--no-autostart"], &empty).autostart, Autostart::Never);
    }

    #[test]
    fn every_flag_is_a_key_and_a_variable_of_the_same_name() {
        let command = <Everything as clap::CommandFactory>::command();
        for argument in command.get_arguments().filter(|argument| argument.get_id() != "log_file") {
            let key = argument.get_id().as_str();
            assert!(config_file::KEYS.contains(&key), "{key}");
            assert_eq!(argument.get_long().unwrap().replace('-', "_"), key);
            assert_eq!(
                argument.get_env().unwrap().to_str().unwrap(),
                format!("FOOTNOTE_{}", key.to_uppercase())
            );
        }
    }

    #[test]
    fn the_socket_of_the_file_goes_with_its_index() {
        let around =
            surroundings(ConfigFile { socket: Some("/file/core.sock".into()), ..ConfigFile::default() });
        let socket = |flags: &[&str]| {
            let Everything { stores, socket, .. } = parse(flags);
            socket.settle(&stores.settle(&around).unwrap(), &around).unwrap()
        };
        assert_eq!(socket(&[]).as_path(), PathBuf::from("/file/core.sock"));
        assert_eq!(socket(&["--socket", "/flag.sock"]).as_path(), PathBuf::from("/flag.sock"));
        assert_ne!(socket(&["--index-dir", "/other"]).as_path(), PathBuf::from("/file/core.sock"));
    }

    #[test]
    fn relative_flags_begin_at_the_working_directory() {
        let stores =
            parse(&["--index-dir", "idx"]).stores.settle(&surroundings(ConfigFile::default())).unwrap();
        assert_eq!(stores.index_dir, std::env::current_dir().unwrap().join("idx"));
    }
}
