//! The contained child: binds itself, starts the program, and outlives everything that it leaves.

use std::{
    ffi::{OsStr, OsString},
    io::{self, Read as _},
    os::unix::process::ExitStatusExt as _,
    process::{Command, ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, getpid, kill_process, set_child_subreaper,
    setrlimit, wait,
};

use crate::{
    cgroup::ControlGroup,
    confine,
    contain::{Bounds, Report},
    descendants,
};

/// How often it is looked whether the program has ended.
const LOOK: Duration = Duration::from_millis(5);
/// How often memory and disk are looked at.
const MEASURE: Duration = Duration::from_millis(200);
/// How long the end of everything may take.
const ENDING: Duration = Duration::from_secs(10);
/// So much of the disk stays free, whatever else is allowed.
const SPARE_DISK: u64 = 256 << 20;

/// Runs the program to its end and answers; the exit code of this process says whether it could.
pub(crate) fn run(
    bounds: &Bounds,
    program: &OsStr,
    arguments: impl Iterator<Item = OsString>,
) -> u8 {
    let report = contained(bounds, program, arguments);
    let text = serde_json::to_string(&report).unwrap_or_default();
    u8::from(std::fs::write(&bounds.report, text).is_err())
}

fn contained(
    bounds: &Bounds,
    program: &OsStr,
    arguments: impl Iterator<Item = OsString>,
) -> Report {
    let mut report = Report::default();
    if let Err(error) = bind(bounds) {
        report.failed = Some((false, error.to_string()));
        return report;
    }
    // As long as there is one thread only.
    report.writable = confine::tree(&bounds.tree, &bounds.scratch).err();
    let asked_to_end = watch_input();
    let start = || {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).spawn()
    };
    let (started, group) = ControlGroup::around(bounds.memory_bytes, start);
    report.grouped = group.is_some();
    match started {
        Ok(child) => {
            let (ended, over) = wait_for(child.id(), bounds, &asked_to_end);
            report.code = ended.and_then(|status| status.code());
            report.over = over;
        }
        Err(error) => {
            let missing = error.kind() == io::ErrorKind::NotFound;
            report.failed = Some((missing, error.to_string()));
        }
    }
    report.detached = end_all();
    if let Some(group) = group {
        if group.ran_out_of_memory() {
            report.over = Some(memory_bound(bounds));
        }
        group.end();
        collect_ended();
    }
    report
}

/// Collects what has ended and waits for that.
fn collect_ended() {
    while matches!(wait(WaitOptions::NOHANG), Ok(Some(_))) {}
}

/// Says when whoever started this process has gone, or wants an end.
fn watch_input() -> Arc<AtomicBool> {
    let ended = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&ended);
    thread::spawn(move || {
        let mut nothing = [0; 64];
        while io::stdin().read(&mut nothing).is_ok_and(|read| read > 0) {}
        told.store(true, Ordering::SeqCst);
    });
    ended
}

/// What all processes below this one inherit.
fn bind(bounds: &Bounds) -> io::Result<()> {
    set_child_subreaper(Some(getpid()))?;
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    setrlimit(Resource::Core, none)?;
    let longest = rustix::process::getrlimit(Resource::Fsize).maximum;
    let longest = longest.map_or(bounds.file_bytes, |longest| longest.min(bounds.file_bytes));
    let file = Rlimit {
        current: Some(longest),
        maximum: Some(longest),
    };
    setrlimit(Resource::Fsize, file)?;
    Ok(())
}

/// Waits for the program, whose number is `program`, within its bounds.
fn wait_for(
    program: u32,
    bounds: &Bounds,
    asked_to_end: &AtomicBool,
) -> (Option<ExitStatus>, Option<String>) {
    let program = i32::try_from(program).unwrap_or(0);
    let free_at_first = free(bounds);
    let mut measured = Instant::now();
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid.as_raw_nonzero().get() == program => {
                return (Some(ExitStatus::from_raw(status.as_raw())), None);
            }
            // Something that had detached itself and was adopted.
            Ok(Some(_)) => continue,
            Ok(None) => {}
            Err(_) => return (None, None),
        }
        if asked_to_end.load(Ordering::SeqCst) {
            return (None, None);
        }
        if measured.elapsed() >= MEASURE {
            measured = Instant::now();
            if let Some(over) = over(bounds, free_at_first) {
                return (None, Some(over));
            }
        }
        thread::sleep(LOOK);
    }
}

/// The bound that is passed.
fn over(bounds: &Bounds, free_at_first: u64) -> Option<String> {
    let memory = descendants::resident_bytes(getpid());
    if memory > bounds.memory_bytes {
        return Some(memory_bound(bounds));
    }
    let free = free(bounds);
    if free_at_first.saturating_sub(free) > bounds.disk_bytes {
        let most = bounds.disk_bytes >> 20;
        return Some(format!("used more than {most} MiB of disk"));
    }
    (free < SPARE_DISK).then(|| "used up the disk".to_owned())
}

fn memory_bound(bounds: &Bounds) -> String {
    let most = bounds.memory_bytes >> 20;
    format!("used more than {most} MiB of memory")
}

/// Free bytes of the disk that the copy is on.
fn free(bounds: &Bounds) -> u64 {
    let known = rustix::fs::statvfs(&bounds.scratch);
    known.map_or(u64::MAX, |known| {
        known.f_bavail.saturating_mul(known.f_frsize)
    })
}

/// Ends every process that came of the program; how many there were. Stopped first, so that none
/// starts another one meanwhile.
fn end_all() -> usize {
    let begun = Instant::now();
    let mut ended = std::collections::BTreeSet::new();
    loop {
        let left = descendants::of(getpid());
        if left.is_empty() || begun.elapsed() > ENDING {
            return ended.len();
        }
        ended.extend(left.iter().map(|pid| pid.as_raw_nonzero()));
        for signal in [Signal::STOP, Signal::KILL] {
            // One that has ended by itself is as good.
            left.iter().for_each(|pid| {
                let _ = kill_process(*pid, signal);
            });
        }
        collect_ended();
        thread::sleep(LOOK);
    }
}

/// The process with this number.
pub(crate) fn pid(number: i32) -> Option<Pid> {
    Pid::from_raw(number).filter(|_| number > 0)
}
