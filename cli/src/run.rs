//! One run of the program, from what was typed to how it ends.

use std::ffi::OsString;
use std::process::ExitCode;

use clap_complete::Shell;
use proto::settings::Surroundings;
use proto::{Exit, Failure};
use tokio::runtime;

use crate::args::{self, Parsed, Typed, Wish};
use crate::{ask, connect, daemon, fault, index, logs, print, render};

/// How a run ends that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// With exit code 0.
    Well,
    /// With something to say about it.
    With(Exit),
}

/// Does what was typed, the program's name first.
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    let typed = match args::parse(arguments) {
        Ok(Parsed::Here(typed)) => typed,
        Ok(Parsed::Index(arguments)) => return failed(&index::become_index(arguments), false),
        Err(error) => return print::usage(&error),
    };
    match serve(&typed) {
        Ok(Ended::Well) => ExitCode::SUCCESS,
        Ok(Ended::With(exit)) => exit.into(),
        Err(failure) => failed(&failure, typed.json),
    }
}

fn serve(typed: &Typed) -> Result<Ended, Failure> {
    if let Wish::Completions(shell) = typed.wish {
        return completions(shell);
    }
    let surroundings = Surroundings::read().map_err(|error| fault::settings(&error))?;
    // One thread: a command asks once and waits.
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| fault::system("start", &error))?;
    runtime.block_on(async {
        tokio::select! {
            ended = wished(typed, &surroundings) => ended,
            Ok(()) = tokio::signal::ctrl_c() => Ok(Ended::With(Exit::Interrupted)),
        }
    })
}

async fn wished(typed: &Typed, surroundings: &Surroundings) -> Result<Ended, Failure> {
    match &typed.wish {
        Wish::Ask { operation, matches } => ask::ask(operation, matches, typed, surroundings).await,
        Wish::Up => daemon::up(typed, surroundings).await,
        Wish::Down => daemon::down(typed, surroundings).await,
        Wish::Logs(wanted) => logs::logs(wanted, typed, surroundings).await,
        Wish::Connect(wanted) => connect::connect(wanted, typed, surroundings),
        Wish::Disconnect(wanted) => connect::disconnect(wanted, typed, surroundings),
        Wish::Completions(shell) => completions(*shell),
    }
}

fn completions(shell: Shell) -> Result<Ended, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::command(), "footnote", &mut script);
    print::raw(&script).map_err(|error| fault::system("print the script", &error))?;
    Ok(Ended::Well)
}

fn failed(failure: &Failure, json: bool) -> ExitCode {
    if json {
        print::note(&format!("{}\n", render::failure_json(failure)));
    } else {
        print::note(&render::failure(failure));
    }
    failure.code.into()
}
