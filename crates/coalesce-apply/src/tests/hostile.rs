//! A tree that brings a `.coalesce` of its own: nothing that it says is done beyond what a migration
//! of ours could have written, and nobody waits for it.

use std::{fs, path::Path};

use coalesce_model::TreePath;

use super::{AFTER, changes, path, seen, snapshot, tree, write};
use crate::{
    Content, ErrorKind, FileChange, Metadata, Recovery, Store,
    calls::Calls,
    journal::{Contents, DirectoryRecord, FileRecord, Journal, Record, State},
    system::Owner,
};

fn owner() -> Owner {
    let metadata = fs::metadata(std::env::temp_dir()).unwrap();
    crate::system::owner_of_new(&metadata)
}

/// A journal as somebody else may have written it, with good hashes: `after` is nothing.
fn forged(root: &Path, name: &str, mode: u32, edit: impl FnOnce(&mut Record)) {
    let journals = root.join(".coalesce/journal");
    fs::create_dir_all(&journals).unwrap();
    let mut contents = Contents::default();
    let before = contents.keep(b"#!/bin/sh\ntouch /tmp/ran\n", mode, owner());
    let path = TreePath::new(name).unwrap();
    let mut record = Record {
        id: "0001-x".to_owned(),
        number: 1,
        paths: vec![path.clone()],
        files: vec![FileRecord {
            path,
            before: Some(before),
            after: None,
        }],
        made: Vec::new(),
        removed: Vec::new(),
    };
    edit(&mut record);
    let calls = Calls::new(Box::new(|_| Ok(())));
    let mut journal = Journal::create(&journals, record, contents, &calls).unwrap();
    journal.mark(State::Done, &calls).unwrap();
}

#[test]
fn a_migration_that_changes_too_many_bytes_is_refused() {
    let directory = tree();
    let journals = directory.path().join(".coalesce/journal");
    fs::create_dir_all(&journals).unwrap();
    // Memory that nobody writes to is not taken.
    let contents = Contents::of(vec![0; (1 << 30) + 1]);
    let record = Record {
        id: "0001-x".to_owned(),
        number: 1,
        paths: Vec::new(),
        files: Vec::new(),
        made: Vec::new(),
        removed: Vec::new(),
    };
    let calls = Calls::new(Box::new(|_| Ok(())));
    let error = Journal::create(&journals, record, contents, &calls)
        .err()
        .unwrap();
    assert!(error.to_string().contains("1024 MiB"), "{error}");
    assert_eq!(fs::read_dir(&journals).unwrap().count(), 0);
}

/// Nothing of the journal is done, neither as one that is finished nor as one that was cut off.
fn refused(name: &str, mode: u32, edit: impl FnOnce(&mut Record), message: &str) {
    let directory = tree();
    let root = directory.path();
    forged(root, name, mode, edit);
    let before = snapshot(root);
    let store = Store::open(root).unwrap();
    let error = store.rollback(None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Journal, "{name}: {error}");
    assert!(error.to_string().contains(message), "{name}: {error}");
    let journals = root.join(".coalesce/journal");
    let file = journals.join("0001.0001-x.done");
    fs::rename(&file, file.with_extension("started")).unwrap();
    for way in [Recovery::Undo, Recovery::Finish] {
        let error = store.recover(way).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Journal, "{name}: {error}");
    }
    let mut after = snapshot(root);
    let mut before = before;
    for snapshot in [&mut before, &mut after] {
        snapshot.retain(|name, _| !name.starts_with(".coalesce"));
    }
    assert_eq!(after, before, "{name}");
}

#[test]
fn a_journal_names_nothing_of_version_control_and_gives_no_rights() {
    for name in [
        ".git/hooks/pre-commit",
        ".GIT/hooks/pre-commit",
        ".git./config",
        "vendor/.git/config",
        ".g\u{200d}it/config",
        "git~1/config",
        ".hg/hgrc",
        ".jj/repo/config.toml",
        ".svn/entries",
        ".coalesce/lock",
    ] {
        refused(name, 0o644, |_| (), "nothing is written in");
    }
    refused("node_modules/.bin/tsc", 0o755, |_| (), "holds no sources");
    for mode in [0o4755, 0o2755, 0o1644, 0o100_644] {
        refused("tool.sh", mode, |_| (), "its mode is");
    }
}

#[test]
fn a_journal_makes_and_removes_only_directories_of_its_own_files() {
    let other = |record: &mut Record| record.made = vec![path("elsewhere")];
    refused("x.py", 0o644, other, "elsewhere is above none of its files");
    let removed = |record: &mut Record| {
        record.removed = vec![DirectoryRecord {
            path: path("p"),
            mode: 0o755,
            owner: owner(),
        }];
    };
    refused("x.py", 0o644, removed, "p is above none");
    let wide = |record: &mut Record| {
        record.removed = vec![DirectoryRecord {
            path: path("q"),
            mode: 0o4755,
            owner: owner(),
        }];
    };
    refused("q/x.py", 0o644, wide, "the mode of q");
    let twice = |record: &mut Record| record.files.push(record.files[0].clone());
    refused("x.py", 0o644, twice, "out of order");
}

#[test]
fn nothing_is_restored_into_a_directory_that_programs_fill() {
    for marker in ["pyvenv.cfg", "CACHEDIR.TAG"] {
        let directory = tree();
        let root = directory.path();
        write(root, &format!(".venv/{marker}"), "");
        write(root, ".venv/lib/x.py", "");
        forged(root, ".venv/lib/sitecustomize.py", 0o644, |_| ());
        let error = Store::open(root).unwrap().rollback(None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsafe, "{error}");
        assert!(!root.join(".venv/lib/sitecustomize.py").exists());
    }
}

#[test]
fn a_plan_names_nothing_of_version_control_and_gives_no_rights() {
    for (name, mode, message) in [
        (".git/info/attributes", None, "nothing is written in `.git`"),
        ("sub/.Hg/hgrc", None, "nothing is written in"),
        ("tool.sh", Some(0o4755), "its mode is 4755"),
    ] {
        let directory = tree();
        let root = directory.path();
        let before = snapshot(root);
        let change = FileChange {
            path: path(name),
            before: None,
            after: Some(Content {
                bytes: b"x".to_vec(),
                mode,
            }),
        };
        let store = Store::open(root).unwrap();
        let error = store.apply(&[change], &Metadata::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsafe, "{error}");
        assert!(error.to_string().contains(message), "{error}");
        assert_eq!(snapshot(root), before);
    }
}

#[test]
fn a_journal_of_another_format_is_refused_by_its_name() {
    let directory = tree();
    let root = directory.path();
    let file = root.join(".coalesce/journal/0001.0001-x.done");
    write(
        root,
        ".coalesce/journal/0001.0001-x.done",
        "coalesce-journal-2 3 0\nabc",
    );
    let error = Store::open(root).unwrap().rollback(None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Journal);
    assert!(error.to_string().contains("has format 2"), "{error}");
    assert!(file.exists());
}

#[test]
fn numbers_that_are_used_up_are_an_error() {
    let directory = tree();
    let root = directory.path();
    write(root, ".coalesce/journal/4294967295.x.done", "");
    let store = Store::open(root).unwrap();
    let error = store
        .apply(&changes(root, AFTER), &Metadata::default())
        .unwrap_err();
    assert!(error.to_string().contains("used up"), "{error}");
}

/// What was left half done, or was put there by somebody, is in nobody's way.
#[test]
fn what_is_left_in_the_state_directory_does_not_block() {
    let directory = tree();
    let root = directory.path();
    write(root, ".coalesce/stage", "a plain file");
    write(root, ".coalesce/placing/notes", "somebody's");
    write(root, ".coalesce/.gitignore", "");
    write(root, ".coalesce/journal/0001.x.new", "half a journal");
    let before = seen(root);
    let store = Store::open(root).unwrap();
    store
        .apply(&changes(root, AFTER), &Metadata::default())
        .unwrap();
    assert!(!root.join(".coalesce/journal/0001.x.new").exists());
    let ignore = fs::read_to_string(root.join(".coalesce/.gitignore")).unwrap();
    assert_eq!(ignore, "*\n");
    store.rollback(None).unwrap();
    assert_eq!(seen(root), before);
    let all = snapshot(root);
    let kept = |text: &str| {
        all.values()
            .any(|(bytes, _)| bytes.as_deref() == Some(text.as_bytes()))
    };
    assert!(kept("a plain file") && kept("somebody's"), "{all:?}");
}

#[cfg(unix)]
#[test]
fn nobody_waits_for_a_pipe() {
    let pipe = |path: &Path| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let made = std::process::Command::new("mkfifo").arg(path).status();
        made.is_ok_and(|status| status.success())
    };
    for name in [
        ".coalesce/lock",
        ".coalesce/.gitignore",
        ".coalesce/gitignore.new",
        ".coalesce/journal/0001.x.done",
        ".coalesce/journal/0001.x.started",
        ".coalesce/journal",
        ".coalesce",
        "edit.py",
    ] {
        let directory = tree();
        let root = directory.path();
        let changes = changes(root, AFTER);
        let _ = fs::remove_file(root.join(name));
        if !pipe(&root.join(name)) {
            eprintln!("skipped: there is no mkfifo");
            return;
        }
        let store = Store::open(root).unwrap();
        // Each answers, whatever it says.
        drop(store.unfinished());
        drop(store.history());
        drop(store.rollback(None));
        drop(store.recover(Recovery::Undo));
        drop(store.apply(&changes, &Metadata::default()));
    }
}

/// What lies behind a link is neither removed nor put into the tree, whatever it is called.
#[cfg(unix)]
#[test]
fn nothing_is_taken_from_behind_a_link() {
    for name in ["stage", "placing", "journal/0002.plan.kept"] {
        let (directory, outside) = (tree(), tempfile::tempdir().unwrap());
        let root = directory.path();
        // The very bytes that a record has of its first path.
        write(outside.path(), "0", "\u{feff}y");
        write(outside.path(), "1", "x = 1\r\n");
        fs::create_dir_all(root.join(".coalesce/journal")).unwrap();
        let link = root.join(".coalesce").join(name);
        std::os::unix::fs::symlink(outside.path(), link).unwrap();
        let store = Store::open(root).unwrap();
        let before = seen(root);
        store
            .apply(&changes(root, AFTER), &Metadata::default())
            .unwrap();
        store.rollback(None).unwrap();
        assert_eq!(seen(root), before, "{name}");
        assert_eq!(snapshot(outside.path()).len(), 2, "{name}");
    }
}

/// The file that keeps our directory out of a repository is written anew, not through what has its name.
#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link_in_the_state_directory() {
    let (directory, outside) = (tree(), tempfile::tempdir().unwrap());
    let root = directory.path();
    write(outside.path(), "precious", "mine");
    fs::create_dir(root.join(".coalesce")).unwrap();
    let link = root.join(".coalesce/gitignore.new");
    std::os::unix::fs::symlink(outside.path().join("precious"), link).unwrap();
    let store = Store::open(root).unwrap();
    store
        .apply(&changes(root, AFTER), &Metadata::default())
        .unwrap();
    assert_eq!(fs::read(outside.path().join("precious")).unwrap(), b"mine");
    assert_eq!(fs::read(root.join(".coalesce/.gitignore")).unwrap(), b"*\n");
}

/// An undo that finds everything as it was needs neither a file nor a directory.
#[test]
fn an_undo_with_nothing_to_do_makes_nothing() {
    use crate::calls::{Call, Hook};
    let directory = tree();
    let root = directory.path();
    let stop: Hook = Box::new(|call| match call {
        Call::MakeDirectory(_) => Err(std::io::ErrorKind::StorageFull.into()),
        _ => Ok(()),
    });
    let store = Store::with_hook(root, stop).unwrap();
    let before = snapshot(root);
    let error = store
        .apply(&changes(root, AFTER), &Metadata::default())
        .unwrap_err();
    assert!(
        error.to_string().ends_with("everything was put back"),
        "{error}"
    );
    assert_eq!(snapshot(root), before);
}

/// A directory that comes or goes has its name in the one above it.
#[test]
fn the_directory_above_a_made_one_is_synced() {
    use std::sync::{Arc, Mutex};

    use crate::calls::{Call, Hook};
    let directory = tree();
    let root = directory.path();
    let synced = Arc::new(Mutex::new(std::collections::BTreeSet::new()));
    let told = Arc::clone(&synced);
    let hook: Hook = Box::new(move |call| {
        if let Call::Sync(paths) = call {
            told.lock().unwrap().extend((*paths).clone());
        }
        Ok(())
    });
    let store = Store::with_hook(root, hook).unwrap();
    let changes = changes(root, &[("new/deep/x.py", Some("x"))]);
    store.apply(&changes, &Metadata::default()).unwrap();
    let synced = synced.lock().unwrap();
    let root = root.canonicalize().unwrap();
    for above in [root.clone(), root.join("new"), root.join("new/deep")] {
        assert!(synced.contains(&above), "{above:?}: {synced:?}");
    }
}

#[test]
fn a_journal_gives_nothing_to_whom_nothing_belongs() {
    let directory = tree();
    let root = directory.path();
    let stranger = Owner {
        user: 424_242,
        group: owner().group,
    };
    forged(root, "made.py", 0o644, |record| {
        let before = record
            .files
            .first_mut()
            .and_then(|file| file.before.as_mut());
        before.unwrap().owner = stranger;
    });
    let error = Store::open(root).unwrap().rollback(None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Journal, "{error}");
    assert!(error.to_string().contains("user 424242"), "{error}");
    assert!(!root.join("made.py").exists());
}
