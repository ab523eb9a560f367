//! Brings a tree to one of the two sides of a journal, from wherever between them it is.
//!
//! What a path needs is told by the hash of its bytes alone, so this can be cut off and started
//! again, in either direction, any number of times. Every byte is written and synced in our own
//! directory first: a full disk shows there, before the tree is touched, and what follows is
//! renames. Files that take no name come first, those that give one up last, so that turning back
//! never needs more room than there is.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use coalesce_model::TreePath;

use crate::{
    Error, ErrorKind,
    disk::{Disk, Seen},
    journal::{FileRecord, Journal, Record, Version},
    preflight,
    system::{self, Owner},
};

/// One side of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The tree before the migration.
    Before,
    /// The tree after it.
    After,
}

impl Side {
    /// The file of a record on this side, and on the other.
    fn of(self, file: &FileRecord) -> (Option<Version>, Option<Version>) {
        match self {
            Self::Before => (file.before, file.after),
            Self::After => (file.after, file.before),
        }
    }

    /// Directories that are not there on this side, innermost first.
    fn absent_directories(self, record: &Record) -> Vec<TreePath> {
        match self {
            Self::Before => record.made.iter().rev().cloned().collect(),
            Self::After => record
                .removed
                .iter()
                .map(|directory| directory.path.clone())
                .collect(),
        }
    }
}

/// What has to happen, in this order.
#[derive(Default)]
struct Work<'j> {
    creates: Vec<(&'j TreePath, Version)>,
    edits: Vec<(&'j TreePath, Version)>,
    modes: Vec<(&'j TreePath, u32)>,
    deletes: Vec<&'j TreePath>,
}

impl<'j> Work<'j> {
    fn writes(&self) -> impl Iterator<Item = (&'j TreePath, Version)> {
        self.creates.iter().chain(&self.edits).copied()
    }

    fn add(
        &mut self,
        path: &'j TreePath,
        seen: &Seen,
        wanted: Option<Version>,
        other: Option<Version>,
    ) {
        match (wanted, seen) {
            (None, Seen::Nothing) => {}
            (None, _) => self.deletes.push(path),
            (Some(wanted), Seen::Nothing) => self.creates.push((path, wanted)),
            (Some(wanted), Seen::Plain { hash, mode }) if *hash == wanted.hash => {
                // Bits that the migration did not change are not its to put back.
                let changes_mode = other.is_none_or(|other| other.mode != wanted.mode);
                if changes_mode && *mode != wanted.mode {
                    self.modes.push((path, wanted.mode));
                }
            }
            (Some(wanted), _) => self.edits.push((path, wanted)),
        }
    }
}

/// Brings the tree to `side`; files are prepared in `stage`.
pub(crate) fn carry(disk: &Disk, journal: &Journal, side: Side, stage: &Path) -> Result<(), Error> {
    let record = &journal.record;
    let work = survey(disk, record, side)?;
    let staged = stage_all(disk, journal, &work, stage)?;
    let kept = Kept::new(journal, side)?;
    make_directories(disk, record, &work)?;
    for (path, _) in work.writes() {
        let from = staged.get(path).map(PathBuf::as_path).unwrap_or(stage);
        disk.place(from, path, kept.name(record, path).as_deref())
            .map_err(|error| Error::io(path, &error))?;
    }
    for (path, mode) in &work.modes {
        disk.set_mode(path, *mode)
            .map_err(|error| Error::io(path, &error))?;
    }
    for path in &work.deletes {
        disk.remove(path, kept.name(record, path).as_deref())
            .map_err(|error| Error::io(path, &error))?;
    }
    for directory in side.absent_directories(record) {
        remove_if_empty(disk, &directory)?;
    }
    // The bytes are on the disk already, all but their names.
    let files = work.modes.iter().map(|(path, _)| disk.absolute(path));
    let directories = record
        .paths
        .iter()
        .map(|path| nearest_directory(disk, path));
    sync(disk, &files.chain(directories).collect())
}

/// Where files go that a migration takes away; an undo frees them.
struct Kept(Option<PathBuf>);

impl Kept {
    fn new(journal: &Journal, side: Side) -> Result<Self, Error> {
        if side == Side::Before {
            return Ok(Self(None));
        }
        let directory = journal.kept();
        // One that a tree brings along may be a link that leads out of it.
        if !fs::symlink_metadata(&directory).is_ok_and(|metadata| metadata.is_dir()) {
            fs::create_dir(&directory)
                .map_err(|error| Error::state("replaced files cannot be kept", &error))?;
        }
        Ok(Self(Some(directory)))
    }

    /// A name of its own for each path of the record.
    fn name(&self, record: &Record, path: &TreePath) -> Option<PathBuf> {
        let number = record.paths.binary_search(path).ok()?;
        Some(self.0.as_ref()?.join(number.to_string()))
    }
}

/// Refuses where a file is neither as the migration left it nor as it found it.
pub(crate) fn refuse_strangers(disk: &Disk, record: &Record) -> Result<(), Error> {
    survey(disk, record, Side::Before).map(drop)
}

/// What has to happen. Every path must be as it was before or as it shall be after: nothing of
/// others is lost.
fn survey<'j>(disk: &Disk, record: &'j Record, side: Side) -> Result<Work<'j>, Error> {
    let mut work = Work::default();
    let mut strangers = Vec::new();
    for file in &record.files {
        preflight::on_the_way(disk, &file.path)?;
        let seen = disk
            .seen(&file.path)
            .map_err(|error| Error::io(&file.path, &error))?;
        let (wanted, other) = side.of(file);
        let is = |version: Option<Version>| seen.is(version.map(|version| version.hash));
        if is(wanted) || is(other) {
            work.add(&file.path, &seen, wanted, other);
        } else {
            strangers.push(file.path.clone());
        }
    }
    if strangers.is_empty() {
        return Ok(work);
    }
    let message = "changed since the migration, so nothing was touched";
    Err(Error::paths(ErrorKind::Changed, message, strangers))
}

/// Writes every file that will be placed, and brings them to the disk: one sync, or none.
fn stage_all<'j>(
    disk: &Disk,
    journal: &Journal,
    work: &Work<'j>,
    stage: &Path,
) -> Result<BTreeMap<&'j TreePath, PathBuf>, Error> {
    fresh_directory(stage).map_err(|error| Error::state("new files cannot be prepared", &error))?;
    let mut staged = BTreeMap::new();
    for (number, (path, version)) in work.writes().enumerate() {
        let file = stage.join(number.to_string());
        let bytes = journal.bytes(version);
        disk.stage(&file, bytes, version.mode, version.owner)
            .map_err(|error| Error::io(path, &error))?;
        staged.insert(path, file);
    }
    if !staged.is_empty() {
        sync(disk, &staged.values().cloned().collect())?;
    }
    Ok(staged)
}

fn fresh_directory(stage: &Path) -> std::io::Result<()> {
    crate::disk::existing(fs::remove_dir_all(stage))?;
    fs::create_dir(stage)
}

fn make_directories(disk: &Disk, record: &Record, work: &Work<'_>) -> Result<(), Error> {
    let mut missing = BTreeSet::new();
    for (path, _) in work.writes() {
        let mut above = path.parent();
        while let Some(directory) = above.filter(|directory| !disk.is_directory(directory)) {
            above = directory.parent();
            missing.insert(directory);
        }
    }
    for directory in missing {
        let failed = |error| Error::io(&directory, &error);
        let known = record
            .removed
            .iter()
            .find(|removed| removed.path == directory);
        let (mode, owner) = match known {
            Some(removed) => (Some(removed.mode), removed.owner),
            None => (None, owner_of_new(disk, &directory)?),
        };
        disk.make_directory(&directory, mode, owner)
            .map_err(failed)?;
    }
    Ok(())
}

/// Whom a new entry belongs to, by the nearest directory that exists.
pub(crate) fn owner_of_new(disk: &Disk, path: &TreePath) -> Result<Owner, Error> {
    let directory = nearest_directory(disk, path);
    let metadata = fs::metadata(directory).map_err(|error| Error::io(path, &error))?;
    Ok(system::owner_of_new(&metadata))
}

fn nearest_directory(disk: &Disk, path: &TreePath) -> PathBuf {
    let mut above = path.parent();
    while let Some(directory) = above.filter(|directory| !directory.is_root()) {
        if disk.is_directory(&directory) {
            return disk.absolute(&directory);
        }
        above = directory.parent();
    }
    disk.root.clone()
}

fn remove_if_empty(disk: &Disk, directory: &TreePath) -> Result<(), Error> {
    let failed = |error| Error::io(directory, &error);
    let empty = disk.is_directory(directory)
        && disk
            .holds_only(directory, &BTreeSet::new())
            .map_err(failed)?;
    if empty {
        disk.remove_directory(directory).map_err(failed)?;
    }
    Ok(())
}

fn sync(disk: &Disk, paths: &BTreeSet<PathBuf>) -> Result<(), Error> {
    disk.sync(paths)
        .map_err(|error| Error::state("the disk cannot be synced", &error))
}
