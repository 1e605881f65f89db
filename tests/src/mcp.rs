//! MCP without a library: messages as JSON, and a client of `footnote-mcp stdio` that knows lines and nothing else.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio as Pipe};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use http::Request;
use http_body_util::Full;
use rustix::process::Pid;
use serde_json::{Value, json};

use crate::{World, grpc, http as over_http, strace, wait};

/// The newest revision, whose requests say all that there is to say.
pub const MODERN: &str = "2026-07-28";

/// The revisions with an introduction.
pub const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// No answer takes longer in a test that works.
const PATIENCE: Duration = Duration::from_secs(30);

/// A request.
pub fn request(id: impl Into<Value>, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

/// A notification.
pub fn notification(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

/// An introduction.
pub fn initialize(id: impl Into<Value>, version: &str) -> Value {
    let client = json!({"name": "test", "version": "0"});
    request(id, "initialize", &json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client}))
}

/// A call of a tool.
pub fn call(id: impl Into<Value>, tool: &str, arguments: &Value) -> Value {
    request(id, "tools/call", &json!({"name": tool, "arguments": arguments}))
}

/// A request as the newest revision has it.
#[must_use]
pub fn modern(mut request: Value) -> Value {
    request["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
    });
    request
}

/// A message on its way over HTTP, with the headers that the newest revision wants where it is one of its.
///
/// # Panics
/// Where the message does not fit into headers.
pub fn post(message: &Value) -> Request<Full<bytes::Bytes>> {
    let mut request = over_http::post("/mcp", message);
    let headers = request.headers_mut();
    headers.insert("accept", "application/json, text/event-stream".parse().expect("a value"));
    if let Some(version) = message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str() {
        headers.insert("mcp-protocol-version", version.parse().expect("a value"));
        headers
            .insert("mcp-method", message["method"].as_str().unwrap_or_default().parse().expect("a value"));
        if let Some(name) = message["params"]["name"].as_str() {
            headers.insert("mcp-name", name.parse().expect("a value"));
        }
    }
    request
}

/// The text of a tool's result.
pub fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

/// `footnote-mcp stdio`, asked as an editor asks it. Every line it writes has to be JSON-RPC.
#[derive(Debug)]
pub struct Stdio {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: PathBuf,
}

/// How one ended.
#[derive(Debug)]
pub struct Ended {
    /// Its status.
    pub status: ExitStatus,
    /// How long it took to end.
    pub after: Duration,
    /// What it had still written.
    pub lines: Vec<Value>,
    /// What it complained.
    pub errors: String,
}

impl Stdio {
    /// Starts it in `world` with these arguments behind `stdio`.
    pub fn start(world: &World, arguments: &[&str]) -> Self {
        let mut command = world.command("footnote-mcp");
        command.arg("stdio").args(arguments);
        Self::of(world, &mut command)
    }

    /// The same in another working directory.
    pub fn start_in(world: &World, folder: &Path) -> Self {
        let mut command = world.command("footnote-mcp");
        command.arg("stdio").current_dir(folder);
        Self::of(world, &mut command)
    }

    /// Any command that comes to a front.
    ///
    /// # Panics
    /// Where it does not start.
    pub fn of(world: &World, command: &mut Command) -> Self {
        let errors = tempfile::NamedTempFile::new_in(world.home()).expect("a file").keep().expect("kept").1;
        command
            .stdin(Pipe::piped())
            .stdout(Pipe::piped())
            .stderr(File::create(&errors).expect("a file for its complaints"));
        let mut child = command.spawn().expect("footnote-mcp starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in output.lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, input, lines, errors }
    }

    /// Sends a message.
    pub fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n"));
    }

    /// Sends anything.
    ///
    /// # Panics
    /// Where nobody reads it.
    pub fn send_bytes(&mut self, bytes: impl AsRef<[u8]>) {
        let input = self.input.as_mut().expect("not hung up yet");
        input.write_all(bytes.as_ref()).expect("it reads");
        input.flush().expect("it reads");
    }

    /// The next message.
    ///
    /// # Panics
    /// Where there is none, or something else is written.
    pub fn receive(&self) -> Value {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => message(&line),
            Err(error) => panic!("no message: {error}\n{}", self.errors()),
        }
    }

    /// Asserts that nothing comes for a while.
    ///
    /// # Panics
    /// Where something does.
    pub fn stays_silent(&self, time: Duration) {
        match self.lines.recv_timeout(time) {
            Err(RecvTimeoutError::Timeout) => {}
            other => panic!("{other:?}"),
        }
    }

    /// Sends a request and waits for the next message, which has to be its answer.
    ///
    /// # Panics
    /// Where it is another's.
    pub fn ask(&mut self, request: &Value) -> Value {
        self.send(request);
        let answer = self.receive();
        assert_eq!(answer["id"], request["id"], "{answer}");
        answer
    }

    /// Closes its input.
    pub fn hang_up(&mut self) {
        self.input = None;
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it has complained so far.
    pub fn errors(&self) -> String {
        std::fs::read_to_string(&self.errors).unwrap_or_default()
    }

    /// Closes its input and waits for its end.
    ///
    /// # Panics
    /// Where it does not end.
    pub fn end(mut self) -> Ended {
        self.hang_up();
        let began = Instant::now();
        let status = wait::until(30, "its end", || self.child.try_wait().expect("its status"));
        let after = began.elapsed();
        let lines = self.lines.iter().map(|line| message(&line)).collect();
        Ended { status, after, lines, errors: self.errors() }
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn message(line: &str) -> Value {
    let message: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    assert_eq!(message["jsonrpc"], "2.0", "{line}");
    message
}

/// A daemon that takes seconds to open a source, and so to verify a hit; everything else is as fast as ever.
#[derive(Debug)]
pub struct SlowDaemon {
    strace: Child,
    daemon: Pid,
    log: PathBuf,
}

impl SlowDaemon {
    /// Starts it.
    ///
    /// # Panics
    /// Where it does not serve.
    pub fn start(world: &World) -> Self {
        Self::start_with(world, Duration::from_secs(8), &[])
    }

    /// Starts one that takes `delay` for each source, with further arguments.
    ///
    /// # Panics
    /// Where it does not serve.
    pub fn start_with(world: &World, delay: Duration, arguments: &[&str]) -> Self {
        let log = world.home().join("slow.log");
        let mut command = world.command("footnoted");
        command.args(["--log-level", "info", "--log-format", "json", "--log-file"]).arg(&log).args(arguments);
        let injected = format!("inject=openat2:delay_enter={}", delay.as_micros());
        let options = ["-e", "trace=openat2", "-e", &injected];
        let mut traced = strace::traced(&command, &options, &world.home().join("strace.log"));
        let strace = traced.stderr(Pipe::null()).spawn().expect("strace starts");
        wait::until(20, "the slow daemon", || std::os::unix::net::UnixStream::connect(world.socket()).ok());
        Self { strace, daemon: grpc::peer_pid(&world.socket()), log }
    }

    /// Waits until a question has come to a source: a thread of the daemon then stands still, held by its tracer, and not just
    /// for the instant that every call of it takes.
    pub fn holds_a_question(&self) {
        const LOOKS: u32 = 20;
        let tasks = format!("/proc/{}/task", self.daemon.as_raw_nonzero());
        let mut held: HashMap<String, u32> = HashMap::new();
        wait::until(20, "a question at a source", || {
            for task in std::fs::read_dir(&tasks).ok()?.flatten() {
                let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
                let is_held = stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('t'));
                let looks = held.entry(task.file_name().to_string_lossy().into_owned()).or_default();
                *looks = if is_held { *looks + 1 } else { 0 };
            }
            held.values().any(|looks| *looks >= LOOKS).then_some(())
        });
    }

    /// The log's lines about finished requests.
    pub fn finished(&self) -> Vec<Value> {
        let mut log = String::new();
        if let Ok(mut file) = File::open(&self.log) {
            drop(file.read_to_string(&mut log));
        }
        log.lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter(|line| line["message"] == "finished")
            .collect()
    }

    /// Waits until a request has ended with this code.
    pub fn has_finished(&self, code: &str) -> Value {
        wait::until(20, code, || self.finished().into_iter().find(|line| line["code"] == code))
    }
}

impl Drop for SlowDaemon {
    fn drop(&mut self) {
        // It may have ended by itself.
        _ = rustix::process::kill_process(self.daemon, rustix::process::Signal::KILL);
        drop(self.strace.wait());
    }
}
