//! `footnote-rest`: arguments, logs, configuration, open, serve until SIGTERM, drain.

use std::process::ExitCode;

use anyhow::{Context, Result};
use proto::settings::Surroundings;
use proto::telemetry;
use proto::termination::Termination;
use rest_gateway::config::Args;
use tokio::runtime;

/// They carry bytes and compress some of them.
const REACTOR_THREADS: usize = 2;

fn main() -> ExitCode {
    let args = Args::read();
    let surroundings = match start(&args) {
        Ok(surroundings) => surroundings,
        Err(error) => {
            tell(&error);
            return ExitCode::FAILURE;
        }
    };
    match run(args, &surroundings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn start(args: &Args) -> Result<Surroundings> {
    let surroundings = Surroundings::read()?;
    telemetry::start(&args.log(&surroundings))?;
    Ok(surroundings)
}

fn run(args: Args, surroundings: &Surroundings) -> Result<()> {
    let config = args.settle(surroundings)?;
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(REACTOR_THREADS)
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    runtime.block_on(async {
        let termination = Termination::listen()?;
        rest_gateway::serve(config, termination.told()).await?;
        Ok(())
    })
}

#[expect(clippy::print_stderr, reason = "there are no logs yet")]
fn tell(error: &anyhow::Error) {
    eprintln!("footnote-rest: {error:#}");
}
