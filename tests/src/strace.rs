//! Watching and interrupting system calls with `strace`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// Wraps `command` so that strace runs it, following its threads and children, and writes what it saw to `log`.
///
/// # Panics
/// Where strace is not installed.
pub fn traced(command: &Command, options: &[&str], log: &PathBuf) -> Command {
    assert!(
        Command::new("strace").arg("-V").output().is_ok(),
        "strace is not installed; deploy/test.sh installs it"
    );
    let mut strace = Command::new("strace");
    strace.arg("-f").args(options).arg("-o").arg(log).arg("--").arg(command.get_program());
    strace.args(command.get_args().map(OsString::from).collect::<Vec<_>>());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => strace.env(name, value),
            None => strace.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        strace.current_dir(folder);
    }
    strace
}
