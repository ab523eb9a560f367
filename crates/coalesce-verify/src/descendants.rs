//! The processes that came of one, by what the kernel tells in `/proc`. Whatever detaches itself
//! still has a parent, and that is, at last, whoever adopts orphans.

use std::{collections::BTreeMap, fs};

use rustix::process::Pid;

use crate::contained::pid;

/// Every process below `root`, which is not among them; also those that have ended and wait to be
/// collected.
pub(crate) fn of(root: Pid) -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for (process, parent) in parents() {
        children.entry(parent).or_default().push(process);
    }
    let mut found = Vec::new();
    let mut open = vec![root.as_raw_nonzero().get()];
    while let Some(process) = open.pop() {
        for child in children.remove(&process).unwrap_or_default() {
            open.push(child);
            found.extend(pid(child));
        }
    }
    found
}

/// Memory that belongs to the processes below `root` alone, in bytes; what they have of files is
/// not counted, since they share it.
pub(crate) fn resident_bytes(root: Pid) -> u64 {
    let anonymous = |process: Pid| {
        let path = format!("/proc/{}/status", process.as_raw_nonzero());
        let text = fs::read_to_string(path).ok()?;
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("RssAnon:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    };
    let kibibytes: u64 = of(root).into_iter().filter_map(anonymous).sum();
    kibibytes.saturating_mul(1 << 10)
}

/// Each process of the machine with its parent.
fn parents() -> Vec<(i32, i32)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let process = |entry: fs::DirEntry| {
        let number: i32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        // The name stands in parentheses and may hold anything, parentheses too.
        let (_, rest) = stat.rsplit_once(')')?;
        let parent = rest.split_whitespace().nth(1)?.parse().ok()?;
        Some((number, parent))
    };
    entries.filter_map(process).collect()
}
