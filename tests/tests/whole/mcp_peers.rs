//! The official clients and the official conformance suite, against real fronts.

use std::process::Command;

use tests::documents::{RECIPE, RUNBOOK};
use tests::programs::{program, workspace};
use tests::{Gateway, World};

#[test]
fn the_official_clients_and_the_conformance_suite_find_no_fault() {
    let mut world = World::with_hashing_model();
    world.write("runbook.md", RUNBOOK);
    world.write("bread.md", RECIPE);
    world.ingest();
    world.start_daemon(&[]);
    let front = Gateway::start(&world, "footnote-mcp", &["http"]);
    let cache = std::env::var_os("ACCEPTANCE_CACHE")
        .map_or_else(|| workspace().join("target/acceptance"), std::path::PathBuf::from);
    let mut script = Command::new("bash");
    script.arg(workspace().join("tests/acceptance/mcp_peers.sh")).arg("drain a node");
    script.arg(format!("http://localhost:{}/mcp", front.address.port()));
    // The official clients give a server few variables of their own, so places are flags.
    script.arg(program("footnote-mcp")).args(["stdio", "--no-autostart", "--index-dir"]).arg(world.index());
    script.arg("--socket").arg(world.socket());
    world.settle(&mut script);
    // npm and pip have their caches in the real home.
    script.env("HOME", std::env::var_os("HOME").unwrap_or_default()).env("ACCEPTANCE_CACHE", cache);
    let output = script.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}");
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.lines().filter(|line| line.starts_with("ok ")).count() >= 20, "{said}");
}
