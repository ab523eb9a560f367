//! The migrations of one tree: apply, recover, undo.

use std::{collections::BTreeSet, fmt, io, path::Path};

use coalesce_model::TreePath;

use crate::{
    Error, ErrorKind, FileChange, Metadata, begin,
    carry::{self, Side},
    disk::{Disk, Hook},
    journal::{Entry, Journal, Record, State},
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
            .carry(&journal, Side::After)
            .and_then(|()| journal.mark(State::Done, &self.disk));
        match outcome {
            Ok(()) => Ok(applied(journal.record)),
            Err(error) => Err(match self.undo(&journal) {
                Ok(()) => error.because("everything was put back"),
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
        if !self.state.exists() {
            return Ok(None);
        }
        let _lock = self.state.lock()?;
        let Some(entry) = self.state.unfinished()? else {
            return Ok(None);
        };
        let mut journal = entry.open()?;
        match way {
            Recovery::Finish => {
                self.carry(&journal, Side::After)?;
                journal.mark(State::Done, &self.disk)?;
            }
            Recovery::Undo => self.undo(&journal)?,
        }
        Ok(Some(applied(journal.record)))
    }

    /// Undoes the last migration, or the named one if no later one touched the same files; `None`
    /// when there is none.
    ///
    /// # Errors
    /// When a file has changed since, when another migration is in the way, or writing fails: then
    /// the migration stands as it did.
    pub fn rollback(&self, id: Option<&str>) -> Result<Option<Applied>, Error> {
        if !self.state.exists() {
            return id.map_or(Ok(None), |id| Err(unknown(id)));
        }
        let _lock = self.state.lock()?;
        self.refuse_unfinished()?;
        let done = self.done()?;
        let named = |entry: &Entry| id.is_none_or(|id| id == entry.id);
        let Some(at) = done.iter().position(named) else {
            return id.map_or(Ok(None), |id| Err(unknown(id)));
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
        journal.mark(State::Started, &self.disk)?;
        let Err(error) = self.undo(&journal) else {
            return Ok(applied(journal.record));
        };
        let restored = self
            .carry(&journal, Side::After)
            .and_then(|()| journal.mark(State::Done, &self.disk));
        Err(match restored {
            Ok(()) => error.because("the migration stands as it did"),
            Err(_) => error.because("it was cut off there: run `coalesce recover`"),
        })
    }

    fn undo(&self, journal: &Journal) -> Result<(), Error> {
        self.carry(journal, Side::Before)?;
        journal.discard(&self.disk)
    }

    fn carry(&self, journal: &Journal, side: Side) -> Result<(), Error> {
        carry::carry(&self.disk, journal, side, &self.state.stage())
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
        let number = entries.last().map_or(1, |entry| entry.number + 1);
        let named = (number, name(metadata, &entries));
        let (record, contents) = begin::record(&self.disk, named, changes, lock.mode_of_new())?;
        Journal::create(&self.state.journals(), record, contents, &self.disk)
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("root", &self.disk.root)
            .finish_non_exhaustive()
    }
}

fn applied(record: Record) -> Applied {
    let Record { id, paths, .. } = record;
    Applied { id, paths }
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
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+');
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

fn unknown(id: &str) -> Error {
    let message = format!("there is no migration `{id}` to undo; `coalesce status` lists them");
    Error::new(ErrorKind::NoSuchMigration, message)
}
