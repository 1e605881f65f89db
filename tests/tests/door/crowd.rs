//! Ten thousand connections that nobody uses, headers that stop half way, bodies that trickle: others are answered
//! meanwhile, and the memory comes back.

use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};
use tests::http::{ask, empty, get, post};
use tests::memory::Memory;
use tests::{Gateway, wait};

/// Connections that are opened and left, as far as this process may open so many.
const CROWD: u64 = 10_000;

/// A front holds no more than this when nobody asks.
const IDLE_KILOBYTES: u64 = 15 * 1024;

/// What may stay behind, in pages that are not wholly free. Without giving memory back it is five times as much.
const LEFT_KILOBYTES: u64 = 16 * 1024;

/// How long one waits who asks beside a crowd. An answer takes a millisecond; a place must be made first.
const PATIENCE: Duration = Duration::from_secs(5);

/// What one sends and then says no more.
const HALF_HEADERS: &str = "POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Ty";
const HALF_BODY: &str = "POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
    Content-Length: 1000\r\n\r\n{\"query\": \"";

/// Opens so many connections, each of which says `beginning`.
fn crowd(address: SocketAddr, size: u64, beginning: &str) -> Vec<TcpStream> {
    (0..size)
        .map(|_| {
            let mut stream = TcpStream::connect(address).unwrap();
            // Those that had to leave for others do not take it any more.
            drop(stream.write_all(beginning.as_bytes()));
            stream
        })
        .collect()
}

/// Raises what this process may open, and says how many connections that leaves.
fn room() -> u64 {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX).saturating_sub(200)
}

fn answers_others(gateway: &Gateway) {
    let begun = Instant::now();
    let live = ask(gateway.address, empty(get("/livez")));
    let found = ask(gateway.address, post("/v1/search", &serde_json::json!({"query": "restart"})));
    assert_eq!((live.status.as_u16(), found.status.as_u16()), (200, 200));
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
}

/// Resident memory that is not shared with files, in kilobytes.
fn memory(gateway: &mut Gateway) -> u64 {
    Memory::of(gateway.child().id()).anonymous / 1024
}

fn resident(gateway: &mut Gateway) -> u64 {
    Memory::of(gateway.child().id()).resident / 1024
}

#[test]
fn a_crowd_keeps_nobody_out_and_leaves_nothing_behind() {
    let world = super::served();
    let mut gateway = world.start_rest(&["--header-timeout", "5s", "--body-timeout", "5s"]);
    answers_others(&gateway);
    let (idle, idle_resident) = (memory(&mut gateway), resident(&mut gateway));
    assert!(idle_resident <= IDLE_KILOBYTES, "{idle_resident} kB resident");

    let size = CROWD.min(room());
    let mut most = 0;
    for beginning in ["", HALF_HEADERS, HALF_BODY] {
        let crowd = crowd(gateway.address, size, beginning);
        answers_others(&gateway);
        most = most.max(memory(&mut gateway));
        drop(crowd);
        answers_others(&gateway);
    }
    let end = wait::until(40, "the memory to come back", || {
        answers_others(&gateway);
        Some(memory(&mut gateway)).filter(|end| *end <= idle + LEFT_KILOBYTES)
    });
    println!(
        "{size} connections: {idle} kB before ({idle_resident} resident), {most} kB at most, {end} kB after"
    );
}

/// How many files a process has open.
fn open_files(gateway: &mut Gateway) -> u64 {
    std::fs::read_dir(format!("/proc/{}/fd", gateway.child().id())).unwrap().count() as u64
}

#[test]
fn one_who_may_open_no_more_files_makes_room_and_does_not_spin() {
    const MORE: u64 = 20;
    let world = super::served();
    let mut gateway = world.start_rest(&[]);
    answers_others(&gateway);
    let pid = Pid::from_child(gateway.child());
    let limit = Some(open_files(&mut gateway) + MORE);
    prlimit(Some(pid), Resource::Nofile, Rlimit { current: limit, maximum: limit }).unwrap();

    let crowd = crowd(gateway.address, 3 * MORE, HALF_HEADERS);
    answers_others(&gateway);
    drop(crowd);
    answers_others(&gateway);
    let complaints = || gateway.log().matches("\"no connection\"").count();
    let so_far = complaints();
    assert!(so_far > 0, "it had to make room: {}", gateway.log());
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(complaints(), so_far, "nothing is wrong any more");
    assert!(so_far < 200, "{so_far} lines for {} connections", 3 * MORE);
}
