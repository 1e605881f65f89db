//! What works on a whole index is another program's: `footnote-index` takes over, as git runs its subcommands.
//!
//! Deliberately left out: its flags. It says itself what it accepts.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use proto::starter::sibling;
use proto::{Code, Failure};

/// The program.
const PROGRAM: &str = "footnote-index";

/// Its subcommands, with what `footnote --help` says of them.
pub const INDEX_COMMANDS: &[(&str, &str)] = &[
    ("ingest", "Read documents into a collection, or read again what changed"),
    ("verify", "Check every citation of a collection against its file"),
    ("skipped", "List the files that could not be read into a collection, and why"),
    ("rollback", "Go back to an earlier generation of a collection"),
    ("remove", "Remove a collection; its documents stay where they are"),
    ("model", "Install, list and check embedding models"),
    ("eval", "Measure how well a collection answers queries whose answers are known"),
];

/// Whether `footnote-index` has this subcommand.
pub(crate) fn knows(name: &str) -> bool {
    INDEX_COMMANDS.iter().any(|(known, _)| *known == name)
}

/// `help ingest …` as `footnote-index` understands it.
pub(crate) fn help_of(arguments: &[OsString]) -> Option<Vec<OsString>> {
    let (help, names) = arguments.get(1..)?.split_first()?;
    let name = names.first()?.to_str()?;
    (help == "help" && knows(name)).then(|| names.iter().cloned().chain(["--help".into()]).collect())
}

/// Becomes `footnote-index`. Returns only where that fails.
pub fn become_index(arguments: Vec<OsString>) -> Failure {
    let Some(program) = sibling(PROGRAM) else {
        return Failure::with_message(
            Code::Internal,
            format!("cannot find `{PROGRAM}` beside this program or on PATH"),
        )
        .advise("install it: it is built together with this program", Code::Internal.row().remote);
    };
    let error = Command::new(&program).args(arguments).exec();
    Failure::with_message(Code::Internal, format!("cannot run {}: {error}", program.display()))
        .advise("install it anew", Code::Internal.row().remote)
}
