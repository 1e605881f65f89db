//! The gateway does what its description says: Schemathesis asks it hundreds of questions made from it.

use std::process::Command;

use tests::programs::workspace;
use tests::{Run, python};

use super::served;

const SCHEMATHESIS: &str = "schemathesis==4.32.5";

#[test]
fn schemathesis_finds_nothing() {
    let (world, rest) = served();
    let program = python::programs("schemathesis", &[SCHEMATHESIS]).join("schemathesis");
    let mut command = Command::new(program);
    world.settle(&mut command);
    command
        .arg("--config-file")
        .arg(workspace().join("tests/acceptance/schemathesis.toml"))
        .args(["run", "--no-color"])
        .arg(format!("http://{}/openapi.json", rest.address));
    let run = Run::of(&mut command);
    println!("{}", run.stdout);
    assert_eq!(run.code, 0, "{run}");
    assert!(!run.stdout.contains("unmatched"), "an exception in the configuration matches nothing: {run}");
}
