//! `footnote-index`: the only program that writes an index. `footnote` runs it as git runs its subcommands.

use std::process::ExitCode;

use clap::Parser as _;
use ingest::args::{Arguments, Command};
use ingest::commands::model::Format;
use ingest::commands::{self, Places};
use proto::settings::Surroundings;
use proto::telemetry;

fn main() -> ExitCode {
    engine::model::forbid_telemetry();
    match run(Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            anstream::eprintln!("footnote: {error:#}");
            error.downcast_ref::<ingest::Error>().map_or(ExitCode::FAILURE, |error| error.exit_code().into())
        }
    }
}

fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let surroundings = Surroundings::read()?;
    telemetry::start(&arguments.log.settle("warn", &surroundings))?;
    let stores = arguments.stores.settle(&surroundings)?;
    let places = Places::new(stores, surroundings)?;
    let code = match arguments.command {
        Command::Ingest(args) => commands::ingest::run(&places, args)?,
        Command::Skipped(args) => commands::skipped::run(&places, &args)?,
        Command::Rollback(args) => commands::rollback::run(&places, &args)?,
        Command::Remove(args) => commands::remove::run(&places, &args)?,
        Command::Model(command) => {
            let format = if command.json { Format::Json } else { Format::Text };
            let (mut out, mut notes) = (anstream::stdout(), anstream::stderr());
            let outcome =
                commands::model::run(&command.args, places.store.dir(), format, &mut out, &mut notes)?;
            outcome.exit_code().into()
        }
        Command::Eval(args) => commands::eval::run(&places, &args)?,
        Command::Verify(args) => commands::verify::run(&places, &args)?,
    };
    Ok(code)
}
