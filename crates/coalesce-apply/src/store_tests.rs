//! The laws of apply: all or nothing, undone byte for byte, and both ways open after any stop.

use std::{cell::Cell, collections::BTreeMap, fs, io, path::Path};

use coalesce_model::{ContentHash, TreePath};
use proptest::prelude::*;

use super::*;
use crate::{Content, Stamp};

type Snapshot = BTreeMap<String, Option<(Vec<u8>, u32)>>;

fn snapshot(root: &Path) -> Snapshot {
    let mut found = Snapshot::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path
                .strip_prefix(root)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            if name.starts_with(STATE_DIRECTORY) {
                continue;
            }
            if path.is_dir() {
                found.insert(name, None);
                open.push(path);
            } else {
                found.insert(
                    name,
                    Some((
                        fs::read(&path).unwrap(),
                        mode(&fs::metadata(&path).unwrap()),
                    )),
                );
            }
        }
    }
    found
}

fn path(text: &str) -> TreePath {
    TreePath::new(text).unwrap()
}

/// Files on disk, and the changes that bring each of `after` about; `None` deletes.
fn setup(
    before: &[(&str, &str)],
    after: &[(&str, Option<&str>)],
) -> (tempfile::TempDir, Vec<FileChange>) {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in before {
        let file = directory.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let changes = after.iter().map(|(name, text)| {
        let file = directory.path().join(name);
        let stamp = fs::read(&file).ok().map(|bytes| Stamp {
            hash: ContentHash::of(&bytes),
            mode: mode(&fs::metadata(&file).unwrap()),
        });
        FileChange {
            path: path(name),
            before: stamp,
            after: text.map(|text| Content {
                bytes: text.into(),
                mode: None,
            }),
        }
    });
    let changes = changes.collect();
    (directory, changes)
}

const BEFORE: &[(&str, &str)] = &[
    ("a/old.py", "x = 1\r\n"),
    ("a/b/c.py", "\u{feff}y"),
    ("keep.py", "k"),
    ("edit.py", "from a import old\n"),
];
const AFTER: &[(&str, Option<&str>)] = &[
    ("a/old.py", None),
    ("a/b/c.py", None),
    ("n/m/new.py", Some("x = 1\r\n")),
    ("edit.py", Some("from n.m import new\n")),
];

/// Lets so many operations through, then fails or stops.
struct Limited<'d> {
    disk: &'d RealDisk,
    left: Cell<usize>,
    /// Every later operation fails too, as after a kill.
    dead: bool,
}

impl Limited<'_> {
    fn step(&self) -> io::Result<()> {
        match self.left.get() {
            0 => {
                if !self.dead {
                    self.left.set(usize::MAX);
                }
                Err(io::Error::from(io::ErrorKind::StorageFull))
            }
            left => {
                self.left.set(left - 1);
                Ok(())
            }
        }
    }
}

impl Disk for Limited<'_> {
    fn write(&self, path: &TreePath, bytes: &[u8], mode: u32) -> io::Result<()> {
        self.step()?;
        self.disk.write(path, bytes, mode)
    }
    fn remove(&self, path: &TreePath) -> io::Result<()> {
        self.step()?;
        self.disk.remove(path)
    }
    fn make_directory(&self, path: &TreePath, mode: Option<u32>) -> io::Result<()> {
        self.step()?;
        self.disk.make_directory(path, mode)
    }
    fn remove_directory(&self, path: &TreePath) -> io::Result<()> {
        self.step()?;
        self.disk.remove_directory(path)
    }
}

#[test]
fn apply_then_rollback_is_the_tree_byte_for_byte() {
    let (directory, changes) = setup(BEFORE, AFTER);
    let before = snapshot(directory.path());
    let store = Store::open(directory.path()).unwrap();
    let applied = store
        .apply(
            &changes,
            &Metadata {
                manifests: vec!["0001-one".into()],
            },
        )
        .unwrap();
    assert_eq!(applied.id, "0001-0001-one");
    let after = snapshot(directory.path());
    assert!(!after.contains_key("a") && after.contains_key("n/m/new.py"));
    assert_eq!(store.history().unwrap().len(), 1);
    assert!(store.rollback(None).unwrap().is_some());
    assert_eq!(snapshot(directory.path()), before);
    assert_eq!(store.rollback(None).unwrap(), None);
}

#[test]
fn a_failure_at_any_step_puts_everything_back() {
    for step in 0.. {
        let (directory, changes) = setup(BEFORE, AFTER);
        let before = snapshot(directory.path());
        let store = Store::open(directory.path()).unwrap();
        let disk = Limited {
            disk: &store.disk,
            left: Cell::new(step),
            dead: false,
        };
        match store.apply_with(&changes, &Metadata::default(), &disk) {
            Ok(_) => {
                assert!(step > 5, "only {step} steps");
                break;
            }
            Err(error) => assert!(
                error.to_string().contains("everything was put back"),
                "{error}"
            ),
        }
        assert_eq!(snapshot(directory.path()), before, "step {step}");
        assert_eq!(store.unfinished().unwrap(), None);
    }
}

#[test]
fn a_kill_at_any_step_can_be_finished_and_undone_any_number_of_times() {
    let (reference, changes) = setup(BEFORE, AFTER);
    let before = snapshot(reference.path());
    Store::open(reference.path())
        .unwrap()
        .apply(&changes, &Metadata::default())
        .unwrap();
    let after = snapshot(reference.path());
    for way in [Recovery::Finish, Recovery::Undo] {
        for step in 0.. {
            let (directory, changes) = setup(BEFORE, AFTER);
            let store = Store::open(directory.path()).unwrap();
            let disk = Limited {
                disk: &store.disk,
                left: Cell::new(step),
                dead: true,
            };
            if store
                .apply_with(&changes, &Metadata::default(), &disk)
                .is_ok()
            {
                break;
            }
            if store.unfinished().unwrap().is_none() {
                // Stopped before the first change: there was nothing to put back.
                assert_eq!(snapshot(directory.path()), before, "step {step}");
                continue;
            }
            assert_eq!(
                store
                    .apply(&changes, &Metadata::default())
                    .unwrap_err()
                    .kind(),
                ErrorKind::Unfinished
            );
            // Killed again on the way, one step further each time.
            for again in 0..3 {
                let disk = Limited {
                    disk: &store.disk,
                    left: Cell::new(again),
                    dead: true,
                };
                drop(store.recover_with(way, &disk));
            }
            drop(store.recover(way).unwrap());
            let expected = if way == Recovery::Finish {
                &after
            } else {
                &before
            };
            assert_eq!(
                &snapshot(directory.path()),
                expected,
                "{way:?} after step {step}"
            );
            assert_eq!(store.recover(way).unwrap(), None);
        }
    }
}

#[test]
fn what_changed_since_is_named_and_left_alone() {
    let (directory, changes) = setup(BEFORE, AFTER);
    let store = Store::open(directory.path()).unwrap();
    store.apply(&changes, &Metadata::default()).unwrap();
    fs::write(directory.path().join("edit.py"), "mine\n").unwrap();
    let before = snapshot(directory.path());
    let error = store.rollback(None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Changed);
    assert!(error.to_string().ends_with("edit.py"), "{error}");
    assert_eq!(snapshot(directory.path()), before);
}

#[test]
fn a_tree_in_another_state_a_link_and_a_second_name_are_refused() {
    let refuse = |prepare: &dyn Fn(&Path), kind: ErrorKind| {
        let (directory, changes) = setup(BEFORE, AFTER);
        prepare(directory.path());
        let before = snapshot(directory.path());
        let error = Store::open(directory.path())
            .unwrap()
            .apply(&changes, &Metadata::default())
            .unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert_eq!(snapshot(directory.path()), before);
    };
    refuse(
        &|root| fs::write(root.join("edit.py"), "other").unwrap(),
        ErrorKind::Changed,
    );
    refuse(
        &|root| fs::create_dir_all(root.join("n/m/new.py")).unwrap(),
        ErrorKind::Unsafe,
    );
    #[cfg(unix)]
    {
        refuse(
            &|root| std::os::unix::fs::symlink("a", root.join("n")).unwrap(),
            ErrorKind::Unsafe,
        );
        refuse(
            &|root| fs::hard_link(root.join("edit.py"), root.join("twin.py")).unwrap(),
            ErrorKind::Unsafe,
        );
    }
}

#[test]
fn one_migration_at_a_time_and_an_older_one_only_when_independent() {
    let (directory, changes) = setup(BEFORE, AFTER);
    let store = Store::open(directory.path()).unwrap();
    let first = store.apply(&changes, &Metadata::default()).unwrap();
    let held = store.lock().unwrap();
    assert_eq!(store.rollback(None).unwrap_err().kind(), ErrorKind::Locked);
    drop(held);
    let bytes = fs::read(directory.path().join("edit.py")).unwrap();
    let stamp = Stamp {
        hash: ContentHash::of(&bytes),
        mode: 0o644,
    };
    let second = FileChange {
        path: path("edit.py"),
        before: Some(stamp),
        after: Some(Content {
            bytes: b"z".to_vec(),
            mode: None,
        }),
    };
    store.apply(&[second], &Metadata::default()).unwrap();
    assert_eq!(
        store.rollback(Some(&first.id)).unwrap_err().kind(),
        ErrorKind::NoSuchMigration
    );
    assert_eq!(
        store.rollback(Some("none")).unwrap_err().kind(),
        ErrorKind::NoSuchMigration
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn undo_of_apply_is_the_identity(
        before in prop::collection::btree_map("[ab]/[cd]/[ef]", "[x\r\n]{0,6}", 0..6),
        after in prop::collection::btree_map("[abg]/[cdh]/[efi]", prop::option::of("[y\r\n]{0,6}"), 0..6),
    ) {
        let before: Vec<(&str, &str)> = before.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let after: Vec<(&str, Option<&str>)> = after.iter().map(|(name, text)| (name.as_str(), text.as_deref())).collect();
        let (directory, changes) = setup(&before, &after);
        let old = snapshot(directory.path());
        let store = Store::open(directory.path()).unwrap();
        store.apply(&changes, &Metadata::default()).unwrap();
        store.rollback(None).unwrap();
        prop_assert_eq!(snapshot(directory.path()), old);
    }
}
