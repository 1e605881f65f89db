//! The command line as a person meets it: its first words, and how it ends.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::{fs, thread};

use tests::documents::RUNBOOK;
use tests::{Run, World};

/// What was said, without what differs from run to run.
fn said(world: &World, run: &Run) -> String {
    let home = world.home().to_str().unwrap();
    format!("exit {}\n{}{}", run.code, run.stdout, run.stderr).replace(home, "~")
}

#[test]
fn where_nothing_is_ingested_it_says_how_to_begin() {
    let world = World::new();
    insta::assert_snapshot!(said(&world, &world.footnote(["search", "restart"])), @r###"
exit 3
error: nothing is ingested yet
  put documents in with `footnote ingest DIR`
"###);
    insta::assert_snapshot!(said(&world, &world.footnote(["collections"])), @r###"
exit 0
note: nothing is ingested yet; put documents in with `footnote ingest DIR`
"###);
    assert!(!world.index().exists(), "asking creates nothing");
}

#[test]
fn where_no_daemon_runs_and_none_is_wanted_it_says_so() {
    let world = World::new();
    insta::assert_snapshot!(said(&world, &world.footnote(["search", "restart", "--no-autostart"])), @r###"
exit 4
error: no daemon is running
  start it with `footnote up`
"###);
    insta::assert_snapshot!(said(&world, &world.footnote(["down"])), @r###"
exit 0
no daemon was running
"###);
    assert!(!world.socket().exists());
}

#[test]
fn an_unknown_name_is_refused_with_the_names_there_are() {
    let world = World::new();
    world.write("runbook.md", RUNBOOK);
    world.ingest();
    insta::assert_snapshot!(said(&world, &world.footnote(["search", "restart", "-c", "dcos"])), @r###"
exit 3
error: no collection is named `dcos`; there are `docs`
  see the names with `footnote collections`
"###);
}

#[test]
fn without_a_model_words_are_asked_and_a_note_says_how_to_add_one() {
    let world = World::new();
    world.write("runbook.md", RUNBOOK);
    world.ingest();
    let run = world.footnote(["search", "drain"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.starts_with("1. docs/runbook.md:"), "{run}");
    assert!(run.stdout.contains("  verified\n"), "{run}");
    assert!(run.stderr.contains("`footnote model install`"), "{run}");
    let refused = world.footnote(["search", "drain", "--mode", "dense"]);
    assert_eq!(refused.code, 5, "{refused}");
}

#[test]
fn a_daemon_that_dies_at_its_start_says_why() {
    let world = World::new();
    // Where the socket should be made stands a file.
    fs::create_dir_all(world.socket().parent().unwrap()).unwrap();
    fs::create_dir(world.socket()).unwrap();
    let run = world.footnote(["search", "restart"]);
    assert_eq!(run.code, 4, "{run}");
    assert!(run.stderr.contains("no daemon could be started: "), "{run}");
    assert!(run.stderr.contains("ERROR"), "its own words are told: {run}");
}

#[test]
fn a_socket_of_another_user_says_what_opens_it() {
    let mut world = World::new();
    world.start_daemon(&[]);
    fs::set_permissions(world.home(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = std::process::Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    command.arg(tests::programs::program("footnote")).args(["search", "restart"]);
    world.settle(&mut command);
    let run = Run::of(&mut command);
    assert_eq!(run.code, 6, "{run}");
    assert!(run.stderr.contains("--socket-group"), "{run}");
}

#[test]
fn bounds_are_refused_in_the_words_of_the_contract() {
    let world = World::new();
    insta::assert_snapshot!(said(&world, &world.footnote(["search", "x", "--top-k", "-1", "--no-autostart"])), @r###"
exit 2
error: `top_k` must be a whole number from 1 to 50
  change it and ask again
"###);
    insta::assert_snapshot!(said(&world, &world.footnote(["search", " ", "--no-autostart"])), @r###"
exit 2
error: `query` must be text of 1 to 4096 characters, not only white space
  change it and ask again
"###);
    insta::assert_snapshot!(said(&world, &world.footnote(["fetch", "--no-autostart"])), @r###"
exit 2
error: exactly one of `chunk_id` and `footnote` must be present
  change it and ask again
"###);
    insta::assert_snapshot!(said(&world, &world.footnote(["search", "x", "--mode", "fuzzy", "--no-autostart", "--json"]))
        .split(",\"request_id\"").next().unwrap_or_default(), @r###"
exit 2
{"error":{"action":"change it and ask again","code":"invalid_argument","field":"mode","message":"`mode` must be one of `hybrid`, `bm25`, `dense`"
"###);
}

#[test]
fn a_misspelt_key_in_the_configuration_is_refused_with_the_nearest() {
    let world = World::new();
    fs::create_dir_all(world.home().join(".config/footnote")).unwrap();
    fs::write(world.home().join(".config/footnote/config.toml"), "colection = 'docs'\n").unwrap();
    insta::assert_snapshot!(said(&world, &world.footnote(["search", "x"])), @r###"
exit 2
error: unknown key `colection` in ~/.config/footnote/config.toml; did you mean `collection`?
  mend it and try again
"###);
}

#[test]
fn a_question_comes_from_standard_input_too() {
    let world = World::new();
    world.write("runbook.md", RUNBOOK);
    world.ingest();
    let question = "\"drain\" 'it' AND -x\n";
    let typed = world.search(&["drain"]);
    let run = world.footnote_with_input(&["search", "--json", "-c", "docs", "-"], question.as_bytes());
    assert_eq!(run.json()["hits"][0]["chunk_id"], typed["hits"][0]["chunk_id"], "{run}");
}

#[test]
fn nothing_found_is_no_failure_unless_that_is_wanted() {
    let world = World::new();
    world.write("runbook.md", RUNBOOK);
    world.ingest();
    let run = world.footnote(["search", "zyzzyva"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{run}");
    assert!(run.stderr.contains("nothing is found"), "{run}");
    assert_eq!(world.footnote(["search", "zyzzyva", "--fail-if-none"]).code, 11);
}

#[test]
fn a_reader_who_hangs_up_ends_it_quietly() {
    let world = World::new();
    world.write("runbook.md", RUNBOOK.repeat(200));
    world.ingest();
    let mut child = world
        .command("footnote")
        .args(["search", "drain", "--top-k", "50", "--max-bytes", "1048576"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = Run::from(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 0, "{ended}");
    assert!(!ended.stderr.contains("error"), "{ended}");
}

#[test]
fn the_log_is_followed_until_ctrl_c() {
    let world = World::new();
    world.footnote(["collections"]);
    let mut child =
        world.command("footnote").args(["logs", "-f", "-n", "1"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| world.footnote(["status"]));
        let next = lines.find(|line| line.as_ref().unwrap().contains("index_status")).unwrap().unwrap();
        assert!(next.contains("collection_not_found"), "{next}");
    });
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let status = child.wait().unwrap();
    assert_eq!((status.code(), status.signal()), (Some(130), None));
}

#[test]
fn up_and_down_may_be_said_twice() {
    let world = World::new();
    for (words, expected) in
        [("up", "started"), ("up", "runs"), ("down", "stopped"), ("down", "absent"), ("up", "started")]
    {
        let run = world.footnote([words, "--json"]);
        assert_eq!((run.code, run.json()["daemon"].as_str()), (0, Some(expected)), "{words}: {run}");
    }
}
