//! `footnote-mcp`: what was typed, and then one transport until it ends.

use std::process::ExitCode;

use mcp_gateway::args::Args;

fn main() -> ExitCode {
    mcp_gateway::run::run(Args::read())
}
