//! The units in `deploy/systemd`: systemd understands them, and what they start serves.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tests::http::{ask, empty, get};
use tests::programs::{program, workspace};
use tests::{Run, World, wait};

const PROGRAMS: [&str; 3] = ["footnoted", "footnote-mcp", "footnote-rest"];

fn units() -> Vec<PathBuf> {
    let folder = workspace().join("deploy/systemd");
    let mut units: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    units.sort();
    units
}

/// A home with the programs where the units look for them, and the daemon's folder as systemd makes it.
fn installed() -> World {
    let world = World::new();
    let bin = world.home().join(".local/bin");
    fs::create_dir_all(&bin).unwrap();
    for name in PROGRAMS {
        symlink(program(name), bin.join(name)).unwrap();
    }
    fs::create_dir_all(world.home().join("xdg-run/footnote")).unwrap();
    world
}

#[test]
fn systemd_understands_the_units() {
    let world = installed();
    let mut command = Command::new("systemd-analyze");
    world.settle(&mut command);
    let run = Run::of(command.args(["--user", "verify", "--recursive-errors=no"]).args(units()));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run}");
}

/// What a unit starts, in this world's home.
fn started_by(world: &World, unit: &str) -> Vec<String> {
    let text = fs::read_to_string(workspace().join("deploy/systemd").join(unit)).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let home = world.home().display().to_string();
    let line = line.replace("%h", &home).replace("%t", &format!("{home}/xdg-run"));
    line.split(' ').map(str::to_owned).collect()
}

#[test]
fn what_the_units_start_serves_and_each_gateway_on_its_socket() {
    let world = installed();
    world.write("note.md", "# Note\n\nThe unit is a watt.\n");
    world.ingest();
    let daemon = started_by(&world, "footnoted.service");
    let mut command = Command::new(&daemon[0]);
    world.settle(&mut command);
    let _daemon = Running(
        command.args(&daemon[1..]).env_remove("FOOTNOTE_SOCKET").stderr(Stdio::null()).spawn().unwrap(),
    );
    let socket = world.home().join("xdg-run/footnote/core.sock");
    wait::until(20, "the daemon's socket", || std::os::unix::net::UnixStream::connect(&socket).ok());

    for (unit, target, expected) in [("footnote-rest", "/readyz", 200), ("footnote-mcp-http", "/readyz", 200)]
    {
        let socket = fs::read_to_string(workspace().join(format!("deploy/systemd/{unit}.socket"))).unwrap();
        assert!(socket.contains("\nListenStream=127.0.0.1:741"), "{unit}");
        let address = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
        let mut command = Command::new("systemd-socket-activate");
        world.settle(&mut command);
        command.arg("-l").arg(address.to_string()).args(started_by(&world, &format!("{unit}.service")));
        let _gateway = Running(command.stderr(Stdio::null()).spawn().unwrap());
        wait::until(20, "the gateway's socket", || std::net::TcpStream::connect(address).ok());
        assert_eq!(ask(address, empty(get(target))).status, expected, "{unit}");
    }
}

/// A process that ends with its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
