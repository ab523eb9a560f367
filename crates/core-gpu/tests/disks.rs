//! Slots on disks that are full or read-only, and of other users. Each case mounts a small disk of
//! its own, and runs this program again as who asks for a slot there. Where that cannot be done, it
//! says so.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may end")]

use std::{env, process::Command, sync::Arc};

use core_gpu::{
    driver::{DeviceId, PlatformKind},
    platform::Deadline,
    slots::{FileSlots, Request, SlotGuard, SlotStore},
};

/// Set in the process that asks for a slot: the directory.
const DIRECTORY: &str = "CORE_GPU_DISK";

/// Asks for a slot; nothing when the test is run by itself.
#[test]
fn who_asks_for_a_slot() {
    let Some(directory) = env::var_os(DIRECTORY) else {
        return;
    };
    let store: Arc<dyn SlotStore> = Arc::new(FileSlots::new(directory));
    let device = DeviceId {
        platform: PlatformKind::Simulated,
        uuid: [1; 16],
    };
    let taken = SlotGuard::acquire(&store, &Request::on(device, 2), Deadline::now());
    let said = taken.map_or_else(|error| error.to_string(), |_| "a slot".to_owned());
    println!("outcome: {said}");
}

/// What those who asked were told, in order, or why a script could not be run.
fn outcomes(script: &str, apart: bool) -> Result<Vec<String>, String> {
    let disk = tempfile::tempdir().unwrap();
    let shell = ["sh", "-ec", script];
    let mut command = if apart {
        let mut command = Command::new("unshare");
        command
            .args(["--user", "--map-root-user", "--mount"])
            .args(shell);
        command
    } else {
        let mut command = Command::new(shell[0]);
        command.args(&shell[1..]);
        command
    };
    let ask = format!(
        "{} who_asks_for_a_slot --exact --nocapture",
        env::current_exe().unwrap().display()
    );
    let output = command
        .env("DISK", disk.path())
        .env(DIRECTORY, disk.path().join("slots"))
        .env("ASK", ask)
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let disk = disk.path().display().to_string();
    let outcome = |line: &str| {
        let (_, said) = line.split_once("outcome: ")?;
        Some(said.replace(&disk, "DISK"))
    };
    Ok(said.lines().filter_map(outcome).collect())
}

const CAPACITY: &str = "DISK/slots/simulated-GPU-01010101-0101-0101-0101-010101010101.capacity";

#[test]
fn full_and_read_only_disks_are_typed_errors() {
    let no_space = format!("no space left to keep slots in {CAPACITY}");
    let read_only = "DISK/slots cannot be written to: the file system is read-only".to_owned();
    let slot = "a slot".to_owned();
    let cases = [
        (
            "mount -t tmpfs -o nr_inodes=2 tmpfs $DISK; $ASK",
            vec![no_space.clone()],
        ),
        // The file is there and nothing fits in; when there is room, it is used.
        (
            "mount -t tmpfs -o size=4k tmpfs $DISK; head -c 4096 /dev/zero > $DISK/full
             $ASK; rm $DISK/full; mount -o remount,size=64k $DISK; $ASK",
            vec![no_space, slot.clone()],
        ),
        (
            "mount -t tmpfs -o ro tmpfs $DISK; $ASK",
            vec![read_only],
        ),
        // What is there can be locked, also where nothing can be written.
        (
            "mount -t tmpfs tmpfs $DISK; $ASK; touch $DISK/slots/x
             for slot in 0 1; do touch $(echo $DISK/slots/*.capacity | sed s/capacity/slot-$slot/); done
             mount -o remount,ro $DISK; $ASK",
            vec![slot.clone(), slot],
        ),
    ];
    for (script, wanted) in cases {
        match outcomes(script, true) {
            Ok(said) => assert_eq!(said, wanted, "{script}"),
            Err(why)
                if why.contains("unshare") || why.contains("mount") || why.contains("No such") =>
            {
                println!("skipped: no disk can be made here: {why}");
                return;
            }
            Err(why) => panic!("{script}: {why}"),
        }
    }
}

#[test]
fn users_share_slots_unless_they_may_not() {
    let other = "setpriv --reuid=65534 --regid=65534 --clear-groups";
    let shared = format!("chmod 755 $DISK; umask 077; $ASK; {other} $ASK");
    let closed = format!("chmod 755 $DISK; mkdir -m 700 $DISK/slots; $ASK; {other} $ASK");
    let slot = "a slot".to_owned();
    let refused = format!(
        "no permission for {CAPACITY}: its owner may allow it, or choose another directory"
    );
    let cases = [
        (shared, vec![slot.clone(), slot.clone()]),
        (closed, vec![slot, refused]),
    ];
    if outcomes(
        &format!("{other} test -x /proc/self/exe; {other} $ASK > /dev/null"),
        false,
    )
    .is_err()
    {
        println!("skipped: no other user can be had, or may not run this program");
        return;
    }
    for (script, wanted) in cases {
        assert_eq!(outcomes(&script, false), Ok(wanted), "{script}");
    }
}
