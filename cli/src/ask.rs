//! One operation from the flags to the answer.

use std::env;

use clap::ArgMatches;
use proto::client::Client;
use proto::metadata::{Caller, Surface, VERSION};
use proto::settings::{self, Surroundings};
use proto::{Code, Exit, Failure, Operation};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::args::Typed;
use crate::render::{self, Page, View};
use crate::run::Ended;
use crate::{fault, field, print};

/// Asks, and prints the answer.
pub(crate) async fn ask(
    operation: &'static Operation,
    given: &ArgMatches,
    typed: &Typed,
    surroundings: &Surroundings,
) -> Result<Ended, Failure> {
    let request = field::request(operation, given, surroundings)?;
    let caller = caller();
    let client = client(typed, surroundings).map_err(|error| fault::settings(&error))?;
    let answer = client.ask(operation, &caller, request).await?;
    if typed.json {
        print::answer(&json(&answer)).map_err(|error| fault::system("print the answer", &error))?;
    } else {
        let view = View { working_directory: caller.working_directory.as_deref() };
        let page = page(operation, &answer, view)?;
        print::answer(&page.answer).map_err(|error| fault::system("print the answer", &error))?;
        print::note(&page.notes);
    }
    if let Some(version) = client.other_version() {
        let message = format!("the daemon is version {version}, this program {VERSION}");
        print::note(&render::note(&message, "`footnote up` replaces it"));
    }
    let none = answer.get("hits").and_then(Value::as_array).is_some_and(Vec::is_empty);
    let fail_if_none = matches!(given.try_get_one::<bool>("fail_if_none"), Ok(Some(true)));
    Ok(if none && fail_if_none { Ended::With(Exit::NothingFound) } else { Ended::Well })
}

/// An anonymous person at this folder who can open files.
fn caller() -> Caller {
    Caller {
        working_directory: env::current_dir().ok(),
        open_paths: true,
        trace_parent: env::var("TRACEPARENT").ok(),
        ..Caller::new(Surface::Cli)
    }
}

fn client(typed: &Typed, surroundings: &Surroundings) -> Result<Client, settings::Error> {
    let stores = typed.stores.clone().settle(surroundings)?;
    let socket = typed.socket.clone().settle(&stores, surroundings)?;
    Ok(Client::local(stores, socket, typed.calls.clone().settle(surroundings), &surroundings.base))
}

/// Indented where someone looks at it, one line otherwise.
pub(crate) fn json(answer: &Value) -> String {
    if print::to_terminal() { format!("{answer:#}\n") } else { format!("{answer}\n") }
}

fn page(operation: &Operation, answer: &Value, view: View<'_>) -> Result<Page, Failure> {
    Ok(match operation.name {
        "search" => render::hits(&read(answer)?, view),
        "fetch_chunk" => render::chunk(&read(answer)?, view),
        "list_collections" => render::collections(&read(answer)?),
        "index_status" => render::status(&read(answer)?),
        // An operation that nobody drew a page for is shown as what it is.
        _ => Page { answer: json(answer), notes: String::new() },
    })
}

fn read<A: DeserializeOwned>(answer: &Value) -> Result<A, Failure> {
    A::deserialize(answer)
        .map_err(|_| Failure::with_message(Code::Internal, "the daemon's answer is of another version"))
}
