//! The migrations of one tree: apply, recover, undo.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use coalesce_model::{ContentHash, TreePath};

use crate::{
    Error, ErrorKind, FileChange, Metadata,
    disk::{Disk, RealDisk, mode},
    journal::{FileRecord, Journal, Record, State, Version},
    preflight,
};

/// Where the tool keeps its state in a tree; it ignores itself, and no walk enters it.
const STATE_DIRECTORY: &str = ".coalesce";
/// Permission bits of a new file.
const NEW_FILE: u32 = 0o644;

/// The migrations of one tree. Opening it changes nothing.
#[derive(Debug)]
pub struct Store {
    disk: RealDisk,
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

/// Held while a migration runs; the system lets go of it when the process ends, however it ends.
struct Lock(#[expect(dead_code, reason = "held for its lock")] fs::File);

impl Store {
    /// The migrations of the tree at `root`.
    ///
    /// # Errors
    /// When the root does not exist.
    pub fn open(root: &Path) -> Result<Self, Error> {
        let root = root
            .canonicalize()
            .map_err(|error| Error::new(ErrorKind::Io, format!("{}: {error}", root.display())))?;
        Ok(Self {
            disk: RealDisk { root },
        })
    }

    /// Applies changes, all or none.
    ///
    /// # Errors
    /// When a path is not in the expected state or must not be written: then nothing was. When
    /// writing fails midway: then everything was put back, or the message says how to.
    pub fn apply(&self, changes: &[FileChange], metadata: &Metadata) -> Result<Applied, Error> {
        self.apply_with(changes, metadata, &self.disk)
    }

    pub(crate) fn apply_with(
        &self,
        changes: &[FileChange],
        metadata: &Metadata,
        disk: &dyn Disk,
    ) -> Result<Applied, Error> {
        let _lock = self.lock()?;
        if let Some(journal) = self.unfinished_journal()? {
            return Err(Error::new(
                ErrorKind::Unfinished,
                format!(
                    "the migration {} was cut off; run `coalesce recover` first",
                    journal.record.id
                ),
            ));
        }
        preflight::check(&self.disk, changes)?;
        let journal = self.begin(changes, metadata)?;
        let paths = journal.record.paths.clone();
        let outcome = self
            .forward(&journal, disk)
            .and_then(|()| self.commit(&journal, State::Done));
        if let Err(error) = outcome {
            return Err(
                match self
                    .backward(&journal, disk)
                    .and_then(|()| self.commit(&journal, State::Undone))
                {
                    Ok(()) => error.because("everything was put back"),
                    Err(_) => error.because(
                        "and putting everything back failed too: run `coalesce recover --undo`",
                    ),
                },
            );
        }
        Ok(Applied {
            id: journal.record.id,
            paths,
        })
    }

    /// The migration that was cut off, if one was.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn unfinished(&self) -> Result<Option<Record>, Error> {
        Ok(self.unfinished_journal()?.map(|journal| journal.record))
    }

    /// Migrations that can be undone, newest first.
    ///
    /// # Errors
    /// When a journal cannot be read.
    pub fn history(&self) -> Result<Vec<Record>, Error> {
        Ok(self
            .done()?
            .into_iter()
            .map(|journal| journal.record)
            .collect())
    }

    /// Finishes or undoes the migration that was cut off; `None` when none was.
    ///
    /// # Errors
    /// When a path is in neither of its two states, or writing fails; both can be tried again.
    pub fn recover(&self, way: Recovery) -> Result<Option<Applied>, Error> {
        self.recover_with(way, &self.disk)
    }

    pub(crate) fn recover_with(
        &self,
        way: Recovery,
        disk: &dyn Disk,
    ) -> Result<Option<Applied>, Error> {
        if !self.state_directory().exists() {
            return Ok(None);
        }
        let _lock = self.lock()?;
        let Some(journal) = self.unfinished_journal()? else {
            return Ok(None);
        };
        match way {
            Recovery::Finish => self
                .forward(&journal, disk)
                .and_then(|()| self.commit(&journal, State::Done))?,
            Recovery::Undo => self
                .backward(&journal, disk)
                .and_then(|()| self.commit(&journal, State::Undone))?,
        }
        Ok(Some(Applied {
            id: journal.record.id,
            paths: journal.record.paths,
        }))
    }

    /// Undoes the last migration, or the named one if no later one touched the same files; `None`
    /// when there is none.
    ///
    /// # Errors
    /// When a file has changed since, when another migration is in the way, or writing fails.
    pub fn rollback(&self, id: Option<&str>) -> Result<Option<Applied>, Error> {
        if !self.state_directory().exists() {
            return id.map_or(Ok(None), |id| Err(unknown(id)));
        }
        let _lock = self.lock()?;
        if let Some(journal) = self.unfinished_journal()? {
            return Err(Error::new(
                ErrorKind::Unfinished,
                format!(
                    "the migration {} was cut off; run `coalesce recover` first",
                    journal.record.id
                ),
            ));
        }
        let mut later: BTreeSet<TreePath> = BTreeSet::new();
        for journal in self.done()? {
            if id.is_some_and(|id| id != journal.record.id) {
                later.extend(journal.record.paths);
                continue;
            }
            let shared: Vec<TreePath> = journal
                .record
                .paths
                .iter()
                .filter(|path| later.contains::<TreePath>(path))
                .cloned()
                .collect();
            if !shared.is_empty() {
                return Err(Error::paths(
                    ErrorKind::NoSuchMigration,
                    "a later migration touched the same files; undo that one first",
                    &shared,
                ));
            }
            self.backward(&journal, &self.disk)?;
            self.commit(&journal, State::Undone)?;
            return Ok(Some(Applied {
                id: journal.record.id,
                paths: journal.record.paths,
            }));
        }
        id.map_or(Ok(None), |id| Err(unknown(id)))
    }

    fn state_directory(&self) -> PathBuf {
        self.disk.root.join(STATE_DIRECTORY)
    }

    fn lock(&self) -> Result<Lock, Error> {
        let directory = self.state_directory();
        let open = || -> io::Result<fs::File> {
            fs::create_dir_all(&directory)?;
            let ignore = directory.join(".gitignore");
            if !ignore.exists() {
                fs::write(ignore, "*\n")?;
            }
            fs::File::create(directory.join("lock"))
        };
        let file = open().map_err(|error| {
            Error::new(
                ErrorKind::Io,
                format!("{STATE_DIRECTORY} cannot be written: {error}"),
            )
        })?;
        match file.try_lock() {
            Ok(()) => Ok(Lock(file)),
            Err(fs::TryLockError::WouldBlock) => Err(Error::new(
                ErrorKind::Locked,
                "another migration of this tree is under way",
            )),
            Err(fs::TryLockError::Error(error)) => Err(Error::new(
                ErrorKind::Io,
                format!("{STATE_DIRECTORY}/lock: {error}"),
            )),
        }
    }

    fn journals(&self) -> Result<Vec<Journal>, Error> {
        let directory = self.state_directory().join("journal");
        let Ok(entries) = fs::read_dir(&directory) else {
            return Ok(Vec::new());
        };
        let mut names: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect();
        names.sort();
        names.reverse();
        names
            .iter()
            .filter_map(|name| Journal::open(name).transpose())
            .collect()
    }

    fn done(&self) -> Result<Vec<Journal>, Error> {
        Ok(self
            .journals()?
            .into_iter()
            .filter(|journal| journal.state() == State::Done)
            .collect())
    }

    fn unfinished_journal(&self) -> Result<Option<Journal>, Error> {
        Ok(self
            .journals()?
            .into_iter()
            .find(|journal| journal.state() == State::Started))
    }

    fn next_id(&self, metadata: &Metadata) -> String {
        let directory = self.state_directory().join("journal");
        let names = fs::read_dir(directory)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let last = names
            .filter_map(|name| name.split('-').next()?.parse::<u32>().ok())
            .max()
            .unwrap_or(0);
        let manifests = if metadata.manifests.is_empty() {
            "plan".to_owned()
        } else {
            metadata.manifests.join("+")
        };
        let safe: String = manifests
            .chars()
            .map(|c| {
                if c.is_alphanumeric() || matches!(c, '-' | '_' | '+') {
                    c
                } else {
                    '_'
                }
            })
            .take(80)
            .collect();
        format!("{:04}-{safe}", last + 1)
    }

    fn begin(&self, changes: &[FileChange], metadata: &Metadata) -> Result<Journal, Error> {
        let id = self.next_id(metadata);
        let mut contents = Vec::new();
        let mut files = Vec::with_capacity(changes.len());
        for change in changes {
            let before = match change.before {
                Some(stamp) => {
                    let bytes = fs::read(self.disk.absolute(&change.path))
                        .map_err(|error| Error::io(&change.path, &error))?;
                    Some(append(&mut contents, &bytes, stamp.mode))
                }
                None => None,
            };
            let old_mode = change.before.map_or(NEW_FILE, |stamp| stamp.mode);
            let after = change.after.as_ref().map(|content| {
                append(
                    &mut contents,
                    &content.bytes,
                    content.mode.unwrap_or(old_mode),
                )
            });
            files.push(FileRecord {
                path: change.path.clone(),
                before,
                after,
            });
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let record = Record {
            paths: files.iter().map(|file| file.path.clone()).collect(),
            made: self.directories_to_make(&files),
            removed: self.directories_to_remove(&files)?,
            files,
            id: id.clone(),
        };
        Journal::create(
            &self.state_directory().join("journal").join(id),
            record,
            contents,
        )
    }

    fn directories_to_make(&self, files: &[FileRecord]) -> Vec<TreePath> {
        let mut made = BTreeSet::new();
        for file in files.iter().filter(|file| file.after.is_some()) {
            let mut directory = file.path.parent();
            while let Some(parent) =
                directory.filter(|parent| !parent.is_root() && !self.disk.is_directory(parent))
            {
                directory = parent.parent();
                made.insert(parent);
            }
        }
        made.into_iter().collect()
    }

    /// Directories that hold nothing but files that go away.
    fn directories_to_remove(&self, files: &[FileRecord]) -> Result<Vec<(TreePath, u32)>, Error> {
        let mut gone: BTreeSet<TreePath> = files
            .iter()
            .filter(|file| file.after.is_none())
            .map(|file| file.path.clone())
            .collect();
        let arriving: BTreeSet<TreePath> = files
            .iter()
            .filter(|file| file.after.is_some())
            .filter_map(|file| file.path.parent())
            .collect();
        let mut candidates: BTreeSet<TreePath> = gone.iter().filter_map(TreePath::parent).collect();
        let mut removed = Vec::new();
        while let Some(directory) = candidates.pop_last() {
            let stays = directory.is_root()
                || arriving
                    .iter()
                    .any(|path| path.strip_prefix(&directory).is_some());
            if stays || !self.disk.is_directory(&directory) {
                continue;
            }
            let entries = self
                .disk
                .entries(&directory)
                .map_err(|error| Error::io(&directory, &error))?;
            let empties = entries
                .iter()
                .all(|name| directory.join(name).is_ok_and(|path| gone.contains(&path)));
            if empties {
                let metadata = fs::metadata(self.disk.absolute(&directory))
                    .map_err(|error| Error::io(&directory, &error))?;
                removed.push((directory.clone(), mode(&metadata)));
                candidates.extend(directory.parent());
                gone.insert(directory);
            }
        }
        removed.sort_by(|a, b| b.0.cmp(&a.0));
        Ok(removed)
    }

    fn commit(&self, journal: &Journal, state: State) -> Result<(), Error> {
        self.disk.sync(&journal.record.paths).map_err(|error| {
            Error::new(ErrorKind::Io, format!("the tree cannot be synced: {error}"))
        })?;
        journal.mark(state)
    }

    /// Brings every path to its state after. What is there already stays.
    fn forward(&self, journal: &Journal, disk: &dyn Disk) -> Result<(), Error> {
        let record = &journal.record;
        self.refuse_strangers(record)?;
        for directory in record
            .made
            .iter()
            .filter(|directory| !self.disk.is_directory(directory))
        {
            disk.make_directory(directory, None)
                .map_err(|error| Error::io(directory, &error))?;
        }
        for file in &record.files {
            self.bring(journal, file, file.after, disk)?;
        }
        for (directory, _) in record
            .removed
            .iter()
            .filter(|(directory, _)| self.is_empty_directory(directory))
        {
            disk.remove_directory(directory)
                .map_err(|error| Error::io(directory, &error))?;
        }
        Ok(())
    }

    /// Brings every path back to its state before.
    fn backward(&self, journal: &Journal, disk: &dyn Disk) -> Result<(), Error> {
        let record = &journal.record;
        self.refuse_strangers(record)?;
        for (directory, mode) in record
            .removed
            .iter()
            .rev()
            .filter(|(directory, _)| !self.disk.is_directory(directory))
        {
            disk.make_directory(directory, Some(*mode))
                .map_err(|error| Error::io(directory, &error))?;
        }
        for file in &record.files {
            self.bring(journal, file, file.before, disk)?;
        }
        for directory in record
            .made
            .iter()
            .rev()
            .filter(|directory| self.is_empty_directory(directory))
        {
            disk.remove_directory(directory)
                .map_err(|error| Error::io(directory, &error))?;
        }
        Ok(())
    }

    fn is_empty_directory(&self, directory: &TreePath) -> bool {
        self.disk.is_directory(directory)
            && self
                .disk
                .entries(directory)
                .is_ok_and(|entries| entries.is_empty())
    }

    /// Every path must be as it was before or as it shall be after: nothing of others is lost.
    fn refuse_strangers(&self, record: &Record) -> Result<(), Error> {
        let mut strangers = Vec::new();
        for file in &record.files {
            let now = self.now(&file.path)?;
            let known = [file.before, file.after]
                .iter()
                .any(|version| version.map(|version| version.hash) == now);
            if !known {
                strangers.push(file.path.clone());
            }
        }
        if strangers.is_empty() {
            Ok(())
        } else {
            Err(Error::paths(
                ErrorKind::Changed,
                "changed since the migration, so nothing was touched",
                &strangers,
            ))
        }
    }

    fn now(&self, path: &TreePath) -> Result<Option<ContentHash>, Error> {
        self.disk
            .hash(path)
            .map_err(|error| Error::io(path, &error))
    }

    fn bring(
        &self,
        journal: &Journal,
        file: &FileRecord,
        version: Option<Version>,
        disk: &dyn Disk,
    ) -> Result<(), Error> {
        let now = self.now(&file.path)?;
        if now == version.map(|version| version.hash) {
            return Ok(());
        }
        let outcome = match version {
            Some(version) => disk.write(&file.path, journal.bytes(version), version.mode),
            None => disk.remove(&file.path),
        };
        outcome.map_err(|error| Error::io(&file.path, &error))
    }
}

fn unknown(id: &str) -> Error {
    Error::new(
        ErrorKind::NoSuchMigration,
        format!("there is no migration `{id}` to undo; `coalesce status` lists them"),
    )
}

fn append(contents: &mut Vec<u8>, bytes: &[u8], mode: u32) -> Version {
    let offset = contents.len() as u64;
    contents.extend_from_slice(bytes);
    Version {
        hash: ContentHash::of(bytes),
        mode,
        offset,
        bytes: bytes.len() as u64,
    }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
