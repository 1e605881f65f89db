//! The table of hosts and origins that every door is held against, in its four configurations.

use std::process::Command;

use super::gateway::Gateway;

#[test]
fn the_acceptance_table_passes_in_every_configuration() {
    let published = ["--listen", "0.0.0.0:0", "--allow-remote-access"];
    for (configuration, flags) in [
        ("a", &[][..]),
        ("b", &["--public-url", "https://search.example.com"]),
        ("c", &[&published[..], &["--any-host"]].concat()),
        ("c2", &[&published[..], &["--allowed-host", "search.lan"]].concat()),
    ] {
        let gateway = Gateway::open(flags);
        let run = Command::new("bash")
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/acceptance/host_gate.sh"))
            .args([gateway.address().port().to_string().as_str(), configuration])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stdout) + String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success() && said.contains(" 0 skipped"), "{configuration}: {said}");
    }
}
