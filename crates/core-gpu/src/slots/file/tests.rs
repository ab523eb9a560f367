//! One process with several threads; several processes are in the crate's soak.

use std::sync::Arc;

use core_gpu_driver::PlatformKind;

use super::*;
use crate::slots::SlotGuard;

fn device(number: u8) -> DeviceId {
    DeviceId {
        platform: PlatformKind::Simulated,
        uuid: [number; 16],
    }
}

fn store() -> (tempfile::TempDir, Arc<dyn SlotStore>) {
    let folder = tempfile::tempdir().unwrap();
    let store = FileSlots::new(folder.path().join("below").join("slots"));
    (folder, Arc::new(store))
}

#[test]
fn there_are_as_many_slots_as_are_said() {
    let (_folder, store) = store();
    let request = Request::on(device(1), 3);
    let take = || SlotGuard::acquire(&store, &request, Deadline::now());
    let mut slots: Vec<_> = (0..3).map(|_| take().unwrap()).collect();
    let mut numbers: Vec<_> = slots.iter().map(SlotGuard::slot).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [0, 1, 2]);
    assert!(matches!(take(), Err(SlotError::Full { devices: 1, .. })));
    let status = store.status(&device(1)).unwrap();
    assert_eq!((status.capacity, status.held.len()), (Some(3), 3));
    slots.pop().unwrap().release().unwrap();
    drop(take().unwrap());
    drop(slots);
    let status = store.status(&device(1)).unwrap();
    assert_eq!((status.capacity, status.held), (Some(3), Vec::new()));
}

#[test]
#[cfg(target_os = "linux")]
fn who_holds_a_slot_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let slots = FileSlots::new(folder.path().join("slots"));
    let store: Arc<dyn SlotStore> = Arc::new(FileSlots::new(slots.directory()));
    assert_eq!(slots.holders(&device(1)), Ok(Vec::new()));
    let request = Request::on(device(1), 3);
    let slot = SlotGuard::acquire(&store, &request, Deadline::now()).unwrap();
    let told = slots.holders(&device(1)).unwrap();
    let numbers: Vec<_> = told.iter().map(|holder| holder.slot).collect();
    assert_eq!(numbers, [slot.slot()]);
    match told[0].process {
        Some(process) => assert_eq!(process, std::process::id()),
        None => println!("skipped: this system does not tell who holds locks"),
    }
}

#[test]
fn devices_are_taken_in_order_and_do_not_share() {
    let (_folder, store) = store();
    let request = Request::on(device(1), 1).or(device(2), 1);
    let take = || SlotGuard::acquire(&store, &request, Deadline::now());
    let (first, second) = (take().unwrap(), take().unwrap());
    assert_eq!((first.device(), second.device()), (device(1), device(2)));
    let why = take().unwrap_err();
    assert!(matches!(why, SlotError::Full { devices: 2, .. }));
}

#[test]
fn a_slot_goes_back_when_its_holder_unwinds() {
    let (_folder, store) = store();
    let request = Request::on(device(1), 1);
    let take = || SlotGuard::acquire(&store, &request, Deadline::now());
    let holder = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _slot = take().unwrap();
        std::panic::resume_unwind(Box::new(()));
    }));
    assert!(holder.is_err());
    drop(take().unwrap());
}

#[test]
fn the_number_of_slots_changes_only_while_nobody_holds_one() {
    let (_folder, store) = store();
    let take = |slots| SlotGuard::acquire(&store, &Request::on(device(1), slots), Deadline::now());
    let held = take(4).unwrap();
    let wanted = SlotError::Capacity {
        device: device(1),
        stored: 4,
        asked: 2,
    };
    assert_eq!(take(2).unwrap_err(), wanted);
    drop(held);
    let held = take(2).unwrap();
    assert!(held.slot() < 2);
    assert_eq!(store.status(&device(1)).unwrap().capacity, Some(2));
}

#[test]
fn waiting_ends_with_the_deadline_or_with_a_slot() {
    let (_folder, store) = store();
    let request = Request::on(device(1), 1);
    let held = SlotGuard::acquire(&store, &request, Deadline::now()).unwrap();
    let soon = Deadline::after(Duration::from_millis(5));
    let Err(SlotError::Full { waited, .. }) = SlotGuard::acquire(&store, &request, soon) else {
        panic!("there was a slot");
    };
    assert!(waited >= Duration::from_millis(5));
    let (other, wanted) = (Arc::clone(&store), request.clone());
    let waits = thread::spawn(move || {
        SlotGuard::acquire(&other, &wanted, Deadline::never()).map(|slot| slot.slot())
    });
    drop(held);
    assert_eq!(waits.join().unwrap(), Ok(0));
}

#[test]
fn nothing_is_a_typed_error() {
    let (_folder, store) = store();
    for request in [Request::default(), Request::on(device(1), 0)] {
        let claimed = store.claim(&request, Deadline::now());
        assert_eq!(claimed.map(|_| ()), Err(SlotError::Nothing));
    }
    assert_eq!(store.status(&device(9)), Ok(SlotStatus::default()));
    let other = Claim::new(device(1), 0, ());
    assert_eq!(store.renew(&other), Err(SlotError::OtherStore));
    assert_eq!(store.release(other), Err(SlotError::OtherStore));
}

#[test]
fn what_is_not_ours_is_left_alone_and_what_is_half_written_is_written() {
    let (folder, store) = store();
    let directory = folder.path().join("below").join("slots");
    drop(SlotGuard::acquire(&store, &Request::on(device(1), 1), Deadline::now()).unwrap());
    let path = FileSlots::new(&directory).path(&device(2), "capacity");
    // What the file says, and whether it is taken for ours.
    let cases = [
        ("", true),
        ("coalesce sl", true),
        ("coalesce slots, version 1: 00000", true),
        ("coalesce slots, version 1: 0000000007\n", true),
        ("coalesce slots, version 2: 0000000007\n", false),
        ("coalesce slots, version 1: x\n", false),
        ("coalesce slots, version 1: 0000000007\nmore", false),
        ("\u{fffd}", false),
    ];
    for (text, ours) in cases {
        fs::write(&path, text).unwrap();
        let taken = SlotGuard::acquire(&store, &Request::on(device(2), 1), Deadline::now());
        let foreign = SlotError::Foreign { path: path.clone() };
        match taken {
            Ok(_) => assert!(ours, "{text}"),
            Err(why) => {
                assert!(!ours, "{text}: {why}");
                assert_eq!(why, foreign);
                assert_eq!(fs::read_to_string(&path).unwrap(), text);
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn a_link_is_not_followed() {
    let (folder, store) = store();
    let directory = folder.path().join("below").join("slots");
    fs::create_dir_all(&directory).unwrap();
    let elsewhere = folder.path().join("elsewhere");
    fs::write(&elsewhere, "").unwrap();
    let path = FileSlots::new(&directory).path(&device(1), "capacity");
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    let taken = SlotGuard::acquire(&store, &Request::on(device(1), 1), Deadline::now());
    assert!(matches!(taken, Err(SlotError::File { .. })), "{taken:?}");
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "");
}

#[cfg(unix)]
#[test]
fn other_users_may_use_what_one_made() {
    use std::os::unix::fs::PermissionsExt as _;
    let (folder, store) = store();
    let directory = folder.path().join("below").join("slots");
    drop(SlotGuard::acquire(&store, &Request::on(device(1), 1), Deadline::now()).unwrap());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&directory), 0o1777);
    for entry in fs::read_dir(&directory).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o666);
    }
}

#[test]
fn a_directory_that_cannot_be_is_a_typed_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let store: Arc<dyn SlotStore> = Arc::new(FileSlots::new(file.join("slots")));
    let taken = SlotGuard::acquire(&store, &Request::on(device(1), 1), Deadline::now());
    assert!(matches!(taken, Err(SlotError::File { .. })), "{taken:?}");
}

fn bytes_of(number: u8, bytes: u64, budget_bytes: u64) -> Request {
    let wanted = Wanted {
        device: device(number),
        slots: 8,
        budget_bytes,
    };
    Request::default().or_within(wanted).with_bytes(bytes)
}

#[test]
fn bytes_are_claimed_until_the_budget_is_gone() {
    let (_folder, store) = store();
    let take = |bytes| SlotGuard::acquire(&store, &bytes_of(1, bytes, 100), Deadline::now());
    let (first, second) = (take(60).unwrap(), take(40).unwrap());
    assert_eq!(store.status(&device(1)).unwrap().claimed_bytes, 100);
    let Err(SlotError::Memory {
        asked_bytes: 1,
        claimed_bytes: 100,
        budget_bytes: 100,
        holders,
        ..
    }) = take(1)
    else {
        panic!("there was room");
    };
    let mut claims: Vec<_> = holders.iter().map(|one| one.claimed_bytes).collect();
    claims.sort_unstable();
    assert_eq!(claims, [40, 60]);
    // Who claims nothing is bounded by slots alone.
    let nothing = take(0).unwrap();
    let over = take(101).unwrap_err();
    assert!(matches!(
        over,
        SlotError::OverBudget {
            budget_bytes: 100,
            ..
        }
    ));
    drop(second);
    let third = take(39).unwrap();
    assert!(take(2).is_err() && take(1).is_ok());
    drop((first, third, nothing));
    assert_eq!(store.status(&device(1)).unwrap().claimed_bytes, 0);
    drop(take(100).unwrap());
}

#[test]
fn a_claim_goes_to_the_device_with_room_and_waits_for_one_without() {
    let (_folder, store) = store();
    let both = |bytes| {
        let other = Wanted {
            device: device(2),
            slots: 8,
            budget_bytes: 50,
        };
        bytes_of(1, bytes, 100).or_within(other)
    };
    let take = |bytes, by| SlotGuard::acquire(&store, &both(bytes), by);
    let first = take(80, Deadline::now()).unwrap();
    let second = take(50, Deadline::now()).unwrap();
    assert_eq!((first.device(), second.device()), (device(1), device(2)));
    let soon = Deadline::after(Duration::from_millis(5));
    assert!(matches!(take(90, soon), Err(SlotError::Memory { .. })));
    let waiting = Arc::clone(&store);
    let wanted = both(90);
    let waits = thread::spawn(move || {
        SlotGuard::acquire(&waiting, &wanted, Deadline::never()).map(|slot| slot.device())
    });
    drop(first);
    assert_eq!(waits.join().unwrap(), Ok(device(1)));
}

#[test]
fn threads_never_claim_more_than_the_budget_together() {
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
    let (_folder, store) = store();
    let (claimed, most) = (AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for round in 0..30 {
                    let bytes = 20 + round % 3 * 10;
                    let request = bytes_of(1, bytes, 100);
                    let by = Deadline::after(Duration::from_secs(60));
                    let slot = SlotGuard::acquire(&store, &request, by).unwrap();
                    most.fetch_max(claimed.fetch_add(bytes, SeqCst) + bytes, SeqCst);
                    thread::yield_now();
                    claimed.fetch_sub(bytes, SeqCst);
                    drop(slot);
                }
            });
        }
    });
    assert!((20..=100).contains(&most.load(SeqCst)), "{most:?}");
}

#[test]
fn a_record_without_a_holder_claims_nothing() {
    let (folder, store) = store();
    drop(SlotGuard::acquire(&store, &bytes_of(1, 1, 100), Deadline::now()).unwrap());
    let slots = FileSlots::new(folder.path().join("below").join("slots"));
    // What one leaves behind that was killed, and what is no record.
    for slot in 0..8 {
        let path = slots.slot_path(&device(1), slot);
        let mut file = File::create(&path).unwrap();
        match slot {
            0 => file.write_all(b"\xff\xfe").unwrap(),
            _ => Record::beginning(90).write(&mut file).unwrap(),
        }
    }
    assert_eq!(store.status(&device(1)).unwrap().claimed_bytes, 0);
    drop(SlotGuard::acquire(&store, &bytes_of(1, 100, 100), Deadline::now()).unwrap());
}

#[test]
fn how_long_a_slot_is_held_and_used_is_told() {
    let (folder, store) = store();
    let slots = FileSlots::new(folder.path().join("below").join("slots"));
    let mut slot = SlotGuard::acquire(&store, &bytes_of(1, 7, 100), Deadline::now()).unwrap();
    thread::sleep(Duration::from_millis(20));
    slot.note_use(Duration::from_millis(3)).unwrap();
    slot.note_use(Duration::from_millis(4)).unwrap();
    let told = slots.holders(&device(1)).unwrap()[0];
    assert_eq!(told.claimed_bytes, 7);
    assert_eq!(told.used_for, Duration::from_millis(7));
    assert!(told.held_for.unwrap() >= Duration::from_millis(20));
    let busy = told.busy_part().unwrap();
    assert!(busy > 0.0 && busy <= 0.35, "{busy}");
    let mut other = Claim::new(device(1), 0, ());
    let noted = store.note_use(&mut other, Duration::ZERO);
    assert_eq!(noted, Err(SlotError::OtherStore));
}

/// Who looks shares a slot's lock for a moment, which is no holder.
#[test]
fn who_looks_fills_no_slot() {
    let (_folder, store) = store();
    let request = Request::on(device(1), 1);
    drop(SlotGuard::acquire(&store, &request, Deadline::now()).unwrap());
    let is_over = std::sync::atomic::AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    store.status(&device(1)).unwrap();
                }
            });
        }
        let taken: Vec<_> = (0..1_000)
            .map(|_| SlotGuard::acquire(&store, &request, Deadline::now()).map(drop))
            .collect();
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(taken.iter().all(Result::is_ok), "{taken:?}");
    });
}
