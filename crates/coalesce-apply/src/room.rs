//! Where files wait and stay while a journal is carried out, all of it below `.coalesce`.
//!
//! `stage` holds files that are being written and may be removed at any time. Once they are on the
//! disk, the directory becomes `placing`: from then on a file in it is either a whole version that
//! the journal records, or something that came out of the tree and that nobody has looked at.
//! What a migration takes out of the tree stays in `kept`, by the number of its path in the record.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    Error,
    calls::{Calls, existing},
};

/// The directories of one journal.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    /// Files that are being written.
    pub stage: PathBuf,
    /// Files on their way into the tree, and out of it.
    pub placing: PathBuf,
    /// What the migration took out.
    pub kept: PathBuf,
}

impl Room {
    /// An empty `stage`.
    pub fn fresh_stage(&self, calls: &Calls) -> io::Result<()> {
        remove_stage(&self.stage)?;
        calls.make_directory(&self.stage)
    }

    /// What was staged is whole and on the disk.
    pub fn staged(&self, calls: &Calls) -> io::Result<()> {
        move_aside(&self.placing)?;
        calls.rename(&self.stage, &self.placing)
    }

    /// Makes `kept`, if it is not there. One that a tree brings along may be a link that leads out.
    pub fn keep(&self, calls: &Calls) -> Result<(), Error> {
        if fs::symlink_metadata(&self.kept).is_ok_and(|metadata| metadata.is_dir()) {
            return Ok(());
        }
        calls
            .make_directory(&self.kept)
            .map_err(|error| Error::state("replaced files cannot be kept", &error))
    }

    /// A name in `kept` that nothing has, for what belongs to nobody.
    pub fn found(&self, number: usize) -> PathBuf {
        let names = (0_u32..).map(|times| self.kept.join(format!("{number}{FOUND}{times}")));
        let mut free = names.filter(|path| fs::symlink_metadata(path).is_err());
        free.next().unwrap_or_else(|| self.kept.join(FOUND))
    }
}

/// Marks files in `kept` that are no version of the journal.
pub(crate) const FOUND: &str = ".found";

/// The files of a directory with the number that their name begins with, sorted.
pub(crate) fn numbered(directory: &Path) -> io::Result<Vec<(usize, PathBuf)>> {
    // One that a tree brings along may be a link that leads out of it.
    let own = existing(fs::symlink_metadata(directory))?;
    if !own.is_some_and(|metadata| metadata.is_dir()) {
        return Ok(Vec::new());
    }
    let Some(entries) = existing(fs::read_dir(directory))? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let number = name.and_then(|name| name.split('.').next()?.parse().ok());
        if let Some(number) = number {
            found.push((number, path));
        }
    }
    found.sort();
    Ok(found)
}

/// Removes a directory of files that were being written.
pub(crate) fn remove_stage(stage: &Path) -> io::Result<()> {
    if fs::symlink_metadata(stage).is_ok_and(|metadata| metadata.is_dir()) {
        return existing(fs::remove_dir_all(stage)).map(drop);
    }
    move_aside(stage)
}

/// Gives what stands in our way another name. It is not ours: we leave nothing there.
pub(crate) fn move_aside(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path).is_err() || fs::remove_dir(path).is_ok() {
        return Ok(());
    }
    for number in 1..1_000 {
        let aside = path.with_extension(format!("aside-{number}"));
        if fs::symlink_metadata(&aside).is_err() {
            return fs::rename(path, aside);
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
