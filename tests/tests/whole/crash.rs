//! `kill -9` at any instant leaves the last generation whole, and the next ingest finishes the work.

use std::time::{Duration, Instant};

use serde_json::Value;
use tests::{World, corpus, strace};

/// What makes a state last, by system call.
const DURABLE: &[&str] = &[
    "write",
    "pwrite64",
    "fsync",
    "fdatasync",
    "linkat",
    "rename",
    "renameat2",
    "unlink",
    "unlinkat",
    "fchmod",
    "mkdir",
    "ftruncate",
];

/// A world with round 0 ingested and a daemon that stays up through everything that follows.
fn world() -> World {
    let mut world = World::with_hashing_model();
    corpus::write(&world, 0);
    world.ingest();
    world.start_daemon(&[]);
    world
}

/// What an index made from nothing answers about this round's documents.
fn from_nothing(round: usize) -> Vec<Value> {
    let world = World::with_hashing_model();
    corpus::write(&world, round);
    world.ingest();
    corpus::everything(&world)
}

/// Waits until the daemon answers from this round.
fn served(world: &World, round: usize) -> Vec<Value> {
    tests::wait::until(20, "the new generation", || {
        let answers = corpus::everything(world);
        (corpus::round_of(&answers) == round).then_some(answers)
    })
}

/// Kills an ingest of round after round at the first, second, … call of `call`, until one is not reached any more.
/// Returns how many were killed.
fn kill_at_every(world: &World, call: &str, rounds: &mut usize) -> usize {
    for step in 1.. {
        *rounds += 1;
        corpus::write(world, *rounds);
        let mut ingest = world.command("footnote-index");
        ingest.arg("ingest").arg(world.docs()).args(["--collection", "docs", "--json"]);
        let trace = format!("trace={call}");
        let inject = format!("inject={call}:signal=KILL:when={step}");
        let log = world.home().join("strace.log");
        let run = tests::Run::of(&mut strace::traced(&ingest, &["-e", &trace, "-e", &inject], &log));

        let answers = corpus::everything(world);
        let round = corpus::round_of(&answers);
        assert!(round == *rounds || round == *rounds - 1, "{call} {step}: round {round} of {rounds}");
        world.ingest();
        served(world, *rounds);
        if run.code == 0 {
            return step - 1;
        }
    }
    unreachable!("an ingest makes a finite number of calls")
}

#[test]
fn a_kill_at_every_durable_call_leaves_a_whole_generation() {
    let killed: usize = std::thread::scope(|scope| {
        let halves: Vec<_> = [0, 1]
            .into_iter()
            .map(|half| {
                scope.spawn(move || {
                    let world = world();
                    let mut rounds = 0;
                    let mut killed = 0;
                    for call in DURABLE.iter().skip(half).step_by(2) {
                        killed += kill_at_every(&world, call, &mut rounds);
                    }
                    assert_eq!(served(&world, rounds), from_nothing(rounds));
                    killed
                })
            })
            .collect();
        halves.into_iter().map(|half| half.join().unwrap()).sum()
    });
    assert!(killed > 40, "only {killed} steps were interrupted");
}

#[test]
fn a_kill_at_forty_random_instants_leaves_a_whole_generation() {
    let world = world();
    corpus::write(&world, 1);
    let started = Instant::now();
    world.ingest();
    let length = started.elapsed();
    // A fixed seed: the instants are the same fractions of an ingest in every run.
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for round in 2..42 {
        corpus::write(&world, round);
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let per_mille = u32::try_from(state >> 32).unwrap() % 1000;
        let instant = length * per_mille / 1000;
        let mut ingest = world.command("footnote-index");
        ingest.arg("ingest").arg(world.docs()).args(["--collection", "docs", "--json"]);
        let mut child =
            ingest.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(instant.max(Duration::from_millis(1)));
        child.kill().unwrap();
        child.wait().unwrap();
        let seen = corpus::round_of(&corpus::everything(&world));
        assert!(seen == round || seen == round - 1, "round {seen} of {round}");
        world.ingest();
        served(&world, round);
    }
    assert_eq!(served(&world, 41), from_nothing(41));
}

#[test]
fn a_lost_catalog_costs_time_and_changes_nothing() {
    let world = world();
    for (round, loss) in [(1, "removed"), (2, "garbage"), (3, "whole writer folder")] {
        let writer = world.index().join("docs/writer");
        match loss {
            "removed" => std::fs::remove_file(writer.join("catalog.sqlite")).unwrap(),
            "garbage" => {
                std::fs::write(writer.join("catalog.sqlite"), "not a database at all".repeat(100)).unwrap();
            }
            _ => std::fs::remove_dir_all(&writer).unwrap(),
        }
        corpus::write(&world, round);
        world.ingest();
        assert_eq!(served(&world, round), from_nothing(round), "{loss}");
    }
}

#[test]
fn an_ingest_after_a_rollback_gives_the_same_as_from_nothing() {
    let world = world();
    for round in 1..4 {
        corpus::write(&world, round);
        world.ingest();
    }
    let run = world.footnote(["rollback", "docs", "--json"]);
    assert_eq!(run.code, 0, "{run}");
    corpus::write(&world, 4);
    world.ingest();
    assert_eq!(served(&world, 4), from_nothing(4));
}
