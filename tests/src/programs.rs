//! Where the programs under test lie: built once per test process in the profile the test runs in.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The path of one of our programs, freshly built.
///
/// # Panics
/// Where the workspace does not build.
pub fn program(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(build).join(name)
}

/// The workspace's folder.
pub fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// `cargo test` builds no other package's binaries, so that a stale one could be tested without this.
fn build() -> PathBuf {
    let here = std::env::current_exe().expect("the test knows its own path");
    let folder = here.parent().and_then(Path::parent).expect("tests lie in PROFILE/deps").to_owned();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--workspace", "--bins", "--offline"]).current_dir(workspace());
    if folder.ends_with("release") {
        cargo.arg("--release");
    }
    let status = cargo.status().expect("cargo starts");
    assert!(status.success(), "the workspace does not build");
    folder
}
