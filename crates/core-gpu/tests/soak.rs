//! Slots under load: eight processes of eight threads take slots of four devices while processes
//! are killed at random. Judged by a log of intervals that does not trust the locks: each holder
//! writes down when it has a slot, and when it is about to give it back, on a clock that all
//! processes share. What overlaps on more slots than there are, or on one slot, is an error.
//!
//! Ten seconds, or as long as `COALESCE_SOAK_SECONDS` says.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may end")]

use std::{
    collections::BTreeMap,
    env,
    fs::{self, File, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use core_gpu::{
    driver::{DeviceId, PlatformKind},
    platform::Deadline,
    slots::{FileSlots, Request, SlotError, SlotGuard, SlotStore},
};

const PROCESSES: usize = 8;
const THREADS: usize = 8;
const DEVICES: u8 = 4;
const SLOTS: u32 = 3;
/// Set in the processes of the soak: where they work.
const FOLDER: &str = "CORE_GPU_SOAK_FOLDER";
/// Which of all processes one is: the system gives the number of one that has ended to another.
const PROCESS: &str = "CORE_GPU_SOAK_PROCESS";

fn device(number: u8) -> DeviceId {
    DeviceId {
        platform: PlatformKind::Simulated,
        uuid: [number; 16],
    }
}

fn request() -> Request {
    (0..DEVICES).fold(Request::default(), |request, number| {
        request.or(device(number), SLOTS)
    })
}

/// Nanoseconds on the clock that all processes of the machine share.
fn now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

fn seconds() -> f64 {
    let said = env::var("COALESCE_SOAK_SECONDS").ok();
    said.and_then(|text| text.parse().ok()).unwrap_or(10.0)
}

/// A process of the soak; nothing when the test is run by itself.
#[test]
fn a_process_of_the_soak() {
    let Some(folder) = env::var_os(FOLDER).map(PathBuf::from) else {
        return;
    };
    let threads: Vec<_> = (0..THREADS)
        .map(|number| {
            let folder = folder.clone();
            thread::spawn(move || hold_and_release(&folder, number))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

fn hold_and_release(folder: &Path, number: usize) {
    let store: Arc<dyn SlotStore> = Arc::new(FileSlots::new(folder.join("slots")));
    let process = env::var(PROCESS).unwrap();
    let name = format!("log-{process}-{number}");
    let mut log = OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join(name))
        .unwrap();
    // Lines are written with one call each, so that a killed process leaves whole ones.
    let mut say = |what: &str, slot: &SlotGuard| {
        let (device, slot) = (slot.device().uuid[0], slot.slot());
        log.write_all(format!("{what} {device} {slot} {}\n", now()).as_bytes())
            .unwrap();
    };
    let mut turn = number as u64;
    while !folder.join("stop").exists() {
        // Each way to wait has its turn; each starts with another device.
        let by = match turn % 3 {
            0 => Deadline::never(),
            1 => Deadline::after(Duration::from_millis(20)),
            _ => Deadline::now(),
        };
        let mut wanted = request();
        wanted.devices.rotate_left((turn % 4) as usize);
        turn += 1;
        match SlotGuard::acquire(&store, &wanted, by) {
            Ok(slot) => {
                say("has", &slot);
                thread::sleep(Duration::from_micros(turn * 7919 % 3000));
                say("gives", &slot);
            }
            Err(SlotError::Full { .. }) => thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    }
}

fn start(folder: &Path, process: usize) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["a_process_of_the_soak", "--exact", "--nocapture"])
        .env(FOLDER, folder)
        .env(PROCESS, process.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// One time that a slot was held, for certain.
#[derive(Clone, Copy, Debug)]
struct Interval {
    device: u8,
    slot: u32,
    from: u64,
    to: u64,
}

/// The intervals of a log. One that was begun and not ended lasted until its process was killed.
fn intervals(text: &str, killed: Option<u64>) -> Vec<Interval> {
    let mut open: Option<Interval> = None;
    let mut intervals = Vec::new();
    for line in text.lines() {
        let [what, device, slot, at] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("a broken line: {line}");
        };
        let at: u64 = at.parse().unwrap();
        if what == "has" {
            let (device, slot) = (device.parse().unwrap(), slot.parse().unwrap());
            let (from, to) = (at, at);
            open = Some(Interval {
                device,
                slot,
                from,
                to,
            });
        } else if let Some(interval) = open.take() {
            intervals.push(Interval { to: at, ..interval });
        }
    }
    let last = open.map(|open| Interval {
        to: killed
            .expect("only who was killed did not end")
            .max(open.from),
        ..open
    });
    intervals.extend(last);
    intervals
}

/// A device, or one slot of it.
type Held = (u8, Option<u32>);

/// The most holders at a time, of each device and of each slot.
fn most_at_a_time(intervals: &[Interval]) -> BTreeMap<Held, i64> {
    let mut changes: BTreeMap<Held, Vec<(u64, i64)>> = BTreeMap::new();
    for interval in intervals {
        for key in [
            (interval.device, None),
            (interval.device, Some(interval.slot)),
        ] {
            let changes = changes.entry(key).or_default();
            changes.extend([(interval.from, 1), (interval.to, -1)]);
        }
    }
    let most = |changes: &mut Vec<(u64, i64)>| {
        // Of two at one time the end is first: they may follow on each other.
        changes.sort_unstable();
        let sums = changes.iter().scan(0, |holders, (_, change)| {
            *holders += change;
            Some(*holders)
        });
        sums.max().unwrap_or(0)
    };
    changes
        .into_iter()
        .map(|(key, mut changes)| (key, most(&mut changes)))
        .collect()
}

/// Kills a process at random every now and then and starts another, until time is up. Returns when
/// each was about to be killed.
fn disturb(children: &Mutex<Vec<(usize, Child)>>, folder: &Path) -> BTreeMap<usize, u64> {
    let end = Instant::now() + Duration::from_secs_f64(seconds());
    let mut killed = BTreeMap::new();
    let mut turn = 0_u64;
    while Instant::now() < end {
        turn = turn
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(now());
        thread::sleep(Duration::from_millis(20 + turn % 100));
        let mut children = children.lock().unwrap();
        let place = (turn >> 32) as usize % children.len();
        let (process, child) = children.get_mut(place).unwrap();
        killed.insert(*process, now());
        child.kill().unwrap();
        child.wait().unwrap();
        *process = PROCESSES + killed.len();
        *child = start(folder, *process);
    }
    killed
}

#[test]
fn soak_slots_across_processes_that_die() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let children = (0..PROCESSES).map(|process| (process, start(folder, process)));
    let children = Mutex::new(children.collect::<Vec<_>>());
    let killed = disturb(&children, folder);
    File::create(folder.join("stop")).unwrap();
    for (_, mut child) in children.into_inner().unwrap() {
        assert!(child.wait().unwrap().success());
    }
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if let Some(rest) = name.strip_prefix("log-") {
            let process: usize = rest.split('-').next().unwrap().parse().unwrap();
            let text = fs::read_to_string(entry.path()).unwrap();
            all.extend(intervals(&text, killed.get(&process).copied()));
        }
    }
    println!(
        "{} times a slot was held; {} processes were killed",
        all.len(),
        killed.len()
    );
    let most = most_at_a_time(&all);
    for ((device, slot), holders) in &most {
        let slots = if slot.is_some() { 1 } else { i64::from(SLOTS) };
        assert!(
            *holders <= slots,
            "{holders} held device {device}, slot {slot:?}"
        );
    }
    // All were in use at some time, and none is lost.
    let full = most.iter().filter(|((_, slot), _)| slot.is_none());
    assert!(full.clone().count() == usize::from(DEVICES), "{most:?}");
    assert!(
        full.clone()
            .all(|(_, holders)| *holders == i64::from(SLOTS))
    );
    let store: Arc<dyn SlotStore> = Arc::new(FileSlots::new(folder.join("slots")));
    let slots: Vec<_> = (0..u32::from(DEVICES) * SLOTS)
        .map(|_| SlotGuard::acquire(&store, &request(), Deadline::now()).unwrap())
        .collect();
    assert!(SlotGuard::acquire(&store, &request(), Deadline::now()).is_err());
    drop(slots);
}

#[test]
fn the_judge_sees_too_many_holders() {
    let text = "has 1 0 10\ngives 1 0 20\nhas 1 1 25\n";
    let mut all = intervals(text, Some(40));
    all.extend(intervals("has 1 1 39\ngives 1 1 50\n", None));
    all.extend(intervals("has 1 0 20\ngives 1 0 25\n", None));
    let most = most_at_a_time(&all);
    assert_eq!(most.get(&(1, Some(1))), Some(&2));
    assert_eq!(most.get(&(1, Some(0))), Some(&1));
    assert_eq!(most.get(&(1, None)), Some(&2));
}
