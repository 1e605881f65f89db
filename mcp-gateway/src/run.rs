//! One run of the program: settings, logs, and then the transport that was asked for until it ends.

use std::env;
use std::io;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use proto::client::Client;
use proto::line::{Absent, Line};
use proto::settings::Surroundings;
use proto::telemetry;
use proto::termination::Termination;
use tokio::runtime;

use crate::args::{Args, Http, Stdio, Transport};
use crate::http::{FRONT, router};
use crate::parent::Parent;
use crate::stdout::{Patient, Stdout};
use crate::{Gateway, stdio};

/// What is logged over stdio: little, since an editor shows it to a person who asked for nothing. rmcp warns of every
/// request that it refuses, which is the client's to hear.
const STDIO_LOG: &str = "warn,rmcp=off";

/// What is logged over HTTP. The door has a line for every request.
const HTTP_LOG: &str = "info,rmcp=off";

/// They carry bytes; the daemon does the work.
const HTTP_THREADS: usize = 2;

/// Does what was typed.
pub fn run(args: Args) -> ExitCode {
    let ended = match args.transport {
        Transport::Stdio(args) => serve_stdio(args),
        Transport::Http(args) => serve_http(*args),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell(&error);
            ExitCode::FAILURE
        }
    }
}

fn serve_stdio(args: Stdio) -> Result<()> {
    // Both before anything else: the parent may end, and something may print.
    let parent = Parent::now();
    let output = Stdout::take().context("cannot take standard output")?;
    let surroundings = Surroundings::read()?;
    telemetry::start(&args.log.settle(STDIO_LOG, &surroundings))?;
    let stores = args.stores.settle(&surroundings)?;
    let socket = args.socket.settle(&stores, &surroundings)?;
    let collection = args.collection.settle_for_others(&surroundings)?;
    let client = Client::local(stores, socket, args.calls.settle(&surroundings), &surroundings.base);
    let gateway = Gateway::local(client, env::current_dir().ok(), collection);
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(stdio::serve(gateway, Patient(io::stdin()), output, parent));
    // Whatever is still under way has nobody left to tell.
    runtime.shutdown_background();
    Ok(served?)
}

fn serve_http(args: Http) -> Result<()> {
    let surroundings = Surroundings::read()?;
    telemetry::start(&args.log.settle(HTTP_LOG, &surroundings))?;
    let door = args.door.settle(&FRONT)?;
    let stores = args.stores.settle(&surroundings)?;
    let socket = args.socket.settle(&stores, &surroundings)?;
    let collection = args.collection.settle_for_others(&surroundings)?;
    let line = Line::new(socket.clone(), Absent::Fail);
    let gateway = Gateway::remote(Client::new(line, args.timeout.settle(&surroundings)), collection);
    let runtime = runtime::Builder::new_multi_thread().worker_threads(HTTP_THREADS).enable_all().build()?;
    runtime.block_on(async {
        let termination = Termination::listen()?;
        edge::open(door, FRONT)?.serve(router(gateway), socket, termination.told()).await;
        Ok(())
    })
}

/// Logs may not be set up, and the one who started this reads standard error in any case.
#[expect(clippy::print_stderr, reason = "what keeps a program from serving is told to who started it")]
fn tell(error: &anyhow::Error) {
    eprintln!("footnote-mcp: {error:#}");
}
