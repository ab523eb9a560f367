//! The journal of one migration: a record of every path, and the bytes before and after.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use coalesce_model::{ContentHash, TreePath};
use serde::{Deserialize, Serialize};

use crate::{Error, ErrorKind};

const RECORD: &str = "record.json";
const CONTENTS: &str = "contents";
const STATE: &str = "state";

/// What the journal knows of a migration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// `0001-` and the ids of the manifests.
    pub id: String,
    /// Every path that changes, sorted.
    pub paths: Vec<TreePath>,
    pub(crate) files: Vec<FileRecord>,
    /// Directories that come into being, outermost first.
    pub(crate) made: Vec<TreePath>,
    /// Directories that go away, innermost first, with their permission bits.
    pub(crate) removed: Vec<(TreePath, u32)>,
}

/// One path, before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileRecord {
    pub path: TreePath,
    pub before: Option<Version>,
    pub after: Option<Version>,
}

/// A file's bytes, as a range of the contents file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Version {
    pub hash: ContentHash,
    pub mode: u32,
    pub offset: u64,
    pub bytes: u64,
}

/// How far a migration is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The journal is whole; the tree may be anywhere between.
    Started,
    /// Applied.
    Done,
    /// Undone.
    Undone,
}

/// The journal of one migration on disk.
pub(crate) struct Journal {
    pub record: Record,
    directory: PathBuf,
    contents: Vec<u8>,
}

impl Journal {
    /// Writes a new journal and brings it to the disk: three syncs.
    pub fn create(directory: &Path, record: Record, contents: Vec<u8>) -> Result<Self, Error> {
        let failed = |error: &io::Error| {
            Error::new(
                ErrorKind::Io,
                format!("the journal cannot be written: {error}"),
            )
        };
        let write = || -> io::Result<()> {
            fs::create_dir_all(directory)?;
            synced(&directory.join(CONTENTS), &contents)?;
            // The record comes last: a journal without one was never begun.
            let text = serde_json::to_vec_pretty(&record).map_err(io::Error::other)?;
            synced(&directory.join(format!("{RECORD}.new")), &text)?;
            fs::rename(
                directory.join(format!("{RECORD}.new")),
                directory.join(RECORD),
            )?;
            sync_directory(directory)
        };
        write().map_err(|error| failed(&error))?;
        Ok(Self {
            record,
            directory: directory.to_owned(),
            contents,
        })
    }

    /// Reads a journal; `None` for a directory whose record was never finished.
    pub fn open(directory: &Path) -> Result<Option<Self>, Error> {
        let damaged = |what: &str| {
            Error::new(
                ErrorKind::Journal,
                format!("the journal {} is damaged: {what}", directory.display()),
            )
        };
        let text = match fs::read(directory.join(RECORD)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(damaged(&error.to_string())),
        };
        let record: Record =
            serde_json::from_slice(&text).map_err(|error| damaged(&error.to_string()))?;
        let contents =
            fs::read(directory.join(CONTENTS)).map_err(|error| damaged(&error.to_string()))?;
        let journal = Self {
            record,
            directory: directory.to_owned(),
            contents,
        };
        let versions = journal
            .record
            .files
            .iter()
            .flat_map(|file| [file.before, file.after])
            .flatten();
        for version in versions {
            if ContentHash::of(journal.bytes(version)) != version.hash {
                return Err(damaged("its contents do not fit its record"));
            }
        }
        Ok(Some(journal))
    }

    /// The bytes of a version.
    pub fn bytes(&self, version: Version) -> &[u8] {
        let start = usize::try_from(version.offset).unwrap_or(usize::MAX);
        let bytes = usize::try_from(version.bytes).unwrap_or(usize::MAX);
        self.contents
            .get(start..start.saturating_add(bytes))
            .unwrap_or_default()
    }

    pub fn state(&self) -> State {
        match fs::read_to_string(self.directory.join(STATE)).as_deref() {
            Ok("done\n") => State::Done,
            Ok("undone\n") => State::Undone,
            _ => State::Started,
        }
    }

    /// Marks the migration, so that a reader sees the old or the new mark: two syncs.
    pub fn mark(&self, state: State) -> Result<(), Error> {
        let text = match state {
            State::Started => return Ok(()),
            State::Done => "done\n",
            State::Undone => "undone\n",
        };
        let write = || -> io::Result<()> {
            let new = self.directory.join(format!("{STATE}.new"));
            synced(&new, text.as_bytes())?;
            fs::rename(new, self.directory.join(STATE))?;
            sync_directory(&self.directory)
        };
        write().map_err(|error| {
            Error::new(
                ErrorKind::Io,
                format!("the journal cannot be marked: {error}"),
            )
        })
    }
}

fn synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) {
        fs::File::open(directory)?.sync_all()
    } else {
        Ok(())
    }
}
