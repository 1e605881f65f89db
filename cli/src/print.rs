//! The one file that prints.
//!
//! Answers go to standard output, everything said about them to standard error. Colours are stripped where
//! nobody sees them or `NO_COLOR` is set. A reader who hung up (`| head`) ends us quietly.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// Who is at the other end of standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// Someone who reads.
    Reads,
    /// Nobody any more.
    HungUp,
}

/// Prints an answer.
pub fn answer(text: &str) -> io::Result<Reader> {
    let mut output = anstream::stdout().lock();
    quietly(output.write_all(text.as_bytes()).and_then(|()| output.flush()))
}

/// Prints bytes as they are, for programs.
pub fn raw(bytes: &[u8]) -> io::Result<Reader> {
    let mut output = io::stdout().lock();
    quietly(output.write_all(bytes).and_then(|()| output.flush()))
}

/// Says something about the answer. Where nobody listens, nobody is told.
pub fn note(text: &str) {
    let mut output = anstream::stderr().lock();
    drop(output.write_all(text.as_bytes()));
}

/// Whether someone reads the answer on a screen.
pub fn to_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Prints what clap has to say: a refusal, or the help that was asked for.
pub fn usage(error: &clap::Error) -> ExitCode {
    drop(error.print());
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

fn quietly(printed: io::Result<()>) -> io::Result<Reader> {
    match printed {
        Ok(()) => Ok(Reader::Reads),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Reader::HungUp),
        Err(error) => Err(error),
    }
}
