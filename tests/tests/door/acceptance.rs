//! The table of hosts and origins that every door is held against, in its four configurations, HTTP/2 included.

use std::process::Command;

use tests::programs::workspace;
use tests::{Gateway, Run, World, python};

/// Starts a gateway in each configuration and sends every case of the table to `path`.
fn hold_against_the_table(world: &World, program: &str, arguments: &[&str], asked: &[&str]) {
    let published = ["--listen", "0.0.0.0:0", "--allow-remote-access"];
    for (configuration, flags) in [
        ("a", &[][..]),
        ("b", &["--public-url", "https://search.example.com"]),
        ("c", &[&published[..], &["--any-host", "--rate-limit", "0"]].concat()),
        ("c2", &[&published[..], &["--allowed-host", "search.lan", "--rate-limit", "0"]].concat()),
    ] {
        let gateway = Gateway::start(world, program, &[arguments, flags].concat());
        let folder = workspace().join("tests/acceptance");
        let run = Run::of(
            Command::new(python::programs("host-gate", &["h2==4.4.1"]).join("python"))
                .args([folder.join("host_gate.py"), folder.join("host-origin.json")])
                .args([gateway.address.port().to_string().as_str(), configuration])
                .args(asked),
        );
        assert!(run.code == 0 && run.stdout.contains(" 0 skipped"), "{program} in {configuration}: {run}");
    }
}

#[test]
fn the_mcp_gateway_passes_the_table_in_every_configuration() {
    hold_against_the_table(&World::new(), "footnote-mcp", &["http"], &[]);
}

#[test]
fn the_rest_gateway_passes_the_table_in_every_configuration() {
    let asked = ["--path", "/v1/search", "--body", "{\"query\": \"restart\"}"];
    hold_against_the_table(&super::served(), "footnote-rest", &[], &asked);
}
