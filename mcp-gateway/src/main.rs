//! `footnote-mcp`.

use std::process::ExitCode;

use mcp_gateway::args::Args;

fn main() -> ExitCode {
    mcp_gateway::run::run(Args::read())
}
