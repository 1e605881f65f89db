//! `connect` and `disconnect`: our entry in the configuration of a client, shown as a diff and written on demand.
//!
//! A change goes from text to text (`section`), and only then to the disk (`file`): nothing is written that was
//! not shown, and what is unusual is left alone with what to add by hand. Deliberately left out: running the
//! client's own commands, which differ from version to version.

mod client;
mod entry;
mod file;
mod gap;
mod json;
mod layout;
mod section;
mod toml;
mod unusual;

use std::error::Error as _;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use clap::Args;
use proto::settings::{CollectionArgs, Surroundings};
use proto::{Code, Failure, clean};
use serde_json::{Value, json};
use similar::TextDiff;

pub use client::Client;

use self::client::Scope;
use self::entry::Entry;
use self::file::Configuration;
use self::section::Left;
use self::unusual::Unusual;
use crate::args::Typed;
use crate::run::Ended;
use crate::{ask, fault, print, render};

/// What a client is to ask.
#[derive(Clone, Debug, Args)]
#[group(skip)]
#[command(about = None, long_about = None)]
pub struct ConnectArgs {
    /// Whose configuration is meant, and whether it is written
    #[command(flatten)]
    pub target: TargetArgs,
    /// The collection that the client asks
    #[command(flatten)]
    pub collection: CollectionArgs,
}

/// Whose configuration is meant, and whether it is written.
#[derive(Clone, Debug, Args)]
#[group(skip)]
#[command(about = None, long_about = None)]
pub struct TargetArgs {
    /// The client
    #[arg(value_name = "CLIENT", value_enum)]
    pub client: Client,
    /// Write the change instead of showing it only
    #[arg(long)]
    pub write: bool,
    /// Change the configuration of the project in DIR (here where none is given) instead of the user's
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = ".")]
    pub project: Option<PathBuf>,
}

/// Adds our entry.
pub(crate) fn connect(
    wanted: &ConnectArgs,
    typed: &Typed,
    surroundings: &Surroundings,
) -> Result<Ended, Failure> {
    let entry = Entry::new(typed, &wanted.collection, surroundings)?;
    let target = Target::new(&wanted.target, typed, surroundings)?;
    let by_hand = ByHand { verb: "add", snippet: section::snippet(target.client, &entry) };
    let configuration = target.read().map_err(|error| target.left_alone(&error, &by_hand))?;
    let before = configuration.text.as_deref();
    match section::connect(target.client, before, &entry) {
        Err(unusual) => Err(target.left_alone(&LeftAlone::Text(unusual), &by_hand)),
        Ok(None) => target.nothing_to_do(&configuration, "is connected already"),
        Ok(Some(text)) => target.change(&configuration, &Left::Text(text), &by_hand),
    }
}

/// Takes our entry out.
pub(crate) fn disconnect(
    wanted: &TargetArgs,
    typed: &Typed,
    surroundings: &Surroundings,
) -> Result<Ended, Failure> {
    let target = Target::new(wanted, typed, surroundings)?;
    let by_hand = ByHand { verb: "take out", snippet: format!("{}\n", entry::NAME) };
    let configuration = target.read().map_err(|error| target.left_alone(&error, &by_hand))?;
    let Some(now) = &configuration.text else {
        return target.nothing_to_do(&configuration, "is not connected");
    };
    match section::disconnect(target.client, now, &configuration.backups()) {
        Err(unusual) => Err(target.left_alone(&LeftAlone::Text(unusual), &by_hand)),
        Ok(None) => target.nothing_to_do(&configuration, "is not connected"),
        Ok(Some(left)) => target.change(&configuration, &left, &by_hand),
    }
}

/// A configuration, and what is done with it.
#[derive(Debug)]
struct Target<'t> {
    client: Client,
    scope: Scope,
    /// As it is known; links are not followed.
    path: PathBuf,
    write: bool,
    typed: &'t Typed,
}

/// What a person does where we do nothing.
struct ByHand {
    verb: &'static str,
    snippet: String,
}

/// Why a configuration is left alone.
#[derive(Debug, thiserror::Error)]
enum LeftAlone {
    /// The file is unusual.
    #[error(transparent)]
    File(#[from] file::Error),
    /// What is in it is.
    #[error(transparent)]
    Text(Unusual),
}

impl<'t> Target<'t> {
    fn new(wanted: &TargetArgs, typed: &'t Typed, surroundings: &Surroundings) -> Result<Self, Failure> {
        let scope = match &wanted.project {
            None => Scope::User,
            Some(folder) => Scope::Project(
                std::path::absolute(folder)
                    .map_err(|error| fault::system("tell where the project is", &error))?,
            ),
        };
        let path = wanted.client.configuration(&scope, &surroundings.base)?;
        Ok(Self { client: wanted.client, scope, path, write: wanted.write, typed })
    }

    fn read(&self) -> Result<Configuration, LeftAlone> {
        Ok(Configuration::read(&self.path, self.scope.clone())?)
    }

    /// Shows a change, and makes it where that is wanted.
    fn change(&self, configuration: &Configuration, left: &Left, by_hand: &ByHand) -> Result<Ended, Failure> {
        let backup = self.make(configuration, left).map_err(|error| self.left_alone(&error, by_hand))?;
        if self.typed.json {
            let mut answer = self.answer(configuration);
            answer["diff"] = Value::from(diff(configuration, left));
            answer["changed"] = Value::from(self.write);
            if let Some(backup) = backup {
                answer["backup"] = Value::from(backup.display().to_string());
            }
            return say(&ask::json(&answer), "");
        }
        let notes = if self.write {
            self.written(left, backup.as_deref())
        } else {
            render::note("nothing is written yet", "`--write` writes it")
        };
        say(&shown(&diff(configuration, left)), &notes)
    }

    /// Writes where that is wanted, and says where the text before is kept. What disconnecting brings back, or
    /// removes, connecting makes again: that needs no copy.
    fn make(&self, configuration: &Configuration, left: &Left) -> Result<Option<PathBuf>, LeftAlone> {
        if configuration.text.is_some() {
            configuration.writable()?;
        }
        if !self.write {
            return Ok(None);
        }
        let backup = match left {
            Left::Text(_) => configuration.back_up()?,
            Left::Before(_) | Left::NoFile => None,
        };
        match left.text() {
            Some(text) => configuration.replace(text)?,
            None => configuration.remove()?,
        }
        Ok(backup)
    }

    fn written(&self, left: &Left, backup: Option<&Path>) -> String {
        let row = self.client.row();
        let mut message = match left {
            Left::Text(_) => "written".to_owned(),
            Left::Before(_) => "written: it is as it was before `connect`".to_owned(),
            Left::NoFile => "removed: nothing else was in it".to_owned(),
        };
        if let Some(backup) = backup {
            // Writing to a string does not fail.
            _ = write!(message, "; as it was, it is in {}", backup.display());
        }
        render::note(&message, &format!("for {} to notice, {}", row.title, row.refresh))
    }

    fn nothing_to_do(&self, configuration: &Configuration, words: &str) -> Result<Ended, Failure> {
        let title = self.client.row().title;
        if self.typed.json {
            let mut answer = self.answer(configuration);
            answer["changed"] = Value::from(false);
            return say(&ask::json(&answer), "");
        }
        say(&format!("{title} {words}: {}\n", configuration.path.display()), "")
    }

    fn answer(&self, configuration: &Configuration) -> Value {
        let name = clap::ValueEnum::to_possible_value(&self.client).map(|value| value.get_name().to_owned());
        json!({ "client": name, "file": configuration.path.display().to_string() })
    }

    /// Prints what to do by hand, and gives the reason.
    fn left_alone(&self, error: &LeftAlone, by_hand: &ByHand) -> Failure {
        let code = match error {
            LeftAlone::File(error) if error.is_permission() => Code::PermissionDenied,
            LeftAlone::File(_) | LeftAlone::Text(_) => Code::InvalidArgument,
        };
        let path = self.path.display();
        if !self.typed.json {
            print::note(&format!("{}\n", by_hand.snippet));
        }
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        let action = if self.typed.json {
            format!("{} by hand: {}", by_hand.verb, by_hand.snippet.trim_end())
        } else {
            format!("{} by hand what is shown above", by_hand.verb)
        };
        Failure::with_message(code, format!("{path} is left alone: {error}{cause}"))
            .advise(action, code.row().remote)
    }
}

fn say(answer: &str, notes: &str) -> Result<Ended, Failure> {
    print::answer(answer).map_err(|error| fault::system("print the answer", &error))?;
    print::note(notes);
    Ok(Ended::Well)
}

/// The change as a unified diff.
fn diff(configuration: &Configuration, left: &Left) -> String {
    let path = configuration.path.display().to_string();
    let before = configuration.text.as_deref();
    let name = |text: Option<&str>| text.map_or("/dev/null", |_| path.as_str()).to_owned();
    let lines = TextDiff::from_lines(before.unwrap_or_default(), left.text().unwrap_or_default());
    lines.unified_diff().context_radius(3).header(&name(before), &name(left.text())).to_string()
}

/// A diff for the eye; a program that reads it gets it as it is.
fn shown(diff: &str) -> String {
    if !print::to_terminal() {
        return diff.to_owned();
    }
    diff.lines().map(|line| coloured(&clean::text(line)) + "\n").collect()
}

fn coloured(line: &str) -> String {
    let style = match line.as_bytes().first() {
        Some(b'+') => AnsiColor::Green.on_default(),
        Some(b'-') => AnsiColor::Red.on_default(),
        Some(b'@') => AnsiColor::Cyan.on_default(),
        Some(_) | None => Style::new(),
    };
    format!("{style}{line}{style:#}")
}
