//! What works on a whole index: checking it, removing from it, and stopping in the middle of it.

use std::fs;
use std::process::Stdio;

use tests::documents::{RECIPE, RUNBOOK, manual};
use tests::{Run, World};

fn world() -> World {
    let world = World::with_hashing_model();
    world.write("runbook.md", RUNBOOK);
    world.write("kitchen/bread.md", RECIPE);
    world.ingest();
    world
}

#[test]
fn verify_counts_the_verdicts_of_a_whole_collection() {
    let world = world();
    let run = world.footnote(["verify", "docs", "--json"]);
    assert_eq!(run.code, 0, "{run}");
    world.write("runbook.md", RUNBOOK.replace("volume", "VOLUME"));
    fs::remove_file(world.doc("kitchen/bread.md")).unwrap();
    let run = world.footnote(["verify", "docs", "--json"]);
    assert_eq!(run.code, 9, "{run}");
    assert!(run.stdout.contains("drifted") && run.stdout.contains("missing"), "{run}");
    let run = world.footnote(["verify", "docs"]);
    assert_eq!(run.code, 9, "{run}");
}

#[test]
fn verify_notices_a_byte_changed_in_the_index_itself() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = world();
    let folder = world.index().join("docs/generations/00000001/lexical");
    let store = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let store = store.filter(|path| path.extension().is_some_and(|ending| ending == "store")).max().unwrap();
    let mut bytes = fs::read(&store).unwrap();
    bytes[10] ^= 1;
    fs::set_permissions(&store, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&store, bytes).unwrap();
    let run = world.footnote(["verify", "docs"]);
    assert_eq!(run.code, 7, "{run}");
}

#[test]
fn a_removed_collection_is_gone_from_every_answer() {
    let world = world();
    world.search(&["drain"]);
    let run = world.footnote(["remove", "docs"]);
    assert_ne!(run.code, 0, "nobody can be asked here, so nothing is removed: {run}");
    world.search(&["drain"]);
    let run = world.footnote(["remove", "docs", "--yes"]);
    assert_eq!(run.code, 0, "{run}");
    let run = world.footnote(["search", "--json", "--collection", "docs", "drain"]);
    assert_eq!(run.code, 3, "{run}");
    assert!(!world.index().join("docs").exists());
}

#[test]
fn an_interrupted_ingest_keeps_what_is_embedded_and_the_next_one_goes_on() {
    let world = World::with_real_model();
    for n in 0..30 {
        world.write(&format!("m{n}.md"), manual(&format!("pump{n}"), 40));
    }
    let mut ingest = world.command("footnote-index");
    ingest.arg("ingest").arg(world.docs()).args(["--collection", "docs"]);
    let child = ingest.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Words are published first; by then hundreds of texts still wait to be embedded.
    tests::wait::until(60, "the generation of words", || {
        world.index().join("docs/CURRENT").exists().then_some(())
    });
    assert_eq!(world.search(&["pump7valve3"])["mode"], "bm25");
    tests::wait::until(60, "something embedded", || {
        let catalog = world.index().join("docs/writer/catalog.sqlite-wal");
        fs::metadata(catalog).is_ok_and(|metadata| metadata.len() > 100_000).then_some(())
    });
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let run = Run::from(child.wait_with_output().unwrap());
    assert_eq!(run.code, 130, "{run}");

    let summary = world.ingest();
    let (embedded, chunks) = (summary["embedded"].as_u64().unwrap(), summary["chunks"].as_u64().unwrap());
    assert!(embedded < chunks, "all {chunks} were embedded again");
    assert_eq!(summary["vectors"], true);
}
