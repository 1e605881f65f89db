//! The CPU time that a process has used.

use std::fs;
use std::time::Duration;

/// Of all its threads that still live, to the nanosecond (`/proc/PID/task/TID/schedstat`).
pub(crate) fn cpu(pid: u32) -> Duration {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let spent = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("schedstat")).ok());
    Duration::from_nanos(spent.map(|stat| stat.split(' ').next().unwrap().parse::<u64>().unwrap()).sum())
}
