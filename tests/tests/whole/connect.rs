//! `footnote connect` and `footnote disconnect` on configurations as they lie on a disk: links, modes, copies, and
//! everything that is left alone.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tests::programs::program;
use tests::{Run, World};

const CURSOR: &str = ".cursor/mcp.json";

/// A configuration with a comment, another server and a secret.
const BEFORE: &str =
    "{\n  // ours\n  \"mcpServers\": {\n    \"git\": { \"env\": { \"TOKEN\": \"t\" } },\n  },\n}\n";

fn configured(world: &World, relative: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = world.home().join(relative);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

fn done(run: &Run) {
    assert_eq!(run.code, 0, "{run}");
}

/// The files of a folder, without their times.
fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// What lies in a file's folder, and what the file holds. A pipe is not read: nobody writes it.
fn picture(file: &Path) -> (Vec<String>, Option<Vec<u8>>) {
    (names(file.parent().unwrap()), file.is_file().then(|| fs::read(file).unwrap()))
}

#[test]
fn every_client_is_connected_with_absolute_paths_and_disconnected_again() {
    for (client, file, section) in [
        ("claude-code", ".claude.json", "mcpServers"),
        ("claude-desktop", ".config/Claude/claude_desktop_config.json", "mcpServers"),
        ("cursor", CURSOR, "mcpServers"),
        ("vscode", ".config/Code/User/mcp.json", "servers"),
        ("codex", ".codex/config.toml", ""),
    ] {
        let world = World::new();
        let file = world.home().join(file);
        done(&world.footnote(["connect", client, "--write", "--collection", "docs"]));
        let command = program("footnote-mcp");
        let places = [world.index(), world.models().to_owned(), world.socket()];
        let [index, models, socket] = places.each_ref().map(|path| path.to_str().unwrap());
        let args = [
            "stdio",
            "--collection",
            "docs",
            "--index-dir",
            index,
            "--model-dir",
            models,
            "--socket",
            socket,
        ];
        let mut entry = json!({ "command": command, "args": args });
        if client == "codex" {
            let expected =
                format!("[mcp_servers.footnote]\ncommand = {}\nargs = {}\n", entry["command"], entry["args"]);
            assert_eq!(text(&file).replace(", ", ","), expected);
        } else {
            if client != "claude-desktop" {
                entry["type"] = json!("stdio");
            }
            let written: Value = serde_json::from_str(&text(&file)).unwrap();
            assert_eq!(written, json!({ section: { "footnote": entry } }));
        }
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600, "it may come to hold secrets");
        done(&world.footnote(["disconnect", client, "--write"]));
        assert!(!file.exists(), "what connect created is removed");
        assert_eq!(names(file.parent().unwrap()).iter().filter(|name| name.contains("footnote")).count(), 0);
    }
}

#[test]
fn nothing_is_written_before_it_was_shown() {
    let world = World::new();
    let file = configured(&world, CURSOR, BEFORE);
    let run = world.footnote(["connect", "cursor"]);
    done(&run);
    let path = file.canonicalize().unwrap().display().to_string();
    assert!(run.stdout.starts_with(&format!("--- {path}\n+++ {path}\n@@ ")), "{run}");
    assert!(run.stdout.contains("\n+    \"footnote\": {\n+      \"type\": \"stdio\",\n"), "{run}");
    assert!(run.stderr.contains("nothing is written yet; `--write` writes it"), "{run}");
    assert_eq!(names(file.parent().unwrap()), ["mcp.json"]);
    assert_eq!(text(&file), BEFORE);

    // The diff is one that `patch` applies.
    let answer = world.footnote(["connect", "cursor", "--write", "--json"]).json();
    assert_eq!(answer["diff"].as_str(), Some(run.stdout.as_str()));
    assert_eq!(answer["changed"], true);
    assert_eq!(text(Path::new(answer["backup"].as_str().unwrap())), BEFORE);

    let again = world.footnote(["connect", "cursor", "--write"]);
    assert!(again.code == 0 && again.stdout.starts_with("Cursor is connected already"), "{again}");
    done(&world.footnote(["disconnect", "cursor", "--write"]));
    assert_eq!(text(&file), BEFORE);
    let again = world.footnote(["disconnect", "cursor", "--write"]);
    assert!(again.code == 0 && again.stdout.starts_with("Cursor is not connected"), "{again}");
}

#[test]
fn copies_are_never_written_over_and_equal_ones_are_not_made_twice() {
    let world = World::new();
    let file = configured(&world, CURSOR, BEFORE);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let copy = configured(&world, ".cursor/mcp.json.footnote-backup", "mine");
    for _ in 0..3 {
        done(&world.footnote(["connect", "cursor", "--write"]));
        done(&world.footnote(["disconnect", "cursor", "--write"]));
    }
    assert_eq!(text(&copy), "mine");
    let second = file.with_file_name("mcp.json.footnote-backup-2");
    assert_eq!(text(&second), BEFORE);
    assert_eq!(names(file.parent().unwrap()).len(), 3);
    for path in [&file, &second] {
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o640);
    }
}

#[test]
fn changes_of_others_stay_when_ours_goes() {
    let world = World::new();
    let file = configured(&world, ".claude.json", "{\n  \"numStartups\": 1\n}\n");
    done(&world.footnote(["connect", "claude-code", "--write"]));
    fs::write(&file, text(&file).replace("\"numStartups\": 1", "\"numStartups\": 2,\n  \"tips\": {}"))
        .unwrap();
    done(&world.footnote(["disconnect", "claude-code", "--write"]));
    assert_eq!(text(&file), "{\n  \"numStartups\": 2,\n  \"tips\": {}\n}\n");
}

#[test]
fn a_linked_dotfile_stays_a_link() {
    let world = World::new();
    let real = configured(&world, "dotfiles/mcp.json", BEFORE);
    fs::create_dir(world.home().join(".cursor")).unwrap();
    let link = world.home().join(CURSOR);
    symlink("../dotfiles/mcp.json", &link).unwrap();
    done(&world.footnote(["connect", "cursor", "--write"]));
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert!(text(&real).contains("footnote-mcp"));
    assert_eq!(text(&world.home().join("dotfiles/mcp.json.footnote-backup")), BEFORE);
    done(&world.footnote(["disconnect", "cursor", "--write"]));
    assert_eq!(text(&real), BEFORE);
}

#[test]
fn a_project_has_its_own_configuration() {
    let world = World::new();
    let folder = world.home().join("work");
    fs::create_dir(&folder).unwrap();
    let project = format!("--project={}", folder.display());
    for (client, file) in [
        ("claude-code", ".mcp.json"),
        ("cursor", CURSOR),
        ("vscode", ".vscode/mcp.json"),
        ("codex", ".codex/config.toml"),
    ] {
        done(&world.footnote(["connect", client, "--write", &project]));
        assert!(text(&folder.join(file)).contains("footnote-mcp"), "{client}");
    }
    let here =
        Run::of(world.command("footnote").args(["disconnect", "vscode", "--project"]).current_dir(&folder));
    assert!(here.code == 0 && here.stdout.contains("+++ /dev/null"), "{here}");
    let refused = world.footnote(["connect", "claude-desktop", &project]);
    assert_eq!(refused.code, 2, "{refused}");

    // A project that was cloned does not choose which of the user's files is changed.
    let mine = configured(&world, "mine.json", "{}");
    fs::remove_file(folder.join(CURSOR)).unwrap();
    symlink(&mine, folder.join(CURSOR)).unwrap();
    let refused = world.footnote(["connect", "cursor", "--write", &project]);
    assert!(
        refused.code == 2 && refused.stderr.contains("a link that leads out of the project"),
        "{refused}"
    );
    assert_eq!(text(&mine), "{}");
}

#[test]
fn an_unusual_file_is_left_alone_with_what_to_add_by_hand() {
    type Spoil = (&'static str, i32, fn(&Path));
    let spoil: &[Spoil] = &[
        ("it cannot be understood", 2, |path| fs::write(path, "{").unwrap()),
        ("`mcpServers` is not an object", 2, |path| fs::write(path, "{\"mcpServers\": []}").unwrap()),
        ("made by hand", 2, |path| {
            fs::write(path, r#"{"mcpServers": {"footnote": {"url": "https://search.example.com/mcp"}}}"#)
                .unwrap();
        }),
        ("it is not UTF-8", 2, |path| fs::write(path, b"{\"a\": \"\xff\"}").unwrap()),
        ("it is a folder", 2, |path| fs::create_dir(path).unwrap()),
        ("it is not a regular file", 2, |path| {
            rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        }),
        ("a link to something that is not there", 2, |path| symlink("nowhere", path).unwrap()),
        ("it cannot be read", 2, |path| symlink("mcp.json", path).unwrap()),
        ("it has several names", 2, |path| {
            fs::write(path, "{}").unwrap();
            fs::hard_link(path, path.with_extension("other")).unwrap();
        }),
        ("it is read-only", 6, |path| {
            fs::write(path, "{}").unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o400)).unwrap();
        }),
    ];
    for (reason, code, spoil) in spoil {
        let world = World::new();
        fs::create_dir(world.home().join(".cursor")).unwrap();
        let path = world.home().join(CURSOR);
        spoil(&path);
        let before = picture(&path);
        for write in [&["connect", "cursor"][..], &["connect", "cursor", "--write"]] {
            let run = world.footnote(write);
            assert_eq!(run.code, *code, "{run}");
            assert!(run.stderr.contains("is left alone: ") && run.stderr.contains(reason), "{reason}: {run}");
            assert!(run.stderr.contains("\"footnote\": {\n"), "what to add by hand is said: {run}");
        }
        if *reason != "it is read-only" && *reason != "it has several names" {
            assert_ne!(world.footnote(["disconnect", "cursor", "--write"]).code, 0, "{reason}");
        }
        assert_eq!(picture(&path), before, "{reason}");
    }
}

#[test]
fn what_is_typed_is_checked_before_it_is_written() {
    let world = World::new();
    let run = world.footnote(["connect", "cursor", "--write", "--collection", "../x"]);
    assert_eq!(run.code, 2, "{run}");
    let run = world.footnote(["connect", "emacs"]);
    assert!(
        run.code == 2 && run.stderr.contains("claude-code, claude-desktop, cursor, vscode, codex"),
        "{run}"
    );
    assert!(!world.home().join(".cursor").exists());
}
