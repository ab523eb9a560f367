//! Brings a tree to one of the two sides of a journal, from wherever between them it is.
//!
//! What a path needs is told by the hash of its bytes alone, so this can be cut off and started
//! again, in either direction, any number of times. Every byte is written and synced in our own
//! directory first: a full disk shows there, before the tree is touched, and what follows is
//! renames. Files that take no name come first, those that give one up last, so that turning back
//! never needs more room than there is. What somebody writes meanwhile is not lost: see `place`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use coalesce_model::TreePath;

use crate::{
    Error, ErrorKind,
    disk::{Disk, Seen},
    journal::{FileRecord, Journal, Record, Version},
    place::{Places, changed_meanwhile},
    preflight::Way,
    room::Room,
    settle::settle,
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

/// What becomes of files that are neither as the migration left them nor as it found them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strangers {
    /// Nothing is done.
    Refuse,
    /// They stay, and all else is done: somebody made them while we were at work.
    Leave,
}

/// What there is to say about a tree that was brought to a side.
#[derive(Debug, Default)]
pub(crate) struct Carried {
    /// Files that were left as somebody else made them.
    pub left: Vec<TreePath>,
    /// Files that were replaced on a file system that cannot exchange files.
    pub windows: Vec<TreePath>,
}

/// One path on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'j> {
    pub path: &'j TreePath,
    /// Its place in the record.
    pub number: usize,
    /// What stands there now.
    pub stands: Option<Version>,
    /// What shall stand there.
    pub wanted: Option<Version>,
}

/// What has to happen, in this order.
#[derive(Default)]
struct Work<'j> {
    creates: Vec<Job<'j>>,
    edits: Vec<Job<'j>>,
    modes: Vec<(&'j TreePath, u32)>,
    deletes: Vec<Job<'j>>,
    left: Vec<TreePath>,
}

impl<'j> Work<'j> {
    fn writes(&self) -> impl Iterator<Item = &Job<'j>> {
        self.creates.iter().chain(&self.edits)
    }

    fn needs_room(&self) -> bool {
        self.writes().chain(&self.deletes).next().is_some()
    }

    fn add(&mut self, job: Job<'j>, seen: &Seen, other: Option<Version>) {
        match (job.wanted, seen) {
            (None, Seen::Nothing) => {}
            (None, _) => self.deletes.push(job),
            (Some(_), Seen::Nothing) => self.creates.push(job),
            (Some(wanted), Seen::Plain { hash, mode }) if *hash == wanted.hash => {
                // Bits that the migration did not change are not its to put back.
                let changes_mode = other.is_none_or(|other| other.mode != wanted.mode);
                if changes_mode && *mode != wanted.mode {
                    self.modes.push((job.path, wanted.mode));
                }
            }
            (Some(_), _) => self.edits.push(job),
        }
    }
}

/// Brings the tree to `side`.
pub(crate) fn carry(
    disk: &Disk,
    journal: &Journal,
    side: Side,
    (room, strangers): (&Room, Strangers),
) -> Result<Carried, Error> {
    let record = &journal.record;
    settle(disk, journal, room)?;
    let work = survey(disk, record, side, strangers)?;
    let mut places = Places::new(disk, journal, room, side);
    if work.needs_room() {
        stage_all(disk, journal, &work, room)?;
        if side == Side::After {
            room.keep(&disk.calls)?;
        }
    }
    make_directories(disk, record, &work, room)?;
    work.creates.iter().try_for_each(|job| places.create(job))?;
    work.edits.iter().try_for_each(|job| places.replace(job))?;
    for (path, mode) in &work.modes {
        let set = disk.calls.set_mode(&disk.absolute(path), *mode);
        set.map_err(|error| Error::io(path, &error))?;
    }
    work.deletes.iter().try_for_each(|job| places.remove(job))?;
    // Whoever had a file open may have gone on writing to it.
    let late = settle(disk, journal, room)?.put_back;
    if !late.is_empty() {
        return Err(changed_meanwhile(late));
    }
    for directory in side.absent_directories(record) {
        remove_if_empty(disk, &directory)?;
    }
    sync_places(disk, record, &work)?;
    Ok(Carried {
        windows: places.windows,
        left: work.left,
    })
}

/// Refuses where a file is neither as the migration left it nor as it found it.
pub(crate) fn refuse_strangers(disk: &Disk, record: &Record) -> Result<(), Error> {
    survey(disk, record, Side::Before, Strangers::Refuse).map(drop)
}

/// What has to happen. Every path must be as it was before or as it shall be after: nothing of
/// others is lost.
fn survey<'j>(
    disk: &Disk,
    record: &'j Record,
    side: Side,
    strangers: Strangers,
) -> Result<Work<'j>, Error> {
    let mut work = Work::default();
    let mut way = Way::new(disk);
    for (number, file) in record.files.iter().enumerate() {
        way.pass_all(&file.path)?;
        let seen = disk
            .seen(&file.path)
            .map_err(|error| Error::io(&file.path, &error))?;
        let (wanted, other) = side.of(file);
        if !seen.is(wanted) && !seen.is(other) {
            work.left.push(file.path.clone());
            continue;
        }
        let job = Job {
            path: &file.path,
            number,
            stands: if seen.is(wanted) { wanted } else { other },
            wanted,
        };
        work.add(job, &seen, other);
    }
    if strangers == Strangers::Leave || work.left.is_empty() {
        return Ok(work);
    }
    let message = "changed since the migration, so nothing was touched";
    Err(Error::paths(ErrorKind::Changed, message, work.left))
}

/// Writes every file that will be placed, and brings them to the disk: one sync, or none.
fn stage_all(disk: &Disk, journal: &Journal, work: &Work<'_>, room: &Room) -> Result<(), Error> {
    let failed = |error: io::Error| Error::state("new files cannot be prepared", &error);
    room.fresh_stage(&disk.calls).map_err(failed)?;
    let mut staged = BTreeSet::new();
    for job in work.writes() {
        let Some(version) = job.wanted else { continue };
        check_owner(disk, job.path, version.owner)?;
        let file = room.stage.join(job.number.to_string());
        disk.calls
            .create_as(&file, journal.bytes(version), version.mode, version.owner)
            .and_then(|made| date_apart((&file, &made), job, disk))
            .map_err(|error| Error::io(job.path, &error))?;
        staged.insert(file);
    }
    if !staged.is_empty() {
        let synced = disk.calls.sync_made(&room.stage, &staged);
        synced.map_err(|error| Error::state("the disk cannot be synced", &error))?;
    }
    room.staged(&disk.calls).map_err(failed)
}

/// Dates a new file a second after the one that it replaces, where both are as long and of one second: what is
/// compiled of a source (`__pycache__`) is held for good by length and second, and would be run in its place.
pub(crate) fn date_apart(
    (new, made): (&Path, &Metadata),
    job: &Job<'_>,
    disk: &Disk,
) -> io::Result<()> {
    // What stands there was read, and is as long as that.
    if job.stands.is_none_or(|stands| stands.bytes != made.len()) {
        return Ok(());
    }
    let Ok(Some(old)) = disk.metadata(job.path) else {
        return Ok(());
    };
    let second = |time: SystemTime| {
        time.duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs())
    };
    let (was, is) = (old.modified()?, made.modified()?);
    if old.len() != made.len() || second(was) != second(is) {
        return Ok(());
    }
    // To set a date one has to own the file, and on Windows to write it: it may be read-only.
    let file = fs::OpenOptions::new()
        .read(true)
        .write(cfg!(windows))
        .open(new)?;
    file.set_modified(is + Duration::from_secs(1))
}

fn make_directories(
    disk: &Disk,
    record: &Record,
    work: &Work<'_>,
    room: &Room,
) -> Result<(), Error> {
    let missing = disk.missing_directories(work.writes().map(|job| job.path));
    if !missing.is_empty() {
        let failed = |error: io::Error| Error::state("directories cannot be prepared", &error);
        room.fresh_stage(&disk.calls).map_err(failed)?;
    }
    let removed = record.removed.iter();
    let removed: BTreeMap<&TreePath, _> = removed.map(|removed| (&removed.path, removed)).collect();
    for (number, directory) in missing.into_iter().enumerate() {
        let failed = |error| Error::io(&directory, &error);
        let known = removed.get(&directory);
        let (mode, owner) = match known {
            Some(removed) => {
                check_owner(disk, &directory, removed.owner)?;
                (Some(removed.mode), removed.owner)
            }
            None => (None, owner_of_new(disk, &directory)?),
        };
        let staged = room.stage.join(number.to_string());
        disk.make_directory(&directory, mode, owner, &staged)
            .map_err(failed)?;
    }
    Ok(())
}

/// Whether somebody owns something on the way to a path, or the file there, or is whom we run as. A journal may
/// have come with the tree, and gives nothing to anybody else.
fn check_owner(disk: &Disk, path: &TreePath, owner: Owner) -> Result<(), Error> {
    if system::is_self(owner) {
        return Ok(());
    }
    let there = disk.absolute(path);
    let nearest = disk.nearest_directory(path);
    let root = disk.absolute(&TreePath::root());
    let above = nearest
        .ancestors()
        .take_while(|directory| directory.starts_with(&root));
    let mut places = above.chain([there.as_path()]);
    let owns = |place: &Path| {
        let metadata = fs::symlink_metadata(place);
        metadata.is_ok_and(|metadata| system::owner(&metadata).user == owner.user)
    };
    if places.any(owns) {
        return Ok(());
    }
    let message = format!(
        "the journal gives it to user {}, who owns nothing on the way to it",
        owner.user
    );
    Err(Error::path(ErrorKind::Journal, path, &message))
}

/// Whom a new entry belongs to, by the nearest directory that exists.
pub(crate) fn owner_of_new(disk: &Disk, path: &TreePath) -> Result<Owner, Error> {
    let directory = disk.nearest_directory(path);
    let metadata = fs::metadata(directory).map_err(|error| Error::io(path, &error))?;
    Ok(system::owner_of_new(&metadata))
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

/// The bytes are on the disk already, all but their names: those of files, and those of directories
/// that came or went, each in the directory above it.
fn sync_places(disk: &Disk, record: &Record, work: &Work<'_>) -> Result<(), Error> {
    let modes = work.modes.iter().map(|(path, _)| disk.absolute(path));
    let removed = record.removed.iter().map(|directory| &directory.path);
    let directories = record.made.iter().chain(removed);
    let named = record.paths.iter().chain(directories);
    // One of each directory: thousands of files are in it.
    let apart: BTreeMap<Option<TreePath>, &TreePath> =
        named.map(|path| (path.parent(), path)).collect();
    let above = apart.into_values().map(|path| disk.nearest_directory(path));
    sync(disk, &modes.chain(above).collect())
}

fn sync(disk: &Disk, paths: &BTreeSet<PathBuf>) -> Result<(), Error> {
    disk.calls
        .sync(paths)
        .map_err(|error| Error::state("the disk cannot be synced", &error))
}
