//! The memory that a process holds.

use std::fs;

/// Resident bytes (`/proc/PID/status`).
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// What nobody else can use.
    pub anonymous: u64,
    /// Files that are mapped, the program's own among them: the system's to drop.
    pub mapped: u64,
    /// All of it.
    pub resident: u64,
}

impl Memory {
    /// What a process holds now.
    ///
    /// # Panics
    /// Where there is no such process.
    pub fn of(pid: u32) -> Self {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
        let bytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("its line");
            let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
            kilobytes * 1024
        };
        Self { anonymous: bytes("RssAnon:"), mapped: bytes("RssFile:"), resident: bytes("VmRSS:") }
    }
}
