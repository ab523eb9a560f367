//! Somebody writes to the tree while a migration or its undo runs: before each call that changes
//! the disk, in each way in which programs save files. What they wrote is in the tree afterwards.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::{AFTER, changes, seen, tree, write};
use crate::{
    Error, ErrorKind, Metadata, Store,
    calls::{Call, Hook},
};

const MINE: &str = "# mine\n";

/// How somebody saves a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Save {
    /// Written at its end, in place.
    Append,
    /// A new file takes its name.
    Replace,
}

fn save(path: &Path, how: Save) -> bool {
    match how {
        Save::Append => {
            let file = File::options().append(true).open(path);
            file.is_ok_and(|mut file| file.write_all(MINE.as_bytes()).is_ok())
        }
        Save::Replace => {
            let new = path.with_extension("saved");
            fs::write(&new, MINE).is_ok() && fs::rename(new, path).is_ok()
        }
    }
}

const PATHS: [&str; 6] = [
    "edit.py",
    "a/old.py",
    "a/b/c.py",
    "n/m/new.py",
    "p/a.py",
    "p/b.py",
];

/// Saves what can be saved right before a call, and says which paths that were.
fn saving(root: &Path, chosen: usize, how: Save, exchanges: bool) -> (Hook, Saved) {
    let saved = Saved::default();
    let (passed, root, told) = (AtomicUsize::new(0), root.to_owned(), saved.clone());
    let hook: Hook = Box::new(move |call| {
        if passed.fetch_add(1, Ordering::Relaxed) == chosen {
            let mut all = told.0.lock().unwrap_or_else(PoisonError::into_inner);
            let there = PATHS.into_iter().filter(|path| save(&root.join(path), how));
            all.extend(there.map(str::to_owned));
        }
        if !exchanges && matches!(call, Call::Exchange(..)) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(())
    });
    (hook, saved)
}

#[derive(Clone, Default)]
struct Saved(std::sync::Arc<Mutex<Vec<String>>>);

impl Saved {
    fn paths(&self) -> Vec<String> {
        let paths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        paths.clone()
    }
}

type Run = fn(&Store, &Path) -> Result<(), Error>;

fn migrate(store: &Store, root: &Path) -> Result<(), Error> {
    let changes = changes(root, AFTER);
    store.apply(&changes, &Metadata::default()).map(drop)
}

fn roll_back(store: &Store, _: &Path) -> Result<(), Error> {
    store.rollback(None).map(drop)
}

/// Runs with somebody saving before each call in turn; `prepare` comes before.
fn nothing_is_lost(prepare: Run, run: Run, how: Save, exchanges: bool) {
    for step in 0.. {
        let directory = tree();
        let root = directory.path();
        prepare(&Store::open(root).unwrap(), root).unwrap();
        let before = seen(root);
        let (hook, saved) = saving(root, step, how, exchanges);
        let outcome = run(&Store::with_hook(root, hook).unwrap(), root);
        let saved = saved.paths();
        if saved.is_empty() {
            outcome.unwrap();
            assert!(step > 15);
            break;
        }
        for path in &saved {
            let text = fs::read_to_string(root.join(path)).unwrap_or_default();
            assert!(
                text.contains(MINE),
                "{how:?} {path}, step {step}: {text:?} {outcome:?}"
            );
        }
        if let Err(error) = outcome {
            assert_eq!(error.kind(), ErrorKind::Changed, "step {step}: {error}");
            // All but what was saved is as it was.
            let mut after = seen(root);
            let mut before = before;
            for path in &saved {
                after.remove(path);
                before.remove(path);
            }
            after.retain(|name, _| before.contains_key(name) || !root.join(name).is_dir());
            assert_eq!(after, before, "step {step}: {error}");
            assert!(
                error.to_string().contains("their changes stay") || step < 20,
                "{error}"
            );
        }
    }
}

#[test]
fn what_is_saved_while_a_migration_runs_stays() {
    let nothing: Run = |_, _| Ok(());
    nothing_is_lost(nothing, migrate, Save::Append, true);
    nothing_is_lost(nothing, migrate, Save::Replace, true);
}

#[test]
fn what_is_saved_while_a_migration_is_undone_stays() {
    nothing_is_lost(migrate, roll_back, Save::Append, true);
    nothing_is_lost(migrate, roll_back, Save::Replace, true);
}

#[test]
fn without_exchanges_what_is_written_in_place_stays() {
    let nothing: Run = |_, _| Ok(());
    nothing_is_lost(nothing, migrate, Save::Append, false);
    nothing_is_lost(migrate, roll_back, Save::Append, false);
}

#[test]
fn without_exchanges_it_is_said_that_a_window_remains() {
    let directory = tree();
    let root = directory.path();
    let (hook, _) = saving(root, usize::MAX, Save::Append, false);
    let store = Store::with_hook(root, hook).unwrap();
    let changes = changes(root, AFTER);
    let applied = store.apply(&changes, &Metadata::default()).unwrap();
    assert!(
        matches!(applied.remarks.as_slice(), [crate::Remark::Unguarded(paths)] if paths.len() == 3),
        "{applied:?}"
    );
}

/// Whoever has a file open goes on writing to it wherever it is.
#[test]
fn what_is_written_through_an_open_file_is_somewhere() {
    for step in 0.. {
        let directory = tree();
        let root = directory.path();
        let open = File::options()
            .append(true)
            .open(root.join("edit.py"))
            .unwrap();
        let (passed, written) = (AtomicUsize::new(0), Saved::default());
        let told = written.clone();
        let hook: Hook = Box::new(move |_| {
            if passed.fetch_add(1, Ordering::Relaxed) == step {
                (&open).write_all(MINE.as_bytes())?;
                let mut all = told.0.lock().unwrap_or_else(PoisonError::into_inner);
                all.push("edit.py".to_owned());
            }
            Ok(())
        });
        let outcome = migrate(&Store::with_hook(root, hook).unwrap(), root);
        if written.paths().is_empty() {
            break;
        }
        assert!(holding(root, MINE).is_some(), "step {step}");
        if outcome.is_ok() {
            // The undo tells where it is, and does not free it.
            let undone = Store::open(root).unwrap().rollback(None);
            let at = holding(root, MINE);
            assert!(at.is_some(), "step {step}: {undone:?}");
        }
    }
}

/// A file anywhere below the root that holds this text.
fn holding(root: &Path, text: &str) -> Option<PathBuf> {
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if fs::read_to_string(&path).is_ok_and(|found| found.contains(text)) {
                return Some(path);
            }
        }
    }
    None
}

/// The process dies right after something unknown came out of the tree: whoever comes next puts it
/// back.
#[test]
fn what_a_killed_process_took_out_unseen_comes_back() {
    let directory = tree();
    let root = directory.path();
    let (passed, at) = (AtomicUsize::new(0), root.join("edit.py"));
    let hook: Hook = Box::new(move |call| {
        let here = matches!(call, Call::Exchange(_, to) if to.ends_with("edit.py"));
        if here && passed.fetch_add(1, Ordering::Relaxed) == 0 {
            save(&at, Save::Replace);
            return Ok(());
        }
        // As if it had died: nothing happens after the exchange.
        let dead = passed.load(Ordering::Relaxed) > 0;
        if dead {
            Err(io::ErrorKind::Interrupted.into())
        } else {
            Ok(())
        }
    });
    migrate(&Store::with_hook(root, hook).unwrap(), root).unwrap_err();
    assert!(
        !fs::read_to_string(root.join("edit.py"))
            .unwrap()
            .contains(MINE)
    );
    let calm = Store::open(root).unwrap();
    let error = calm.recover(crate::Recovery::Undo).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Changed, "{error}");
    assert_eq!(fs::read_to_string(root.join("edit.py")).unwrap(), MINE);
    // Once it is out of the way, both ways are open.
    fs::remove_file(root.join("edit.py")).unwrap();
    write(root, "edit.py", "from a import old\n");
    calm.recover(crate::Recovery::Undo).unwrap();
    assert!(seen(root).contains_key("a/b/c.py"));
}

/// Bits that somebody changes meanwhile, or after the migration, stay.
#[cfg(unix)]
#[test]
fn bits_that_somebody_else_gives_stay() {
    use std::os::unix::fs::PermissionsExt as _;
    let bits = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let give = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let directory = tree();
    let root = directory.path();
    let file = root.join("edit.py");
    let at = file.clone();
    let hook: Hook = Box::new(move |call| {
        if matches!(call, Call::Exchange(_, to) if to.ends_with("edit.py")) {
            give(&at, 0o700);
        }
        Ok(())
    });
    migrate(&Store::with_hook(root, hook).unwrap(), root).unwrap();
    assert_eq!(bits(&file), 0o700);
    give(&file, 0o750);
    Store::open(root).unwrap().rollback(None).unwrap();
    assert_eq!(bits(&file), 0o750);
}
