//! `footnote`.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run::run(std::env::args_os().collect())
}
