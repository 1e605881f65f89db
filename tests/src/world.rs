//! A home folder of its own, with documents in it, and our programs run as a person would run them.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::gateway::Gateway;
use crate::programs::program;
use crate::wait;

/// A home folder with `docs/` in it. What it started is stopped when it is dropped.
#[derive(Debug)]
pub struct World {
    home: TempDir,
    models: PathBuf,
    daemon: Option<Child>,
}

#[expect(clippy::new_without_default, reason = "a world is made on purpose, never by default")]
impl World {
    /// A world without a model.
    pub fn new() -> Self {
        let mut world = Self::with_models(PathBuf::new());
        world.models = world.home().join("models");
        world
    }

    fn with_models(models: PathBuf) -> Self {
        let home = tempfile::Builder::new().prefix("fn-").tempdir().expect("a temporary folder");
        fs::create_dir(home.path().join("docs")).expect("a folder for documents");
        Self { home, models, daemon: None }
    }

    /// A world whose model is the hashing one: vectors without a runtime.
    pub fn with_hashing_model() -> Self {
        let world = Self::new();
        world.install_hashing_model();
        world
    }

    /// A world with the default model, installed once for all tests of this machine.
    pub fn with_real_model() -> Self {
        Self::with_models(crate::real_model::store())
    }

    /// Puts the hashing model into this world's store.
    pub fn install_hashing_model(&self) {
        let folder = self.models.join("hashing");
        fs::create_dir_all(&folder).expect("a folder for the model");
        fs::write(folder.join("model.toml"), HASHING_MODEL).expect("its descriptor");
    }

    /// Puts a reranker that counts common words into this world's store.
    pub fn install_hashing_reranker(&self) {
        let folder = self.models.join("common-words");
        fs::create_dir_all(&folder).expect("a folder for the model");
        fs::write(folder.join("model.toml"), "kind = \"hashing_reranker\"\n").expect("its descriptor");
    }

    /// The home folder.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// The folder of documents.
    pub fn docs(&self) -> PathBuf {
        self.home().join("docs")
    }

    /// The index directory.
    pub fn index(&self) -> PathBuf {
        self.home().join("index")
    }

    /// The model store.
    pub fn models(&self) -> &Path {
        &self.models
    }

    /// The daemon's socket.
    pub fn socket(&self) -> PathBuf {
        self.home().join("run/core.sock")
    }

    /// The path of a document.
    pub fn doc(&self, source: &str) -> PathBuf {
        self.docs().join(source)
    }

    /// Writes a document, and the folders above it.
    pub fn write(&self, source: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.doc(source);
        fs::create_dir_all(path.parent().expect("documents lie in a folder")).expect("its folder");
        fs::write(&path, content).expect("the document");
        path
    }

    /// One of our programs, in this world's home and with nothing of the caller's settings.
    pub fn command(&self, name: &str) -> Command {
        let mut command = Command::new(program(name));
        self.settle(&mut command);
        command
    }

    /// Gives a command this world's home, places and working directory.
    pub fn settle(&self, command: &mut Command) {
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("FOOTNOTE_") || name.to_string_lossy().starts_with("XDG_") {
                command.env_remove(name);
            }
        }
        command
            .env("HOME", self.home())
            .env("XDG_RUNTIME_DIR", self.home().join("xdg-run"))
            .env("FOOTNOTE_INDEX_DIR", self.index())
            .env("FOOTNOTE_MODEL_DIR", &self.models)
            .env("FOOTNOTE_SOCKET", self.socket())
            .env("NO_COLOR", "1")
            .current_dir(self.home())
            .stdin(Stdio::null());
    }

    /// Runs `footnote` and waits for it.
    pub fn footnote<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        Run::of(self.command("footnote").args(arguments))
    }

    /// Runs `footnote` with `input` on its standard input.
    pub fn footnote_with_input(&self, arguments: &[&str], input: &[u8]) -> Run {
        let mut command = self.command("footnote");
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("footnote starts");
        child.stdin.take().expect("a pipe").write_all(input).expect("its input");
        Run::from(child.wait_with_output().expect("footnote ends"))
    }

    /// Ingests the folder of documents into the collection `docs` and returns the summary.
    ///
    /// # Panics
    /// Where the exit code is not 0.
    pub fn ingest(&self) -> Value {
        self.ingest_with(&[])
    }

    /// The same with further arguments.
    ///
    /// # Panics
    /// Where the exit code is not 0.
    pub fn ingest_with(&self, arguments: &[&str]) -> Value {
        let run = self.try_ingest(arguments);
        assert_eq!(run.code, 0, "ingest failed: {run}");
        run.last_json()
    }

    /// Ingests and returns however it ended.
    pub fn try_ingest(&self, arguments: &[&str]) -> Run {
        let docs = self.docs();
        let mut all = vec![OsStr::new("ingest"), docs.as_os_str()];
        all.extend(["--collection", "docs", "--json"].map(OsStr::new));
        all.extend(arguments.iter().map(OsStr::new));
        self.footnote(all)
    }

    /// Asks and returns the answer.
    ///
    /// # Panics
    /// Where the exit code is not 0.
    pub fn search(&self, arguments: &[&str]) -> Value {
        let mut all = vec!["search", "--json", "--collection", "docs"];
        all.extend(arguments);
        let run = self.footnote(all);
        assert_eq!(run.code, 0, "search failed: {run}");
        run.json()
    }

    /// Fetches a passage by id or footnote from the collection `docs` and returns the answer.
    ///
    /// # Panics
    /// Where the exit code is not 0.
    pub fn fetch(&self, passage: &str) -> Value {
        let run = self.try_fetch(passage);
        assert_eq!(run.code, 0, "fetch failed: {run}");
        run.json()
    }

    /// Fetches and returns however it ended.
    pub fn try_fetch(&self, passage: &str) -> Run {
        let name = if passage.contains("footnote:") { "--footnote" } else { "--chunk-id" };
        self.footnote(["fetch", "--json", "--collection", "docs", name, passage])
    }

    /// Starts a daemon of this world's index and waits until it serves. Clients would start one themselves;
    /// this is for tests about the daemon.
    pub fn start_daemon(&mut self, arguments: &[&str]) {
        let child = self.command("footnoted").args(arguments).stderr(Stdio::null()).spawn();
        self.daemon = Some(child.expect("footnoted starts"));
        wait::until(20, "the daemon's socket", || {
            std::os::unix::net::UnixStream::connect(self.socket()).ok()
        });
    }

    /// Starts `footnote-rest` on a free port. It starts no daemon.
    pub fn start_rest(&self, arguments: &[&str]) -> Gateway {
        Gateway::start(self, "footnote-rest", arguments)
    }

    /// Starts `footnote-mcp http` on a free port. It starts no daemon.
    pub fn start_mcp(&self, arguments: &[&str]) -> Gateway {
        let mut all = vec!["http"];
        all.extend(arguments);
        Gateway::start(self, "footnote-mcp", &all)
    }

    /// The daemon that [`Self::start_daemon`] started.
    pub fn daemon(&mut self) -> &mut Child {
        self.daemon.as_mut().expect("a daemon was started")
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            drop(daemon.kill());
            drop(daemon.wait());
        } else if self.socket().exists() {
            drop(self.command("footnote").arg("down").output());
        }
    }
}

/// How a program ended.
#[derive(Clone, Debug)]
pub struct Run {
    /// The exit code; −1 where a signal ended it.
    pub code: i32,
    /// What it printed.
    pub stdout: String,
    /// What it complained.
    pub stderr: String,
}

impl Run {
    /// Runs a command to its end.
    pub fn of(command: &mut Command) -> Self {
        Self::from(command.output().expect("the program starts"))
    }

    /// What it printed, as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self}"))
    }

    /// The last line it printed, as JSON.
    pub fn last_json(&self) -> Value {
        let line = self.stdout.lines().last().unwrap_or_default();
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {self}"))
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit {}\n--- stdout\n{}\n--- stderr\n{}", self.code, self.stdout, self.stderr)
    }
}

/// The model that only tests write.
const HASHING_MODEL: &str = r#"
kind = "hashing"
dimensions = 64
"#;
