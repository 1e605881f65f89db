//! A newcomer's first minute, and the way back: `deploy/quickstart.sh` and `deploy/uninstall.sh` in a home of their own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::documents::{RECIPE, RUNBOOK, manual};
use tests::programs::{program, workspace};
use tests::{Run, World};

#[test]
fn one_command_gives_checked_answers_twice_and_another_undoes_it() {
    let world = World::new();
    world.write("runbook.md", RUNBOOK);
    world.write("kitchen/bread.md", RECIPE);
    world.write("manual.md", manual("pump", 3));
    fs::create_dir_all(world.home().join(".config")).unwrap();
    let before = picture(world.home());

    for round in ["first", "second"] {
        let run = script(&world, "quickstart.sh", &[world.docs().to_str().unwrap()]);
        assert_eq!(run.code, 0, "{round}: {run}");
        assert_eq!(run.stdout.matches("  verified  ").count(), 3, "{round}: {run}");
        assert_eq!(run.stdout.matches("  drifted  ").count(), 1, "{round}: {run}");
    }
    assert!(world.home().join(".local/bin/footnote").exists());

    let run = script(&world, "uninstall.sh", &[]);
    assert_eq!(run.code, 0, "{run}");
    assert!(!world.home().join(".local/bin/footnote").exists());
    assert!(world.home().join(".local/share/footnote/index").exists(), "indexes stay unless they are purged");

    let run = script(&world, "uninstall.sh", &["--purge"]);
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(picture(world.home()), before);
}

/// Runs one of our scripts as a newcomer would, but with this build and this machine's toolchain.
fn script(world: &World, name: &str, arguments: &[&str]) -> Run {
    let home = |variable: &str, folder: &str| {
        std::env::var_os(variable)
            .map_or_else(|| Path::new(&std::env::var_os("HOME").unwrap()).join(folder), PathBuf::from)
    };
    let target = program("footnote").ancestors().nth(2).unwrap().to_owned();
    let mut command = Command::new("bash");
    command
        .arg(workspace().join("deploy").join(name))
        .args(arguments)
        .env("CARGO_HOME", home("CARGO_HOME", ".cargo"))
        .env("RUSTUP_HOME", home("RUSTUP_HOME", ".rustup"))
        .env("CARGO_TARGET_DIR", target)
        .env("HOME", world.home());
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("FOOTNOTE_") || name.starts_with("XDG_") {
            command.env_remove(name);
        }
    }
    Run::of(&mut command)
}

/// Everything beneath a folder, with its content.
fn picture(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut all = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        for entry in fs::read_dir(&path).unwrap() {
            let path = entry.unwrap().path();
            let content = path.is_file().then(|| fs::read(&path).unwrap());
            if path.is_dir() {
                open.push(path.clone());
            }
            all.insert(path, content);
        }
    }
    all
}
