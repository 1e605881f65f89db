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
/// Among them the example that the guides run.
fn build() -> PathBuf {
    let here = std::env::current_exe().expect("the test knows its own path");
    let folder = here.parent().and_then(Path::parent).expect("tests lie in PROFILE/deps").to_owned();
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args(["build", "--quiet", "--workspace", "--bins", "--example", "ask", "--offline"])
        .current_dir(workspace());
    // cargo describes this package to its tests. A build script that asks to be run again when such a variable
    // changes (ring's does) would be, here and in the next build from a shell, and all that stands on it built anew.
    for (name, _) in std::env::vars_os() {
        if is_about_a_package(&name.to_string_lossy()) {
            cargo.env_remove(name);
        }
    }
    if folder.ends_with("release") {
        cargo.arg("--release");
    }
    let status = cargo.status().expect("cargo starts");
    assert!(status.success(), "the workspace does not build");
    folder
}

fn is_about_a_package(variable: &str) -> bool {
    let about =
        ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_", "CARGO_CFG_"];
    variable == "OUT_DIR" || about.iter().any(|prefix| variable.starts_with(prefix))
}
