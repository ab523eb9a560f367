//! Every step of the disk fails once, fails from then on, or is where the process dies.

use std::{
    io,
    path::Path,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::{AFTER, changes, seen, snapshot, tree};
use crate::{
    ErrorKind, FileChange, Metadata, Recovery, Store,
    calls::{Call, Hook},
};

/// What happens at the step that a test picks.
#[derive(Clone, Copy)]
enum Fault {
    /// It fails, and nothing after it.
    Once,
    /// It fails, and everything after it.
    FromThenOn,
    /// The process ends there and then.
    Abort,
}

fn fault_at(chosen: usize, fault: Fault) -> Hook {
    let passed = AtomicUsize::new(0);
    Box::new(move |_| {
        let step = passed.fetch_add(1, Ordering::Relaxed);
        match fault {
            Fault::Once if step == chosen => Err(io::ErrorKind::StorageFull.into()),
            Fault::FromThenOn if step >= chosen => Err(io::ErrorKind::StorageFull.into()),
            Fault::Abort if step == chosen => std::process::abort(),
            _ => Ok(()),
        }
    })
}

fn store(root: &Path, chosen: usize, fault: Fault) -> Store {
    Store::with_hook(root, fault_at(chosen, fault)).unwrap()
}

fn apply(store: &Store, changes: &[FileChange]) -> Result<crate::Applied, crate::Error> {
    store.apply(changes, &Metadata::default())
}

/// The tree after the migration.
fn migrated() -> super::Snapshot {
    let directory = tree();
    let root = directory.path();
    apply(&Store::open(root).unwrap(), &changes(root, AFTER)).unwrap();
    seen(root)
}

#[test]
fn a_migration_takes_five_batches_of_syncs() {
    let directory = tree();
    let root = directory.path();
    let syncs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&syncs);
    let hook: Hook = Box::new(move |call| {
        let sync = matches!(call, Call::Sync(_));
        counted.fetch_add(usize::from(sync), Ordering::Relaxed);
        Ok(())
    });
    apply(
        &Store::with_hook(root, hook).unwrap(),
        &changes(root, AFTER),
    )
    .unwrap();
    // Journal, its name, new files, the tree, the mark.
    assert_eq!(syncs.load(Ordering::Relaxed), 5);
}

#[test]
fn a_failure_at_any_step_puts_everything_back() {
    for step in 0.. {
        let directory = tree();
        let root = directory.path();
        let before = snapshot(root);
        match apply(&store(root, step, Fault::Once), &changes(root, AFTER)) {
            Ok(_) => {
                assert!(step > 15);
                break;
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::Io, "{error}"),
        }
        assert_eq!(snapshot(root), before, "step {step}");
    }
}

#[test]
fn a_failed_rollback_leaves_the_migration_as_it_stood() {
    for step in 0.. {
        let directory = tree();
        let root = directory.path();
        apply(&Store::open(root).unwrap(), &changes(root, AFTER)).unwrap();
        let after = snapshot(root);
        if store(root, step, Fault::Once).rollback(None).is_ok() {
            assert!(step > 10);
            break;
        }
        assert_eq!(snapshot(root), after, "step {step}");
    }
}

#[test]
fn a_disk_that_fails_for_good_leaves_both_ways_open() {
    let (before, after) = (seen(tree().path()), migrated());
    for (way, expected) in [(Recovery::Finish, &after), (Recovery::Undo, &before)] {
        for step in 0.. {
            let directory = tree();
            let root = directory.path();
            let changes = changes(root, AFTER);
            let Err(error) = apply(&store(root, step, Fault::FromThenOn), &changes) else {
                break;
            };
            let calm = Store::open(root).unwrap();
            if calm.unfinished().unwrap().is_none() {
                assert_eq!(seen(root), before, "step {step}: {error}");
                continue;
            }
            assert_eq!(
                apply(&calm, &changes).unwrap_err().kind(),
                ErrorKind::Unfinished
            );
            assert_eq!(
                calm.rollback(None).unwrap_err().kind(),
                ErrorKind::Unfinished
            );
            // Cut off again on the way, this way and that; a short way may come to its end.
            for (again, other) in [way, Recovery::Finish, Recovery::Undo, way]
                .into_iter()
                .enumerate()
            {
                drop(store(root, again * 2, Fault::FromThenOn).recover(other));
            }
            let cut_off = calm.recover(way).unwrap().is_some();
            let done = !calm.history().unwrap().is_empty();
            assert_eq!(
                &seen(root),
                if done { &after } else { &before },
                "step {step}"
            );
            assert!(
                !cut_off || &seen(root) == expected,
                "{way:?} after step {step}"
            );
            assert_eq!(calm.unfinished().unwrap(), None);
        }
    }
}

/// Set in the child process: the tree, the step to die at, and what to do.
const CHILD: &str = "COALESCE_TEST_CHILD";

/// Not a test of its own: what the child process of the next one does.
#[test]
fn child() {
    let Ok(arguments) = std::env::var(CHILD) else {
        return;
    };
    let mut words = arguments.splitn(3, ' ');
    let mut word = || words.next().unwrap();
    let (what, step, root) = (word(), word().parse().unwrap(), Path::new(word()));
    let store = store(root, step, Fault::Abort);
    match what {
        "apply" => drop(apply(&store, &changes(root, AFTER)).unwrap()),
        "finish" => drop(store.recover(Recovery::Finish).unwrap()),
        "undo" => drop(store.recover(Recovery::Undo).unwrap()),
        _ => drop(store.rollback(None).unwrap()),
    }
}

/// Whether the child came to its end.
fn run_child(what: &str, step: usize, root: &Path) -> bool {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tests::faults::child"])
        .env(CHILD, format!("{what} {step} {}", root.display()))
        .output()
        .unwrap();
    output.status.success()
}

#[test]
fn a_process_that_dies_at_any_step_leaves_both_ways_open() {
    let (before, after) = (seen(tree().path()), migrated());
    for (way, expected) in [(Recovery::Finish, &after), (Recovery::Undo, &before)] {
        let word = if way == Recovery::Finish {
            "finish"
        } else {
            "undo"
        };
        for step in 0.. {
            let directory = tree();
            let root = directory.path();
            if run_child("apply", step, root) {
                assert!(step > 15);
                break;
            }
            let store = Store::open(root).unwrap();
            let was_unfinished = store.unfinished().unwrap().is_some();
            if was_unfinished {
                run_child(word, step % 9, root);
            } else if seen(root) != before {
                // It died after the mark: the migration is done.
                assert_eq!(store.history().unwrap().len(), 1);
                assert_eq!(seen(root), after);
                continue;
            }
            drop(store.recover(way).unwrap());
            let expected = if was_unfinished { expected } else { &before };
            assert_eq!(&seen(root), expected, "{way:?} after step {step}");
            assert_eq!(store.unfinished().unwrap(), None);
        }
    }
}

#[test]
fn a_process_that_dies_while_it_rolls_back_leaves_both_ways_open() {
    let (before, after) = (seen(tree().path()), migrated());
    for step in 0.. {
        let directory = tree();
        let root = directory.path();
        let store = Store::open(root).unwrap();
        apply(&store, &changes(root, AFTER)).unwrap();
        if run_child("rollback", step, root) {
            assert!(step > 10);
            break;
        }
        if store.unfinished().unwrap().is_some() {
            let way = if step % 2 == 0 {
                Recovery::Finish
            } else {
                Recovery::Undo
            };
            store.recover(way).unwrap();
        }
        let done = store.history().unwrap().len();
        assert_eq!(
            seen(root),
            if done == 1 {
                after.clone()
            } else {
                before.clone()
            },
            "step {step}"
        );
    }
}

#[test]
fn while_one_migration_runs_nobody_else_starts_one() {
    let directory = tree();
    let root = directory.path().to_owned();
    let changes = changes(&root, AFTER);
    let (other, inner) = (Store::open(&root).unwrap(), changes.clone());
    let hook: Hook = Box::new(move |call| {
        if matches!(call, Call::Exchange(..)) {
            for error in [
                apply(&other, &inner).unwrap_err(),
                other.rollback(None).unwrap_err(),
                other.recover(Recovery::Undo).unwrap_err(),
                other.unfinished().unwrap_err(),
            ] {
                assert_eq!(error.kind(), ErrorKind::Locked, "{error}");
            }
        }
        Ok(())
    });
    apply(&Store::with_hook(&root, hook).unwrap(), &changes).unwrap();
    assert_eq!(seen(&root), migrated());
}
