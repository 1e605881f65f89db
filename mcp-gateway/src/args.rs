//! What was typed.

use clap::{Command, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use proto::settings::{CallArgs, CollectionArgs, LogArgs, SocketArgs, StoreArgs, TimeoutArgs};

use crate::http::FRONT;

/// The user's documents as MCP tools.
#[derive(Clone, Debug, Parser)]
#[command(name = "footnote-mcp", version, arg_required_else_help = true, max_term_width = 100)]
pub struct Args {
    #[command(subcommand)]
    pub(crate) transport: Transport,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Transport {
    /// Serve the one who started this, over standard input and output
    ///
    /// For editors and agents. The daemon is started when it is first needed.
    Stdio(Stdio),
    /// Serve everyone who may come in, over HTTP at `/mcp`
    ///
    /// It asks the daemon and never starts it.
    Http(Box<Http>),
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Stdio {
    #[command(flatten)]
    pub(crate) collection: CollectionArgs,
    #[command(flatten)]
    pub(crate) stores: StoreArgs,
    #[command(flatten)]
    pub(crate) socket: SocketArgs,
    #[command(flatten)]
    pub(crate) calls: CallArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Http {
    #[command(flatten)]
    pub(crate) door: edge::Args,
    #[command(flatten)]
    pub(crate) collection: CollectionArgs,
    #[command(flatten)]
    pub(crate) stores: StoreArgs,
    #[command(flatten)]
    pub(crate) socket: SocketArgs,
    #[command(flatten)]
    pub(crate) timeout: TimeoutArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

/// The whole command line, with the variables of this gateway.
pub fn command() -> Command {
    Args::command().mut_subcommand("http", |http| edge::with_variables(http, &FRONT))
}

impl Args {
    /// Reads the command line. Ends the process where help or version are asked for, or something is wrong.
    pub fn read() -> Self {
        Self::from_arg_matches(&command().get_matches()).unwrap_or_else(|error| error.exit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clap_finds_no_fault() {
        command().debug_assert();
    }

    #[test]
    fn only_who_starts_a_daemon_can_be_told_not_to() {
        let parse = |words: &[&str]| command().try_get_matches_from([&["footnote-mcp"], words].concat());
        assert!(parse(&["stdio", "--no-autostart"]).is_ok());
        assert!(parse(&["http", "--no-autostart"]).is_err());
        assert!(parse(&["http", "--listen", "127.0.0.1:0"]).is_ok());
    }
}
