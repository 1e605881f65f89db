//! Reading leaves no trace, and needs no right to leave one.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::World;
use tests::documents::{RECIPE, RUNBOOK, manual};

/// Name → (length, mode, modification time, content) of everything beneath a folder.
type Picture = BTreeMap<PathBuf, (u64, u32, i64, i64, Vec<u8>)>;

fn picture(folder: &Path) -> Picture {
    let mut all = Picture::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        let metadata = fs::symlink_metadata(&path).unwrap();
        let content = if metadata.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            Vec::new()
        } else {
            fs::read(&path).unwrap()
        };
        all.insert(path, (metadata.len(), metadata.mode(), metadata.mtime(), metadata.mtime_nsec(), content));
    }
    all
}

fn ingested() -> World {
    let world = World::with_hashing_model();
    world.write("runbook.md", RUNBOOK);
    world.write("bread.md", RECIPE);
    world.write("manual.md", manual("pump", 30));
    world.ingest();
    world.write("manual.md", manual("pump", 31));
    world.ingest();
    world
}

#[test]
fn a_thousand_queries_leave_the_index_as_it_was() {
    let mut world = ingested();
    let before = picture(&world.index());
    world.start_daemon(&[]);
    let runtime = tests::runtime();
    let client = runtime.block_on(async { tests::grpc::client(&world.socket()) });
    for n in 0..1000 {
        let query = format!("pumpvalve{} drain", n % 31);
        let answer = runtime.block_on(tests::grpc::search(&client, "docs", &query)).unwrap();
        assert!(!answer.hits.is_empty());
    }
    assert_eq!(world.footnote(["status", "docs", "--json"]).code, 0);
    assert_eq!(picture(&world.index()), before);
}

#[test]
fn the_daemon_serves_as_a_user_that_owns_nothing_and_opens_nothing_for_writing() {
    const NOBODY: &str = "65534";
    let world = ingested();
    let chmod = Command::new("chmod").args(["-R", "a+rX"]).args([world.home()]).status().unwrap();
    assert!(chmod.success());
    fs::set_permissions(world.home(), fs::Permissions::from_mode(0o755)).unwrap();
    let run = tempfile::Builder::new().prefix("fn-run-").tempdir().unwrap();
    std::os::unix::fs::chown(run.path(), Some(65534), Some(65534)).unwrap();
    let program = run.path().join("footnoted");
    fs::copy(tests::programs::program("footnoted"), &program).unwrap();

    let log = world.home().join("strace.log");
    let socket = run.path().join("s/core.sock");
    let mut command = Command::new("setpriv");
    command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]).arg(&program);
    world.settle(&mut command);
    command.env("HOME", run.path()).env("FOOTNOTE_SOCKET", &socket);
    let mut traced = tests::strace::traced(&command, &["-e", "trace=%file,ftruncate,write"], &log);
    let mut daemon = traced.stderr(std::process::Stdio::null()).spawn().unwrap();
    tests::wait::until(20, "the daemon", || std::os::unix::net::UnixStream::connect(&socket).ok());

    // Root may ask anyone's daemon.
    let runtime = tests::runtime();
    let client = runtime.block_on(async { tests::grpc::client(&socket) });
    let answer = runtime.block_on(tests::grpc::search(&client, "docs", "drain")).unwrap();
    assert_eq!(answer.mode, tests::grpc::Mode::Hybrid as i32);
    let pid = tests::grpc::peer_pid(&socket);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(daemon.wait().unwrap().success(), "a drained daemon ends well");

    let index = world.index();
    let seen = fs::read_to_string(&log).unwrap();
    let beneath: Vec<&str> = seen.lines().filter(|line| line.contains(index.to_str().unwrap())).collect();
    assert!(!beneath.is_empty(), "strace saw nothing beneath the index");
    for line in beneath {
        for writing in
            ["O_WRONLY", "O_RDWR", "O_CREAT", "mkdir", "rename", "unlink", "chmod", "utime", "link("]
        {
            assert!(!line.contains(writing) || line.contains("readlink"), "{line}");
        }
    }
}
