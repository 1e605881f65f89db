//! One daemon under many fronts: the model is in memory once, and a front is small.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::json;
use tests::documents::RUNBOOK;
use tests::{World, grpc, http, mcp, runtime};

/// What a front may hold, in KiB.
const FRONT: u64 = 20 * 1024;

#[test]
fn one_process_has_the_runtime_and_every_front_is_small() {
    let mut world = World::with_real_model();
    world.write("runbook.md", RUNBOOK);
    world.ingest();
    world.start_daemon(&[]);
    let (rest, over_http) = (world.start_rest(&[]), world.start_mcp(&[]));
    let question = json!({"query": "evacuate a machine", "collection": "docs", "mode": "hybrid"});
    let mut editors: Vec<_> = (0..8).map(|_| mcp::Stdio::start(&world, &[])).collect();
    for editor in &mut editors {
        editor.ask(&mcp::initialize(0, mcp::LEGACY[3]));
        let answer = editor.ask(&mcp::call(1, "search", &question));
        assert_eq!(answer["result"]["structuredContent"]["hits"][0]["verdict"], "verified", "{answer}");
    }
    for _ in 0..20 {
        assert_eq!(http::ask(rest.address, http::post("/v1/search", &question)).status, 200);
        let call = mcp::modern(mcp::call(1, "search", &question));
        assert_eq!(http::ask(over_http.address, mcp::post(&call)).status, 200);
    }
    let client = grpc::client(&world.socket());
    assert!(!runtime().block_on(grpc::search(&client, "docs", "drain")).unwrap().hits.is_empty());
    world.search(&["drain"]);

    let processes = processes_of(world.home());
    let count = |program: &str| processes.values().filter(|process| process.name == program).count();
    assert_eq!(
        (count("footnote-mcp"), count("footnote-rest"), count("footnoted")),
        (9, 1, 1),
        "{processes:?}"
    );
    let holders: Vec<_> = processes.values().filter(|process| process.maps_runtime).collect();
    assert_eq!(holders.len(), 1, "{holders:?}");
    assert_eq!(holders[0].name, "footnoted");
    for (pid, process) in processes.iter().filter(|(_, process)| process.name != "footnoted") {
        assert!(process.resident < FRONT, "{pid} {process:?}");
    }
}

/// A process of ours.
#[derive(Debug)]
struct Process {
    name: String,
    /// KiB.
    resident: u64,
    maps_runtime: bool,
}

/// The processes whose home is this folder.
fn processes_of(home: &Path) -> BTreeMap<u32, Process> {
    let mine = format!("HOME={}", home.display());
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let process = |pid: u32| {
        let read = |name: &str| fs::read(format!("/proc/{pid}/{name}")).ok();
        let environment = read("environ")?;
        environment.split(|byte| *byte == 0).find(|variable| *variable == mine.as_bytes())?;
        let status = String::from_utf8(read("status")?).ok()?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            line.split_whitespace().next().map(str::to_owned)
        };
        let maps = String::from_utf8_lossy(&read("maps")?).into_owned();
        let process = Process {
            name: field("Name")?,
            resident: field("VmRSS")?.parse().ok()?,
            maps_runtime: maps.contains("libonnxruntime"),
        };
        Some((pid, process))
    };
    pids.filter_map(process).collect()
}
