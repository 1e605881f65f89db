//! The memory that a process holds.

use std::fs;

/// Resident bytes (`/proc/PID/status`).
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    /// What nobody else can use.
    pub(crate) anonymous: u64,
    /// Files that are mapped, the program's own among them: the system's to drop.
    pub(crate) mapped: u64,
}

pub(crate) fn memory(pid: u32) -> Memory {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let bytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
    };
    Memory { anonymous: bytes("RssAnon:"), mapped: bytes("RssFile:") }
}
