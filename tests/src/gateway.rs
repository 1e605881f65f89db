//! A gateway that listens: `footnote-rest`, or `footnote-mcp http`.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::wait;
use crate::world::World;

/// A running gateway on a free port of the loopback. Killed when it is dropped.
#[derive(Debug)]
pub struct Gateway {
    /// Where it listens.
    pub address: SocketAddr,
    log: PathBuf,
    child: Child,
}

impl Gateway {
    /// Starts a program of ours and waits until its log says where it listens. `--listen` among the arguments
    /// replaces the free port.
    ///
    /// # Panics
    /// Where it does not say so, or ends.
    pub fn start(world: &World, program: &str, arguments: &[&str]) -> Self {
        let log = unused(world.home(), program);
        let mut command = world.command(program);
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::inherit());
        if !arguments.contains(&"--listen") {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        command.args(["--log-format", "json", "--log-file"]).arg(&log);
        let mut child = command.spawn().expect("it starts");
        let address = wait::until(20, "the gateway's address", || {
            if let Some(status) = child.try_wait().expect("its status") {
                panic!("{program} ended: {status}\n{}", fs::read_to_string(&log).unwrap_or_default());
            }
            fs::read_to_string(&log).ok()?.lines().find_map(listening)
        });
        Self { address, log, child }
    }

    /// Everything it has logged.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Its process.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The address that a log line gives.
fn listening(line: &str) -> Option<SocketAddr> {
    let line: Value = serde_json::from_str(line).ok()?;
    (line["message"] == "listening").then(|| line["address"].as_str()?.parse().ok())?
}

/// A log file that no other gateway of this world writes.
fn unused(home: &Path, program: &str) -> PathBuf {
    let path = |number: usize| home.join(format!("{program}-{number}.log"));
    let free = (0..1000).map(path).find(|path| !path.exists()).expect("a number that is free");
    fs::write(&free, "").expect("its log file");
    free
}
