//! `docs/cli.md` is what `--help` says. `BLESS=1` rewrites it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fmt::Write as _;
use std::fs;

use clap::Command;
use cli::index::INDEX_COMMANDS;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/cli.md");

#[test]
fn the_reference_is_what_help_says() {
    let page = page();
    if std::env::var_os("BLESS").is_some() {
        fs::write(PAGE, &page).unwrap();
    }
    let committed = fs::read_to_string(PAGE).unwrap_or_default();
    assert!(committed == page, "docs/cli.md is stale; run this test with BLESS=1");
}

fn page() -> String {
    let mut page = String::from(
        "<!-- Rendered from the command line's help by cli/tests/reference.rs; BLESS=1 rewrites it. -->\n\n\
         # The command line\n\n\
         A flag wins over its `FOOTNOTE_*` variable, the variable over the key of the same name in\n\
         `~/.config/footnote/config.toml`, the file over the default. What works on a whole index (`ingest`,\n\
         `verify`, `skipped`, `rollback`, `remove`, `model`, `eval`) is run by `footnote-index`; `footnote ingest --help`\n\
         shows its own help. The flags of `footnote` itself may stand behind every subcommand, too.\n",
    );
    let keys: Vec<_> = proto::config_file::KEYS.iter().map(|key| format!("`{key}`")).collect();
    write!(page, "\nThe keys are {}.\n", keys.join(", ")).unwrap();
    let mut command =
        cli::args::command().term_width(100).mut_args(|argument| argument.hide_env_values(true));
    command.build();
    section(&mut page, "footnote", command.clone());
    let ours = |name: &str| name != "help" && !INDEX_COMMANDS.iter().any(|(other, _)| *other == name);
    for subcommand in command.get_subcommands().filter(|subcommand| ours(subcommand.get_name())) {
        let own = subcommand.clone().term_width(100).mut_args(|argument| {
            let everywhere = argument.is_global_set();
            argument.hide_env_values(true).hide(everywhere)
        });
        section(&mut page, &format!("footnote {}", subcommand.get_name()), own);
    }
    page
}

fn section(page: &mut String, name: &str, mut command: Command) {
    let help = command.render_long_help().to_string();
    let lines: Vec<_> = help.lines().map(str::trim_end).collect();
    write!(page, "\n## `{name}`\n\n```text\n{}\n```\n", lines.join("\n").trim_end()).unwrap();
}
