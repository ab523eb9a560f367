//! Undo is the inverse of apply.

use std::fs;

use proptest::prelude::*;

use super::{AFTER, changes, path, seen, snapshot, tree, write};
use crate::{ErrorKind, Metadata, Recovery, Store};

fn named(manifest: &str) -> Metadata {
    let manifests = vec![manifest.to_owned()];
    Metadata { manifests }
}

#[test]
fn apply_then_rollback_is_the_tree_byte_for_byte() {
    let directory = tree();
    let before = snapshot(directory.path());
    let store = Store::open(directory.path()).unwrap();
    let applied = store
        .apply(&changes(directory.path(), AFTER), &named("0001-öne"))
        .unwrap();
    assert_eq!(applied.id, "0001-_ne");
    let after = seen(directory.path());
    assert!(!after.contains_key("a") && after.contains_key("n/m/new.py"));
    assert_eq!(after["edit.py"].1, before["edit.py"].1);
    assert_eq!(store.history().unwrap().len(), 1);
    assert_eq!(store.unfinished().unwrap(), None);
    assert_eq!(store.rollback(None).unwrap().unwrap().paths, applied.paths);
    // Our own state is gone, too.
    assert_eq!(snapshot(directory.path()), before);
    assert_eq!(store.rollback(None).unwrap(), None);
    assert_eq!(store.recover(Recovery::Undo).unwrap(), None);
}

#[test]
fn each_migration_has_a_name_of_its_own_and_the_last_comes_first() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).unwrap();
    for (file, id) in [("a", "0001-x"), ("b", "0001-x.2"), ("c", "0001-x.3")] {
        let changes = changes(directory.path(), &[(file, Some("1"))]);
        assert_eq!(store.apply(&changes, &named("0001-x")).unwrap().id, id);
    }
    let history = store.history().unwrap();
    let ids: Vec<_> = history.iter().map(|record| record.id.as_str()).collect();
    assert_eq!(ids, ["0001-x.3", "0001-x.2", "0001-x"]);
    assert_eq!(
        store.rollback(Some("0001-x.2")).unwrap().unwrap().id,
        "0001-x.2"
    );
    assert_eq!(store.rollback(None).unwrap().unwrap().id, "0001-x.3");
}

/// What Python has compiled of a source is held for good by its length and the second of its last change.
#[test]
fn a_file_of_one_length_is_never_of_one_second() {
    let second = |root: &std::path::Path| {
        let modified = fs::metadata(root.join("user.py"))
            .unwrap()
            .modified()
            .unwrap();
        modified
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .as_secs()
    };
    for _ in 0..3 {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        write(root, "user.py", "from pkg.aaa import f\n");
        let store = Store::open(root).unwrap();
        let first = second(root);
        let changed = changes(root, &[("user.py", Some("from pkg.bbb import f\n"))]);
        store.apply(&changed, &named("0001-x")).unwrap();
        let then = second(root);
        assert_ne!(first, then);
        store.rollback(None).unwrap();
        assert_ne!(then, second(root));
    }
}

#[test]
fn caches_of_python_do_not_keep_a_directory_alive() {
    let directory = tree();
    let root = directory.path();
    write(root, "a/b/__pycache__/c.cpython-313.pyc", "compiled");
    let store = Store::open(root).unwrap();
    store
        .apply(&changes(root, AFTER), &Metadata::default())
        .unwrap();
    assert!(!root.join("a").exists());
    write(root, "n/m/__pycache__/new.cpython-313.pyc", "compiled");
    store.rollback(None).unwrap();
    assert!(!root.join("n").exists());
    // A file of somebody else does.
    store
        .apply(&changes(root, AFTER), &Metadata::default())
        .unwrap();
    write(root, "n/m/__pycache__/notes.txt", "mine");
    store.rollback(None).unwrap();
    assert!(root.join("n/m/__pycache__/notes.txt").exists() && !root.join("n/m/new.py").exists());
}

#[test]
fn what_changed_since_is_named_and_left_alone() {
    for (name, text) in [
        ("edit.py", "mine\n"),
        ("a/old.py", "mine"),
        ("n/m/new.py", ""),
    ] {
        let directory = tree();
        let root = directory.path();
        let store = Store::open(root).unwrap();
        store
            .apply(&changes(root, AFTER), &Metadata::default())
            .unwrap();
        write(root, name, text);
        let before = snapshot(root);
        let error = store.rollback(None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Changed);
        assert_eq!(error.concerned(), [path(name)], "{error}");
        assert_eq!(snapshot(root), before);
    }
}

#[test]
fn an_older_migration_is_undone_by_itself_only_when_it_stands_by_itself() {
    let directory = tree();
    let root = directory.path();
    let store = Store::open(root).unwrap();
    let migrate = |after| store.apply(&changes(root, after), &named("m")).unwrap().id;
    let first = migrate(AFTER);
    let states = [seen(root)];
    let second = migrate(&[("edit.py", Some("z"))]);
    // It empties the directory that the first one's undo has to fill.
    let third = migrate(&[("keep.py", None), ("p/a.py", None), ("p/b.py", None)]);
    for id in [first.as_str(), "none"] {
        let error = store.rollback(Some(id)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoSuchMigration, "{error}");
    }
    assert_eq!(store.rollback(Some(&second)).unwrap().unwrap().id, second);
    let history: Vec<_> = store
        .history()
        .unwrap()
        .into_iter()
        .map(|record| record.id)
        .collect();
    assert_eq!(history, [third.as_str(), first.as_str()]);
    store.rollback(Some(&third)).unwrap();
    assert_eq!(seen(root), states[0]);
}

#[test]
fn a_directory_that_a_later_migration_took_away_comes_back() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    write(root, "d/a.py", "a");
    write(root, "d/b.py", "b");
    let before = snapshot(root);
    let store = Store::open(root).unwrap();
    let first = store
        .apply(&changes(root, &[("d/a.py", None)]), &named("m"))
        .unwrap();
    store
        .apply(&changes(root, &[("d/b.py", None)]), &named("m"))
        .unwrap();
    assert!(!root.join("d").exists());
    store.rollback(Some(&first.id)).unwrap();
    store.rollback(None).unwrap();
    assert_eq!(snapshot(root), before);
}

#[cfg(unix)]
#[test]
fn bits_that_change_without_bytes_change_back() {
    let directory = tree();
    let root = directory.path();
    let before = snapshot(root);
    let mut all = changes(root, &[("keep.py", Some("k")), ("edit.py", Some("other"))]);
    for change in &mut all {
        change.after.as_mut().unwrap().mode = Some(0o711);
    }
    let store = Store::open(root).unwrap();
    store.apply(&all, &Metadata::default()).unwrap();
    let bits = |name: &str| snapshot(root)[name].1;
    assert_eq!((bits("keep.py"), bits("edit.py")), (0o711, 0o711));
    store.rollback(None).unwrap();
    assert_eq!(snapshot(root), before);
}

#[test]
fn a_state_directory_that_holds_something_else_stays() {
    let directory = tree();
    let root = directory.path();
    write(root, ".coalesce/baseline.json", "{}");
    let store = Store::open(root).unwrap();
    store
        .apply(&changes(root, AFTER), &Metadata::default())
        .unwrap();
    store.rollback(None).unwrap();
    assert!(root.join(".coalesce/baseline.json").exists());
    assert_eq!(
        fs::read_to_string(root.join(".coalesce/.gitignore")).unwrap(),
        "*\n"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn undo_of_apply_is_the_identity(
        before in prop::collection::btree_map("[ab]/[cd]/[ef]", "[x\r\n]{0,6}", 0..6),
        after in prop::collection::btree_map("[abg]/[cdh]/[efi]", prop::option::of("[y\r\n]{0,6}"), 1..6),
        again in prop::collection::btree_map("[abg]/[cdh]/[efi]", prop::option::of("[z\r\n]{0,6}"), 1..6),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        for (name, text) in &before {
            write(root, name, text);
        }
        let store = Store::open(root).unwrap();
        let mut states = vec![seen(root)];
        for after in [&after, &again] {
            let after: Vec<_> = after.iter().map(|(name, text)| (name.as_str(), text.as_deref())).collect();
            store.apply(&changes(root, &after), &Metadata::default()).unwrap();
            for (name, text) in &after {
                let found = fs::read_to_string(root.join(name)).ok();
                prop_assert_eq!(found.as_deref(), *text);
            }
            states.push(seen(root));
        }
        while let Some(state) = states.pop() {
            prop_assert_eq!(seen(root), state);
            prop_assert_eq!(store.rollback(None).unwrap().is_some(), !states.is_empty());
        }
    }
}

/// The bytes of a journal as the first build wrote them, and the files that it kept.
#[test]
fn a_journal_that_an_earlier_build_wrote_rolls_back() {
    use coalesce_model::ContentHash;
    let directory = tree();
    let root = directory.path();
    let before = snapshot(root);
    let owner = crate::system::owner(&fs::metadata(root.join("edit.py")).unwrap());
    let (old, new) = (
        fs::read(root.join("edit.py")).unwrap(),
        b"import n.m\n".to_vec(),
    );
    let version = |bytes: &[u8], mode: u32, offset: usize| {
        format!(
            "{{\"hash\":\"{}\",\"mode\":{mode},\"owner\":{{\"user\":{},\"group\":{}}},\"offset\":{offset},\"bytes\":{}}}",
            ContentHash::of(bytes),
            owner.user,
            owner.group,
            bytes.len()
        )
    };
    let mode = before["edit.py"].1;
    let record = format!(
        "{{\"files\":[{{\"path\":\"edit.py\",\"before\":{},\"after\":{}}},{{\"path\":\"n/new.py\",\"before\":null,\"after\":{}}}],\"made\":[\"n\"],\"removed\":[]}}",
        version(&old, mode, 0),
        version(&new, mode, old.len()),
        version(b"x", 0o644, old.len() + new.len()),
    );
    let hash = ContentHash::of(record.as_bytes());
    let mut journal = format!("coalesce-journal-1 {} {hash}\n{record}", record.len()).into_bytes();
    journal.extend_from_slice(&old);
    journal.extend_from_slice(&new);
    journal.extend_from_slice(b"x");
    write(root, ".coalesce/journal/0001.0001-x.done", &journal);
    write(root, ".coalesce/journal/0001.0001-x.kept/0", &old);
    write(root, ".coalesce/.gitignore", "*\n");
    fs::write(root.join("edit.py"), &new).unwrap();
    write(root, "n/new.py", "x");
    let store = Store::open(root).unwrap();
    assert_eq!(store.history().unwrap()[0].id, "0001-x");
    assert_eq!(store.rollback(None).unwrap().unwrap().remarks, []);
    assert_eq!(snapshot(root), before);
}
