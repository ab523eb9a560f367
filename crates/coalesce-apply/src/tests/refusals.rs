//! What is refused, before anything is touched.

use std::{fs, path::Path};

use super::{AFTER, changes, path, snapshot, tree, write};
use crate::{ErrorKind, FileChange, Metadata, Recovery, Store};

type Prepare = fn(&Path);

fn refused(prepare: Prepare, after: &[(&str, Option<&str>)], kind: ErrorKind, message: &str) {
    let directory = tree();
    let root = directory.path();
    let changes = changes(root, after);
    prepare(root);
    let before = snapshot(root);
    let store = Store::open(root).unwrap();
    let error = store.apply(&changes, &Metadata::default()).unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(message), "{error}");
    assert_eq!(snapshot(root), before, "{error}");
}

#[test]
fn a_tree_in_another_state_is_refused() {
    use ErrorKind::{Changed, Unsafe};
    let edited: Prepare = |root| fs::write(root.join("edit.py"), "other").unwrap();
    refused(edited, AFTER, Changed, "since the plan was made: edit.py");
    let gone: Prepare = |root| fs::remove_file(root.join("a/old.py")).unwrap();
    refused(gone, AFTER, Changed, "a/old.py");
    let taken: Prepare = |root| write(root, "n/m/new.py", "x = 1\r\n");
    refused(taken, AFTER, Changed, "n/m/new.py");
    let directory: Prepare = |root| fs::create_dir_all(root.join("n/m/new.py")).unwrap();
    refused(directory, AFTER, Unsafe, "not a plain file");
    let file: Prepare = |root| write(root, "n", "");
    refused(file, AFTER, Unsafe, "n is no directory");
}

#[test]
fn names_that_differ_in_case_only_are_refused() {
    let kind = ErrorKind::Unsafe;
    let calm: Prepare = |_| {};
    refused(
        calm,
        &[("Keep.py", Some(""))],
        kind,
        "`keep.py` beside it differs in case only",
    );
    refused(calm, &[("A/new.py", Some(""))], kind, "A: `a`");
    refused(
        calm,
        &[("z/X.py", Some("")), ("z/x.py", Some(""))],
        kind,
        "z/x.py: `X.py`",
    );
    refused(
        calm,
        &[("y/b.py", Some("")), ("Y/a.py", Some(""))],
        kind,
        "differs in case",
    );
}

#[test]
fn changes_that_contradict_each_other_are_refused() {
    let kind = ErrorKind::Contradiction;
    let calm: Prepare = |_| {};
    refused(
        calm,
        &[("x.py", Some("1")), ("x.py", None)],
        kind,
        "two changes",
    );
    refused(
        calm,
        &[("x", Some("1")), ("x/y.py", Some("2"))],
        kind,
        "one name",
    );
}

#[cfg(unix)]
#[test]
fn links_second_names_and_read_only_files_are_refused() {
    use std::os::unix::fs::symlink;
    let kind = ErrorKind::Unsafe;
    let linked: Prepare = |root| symlink("a", root.join("n")).unwrap();
    refused(linked, AFTER, kind, "n is a symbolic link");
    let outside: Prepare = |root| symlink(std::env::temp_dir(), root.join("n")).unwrap();
    refused(outside, AFTER, kind, "n is a symbolic link");
    let file: Prepare = |root| {
        fs::rename(root.join("edit.py"), root.join("real.py")).unwrap();
        symlink("real.py", root.join("edit.py")).unwrap();
    };
    refused(file, AFTER, kind, "edit.py: a symbolic link");
    let twin: Prepare = |root| fs::hard_link(root.join("edit.py"), root.join("twin.py")).unwrap();
    refused(twin, AFTER, kind, "hard link");
    let fixed: Prepare = |root| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o444);
        fs::set_permissions(root.join("edit.py"), mode).unwrap();
    };
    refused(fixed, AFTER, kind, "edit.py: it is read-only");
    let state: Prepare = |root| symlink(std::env::temp_dir(), root.join(".coalesce")).unwrap();
    refused(state, AFTER, kind, ".coalesce is a symbolic link");
    let lock: Prepare = |root| {
        fs::create_dir_all(root.join(".coalesce/journal")).unwrap();
        symlink(root.join("keep.py"), root.join(".coalesce/lock")).unwrap();
    };
    refused(lock, AFTER, kind, ".coalesce/lock is a symbolic link");
}

#[cfg(unix)]
#[test]
fn a_state_directory_that_leads_out_gets_nothing() {
    let (directory, outside) = (tree(), tempfile::tempdir().unwrap());
    let root = directory.path();
    let journal = root.join(".coalesce/journal");
    fs::create_dir_all(&journal).unwrap();
    std::os::unix::fs::symlink(outside.path(), journal.join("0001.plan.kept")).unwrap();
    let store = Store::open(root).unwrap();
    let before = super::seen(root);
    store
        .apply(&changes(root, AFTER), &Metadata::default())
        .unwrap();
    store.rollback(None).unwrap();
    assert_eq!(super::seen(root), before);
    assert!(snapshot(outside.path()).is_empty());
}

#[cfg(unix)]
#[test]
fn undo_does_not_write_through_a_link_that_came_later() {
    let (directory, outside) = (tree(), tempfile::tempdir().unwrap());
    let root = directory.path();
    let store = Store::open(root).unwrap();
    store
        .apply(&changes(root, AFTER), &Metadata::default())
        .unwrap();
    std::os::unix::fs::symlink(outside.path(), root.join("a")).unwrap();
    let error = store.rollback(None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsafe, "{error}");
    assert!(snapshot(outside.path()).is_empty());
}

#[test]
fn a_damaged_journal_is_said_to_be_damaged_and_nothing_is_done() {
    let directory = tree();
    let root = directory.path();
    let store = Store::open(root).unwrap();
    let id = store
        .apply(&changes(root, AFTER), &Metadata::default())
        .unwrap()
        .id;
    let file = root.join(format!(".coalesce/journal/0001.{id}.done"));
    let whole = fs::read(&file).unwrap();
    let after = super::seen(root);
    for at in (0..whole.len()).step_by(7) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        for bytes in [damaged.as_slice(), &whole[..at]] {
            fs::write(&file, bytes).unwrap();
            let error = store.rollback(None).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Journal, "byte {at}: {error}");
            assert_eq!(super::seen(root), after);
        }
    }
    fs::write(&file, &whole).unwrap();
    assert!(store.rollback(None).unwrap().is_some());
}

#[test]
fn nothing_is_made_where_nothing_is_to_be_done() {
    let directory = tree();
    let root = directory.path();
    let before = snapshot(root);
    let store = Store::open(root).unwrap();
    assert_eq!(store.rollback(None).unwrap(), None);
    assert!(store.rollback(Some("0001-x")).is_err());
    assert_eq!(store.recover(Recovery::Finish).unwrap(), None);
    assert_eq!(store.unfinished().unwrap(), None);
    assert!(store.history().unwrap().is_empty());
    let stranger = FileChange {
        path: path("edit.py"),
        before: None,
        after: None,
    };
    assert!(store.apply(&[stranger], &Metadata::default()).is_err());
    assert_eq!(snapshot(root), before);
    assert!(Store::open(&root.join("none")).is_err());
}
