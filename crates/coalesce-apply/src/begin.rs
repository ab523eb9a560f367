//! From changes to the record of a journal: what is there, what shall be, and which directories
//! come and go with it. Reads the tree, changes nothing.

use std::collections::BTreeSet;

use coalesce_model::TreePath;
use coalesce_tree::plain::{self, Links};

use crate::{
    Error, ErrorKind, FileChange,
    calls::existing,
    carry,
    disk::{Disk, MAXIMUM_FILE_BYTES},
    journal::{Contents, DirectoryRecord, FileRecord, Record, Version},
    system,
};

/// The record of a migration and the bytes that it refers to. Refuses files that are not as the
/// changes expect them.
pub(crate) fn record(
    disk: &Disk,
    (number, id): (u32, String),
    changes: &[FileChange],
    mode_of_new: u32,
) -> Result<(Record, Contents), Error> {
    let mut contents = Contents::default();
    let mut files = Vec::with_capacity(changes.len());
    let mut changed = Vec::new();
    for change in changes {
        let file = file_record(disk, change, mode_of_new, &mut contents)?;
        // Before all of it is in memory.
        contents.refuse_too_many()?;
        let found = file.before.map(|version| version.hash);
        if found != change.before.map(|stamp| stamp.hash) {
            changed.push(change.path.clone());
        }
        files.push(file);
    }
    if !changed.is_empty() {
        let message = "changed since the plan was made";
        return Err(Error::paths(ErrorKind::Changed, message, changed));
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let record = Record {
        id,
        number,
        paths: files.iter().map(|file| file.path.clone()).collect(),
        made: directories_to_make(disk, &files),
        removed: directories_to_remove(disk, &files)?,
        files,
    };
    Ok((record, contents))
}

fn file_record(
    disk: &Disk,
    change: &FileChange,
    mode_of_new: u32,
    contents: &mut Contents,
) -> Result<FileRecord, Error> {
    let path = &change.path;
    let failed = |error| Error::io(path, &error);
    let absolute = disk.absolute(path);
    let read = plain::read_with_metadata(&absolute, MAXIMUM_FILE_BYTES, Links::Refuse);
    let before = existing(read).map_err(failed)?.map(|(bytes, metadata)| {
        contents.keep(&bytes, system::mode(&metadata), system::owner(&metadata))
    });
    let after = match &change.after {
        Some(content) => {
            let mode = before.map_or(mode_of_new, |version: Version| version.mode);
            let owner = match before {
                Some(version) => version.owner,
                None => carry::owner_of_new(disk, path)?,
            };
            Some(contents.keep(&content.bytes, content.mode.unwrap_or(mode), owner))
        }
        None => None,
    };
    let path = path.clone();
    Ok(FileRecord {
        path,
        before,
        after,
    })
}

/// Directories that new files need, outermost first.
fn directories_to_make(disk: &Disk, files: &[FileRecord]) -> Vec<TreePath> {
    let wanted = files.iter().filter(|file| file.after.is_some());
    let missing = disk.missing_directories(wanted.map(|file| &file.path));
    missing.into_iter().collect()
}

/// Directories that hold nothing but files that go away, innermost first.
fn directories_to_remove(disk: &Disk, files: &[FileRecord]) -> Result<Vec<DirectoryRecord>, Error> {
    let (stay, go): (Vec<_>, Vec<_>) = files.iter().partition(|file| file.after.is_some());
    let go = go.into_iter().filter(|file| file.before.is_some());
    let mut stay: Vec<&str> = stay.iter().map(|file| file.path.as_str()).collect();
    stay.sort_unstable();
    let mut gone: BTreeSet<TreePath> = go.map(|file| file.path.clone()).collect();
    let mut candidates: BTreeSet<TreePath> = gone.iter().filter_map(TreePath::parent).collect();
    let mut removed = Vec::new();
    // The last one is never above another candidate.
    while let Some(directory) = candidates.pop_last() {
        let failed = |error| Error::io(&directory, &error);
        let inside = format!("{directory}/");
        let next = stay.partition_point(|path| *path < inside.as_str());
        let needed = stay.get(next).is_some_and(|path| path.starts_with(&inside));
        if directory.is_root() || needed || !disk.holds_only(&directory, &gone).map_err(failed)? {
            continue;
        }
        if let Some(metadata) = disk.metadata(&directory).map_err(failed)? {
            removed.push(DirectoryRecord {
                path: directory.clone(),
                mode: system::mode(&metadata),
                owner: system::owner(&metadata),
            });
        }
        candidates.extend(directory.parent());
        gone.insert(directory);
    }
    removed.sort_by(|a, b| b.path.cmp(&a.path));
    Ok(removed)
}
