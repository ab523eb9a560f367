//! The power fails. What was asked of the disk is recorded, and then replayed as a disk may have it
//! afterwards: everything up to a sync; of the rest, names as far as they got, in order (every file
//! system with a journal has them so), and of files that were not synced nothing, a part, or all.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use super::{AFTER, changes, seen, tree};
use crate::{
    Metadata, Recovery, Store,
    calls::{Call, Hook},
};

/// A call as it was asked for.
#[derive(Clone, Debug)]
enum Asked {
    MakeDirectory(PathBuf),
    RemoveDirectory(PathBuf),
    Create(PathBuf, Vec<u8>),
    Rename(PathBuf, PathBuf),
    Exchange(PathBuf, PathBuf),
    Remove(PathBuf),
    Mode(PathBuf, u32),
    Sync(BTreeSet<PathBuf>),
}

fn asked(call: &Call<'_>) -> Asked {
    let own = Path::to_owned;
    match *call {
        Call::MakeDirectory(path) => Asked::MakeDirectory(own(path)),
        Call::RemoveDirectory(path) => Asked::RemoveDirectory(own(path)),
        Call::Create(path, bytes) => Asked::Create(own(path), bytes.to_owned()),
        Call::Rename(from, to) | Call::Place(from, to) | Call::Link(from, to) => {
            Asked::Rename(own(from), own(to))
        }
        Call::Exchange(a, b) => Asked::Exchange(own(a), own(b)),
        Call::Remove(path) => Asked::Remove(own(path)),
        Call::Mode(path, mode) => Asked::Mode(own(path), mode),
        Call::Sync(paths) => Asked::Sync(paths.clone()),
    }
}

type Trace = Arc<Mutex<Vec<Asked>>>;

fn recording(trace: &Trace) -> Hook {
    let trace = Arc::clone(trace);
    Box::new(move |call| {
        let mut all = trace.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(asked(call));
        Ok(())
    })
}

/// A disk after the power failed: the calls of a trace up to `end`, less the bytes that were not
/// synced by then.
struct Disk<'d> {
    from: &'d Path,
    to: &'d Path,
    luck: Luck,
}

/// Numbers that are the same in every run.
struct Luck(u64);

impl Luck {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

impl Disk<'_> {
    fn at(&self, path: &Path) -> PathBuf {
        self.to.join(path.strip_prefix(self.from).unwrap_or(path))
    }

    fn replay(&mut self, trace: &[Asked], end: usize) {
        let safe = trace
            .iter()
            .take(end)
            .rposition(|asked| matches!(asked, Asked::Sync(paths) if paths.len() > 4));
        for (number, asked) in trace.iter().take(end).enumerate() {
            let later = trace.get(number..end).unwrap_or_default();
            let outcome = self.call(asked, later, safe.is_some_and(|safe| number < safe));
            // What a hook refused or what was not there was no call.
            if let Err(error) = outcome {
                assert_ne!(
                    error.kind(),
                    io::ErrorKind::PermissionDenied,
                    "{asked:?}: {error}"
                );
            }
        }
    }

    fn call(&mut self, asked: &Asked, later: &[Asked], safe: bool) -> io::Result<()> {
        match asked {
            Asked::MakeDirectory(path) => fs::create_dir(self.at(path)),
            Asked::RemoveDirectory(path) => fs::remove_dir(self.at(path)),
            Asked::Create(path, bytes) => {
                let synced = later
                    .iter()
                    .any(|one| matches!(one, Asked::Sync(all) if all.contains(path)));
                let kept = if safe || synced {
                    bytes.len()
                } else {
                    self.part(bytes.len())
                };
                fs::write(self.at(path), bytes.get(..kept).unwrap_or_default())
            }
            Asked::Rename(from, to) => fs::rename(self.at(from), self.at(to)),
            Asked::Exchange(a, b) => {
                let (a, b) = (self.at(a), self.at(b));
                let between = a.with_extension("between");
                fs::rename(&a, &between)?;
                fs::rename(&b, &a)?;
                fs::rename(between, b)
            }
            Asked::Remove(path) => fs::remove_file(self.at(path)),
            Asked::Mode(path, mode) => crate::system::set_mode(&self.at(path), *mode),
            Asked::Sync(_) => Ok(()),
        }
    }

    fn part(&mut self, bytes: usize) -> usize {
        match self.luck.next(3) {
            0 => 0,
            1 => bytes / 2,
            _ => bytes,
        }
    }
}

/// Permission bits are given to staged files by a call of their own, which is not recorded.
fn bytes(root: &Path) -> BTreeMap<String, Option<Vec<u8>>> {
    let seen = seen(root).into_iter();
    seen.map(|(name, (bytes, _))| (name, bytes)).collect()
}

/// Every state that a loss of power can leave is finished or undone to one of the two trees.
fn survives(prepare: fn(&Store, &Path), run: fn(&Store, &Path), rounds: u64) {
    let directory = tree();
    let root = directory.path();
    prepare(&Store::open(root).unwrap(), root);
    let (start, before) = (tempfile::tempdir().unwrap(), bytes(root));
    copy(root, start.path());
    let trace = Trace::default();
    run(&Store::with_hook(root, recording(&trace)).unwrap(), root);
    let after = bytes(root);
    assert_ne!(before, after);
    let trace = trace.lock().unwrap_or_else(PoisonError::into_inner);
    let points = (trace.len() as u64 + 1) * rounds;
    println!("{points} losses of power over {} calls", trace.len());
    for end in 0..=trace.len() {
        for round in 0..rounds {
            let lost = tempfile::tempdir().unwrap();
            copy(start.path(), lost.path());
            fs::create_dir_all(lost.path().join(".coalesce/journal")).unwrap();
            let luck = Luck(1 + end as u64 * 1_000 + round);
            let mut disk = Disk {
                from: &root.canonicalize().unwrap(),
                to: lost.path(),
                luck,
            };
            disk.replay(&trace, end);
            let store = Store::open(lost.path()).unwrap();
            let way = if round % 2 == 0 {
                Recovery::Undo
            } else {
                Recovery::Finish
            };
            let recovered = store.recover(way);
            assert!(
                recovered.is_ok(),
                "power lost after call {end} of {}: {recovered:?}",
                trace.len()
            );
            let found = bytes(lost.path());
            assert!(found == before || found == after, "call {end}: {found:?}");
            assert_eq!(store.unfinished().unwrap(), None);
        }
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            fs::create_dir(&target).unwrap();
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

fn migrate(store: &Store, root: &Path) {
    let changes = changes(root, AFTER);
    store.apply(&changes, &Metadata::default()).unwrap();
}

/// Times that each point is looked at; more when told to soak.
fn rounds() -> u64 {
    let seconds = std::env::var("COALESCE_SOAK_SECONDS").ok();
    let seconds = seconds.and_then(|seconds| seconds.parse::<f64>().ok());
    if seconds.is_some_and(|seconds| seconds > 30.0) {
        40
    } else {
        2
    }
}

#[test]
fn a_migration_survives_a_loss_of_power_at_any_call() {
    survives(|_, _| (), migrate, rounds());
}

#[test]
fn an_undo_survives_a_loss_of_power_at_any_call() {
    survives(
        migrate,
        |store, _| drop(store.rollback(None).unwrap()),
        rounds(),
    );
}
