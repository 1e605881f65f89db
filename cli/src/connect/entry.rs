//! What a client runs to ask us: the one entry that `connect` writes.
//!
//! Deliberately left out: how an entry is spelled in a configuration.

use std::path::{Path, PathBuf};

use proto::form::Form;
use proto::settings::{CallArgs, CollectionArgs, SocketArgs, StoreArgs, Surroundings};
use proto::starter::sibling;
use proto::{Code, Failure};

use crate::args::Typed;
use crate::fault;

/// The name of our entry.
pub(crate) const NAME: &str = "footnote";

/// The program that clients run.
const PROGRAM: &str = "footnote-mcp";

/// The flags that we pass on, and whether a value follows.
const PASSED_ON: &[(&str, bool)] = &[
    ("--collection", true),
    ("--index-dir", true),
    ("--model-dir", true),
    ("--socket", true),
    ("--timeout", true),
    ("--no-autostart", false),
];

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The program's absolute path.
    pub(crate) command: String,
    /// Its arguments.
    pub(crate) args: Vec<String>,
}

/// What stands under our name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// Nothing.
    Nothing,
    /// What `connect` wrote, now or with other arguments.
    Ours(Entry),
    /// Something of someone else's making.
    Foreign,
}

impl Entry {
    /// The entry for this program's sibling, with the places that were typed or stand in a variable. What the
    /// configuration file says is left out: every process reads that itself.
    pub(crate) fn new(
        typed: &Typed,
        collection: &CollectionArgs,
        surroundings: &Surroundings,
    ) -> Result<Self, Failure> {
        let refused = |error| fault::settings(&error);
        let stores = typed.stores.clone().settle(surroundings).map_err(refused)?;
        let socket = typed.socket.clone().settle(&stores, surroundings).map_err(refused)?;
        let unsaid_stores = StoreArgs::default().settle(surroundings).map_err(refused)?;
        let unsaid_socket = SocketArgs::default().settle(&stores, surroundings).map_err(refused)?;
        let calls = typed.calls.clone().settle(surroundings);
        let unsaid_calls = CallArgs::default().settle(surroundings);

        let mut args = vec!["stdio".to_owned()];
        let mut pass_on = |flag: &str, value: String| args.extend([flag.to_owned(), value]);
        if let Some(name) = &collection.collection {
            pass_on("--collection", named(name)?);
        }
        if stores.index_dir != unsaid_stores.index_dir {
            pass_on("--index-dir", text(&stores.index_dir)?);
        }
        if stores.model_dir != unsaid_stores.model_dir {
            pass_on("--model-dir", text(&stores.model_dir)?);
        }
        if socket != unsaid_socket {
            pass_on("--socket", text(socket.as_path())?);
        }
        if calls.timeout != unsaid_calls.timeout {
            pass_on("--timeout", format!("{}s", calls.timeout.as_secs_f64()));
        }
        if calls.autostart != unsaid_calls.autostart {
            args.push("--no-autostart".to_owned());
        }
        Ok(Self { command: text(&program()?)?, args })
    }

    /// Whether only we would write this: our program, spoken to over its standard streams, with flags that we
    /// pass on and no other.
    pub(crate) fn is_ours(&self) -> bool {
        let command = Path::new(&self.command);
        let program = command.is_absolute() && command.file_name().is_some_and(|name| name == PROGRAM);
        let Some((first, flags)) = self.args.split_first() else { return false };
        program && first == "stdio" && are_passed_on(flags)
    }

    /// Whether it has what a client would replace before it runs it: `${…}`.
    pub(crate) fn is_template(&self) -> bool {
        self.args.iter().chain([&self.command]).any(|word| word.contains("${"))
    }
}

fn are_passed_on(flags: &[String]) -> bool {
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        match PASSED_ON.iter().find(|(known, _)| known == flag) {
            Some((_, false)) => {}
            Some((_, true)) if flags.next().is_some() => {}
            Some(_) | None => return false,
        }
    }
    true
}

fn program() -> Result<PathBuf, Failure> {
    sibling(PROGRAM).ok_or_else(|| {
        Failure::with_message(
            Code::Internal,
            format!("cannot find `{PROGRAM}` beside this program or on PATH"),
        )
        .advise("install it: it is built together with this program", Code::Internal.row().remote)
    })
}

fn named(collection: &str) -> Result<String, Failure> {
    if Form::Collection.matches(collection) {
        return Ok(collection.to_owned());
    }
    let message = format!("`collection` must be {}", Form::Collection.words());
    Err(Failure::with_message(Code::InvalidArgument, message).of_field("collection"))
}

fn text(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        let message = format!("{} is not UTF-8, and configurations are", path.display());
        Failure::with_message(Code::InvalidArgument, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_we_would_write_is_ours() {
        for (expected, command, args) in [
            (true, "/opt/footnote-mcp", &["stdio"][..]),
            (true, "/opt/footnote-mcp", &["stdio", "--collection", "a", "--no-autostart", "--socket", "/s"]),
            (false, "footnote-mcp", &["stdio"]),
            (false, "/opt/other", &["stdio"]),
            (false, "/opt/footnote-mcp", &[]),
            (false, "/opt/footnote-mcp", &["http"]),
            (false, "/opt/footnote-mcp", &["stdio", "--log-level", "debug"]),
            (false, "/opt/footnote-mcp", &["stdio", "--collection"]),
        ] {
            let args = args.iter().map(|word| (*word).to_owned()).collect();
            let entry = Entry { command: command.to_owned(), args };
            assert_eq!(entry.is_ours(), expected, "{entry:?}");
        }
    }
}
