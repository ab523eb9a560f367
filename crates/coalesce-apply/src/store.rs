//! The migrations of one tree: apply, recover, undo.

use std::{
    collections::BTreeSet,
    fmt, io,
    path::{Path, PathBuf},
};

use coalesce_model::{TreePath, manifest::did_you_mean};

use crate::{
    Error, ErrorKind, FileChange, Metadata, begin,
    calls::Hook,
    carry::{self, Carried, Side, Strangers},
    disk::Disk,
    journal::{Entry, Journal, Record, State, is_safe},
    preflight,
    state::{Lock, StateDirectory, busy},
};

/// The migrations of one tree. Opening it changes nothing.
pub struct Store {
    disk: Disk,
    state: StateDirectory,
}

/// A migration that was applied, finished or undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// Its name.
    pub id: String,
    /// Paths that were written or removed, sorted.
    pub paths: Vec<TreePath>,
    /// What whoever asked for it should know.
    pub remarks: Vec<Remark>,
}

/// Something to know of a migration that was applied, finished or undone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remark {
    /// Their file system cannot exchange two files. Each was looked at right before and after it was
    /// replaced; a file that somebody put there in the instant between is lost.
    Unguarded(Vec<TreePath>),
    /// These files, relative to the root, hold what somebody wrote while the migration ran and what
    /// has no place in the tree.
    Kept(Vec<String>),
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unguarded(paths) => write!(
                f,
                "{} files were replaced on a file system that cannot exchange files: what \
                 somebody else put there in the same instant is lost",
                paths.len()
            ),
            Self::Kept(files) => write!(
                f,
                "somebody wrote to files while they were replaced; what they wrote is kept in {}",
                files.join(", ")
            ),
        }
    }
}

/// Which way to recover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Carry the migration through.
    Finish,
    /// Put everything back.
    Undo,
}

impl Store {
    /// The migrations of the tree at `root`.
    ///
    /// # Errors
    /// When the root does not exist.
    pub fn open(root: &Path) -> Result<Self, Error> {
        Self::with_hook(root, Box::new(|_| Ok(())))
    }

    pub(crate) fn with_hook(root: &Path, hook: Hook) -> Result<Self, Error> {
        let failed = |error: io::Error| Error::state(&root.display().to_string(), &error);
        let root = root.canonicalize().map_err(failed)?;
        let state = StateDirectory::new(&root);
        let disk = Disk::new(root, hook);
        Ok(Self { disk, state })
    }

    /// Applies changes, all or none.
    ///
    /// # Errors
    /// When a path is not in the expected state or must not be written: then nothing was. When
    /// writing fails midway: then everything was put back, or the message says how to.
    pub fn apply(&self, changes: &[FileChange], metadata: &Metadata) -> Result<Applied, Error> {
        preflight::check(&self.disk, changes)?;
        let lock = self.state.lock()?;
        self.refuse_unfinished()?;
        let mut journal = self.begin(changes, metadata, &lock)?;
        let outcome = self
            .carry(&journal, Side::After, Strangers::Refuse)
            .and_then(|carried| {
                journal.mark(State::Done, &self.disk.calls)?;
                Ok(carried)
            });
        match outcome {
            Ok(carried) => Ok(self.applied(journal.record, carried, &[])),
            // Whatever somebody has written meanwhile stays.
            Err(error) => Err(match again(|| self.undo(&journal, Strangers::Leave)) {
                Ok(undone) => undone
                    .remarks
                    .iter()
                    .fold(error.because("everything was put back"), |error, remark| {
                        error.because(&remark.to_string())
                    }),
                Err(_) => error.because(
                    "and putting everything back failed too: run `coalesce recover --undo`",
                ),
            }),
        }
    }

    /// The migration that was cut off, if one was.
    ///
    /// # Errors
    /// When the journal cannot be read, or the migration is under way this moment.
    pub fn unfinished(&self) -> Result<Option<Record>, Error> {
        match self.state.unfinished()? {
            Some(_) if self.state.is_locked() => Err(busy()),
            Some(entry) => entry.record().map(Some),
            None => Ok(None),
        }
    }

    /// Migrations that can be undone, newest first.
    ///
    /// # Errors
    /// When a journal cannot be read.
    pub fn history(&self) -> Result<Vec<Record>, Error> {
        self.done()?.iter().map(Entry::record).collect()
    }

    /// Finishes or undoes the migration that was cut off; `None` when none was.
    ///
    /// # Errors
    /// When a path is in neither of its two states, or writing fails; both can be tried again.
    pub fn recover(&self, way: Recovery) -> Result<Option<Applied>, Error> {
        self.recover_once(way).map_err(|error| match error.kind() {
            ErrorKind::Io => error
                .because("the tree is between two states still: run `coalesce recover` once more"),
            _ => error,
        })
    }

    fn recover_once(&self, way: Recovery) -> Result<Option<Applied>, Error> {
        if !self.state.exists() {
            return Ok(None);
        }
        let _lock = self.state.lock()?;
        let Some(entry) = self.state.unfinished()? else {
            return Ok(None);
        };
        let mut journal = entry.open()?;
        let done = match way {
            Recovery::Finish => {
                let carried = self.carry(&journal, Side::After, Strangers::Refuse)?;
                journal.mark(State::Done, &self.disk.calls)?;
                self.applied(journal.record, carried, &[])
            }
            Recovery::Undo => self.undo(&journal, Strangers::Refuse)?,
        };
        Ok(Some(done))
    }

    /// Undoes the last migration, or the named one if no later one touched the same files; `None`
    /// when there is none.
    ///
    /// # Errors
    /// When a file has changed since, when another migration is in the way, or writing fails: then
    /// the migration stands as it did.
    pub fn rollback(&self, id: Option<&str>) -> Result<Option<Applied>, Error> {
        if !self.state.exists() {
            return id.map_or(Ok(None), |id| Err(unknown(id, &[])));
        }
        let _lock = self.state.lock()?;
        self.refuse_unfinished()?;
        let done = self.done()?;
        let named = |entry: &Entry| id.is_none_or(|id| id == entry.id);
        let Some(at) = done.iter().position(named) else {
            return id.map_or(Ok(None), |id| Err(unknown(id, &done)));
        };
        let (later, rest) = done.split_at(at);
        let Some(entry) = rest.first() else {
            return Ok(None);
        };
        let journal = entry.open()?;
        refuse_shared(&journal.record, later)?;
        self.roll_back(journal).map(Some)
    }

    fn roll_back(&self, mut journal: Journal) -> Result<Applied, Error> {
        carry::refuse_strangers(&self.disk, &journal.record)?;
        journal.mark(State::Started, &self.disk.calls)?;
        let error = match self.undo(&journal, Strangers::Refuse) {
            Ok(undone) => return Ok(undone),
            Err(error) => error,
        };
        let restored = again(|| self.carry(&journal, Side::After, Strangers::Leave))
            .and_then(|_| journal.mark(State::Done, &self.disk.calls));
        Err(match restored {
            Ok(()) => error.because("the migration stands as it did"),
            Err(_) => error.because("it was cut off there: run `coalesce recover`"),
        })
    }

    fn undo(&self, journal: &Journal, strangers: Strangers) -> Result<Applied, Error> {
        let carried = self.carry(journal, Side::Before, strangers)?;
        let stay = journal.discard(&carried.left, &self.disk.calls)?;
        Ok(self.applied(journal.record.clone(), carried, &stay))
    }

    fn carry(&self, journal: &Journal, side: Side, strangers: Strangers) -> Result<Carried, Error> {
        let room = self.state.room(journal);
        carry::carry(&self.disk, journal, side, (&room, strangers))
    }

    fn applied(&self, record: Record, carried: Carried, stay: &[PathBuf]) -> Applied {
        let mut remarks = Vec::new();
        if !carried.windows.is_empty() {
            remarks.push(Remark::Unguarded(carried.windows));
        }
        if !stay.is_empty() {
            let name = |path: &PathBuf| {
                let inside = path.strip_prefix(&self.disk.root).unwrap_or(path);
                inside.display().to_string()
            };
            remarks.push(Remark::Kept(stay.iter().map(name).collect()));
        }
        let Record { id, paths, .. } = record;
        Applied { id, paths, remarks }
    }

    fn refuse_unfinished(&self) -> Result<(), Error> {
        let Some(entry) = self.state.unfinished()? else {
            return Ok(());
        };
        let message = format!(
            "the migration {} was cut off; run `coalesce recover` first",
            entry.id
        );
        Err(Error::new(ErrorKind::Unfinished, message))
    }

    /// Those that are done, newest first.
    fn done(&self) -> Result<Vec<Entry>, Error> {
        let mut entries = self.state.entries()?;
        entries.retain(|entry| entry.state() == Some(State::Done));
        entries.reverse();
        Ok(entries)
    }

    fn begin(
        &self,
        changes: &[FileChange],
        metadata: &Metadata,
        lock: &Lock<'_>,
    ) -> Result<Journal, Error> {
        let entries = self.state.entries()?;
        let number = self.state.next_number()?;
        let named = (number, name(metadata, &entries));
        let (record, contents) = begin::record(&self.disk, named, changes, lock.mode_of_new())?;
        Journal::create(&self.state.journals(), record, contents, &self.disk.calls)
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("root", &self.disk.root)
            .finish_non_exhaustive()
    }
}

/// So often a way back is tried while somebody goes on saving files.
const ATTEMPTS: usize = 12;

/// Whoever saves a file while everything is put back keeps it, and all else is put back once more.
fn again<T>(mut attempt: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    for _ in 1..ATTEMPTS {
        match attempt() {
            Err(error) if error.kind() == ErrorKind::Changed => {}
            outcome => return outcome,
        }
    }
    attempt()
}

/// The ids of the manifests as far as they can be part of a file name; numbered from the second
/// one of a name on.
fn name(metadata: &Metadata, entries: &[Entry]) -> String {
    let manifests = metadata.manifests.join("+");
    let manifests = if manifests.is_empty() {
        "plan"
    } else {
        &manifests
    };
    let safe = |c: char| is_safe(c) && c != '.';
    let safe = manifests.chars().map(|c| if safe(c) { c } else { '_' });
    let name: String = safe.take(80).collect();
    let taken = |name: &str| entries.iter().any(|entry| entry.id == name);
    let numbered = (2..=entries.len() + 1).map(|number| format!("{name}.{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names
        .find(|name| !taken(name))
        .expect("invariant: there are more names than entries")
}

fn refuse_shared(record: &Record, later: &[Entry]) -> Result<(), Error> {
    let mut touched = BTreeSet::new();
    for entry in later {
        touched.extend(entry.record()?.paths);
    }
    let shared = record.paths.iter().filter(|path| touched.contains(*path));
    let shared: Vec<TreePath> = shared.cloned().collect();
    if shared.is_empty() {
        return Ok(());
    }
    let message = "a later migration touched the same files; undo that one first";
    Err(Error::paths(ErrorKind::NoSuchMigration, message, shared))
}

fn unknown(id: &str, known: &[Entry]) -> Error {
    let near = did_you_mean(id, known.iter().map(|entry| entry.id.as_str()));
    let near = near.unwrap_or_else(|| "`coalesce status` lists them".to_owned());
    let message = format!("there is no migration `{id}` to undo; {near}");
    Error::new(ErrorKind::NoSuchMigration, message)
}
