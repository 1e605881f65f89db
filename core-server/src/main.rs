//! `footnoted`: arguments, logs, configuration, open, bind, serve until SIGTERM, drain.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Parser;
use core_server::config::Args;
use core_server::listener::Listener;
use core_server::server;
use engine::Engine;
use proto::settings::Surroundings;
use proto::telemetry;
use proto::termination::Termination;
use tokio::runtime;

/// They carry bytes and do not compute.
const REACTOR_THREADS: usize = 2;

/// Work that is still running by then is left to die with the process.
const LEAVE: Duration = Duration::from_millis(100);

fn main() -> ExitCode {
    engine::model::forbid_telemetry();
    let (args, surroundings) = match start() {
        Ok(started) => started,
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

fn start() -> Result<(Args, Surroundings)> {
    let args = Args::parse();
    let surroundings = Surroundings::read()?;
    telemetry::start(&args.log(&surroundings))?;
    Ok((args, surroundings))
}

fn run(args: Args, surroundings: &Surroundings) -> Result<()> {
    let config = args.settle(surroundings)?;
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(REACTOR_THREADS)
        .max_blocking_threads(config.limits.threads())
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let served = runtime.block_on(async {
        let termination = Termination::listen()?;
        let engine = Arc::new(Engine::open(config.engine)?);
        let listener = Listener::bind(&config.place).await?;
        server::serve(listener, engine, config.limits, config.idle_exit, termination.told()).await?;
        Ok(())
    });
    runtime.shutdown_timeout(LEAVE);
    served
}

#[expect(clippy::print_stderr, reason = "there are no logs yet")]
fn tell(error: &anyhow::Error) {
    eprintln!("footnoted: {error:#}");
}
