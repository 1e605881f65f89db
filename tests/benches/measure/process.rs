//! What a process has cost so far.

use std::fs;
use std::time::Duration;

/// CPU time of all its threads that still live, to the nanosecond (`/proc/PID/task/TID/schedstat`).
pub(crate) fn cpu(pid: u32) -> Duration {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let spent = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("schedstat")).ok());
    Duration::from_nanos(spent.map(|stat| first_number(&stat)).sum())
}

/// Bytes resident, mapped files included.
pub(crate) fn resident_bytes(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    first_number(line) * 1024
}

fn first_number(text: &str) -> u64 {
    text.split_whitespace().next().unwrap().parse().unwrap()
}
