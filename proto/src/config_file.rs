//! `~/.config/footnote/config.toml`: what a person sets once for every process.
//!
//! A key is the flag's name with `_` for `-`, and the variable is `FOOTNOTE_` and the key in capitals: one name
//! in three spellings. Deliberately left out: which of the three wins (`settings`), and writing the file.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::Deserialize;

use crate::duration::TypedDuration;
use crate::places::BaseDirs;
use crate::settings::LogFormat;

/// Why the configuration file is not obeyed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is there and cannot be read.
    #[error("cannot read the configuration file {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is not TOML, or a value is not of its key's kind.
    #[error("cannot understand the configuration file {}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where, and what was expected.
        source: Box<toml::de::Error>,
    },
    /// It has a key that nothing reads.
    #[error("unknown key `{key}` in {}{}", path.display(), did_you_mean(key))]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The key.
        key: String,
    },
    /// It has a relative path, which would mean something else in every working directory.
    #[error("`{key}` in {} must be an absolute path or begin with `~/`", path.display())]
    RelativePath {
        /// The file.
        path: PathBuf,
        /// The key.
        key: &'static str,
    },
}

macro_rules! keys {
    ($($(#[$doc:meta])+ $key:ident: $value:ty,)+) => {
        /// What the file says; nothing where there is no file.
        #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
        pub struct ConfigFile {
            $($(#[$doc])+ pub $key: Option<$value>,)+
        }

        /// All keys.
        pub const KEYS: &[&str] = &[$(stringify!($key)),+];
    };
}

keys! {
    /// The index directory.
    index_dir: PathBuf,
    /// The model store.
    model_dir: PathBuf,
    /// The daemon's socket.
    socket: PathBuf,
    /// The collection to ask where none is named.
    collection: String,
    /// Whether a missing daemon is an error instead of being started.
    no_autostart: bool,
    /// How long to wait for an answer.
    timeout: TypedDuration,
    /// What to log.
    log_level: String,
    /// How to log.
    log_format: LogFormat,
    /// The model that new collections are embedded with.
    model: String,
    /// After how long without a request the daemon leaves.
    idle_exit: TypedDuration,
    /// How many requests the daemon lets in at once.
    max_in_flight: u32,
    /// How many queries the daemon embeds at once.
    sessions: u32,
    /// The model that the daemon reranks with, or `none`.
    reranker: String,
    /// The only folders that the daemon reads sources beneath, `[LABEL=]DIR` each.
    source_root: Vec<String>,
    /// The group whose members may ask the daemon.
    socket_group: String,
    /// Further user ids that may ask the daemon.
    allow_uid: Vec<u32>,
}

impl ConfigFile {
    /// Reads the file beneath the configuration directory. No file is the same as an empty one.
    pub fn read(base: &BaseDirs) -> Result<Self, Error> {
        let path = base.config_file();
        match fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text, &path, base.home.as_deref()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(Error::Read { path, source }),
        }
    }

    fn parse(text: &str, path: &Path, home: Option<&Path>) -> Result<Self, Error> {
        let not_understood = |source| Error::Parse { path: path.to_owned(), source: Box::new(source) };
        let table: toml::Table = toml::from_str(text).map_err(not_understood)?;
        if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(Error::UnknownKey { path: path.to_owned(), key: key.clone() });
        }
        let mut file: Self = toml::from_str(text).map_err(not_understood)?;
        for (key, value) in file.paths() {
            expand_home(value, home);
            if !value.is_absolute() {
                return Err(Error::RelativePath { path: path.to_owned(), key });
            }
        }
        Ok(file)
    }

    fn paths(&mut self) -> impl Iterator<Item = (&'static str, &mut PathBuf)> {
        [("index_dir", &mut self.index_dir), ("model_dir", &mut self.model_dir), ("socket", &mut self.socket)]
            .into_iter()
            .filter_map(|(key, value)| Some((key, value.as_mut()?)))
    }
}

/// No shell reads this file, so a leading `~/` is ours to understand.
fn expand_home(path: &mut PathBuf, home: Option<&Path>) {
    if let (Some(home), Ok(rest)) = (home, path.strip_prefix("~")) {
        *path = home.join(rest);
    }
}

fn did_you_mean(key: &str) -> String {
    KEYS.iter()
        .map(|known| (strsim::jaro_winkler(known, key), known))
        .filter(|(similarity, _)| *similarity > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or_else(
            || format!("; the keys are {}", KEYS.join(", ")),
            |(_, known)| format!("; did you mean `{known}`?"),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ConfigFile, Error> {
        ConfigFile::parse(text, Path::new("/c/config.toml"), Some(Path::new("/home/ada")))
    }

    #[test]
    fn every_key_is_read() {
        let text = KEYS
            .iter()
            .map(|key| match *key {
                "no_autostart" => format!("{key} = true\n"),
                "timeout" => format!("{key} = 1.5\n"),
                "idle_exit" => format!("{key} = '2h'\n"),
                "max_in_flight" | "sessions" => format!("{key} = 3\n"),
                "source_root" => format!("{key} = ['docs=/srv/docs']\n"),
                "allow_uid" => format!("{key} = [7]\n"),
                "log_format" => format!("{key} = 'json'\n"),
                _ => format!("{key} = '/text'\n"),
            })
            .collect::<String>();
        let file = format!("{:?}", parse(&text).unwrap());
        assert_eq!(file.matches("Some(").count(), KEYS.len(), "{file}");
    }

    #[test]
    fn an_unknown_key_is_refused_with_the_nearest_known() {
        let error = parse("indx_dir = '/x'").unwrap_err().to_string();
        assert_eq!(error, "unknown key `indx_dir` in /c/config.toml; did you mean `index_dir`?");
        let error = parse("zzz = 1").unwrap_err().to_string();
        assert!(error.contains("the keys are index_dir, "), "{error}");
    }

    #[test]
    fn a_broken_file_is_refused_by_name() {
        for text in ["index_dir = ", "index_dir = 3", "timeout = 'soon'", "log_format = 'xml'"] {
            let error = parse(text).unwrap_err();
            assert!(matches!(error, Error::Parse { .. }), "{text}: {error}");
        }
    }

    #[test]
    fn paths_begin_at_the_root_or_at_home() {
        assert_eq!(parse("index_dir = '~/index'").unwrap().index_dir.unwrap(), Path::new("/home/ada/index"));
        let error = parse("socket = 'core.sock'").unwrap_err().to_string();
        assert_eq!(error, "`socket` in /c/config.toml must be an absolute path or begin with `~/`");
    }
}
