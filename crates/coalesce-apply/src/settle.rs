//! Looks at what came out of the tree and was not looked at, because a run was cut off or because
//! somebody went on writing to a file after it had been taken out, and puts back what no version of
//! the journal is: it is somebody's work.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use coalesce_model::TreePath;

use crate::{
    Error,
    calls::existing,
    disk::{Disk, Seen, holds_either},
    journal::{FileRecord, Journal, Record},
    room::{FOUND, Room, move_aside, numbered},
};

/// What came of a look at everything that was taken out.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// Paths that hold somebody's work again.
    pub put_back: Vec<TreePath>,
}

/// Frees what is recorded, puts back what is not. Afterwards there is no `placing`.
pub(crate) fn settle(disk: &Disk, journal: &Journal, room: &Room) -> Result<Settled, Error> {
    let mut settled = Settled::default();
    let record = &journal.record;
    let failed = |error: io::Error| Error::state("what was taken out cannot be looked at", &error);
    for (number, at) in numbered(&room.kept).map_err(failed)? {
        let Some(file) = record.files.get(number).filter(|_| !is_found(&at)) else {
            continue;
        };
        if !is_recorded(&at, file) {
            settled.put_back(disk, room, (number, file), &at)?;
        }
    }
    let beside = left_beside(disk, record);
    for (number, at) in numbered(&room.placing)
        .map_err(failed)?
        .into_iter()
        .chain(beside)
    {
        let Some(file) = record.files.get(number) else {
            continue;
        };
        if !is_recorded(&at, file) {
            settled.put_back(disk, room, (number, file), &at)?;
        }
        if is_recorded(&at, file) {
            existing(disk.calls.remove(&at)).map_err(failed)?;
        }
    }
    if !fs::symlink_metadata(&room.placing).is_ok_and(|metadata| metadata.is_dir()) {
        move_aside(&room.placing).map_err(failed)?;
        return Ok(settled);
    }
    match existing(disk.calls.remove_directory(&room.placing)) {
        // What is left in it has no number: it is not ours.
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
            move_aside(&room.placing).map_err(failed)?;
        }
        outcome => drop(outcome.map_err(failed)?),
    }
    Ok(settled)
}

impl Settled {
    /// Brings a file back to the path that it came from, unless that has a newer one.
    fn put_back(
        &mut self,
        disk: &Disk,
        room: &Room,
        (number, file): (usize, &FileRecord),
        at: &Path,
    ) -> Result<(), Error> {
        let failed = |error: io::Error| Error::io(&file.path, &error);
        let absolute = disk.absolute(&file.path);
        let stands = disk.seen(&file.path).unwrap_or(Seen::Other);
        let ours = stands.is(file.before) || stands.is(file.after);
        if stands == Seen::Nothing {
            if disk.calls.place(at, &absolute).is_ok() {
                self.put_back.push(file.path.clone());
                return Ok(());
            }
        } else if ours && return_to(disk, at, &absolute).map_err(failed)? {
            self.put_back.push(file.path.clone());
            return Ok(());
        }
        room.keep(&disk.calls)?;
        disk.calls.rename(at, &room.found(number)).map_err(failed)
    }
}

/// Exchanges a file with the version of ours that has its place; on a file system without that call
/// our version is in the journal.
fn return_to(disk: &Disk, at: &Path, absolute: &Path) -> io::Result<bool> {
    match disk.calls.exchange(at, absolute) {
        Ok(true) => Ok(true),
        Ok(false) => disk.calls.rename(at, absolute).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Ok(disk.calls.place(at, absolute).is_ok())
        }
        Err(error) => Err(error),
    }
}

fn is_found(at: &Path) -> bool {
    let name = at.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.contains(FOUND))
}

/// Whether a file is what the journal has of its path, so that nothing goes with it.
pub(crate) fn is_recorded(at: &Path, file: &FileRecord) -> bool {
    holds_either(at, file.before, file.after)
}

/// The name of a file that waits beside its place, on a file system of its own.
pub(crate) fn beside(disk: &Disk, record: &Record, number: usize, path: &TreePath) -> PathBuf {
    let name = format!(".coalesce-{}-{number}", record.number);
    disk.absolute(path).with_file_name(name)
}

/// What a run that was cut off has left beside its place. Files that were being written go.
fn left_beside(disk: &Disk, record: &Record) -> Vec<(usize, PathBuf)> {
    let mut left = Vec::new();
    let mut elsewhere: BTreeMap<Option<TreePath>, bool> = BTreeMap::new();
    for (number, file) in record.files.iter().enumerate() {
        // Files of one directory are asked for once.
        let known = elsewhere.entry(file.path.parent());
        if !*known.or_insert_with(|| disk.is_elsewhere(&file.path)) {
            continue;
        }
        let at = beside(disk, record, number, &file.path);
        drop(fs::remove_file(at.with_extension("part")));
        let names = [at.with_extension("old"), at];
        let there = names
            .into_iter()
            .filter(|at| fs::symlink_metadata(at).is_ok());
        left.extend(there.map(|at| (number, at)));
    }
    left
}
