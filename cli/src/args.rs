//! The command line: a subcommand for every operation of the contract, our own, and those of `footnote-index`.
//!
//! Deliberately left out: what the fields of an operation accept. `validate()` says so on every surface alike, so
//! clap checks none of it.

use std::ffi::OsString;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use clap_complete::Shell;
use proto::settings::{CallArgs, SocketArgs, StoreArgs};
use proto::{OPERATIONS, Operation};

use crate::connect::{ConnectArgs, TargetArgs};
use crate::field;
use crate::index::{self, INDEX_COMMANDS};

/// What was typed.
#[derive(Debug)]
pub struct Typed {
    /// What is wanted.
    pub wish: Wish,
    /// Where index and models are.
    pub stores: StoreArgs,
    /// Where the daemon listens.
    pub socket: SocketArgs,
    /// How it is asked.
    pub calls: CallArgs,
    /// Whether answers and failures are JSON.
    pub json: bool,
}

/// What is wanted.
#[derive(Debug)]
pub enum Wish {
    /// An operation's answer.
    Ask {
        /// Which.
        operation: &'static Operation,
        /// The fields that were given, and `fail-if-none`.
        matches: ArgMatches,
    },
    /// A daemon that serves, of this version.
    Up,
    /// No daemon.
    Down,
    /// The daemon's log.
    Logs(LogsArgs),
    /// Our entry in a client's configuration.
    Connect(ConnectArgs),
    /// No such entry.
    Disconnect(TargetArgs),
    /// A completion script.
    Completions(Shell),
}

/// The daemon's log.
#[derive(Clone, Debug, Args)]
#[group(skip)]
#[command(about = None, long_about = None)]
pub struct LogsArgs {
    /// Go on with what is logged from now
    #[arg(long, short)]
    pub follow: bool,
    /// How many of the last lines to show
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    pub lines: usize,
}

/// What a command line comes to.
#[derive(Debug)]
pub enum Parsed {
    /// Something to do here.
    Here(Box<Typed>),
    /// Arguments that `footnote-index` takes as they are.
    Index(Vec<OsString>),
}

/// The whole command line, as help, completions and reference show it.
pub fn command() -> Command {
    let index_commands = INDEX_COMMANDS.iter().map(|(name, summary)| Command::new(name).about(*summary));
    ours().subcommands(index_commands)
}

/// Reads a command line, the program's name first. The error is also help and version that were asked for.
pub fn parse(arguments: Vec<OsString>) -> Result<Parsed, clap::Error> {
    if let Some(help) = index::help_of(&arguments) {
        return Ok(Parsed::Index(help));
    }
    let lenient = ours()
        .allow_external_subcommands(true)
        .external_subcommand_value_parser(clap::value_parser!(OsString));
    match lenient.try_get_matches_from(&arguments) {
        Ok(matches) => match matches.subcommand() {
            Some((name, _)) if index::knows(name) => {
                Ok(Parsed::Index(arguments.into_iter().skip(1).collect()))
            }
            Some((name, given)) => match wish(name, given)? {
                Some(wish) => Ok(Parsed::Here(Box::new(typed(wish, given)?))),
                None => Err(refusal(&arguments)),
            },
            None => Err(refusal(&arguments)),
        },
        Err(_) => Err(refusal(&arguments)),
    }
}

/// What clap says to arguments that were not accepted, with all subcommands in mind.
fn refusal(arguments: &[OsString]) -> clap::Error {
    let Err(error) = command().try_get_matches_from(arguments) else {
        return command().error(clap::error::ErrorKind::InvalidSubcommand, "unknown subcommand");
    };
    error
}

fn wish(name: &str, given: &ArgMatches) -> Result<Option<Wish>, clap::Error> {
    if let Some(operation) = OPERATIONS.iter().find(|operation| operation.command == name) {
        return Ok(Some(Wish::Ask { operation, matches: given.clone() }));
    }
    Ok(match name {
        "up" => Some(Wish::Up),
        "down" => Some(Wish::Down),
        "logs" => Some(Wish::Logs(LogsArgs::from_arg_matches(given)?)),
        "connect" => Some(Wish::Connect(ConnectArgs::from_arg_matches(given)?)),
        "disconnect" => Some(Wish::Disconnect(TargetArgs::from_arg_matches(given)?)),
        "completions" => given.get_one::<Shell>("shell").copied().map(Wish::Completions),
        _ => None,
    })
}

fn typed(wish: Wish, given: &ArgMatches) -> Result<Typed, clap::Error> {
    Ok(Typed {
        wish,
        stores: StoreArgs::from_arg_matches(given)?,
        socket: SocketArgs::from_arg_matches(given)?,
        calls: CallArgs::from_arg_matches(given)?,
        json: given.get_flag("json"),
    })
}

fn ours() -> Command {
    let command = Command::new("footnote")
        .version(env!("CARGO_PKG_VERSION"))
        .after_help("Exit codes: 0 done, 2 refused, 3 not found, 4 not now, 5 not in this mode, 6 not permitted, 7 damaged, 130 interrupted.")
        .max_term_width(100)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(
            Arg::new("json")
                .long("json")
                .help("Answer in JSON, and fail in JSON on standard error")
                .action(ArgAction::SetTrue)
                .global(true),
        );
    let command = CallArgs::augment_args(SocketArgs::augment_args(StoreArgs::augment_args(command)));
    command
        // After the groups of flags, which would take its place.
        .about("Answers from your own documents, each with a footnote that is checked against its file")
        .subcommands(OPERATIONS.iter().map(operation))
        .subcommand(Command::new("up").about("Start the daemon, or replace one of another version"))
        .subcommand(Command::new("down").about("Stop the daemon once it has finished what it has"))
        .subcommand(LogsArgs::augment_args(Command::new("logs")).about("Show what the daemon logged"))
        .subcommand(
            ConnectArgs::augment_args(Command::new("connect"))
                .about("Show what connects an editor or agent to the index, and write it with --write"),
        )
        .subcommand(
            TargetArgs::augment_args(Command::new("disconnect"))
                .about("Show what undoes `connect`, and write it with --write"),
        )
        .subcommand(
            Command::new("completions")
                .about("Write a completion script for a shell to standard output")
                .arg(
                    Arg::new("shell")
                        .required(true)
                        .value_name("SHELL")
                        .value_parser(clap::value_parser!(Shell)),
                ),
        )
}

fn operation(operation: &'static Operation) -> Command {
    let command = Command::new(operation.command)
        .about(operation.summary)
        .long_about(operation.description)
        .args(operation.fields.iter().flat_map(|field| field::arguments(operation, field)));
    if operation.name == "search" { command.arg(fail_if_none()) } else { command }
}

fn fail_if_none() -> Arg {
    Arg::new("fail_if_none")
        .long("fail-if-none")
        .help("Exit with 11 where nothing is found")
        .action(ArgAction::SetTrue)
}

#[cfg(test)]
mod tests {
    use proto::field::{At, Kind};

    use super::*;

    fn parse_words(words: &[&str]) -> Result<Parsed, clap::Error> {
        parse(["footnote"].iter().chain(words).map(OsString::from).collect())
    }

    #[test]
    fn clap_finds_no_fault() {
        command().debug_assert();
        ours().debug_assert();
    }

    #[test]
    fn every_field_of_every_operation_is_reachable() {
        let command = command();
        for operation in OPERATIONS {
            let subcommand = command.find_subcommand(operation.command).unwrap();
            for path in paths(At::Request, operation.fields) {
                assert!(
                    subcommand.get_arguments().any(|argument| argument.get_id() == path.as_str()),
                    "{}.{path}",
                    operation.name
                );
            }
        }
    }

    /// Where every field stands that is no object.
    fn paths(at: At<'_>, fields: &[proto::Field]) -> Vec<String> {
        let path = |field: &proto::Field| match field.kind {
            Kind::Object(fields) => paths(At::Field(&at, field.name), fields),
            Kind::Text { .. } | Kind::Number { .. } | Kind::Switch | Kind::Word(_) | Kind::List { .. } => {
                vec![At::Field(&at, field.name).to_string()]
            }
        };
        fields.iter().flat_map(path).collect()
    }

    #[test]
    fn no_name_is_taken_twice() {
        let command = command();
        let mut names: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), command.get_subcommands().count());
    }

    #[test]
    fn what_works_on_an_index_goes_on_as_it_was_typed() {
        let words = ["--index-dir", "/i", "ingest", "--json", "--unknown-here", "docs"];
        let Parsed::Index(arguments) = parse_words(&words).unwrap() else { panic!("not passed on") };
        assert_eq!(arguments, words);
        let Parsed::Index(arguments) = parse_words(&["help", "ingest"]).unwrap() else {
            panic!("not passed on")
        };
        assert_eq!(arguments, ["ingest", "--help"]);
        assert!(matches!(parse_words(&["ingest", "--help"]).unwrap(), Parsed::Index(_)));
    }

    #[test]
    fn a_misspelt_subcommand_is_refused_with_the_nearest() {
        for (typed, nearest) in [("serach", "search"), ("ingst", "ingest"), ("staus", "status")] {
            let error = parse_words(&[typed]).unwrap_err().to_string();
            assert!(error.contains(&format!("'{nearest}'")), "{error}");
        }
    }

    #[test]
    fn help_lists_every_subcommand() {
        let help = parse_words(&["--help"]).unwrap_err().to_string();
        assert!(help.starts_with("Answers from your own documents"), "{help}");
        for subcommand in command().get_subcommands() {
            assert!(help.contains(&format!("\n  {} ", subcommand.get_name())), "{help}");
        }
    }

    #[test]
    fn places_may_stand_before_and_behind_the_subcommand() {
        for words in
            [["--json", "search", "x", "--index-dir=/i"], ["--index-dir=/i", "search", "--json", "x"]]
        {
            let Parsed::Here(typed) = parse_words(&words).unwrap() else { panic!("passed on") };
            assert!(typed.json);
            assert_eq!(typed.stores.index_dir.as_deref(), Some(std::path::Path::new("/i")));
        }
    }
}
