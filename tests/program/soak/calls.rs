//! Kills and errors at every call by which the program can change a disk, as the kernel sees them:
//! `strace` stops the process there, or lets the call fail. What fails inside of the file layer is
//! tried in `coalesce-apply`; this is the whole program, whatever library makes the call.
//!
//! A few points of each verb, or all of them when told to soak.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Output},
};

use super::{
    super::interrupted::{Files, Scratch, USERS, cut_off},
    told,
};

/// Calls that write, or that precede a write: a file that is opened may be made by it.
const CALLS: [&str; 24] = [
    "openat",
    "open",
    "creat",
    "write",
    "pwrite64",
    "writev",
    "mkdir",
    "mkdirat",
    "rmdir",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "unlink",
    "unlinkat",
    "chmod",
    "fchmod",
    "fchmodat",
    "fchown",
    "fsync",
    "fdatasync",
    "syncfs",
    "ftruncate",
];

/// Those that need room.
const NEED_ROOM: [&str; 13] = [
    "write",
    "pwrite64",
    "writev",
    "mkdir",
    "mkdirat",
    "rename",
    "renameat",
    "renameat2",
    "linkat",
    "fsync",
    "fdatasync",
    "syncfs",
    "ftruncate",
];

/// A verb, where it starts, and between which trees it goes.
struct Verb {
    call: &'static str,
    prepare: fn() -> Scratch,
}

const VERBS: [Verb; 4] = [
    Verb {
        call: "migrate m.toml --quiet",
        prepare: Scratch::new,
    },
    Verb {
        call: "rollback --yes --quiet",
        prepare: migrated,
    },
    Verb {
        call: "recover --undo --quiet",
        prepare: half_way,
    },
    Verb {
        call: "recover --finish --quiet",
        prepare: half_way,
    },
];

fn migrated() -> Scratch {
    let scratch = Scratch::new();
    scratch.run("migrate m.toml", 0);
    scratch
}

fn half_way() -> Scratch {
    cut_off(USERS / 2).0
}

/// Before the migration, and after it.
fn sides() -> [Files; 2] {
    let scratch = Scratch::new();
    let before = scratch.files();
    scratch.run("migrate m.toml", 0);
    [before, scratch.files()]
}

/// A verb below `strace`, which does what `what` says.
fn traced(scratch: &Scratch, call: &str, what: &[&str]) -> Output {
    let plain = scratch.command(call);
    let mut command = Command::new("strace");
    command
        .args(["-f", "-qq", "-o"])
        .arg(log(scratch))
        .args(what);
    command.arg(plain.get_program()).args(plain.get_args());
    command
        .current_dir(scratch.tree())
        .env("COALESCE_CACHE_DIR", "off");
    command.output().unwrap()
}

fn log(scratch: &Scratch) -> std::path::PathBuf {
    scratch.tree().with_file_name("calls")
}

/// How often a verb makes each call, in the thread that does so most often; `None` where there is no
/// `strace`, or it may not trace.
fn count(verb: &Verb) -> Option<BTreeMap<&'static str, usize>> {
    let scratch = (verb.prepare)();
    let trace = format!("trace={}", CALLS.map(|call| format!("?{call}")).join(","));
    let strace = Command::new("strace").arg("-V").output();
    if !strace.is_ok_and(|output| output.status.success()) {
        return None;
    }
    traced(&scratch, verb.call, &["-e", &trace]);
    let text = fs::read_to_string(log(&scratch)).ok()?;
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.contains("resumed>")) {
        let Some((thread, call)) = line.split_once(' ') else {
            continue;
        };
        let name = call.trim_start().split('(').next().unwrap_or_default();
        *counts.entry((thread, name)).or_default() += 1;
    }
    let most = |wanted: &'static str| {
        let own = counts.iter().filter(|((_, name), _)| *name == wanted);
        Some((wanted, *own.map(|(_, count)| count).max()?))
    };
    let all: BTreeMap<_, _> = CALLS.iter().filter_map(|call| most(call)).collect();
    (!all.is_empty()).then_some(all)
}

/// Every call of every verb, or some of them.
fn at_every_call(names: &[&str], mut tried: impl FnMut(&Verb, &str, usize)) {
    let step = match told::<u64>("COALESCE_SOAK_ROUNDS") {
        Some(_) => 1,
        None => told("COALESCE_SOAK_SECONDS").map_or(
            97,
            |seconds: f64| {
                if seconds < 60.0 { 97 } else { 1 }
            },
        ),
    };
    let (mut points, mut at) = (0, 0);
    for verb in &VERBS {
        let Some(counts) = count(verb) else {
            println!("skipped: there is no strace, or it may not trace");
            return;
        };
        for (name, most) in counts.iter().filter(|(name, _)| names.contains(name)) {
            for number in 1..=*most {
                at += 1;
                if at % step == 0 {
                    points += 1;
                    tried(verb, name, number);
                }
            }
        }
    }
    println!("{points} points of {at}");
}

/// The tree is one of the two, or can be brought to be either; nothing of a run is left behind.
fn is_whole(scratch: &Scratch, [before, after]: &[Files; 2], way: usize, at: &str) {
    let said = scratch.run("status", 0);
    let found = scratch.files();
    let between = found != *before && found != *after;
    assert!(!between || said.contains("cut off"), "{at}: {said}");
    let way = ["--undo", "--finish"][way % 2];
    scratch.run(&format!("recover {way}"), 0);
    let found = scratch.files();
    assert!(found == *before || found == *after, "{at}, then {way}");
    if found == *after {
        scratch.run("rollback --yes", 0);
    }
    assert_eq!(scratch.files(), *before, "{at}");
    assert_eq!(
        left_over(&scratch.tree().join(".coalesce")),
        [""; 0],
        "{at}"
    );
}

/// What a run that was cut off and recovered has left in the directory of its own.
fn left_over(state: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(state) else {
        return Vec::new();
    };
    let names = entries.flatten().map(|entry| entry.path());
    let mut all = Vec::new();
    for path in names {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match &*name {
            "journal" => all.extend(left_over(&path)),
            ".gitignore" | "lock" => {}
            _ => all.push(path.display().to_string()),
        }
    }
    all
}

#[test]
fn soak_kills_at_every_call() {
    let sides = sides();
    at_every_call(&CALLS, |verb, name, number| {
        let scratch = (verb.prepare)();
        let inject = format!("inject={name}:signal=KILL:when={number}");
        traced(
            &scratch,
            verb.call,
            &["-e", &format!("trace={name}"), "-e", &inject],
        );
        let at = format!("{}, killed at {name} {number}", verb.call);
        is_whole(&scratch, &sides, number, &at);
    });
}

/// The disk is full at one call, and from one call on.
#[test]
fn soak_a_full_disk_at_every_call() {
    let sides = sides();
    at_every_call(&NEED_ROOM, |verb, name, number| {
        for (error, until) in [("ENOSPC", ""), ("ENOSPC", "+"), ("EIO", "")] {
            let scratch = (verb.prepare)();
            let start = scratch.files();
            let inject = format!("inject={name}:error={error}:when={number}{until}");
            let trace = format!("trace={name}");
            let output = traced(&scratch, verb.call, &["-e", &trace, "-e", &inject]);
            let at = format!("{}, {error} at {name} {number}{until}", verb.call);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!said.contains("panicked"), "{at}: {said}");
            let code = output.status.code();
            assert!(code.is_some_and(|code| code < 4), "{at}: {code:?} {said}");
            // The tree is as it was, or that is said not to be so.
            let open = said.contains("recover");
            let kept = code != Some(2) || scratch.files() == start || open;
            assert!(kept, "{at}: {said}");
            is_whole(&scratch, &sides, number, &at);
        }
    });
}
