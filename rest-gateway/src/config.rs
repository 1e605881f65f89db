//! What was typed, and what it means. Refused before anything is opened.

use std::time::Duration;

use clap::{Command, CommandFactory as _, FromArgMatches as _, Parser};
use proto::places::SocketPath;
use proto::settings::{self, CollectionArgs, Log, LogArgs, SocketArgs, StoreArgs, Surroundings, TimeoutArgs};

use crate::FRONT;

/// What is logged where nobody says anything.
const LOG_LEVEL: &str = "info";

/// Answers questions about the collections of one index directory over HTTP and JSON.
///
/// It asks the daemon and never starts it. `/openapi.json` describes the routes.
#[derive(Clone, Debug, Parser)]
#[command(name = "footnote-rest", version, max_term_width = 100)]
pub struct Args {
    #[command(flatten)]
    door: edge::Args,
    #[command(flatten)]
    stores: StoreArgs,
    #[command(flatten)]
    socket: SocketArgs,
    #[command(flatten)]
    collection: CollectionArgs,
    #[command(flatten)]
    timeout: TimeoutArgs,
    #[command(flatten)]
    log: LogArgs,
}

/// What the gateway was told.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where it listens, and to whom.
    pub door: edge::Config,
    /// Where the daemon listens.
    pub socket: SocketPath,
    /// The collection of those who name none.
    pub collection: Option<String>,
    /// How long an answer is waited for.
    pub timeout: Duration,
}

/// Why the flags are refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Shared settings are.
    #[error(transparent)]
    Settings(#[from] settings::Error),
    /// The door's are.
    #[error(transparent)]
    Door(#[from] edge::Error),
}

/// The whole command line, with the variables of this gateway.
pub fn command() -> Command {
    edge::with_variables(Args::command(), &FRONT)
}

impl Args {
    /// Reads the command line. Ends the process where help or version are asked for, or something is wrong.
    pub fn read() -> Self {
        let matches = command().get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

    /// Says what is logged: first, so that all else can be.
    pub fn log(&self, surroundings: &Surroundings) -> Log {
        self.log.clone().settle(LOG_LEVEL, surroundings)
    }

    /// Says what it all means.
    pub fn settle(self, surroundings: &Surroundings) -> Result<Config, Error> {
        let stores = self.stores.settle(surroundings)?;
        Ok(Config {
            door: self.door.settle(&FRONT)?,
            socket: self.socket.settle(&stores, surroundings)?,
            collection: self.collection.settle_for_others(surroundings)?,
            timeout: self.timeout.settle(surroundings),
        })
    }
}

#[cfg(test)]
mod tests {
    use proto::config_file::ConfigFile;
    use proto::places::BaseDirs;

    use super::*;

    fn settle(flags: &[&str], file: ConfigFile) -> Result<Config, String> {
        let base = BaseDirs::look_up(|_| None, Some("/home/ada".into())).unwrap();
        let matches = command().try_get_matches_from([&["footnote-rest"], flags].concat()).unwrap();
        let args = Args::from_arg_matches(&matches).unwrap();
        args.settle(&Surroundings { base, file }).map_err(|error| error.to_string())
    }

    #[test]
    fn clap_finds_no_fault() {
        command().debug_assert();
    }

    #[test]
    fn the_file_stands_behind_the_flags() {
        let file = || ConfigFile {
            collection: Some("notes".to_owned()),
            timeout: Some(Duration::from_secs(9).into()),
            ..ConfigFile::default()
        };
        let config = settle(&[], file()).unwrap();
        assert_eq!((config.collection.as_deref(), config.timeout), (Some("notes"), Duration::from_secs(9)));
        let config = settle(&["-c", "docs", "--timeout", "2s"], file()).unwrap();
        assert_eq!((config.collection.as_deref(), config.timeout), (Some("docs"), Duration::from_secs(2)));
    }

    #[test]
    fn a_collection_that_cannot_be_is_refused() {
        assert!(settle(&["--collection", "../etc"], ConfigFile::default()).unwrap_err().contains("../etc"));
    }

    #[test]
    fn no_flag_promises_to_start_a_daemon() {
        assert!(command().try_get_matches_from(["footnote-rest", "--no-autostart"]).is_err());
    }
}
