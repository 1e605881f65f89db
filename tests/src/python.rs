//! Tools that come as Python packages: each in an environment of its own, installed by name and version once.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;

use crate::programs::workspace;

/// The folder of the programs of these packages (`NAME==VERSION` each).
///
/// # Panics
/// Where they cannot be installed.
pub fn programs(name: &str, packages: &[&str]) -> PathBuf {
    let cache = std::env::var_os("FOOTNOTE_TEST_CACHE")
        .map_or_else(|| workspace().join("target/test-tools"), PathBuf::from);
    fs::create_dir_all(&cache).expect("a folder for tools");
    let lock = File::create(cache.join(format!(".{name}-lock"))).expect("a lock");
    lock.lock().expect("the lock");

    let environment = cache.join(name);
    let wanted = packages.join(" ");
    let installed = environment.join("installed");
    if fs::read_to_string(&installed).is_ok_and(|found| found == wanted) {
        return environment.join("bin");
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment));
    run(Command::new(environment.join("bin/pip")).args(["install", "--quiet"]).args(packages));
    fs::write(installed, wanted).expect("a note of what was installed");
    environment.join("bin")
}

fn run(command: &mut Command) {
    let status = command.status().expect("it starts");
    assert!(status.success(), "{command:?}: {status}");
}
