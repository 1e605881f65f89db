//! Many at once: clients, an ingest beside its readers, projects beside each other.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use tests::World;
use tests::documents::{RECIPE, RUNBOOK, manual};

#[test]
fn eight_clients_at_once_start_exactly_one_daemon() {
    let world = World::with_hashing_model();
    world.write("runbook.md", RUNBOOK);
    world.ingest();
    let gate = Barrier::new(8);
    let codes: Vec<i32> = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    gate.wait();
                    let run = world.footnote(["search", "--json", "--collection", "docs", "drain"]);
                    assert_eq!(run.json()["hits"][0]["verdict"], "verified", "{run}");
                    run.code
                })
            })
            .collect();
        asking.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(codes, [0; 8]);
    assert_eq!(daemons_of(&world).len(), 1);
}

#[test]
fn a_daemon_killed_with_kill_9_is_replaced_by_the_next_question() {
    let world = World::with_hashing_model();
    world.write("runbook.md", RUNBOOK);
    world.ingest();
    world.search(&["drain"]);
    let killed = daemons_of(&world);
    let pid = rustix::process::Pid::from_raw(*killed.first().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    assert!(world.socket().exists(), "a stale socket is what this is about");
    assert_eq!(world.search(&["drain"])["hits"][0]["verdict"], "verified");
    assert_ne!(daemons_of(&world), killed);
}

#[test]
fn a_search_beside_an_ingest_never_fails_and_never_mixes_generations() {
    let mut world = World::with_hashing_model();
    // Each round rewrites every document with its round's word, so a mixed answer shows two words.
    let write_round = |world: &World, round: usize| {
        for n in 0..30 {
            world.write(
                &format!("m{n}.md"),
                manual(&format!("round{round}x{n}"), 8).replace("valve", " valve "),
            );
        }
    };
    write_round(&world, 0);
    world.ingest();
    world.start_daemon(&[]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let asking: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut answers = 0;
                    let mut generations = BTreeSet::new();
                    while !done.load(Ordering::Relaxed) {
                        let answer = world.search(&["--top-k", "20", "valve station gauge"]);
                        let rounds: BTreeSet<String> = answer["hits"]
                            .as_array()
                            .unwrap()
                            .iter()
                            .map(|hit| {
                                let text = hit["text"].as_str().or(hit["indexed_text"].as_str()).unwrap();
                                let at = text.find("round").unwrap();
                                text[at..].split('x').next().unwrap().to_owned()
                            })
                            .collect();
                        assert_eq!(rounds.len(), 1, "an answer of two generations: {rounds:?}");
                        generations.insert(answer["generation"].as_u64());
                        answers += 1;
                    }
                    (answers, generations.len())
                })
            })
            .collect();
        for round in 1..=6 {
            write_round(&world, round);
            world.ingest();
        }
        done.store(true, Ordering::Relaxed);
        for thread in asking {
            let (answers, generations) = thread.join().unwrap();
            assert!(answers > 0 && generations > 1, "{answers} answers from {generations} generations");
        }
    });
}

#[test]
fn the_next_question_after_an_ingest_is_answered_from_it() {
    let mut world = World::with_hashing_model();
    world.write("runbook.md", RUNBOOK);
    world.ingest();
    world.start_daemon(&[]);
    for round in 1..=5 {
        world.write("bread.md", format!("{RECIPE}\nEdition {round} came with a bettong.\n"));
        let published = world.ingest();
        let answer = world.search(&["bettong"]);
        assert_eq!(answer["generation"], published["generation"]);
        assert_eq!(answer["hits"][0]["verdict"], "verified", "{answer:#}");
    }
}

#[test]
fn two_projects_both_stay_and_each_folder_asks_its_own() {
    let world = World::with_hashing_model();
    for (project, text) in [("kitchen", RECIPE), ("ops", RUNBOOK)] {
        let folder = world.home().join("projects").join(project);
        fs::create_dir_all(folder.join("deep/inside")).unwrap();
        fs::write(folder.join("text.md"), text).unwrap();
        let run = world.footnote(["ingest", folder.to_str().unwrap()]);
        assert_eq!(run.code, 0, "{run}");
    }
    for (project, other) in [("kitchen", "ops"), ("ops", "kitchen")] {
        let folder = world.home().join("projects").join(project).join("deep/inside");
        let mut command = world.command("footnote");
        command.args(["search", "--json", "water drain"]).current_dir(folder);
        let answer = tests::Run::of(&mut command).json();
        assert_eq!(answer["collection"], project, "not {other}");
    }
    let run = world.footnote(["search", "--json", "water"]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.stderr.contains("kitchen") && run.stderr.contains("ops"), "{run}");
}

#[test]
fn a_client_reconnects_after_the_daemon_restarted() {
    // The connection has a thread of its own, as in a front that waits for its next request.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let mut world = World::with_hashing_model();
    world.write("runbook.md", RUNBOOK);
    world.ingest();
    world.start_daemon(&[]);
    let client = runtime.block_on(async { tests::grpc::client(&world.socket()) });
    let ask = || runtime.block_on(tests::grpc::search(&client, "docs", "drain"));
    assert_eq!(ask().unwrap().hits.len(), 1);
    world.daemon().kill().unwrap();
    world.daemon().wait().unwrap();
    world.start_daemon(&[]);
    assert_eq!(ask().unwrap().hits.len(), 1);
}

/// The pids of the daemons that hold this world's index directory.
fn daemons_of(world: &World) -> BTreeSet<i32> {
    let index = world.index();
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| {
            let read = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
            read("comm").starts_with(b"footnoted")
                && [read("environ"), read("cmdline")]
                    .concat()
                    .windows(index.as_os_str().len())
                    .any(|part| part == index.as_os_str().as_encoded_bytes())
        })
        .collect()
}
