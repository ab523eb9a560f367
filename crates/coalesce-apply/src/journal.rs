//! The journal of one migration: one file with a record of every path and the bytes before and
//! after. How far the migration is stands in the file's name, so that one rename changes it.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    path::{Path, PathBuf},
};

use coalesce_model::{ContentHash, TreePath};
use serde::{Deserialize, Serialize};

use crate::{
    Error, ErrorKind,
    disk::{Disk, Step, existing},
    system::{self, Owner},
};

/// First word of a journal, and its format.
const MAGIC: &str = "coalesce-journal-1";
/// Longer records are damage.
const MAXIMUM_RECORD_BYTES: u64 = 1 << 30;

/// What the journal knows of a migration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The ids of its manifests, and a number where another migration has the same.
    #[serde(skip)]
    pub id: String,
    /// Later migrations have larger numbers.
    #[serde(skip)]
    pub(crate) number: u32,
    /// Every path that changes, sorted.
    #[serde(skip)]
    pub paths: Vec<TreePath>,
    pub(crate) files: Vec<FileRecord>,
    /// Directories that come into being, outermost first.
    pub(crate) made: Vec<TreePath>,
    /// Directories that go away, innermost first.
    pub(crate) removed: Vec<DirectoryRecord>,
}

/// One path, before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileRecord {
    pub path: TreePath,
    pub before: Option<Version>,
    pub after: Option<Version>,
}

/// A file as it was or shall be. Its bytes are a range of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Version {
    pub hash: ContentHash,
    pub mode: u32,
    pub owner: Owner,
    pub offset: u64,
    pub bytes: u64,
}

/// A directory as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DirectoryRecord {
    pub path: TreePath,
    pub mode: u32,
    pub owner: Owner,
}

/// How far a migration is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The journal is whole; the tree may be anywhere between.
    Started,
    /// Applied.
    Done,
}

impl State {
    fn extension(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Done => "done",
        }
    }

    fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?;
        [Self::Started, Self::Done]
            .into_iter()
            .find(|state| extension == state.extension())
    }
}

/// The bytes of all versions, each kept once.
#[derive(Default)]
pub(crate) struct Contents {
    bytes: Vec<u8>,
    known: BTreeMap<ContentHash, (u64, u64)>,
}

impl Contents {
    /// Keeps a file's bytes.
    pub fn keep(&mut self, bytes: &[u8], mode: u32, owner: Owner) -> Version {
        let hash = ContentHash::of(bytes);
        let (offset, bytes) = *self.known.entry(hash).or_insert_with(|| {
            let offset = self.bytes.len() as u64;
            self.bytes.extend_from_slice(bytes);
            (offset, bytes.len() as u64)
        });
        Version {
            hash,
            mode,
            owner,
            offset,
            bytes,
        }
    }
}

/// Where a journal is and how far, without a look inside.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    /// Later migrations have larger numbers.
    pub number: u32,
    pub id: String,
    file: PathBuf,
}

impl Entry {
    pub fn state(&self) -> Option<State> {
        State::of(&self.file)
    }

    fn damaged(&self, what: &str) -> Error {
        let file = self.file.file_name().unwrap_or_default().display();
        Error::new(
            ErrorKind::Journal,
            format!("the journal .coalesce/journal/{file} is damaged: {what}"),
        )
    }

    /// The record alone; its contents are not looked at.
    pub fn record(&self) -> Result<Record, Error> {
        self.read_record().map(|(record, _)| record)
    }

    fn read_record(&self) -> Result<(Record, BufReader<File>), Error> {
        let failed = |error: io::Error| self.damaged(&error.to_string());
        let mut reader = BufReader::new(File::open(&self.file).map_err(failed)?);
        let mut line = String::new();
        reader
            .by_ref()
            .take(256)
            .read_line(&mut line)
            .map_err(failed)?;
        let header = parse_header(&line).ok_or_else(|| self.damaged("it does not begin as one"))?;
        let mut text = Vec::new();
        let record = reader.by_ref().take(header.bytes);
        record
            .take(MAXIMUM_RECORD_BYTES)
            .read_to_end(&mut text)
            .map_err(failed)?;
        if ContentHash::of(&text) != header.hash {
            return Err(self.damaged("its record is not the one that was written"));
        }
        let record: Record =
            serde_json::from_slice(&text).map_err(|error| self.damaged(&error.to_string()))?;
        let paths = record.files.iter().map(|file| file.path.clone()).collect();
        let record = Record {
            id: self.id.clone(),
            number: self.number,
            paths,
            ..record
        };
        Ok((record, reader))
    }

    /// The whole journal, every byte of it checked.
    pub fn open(&self) -> Result<Journal, Error> {
        let (record, mut reader) = self.read_record()?;
        let mut contents = Vec::new();
        reader
            .read_to_end(&mut contents)
            .map_err(|error| self.damaged(&error.to_string()))?;
        let journal = Journal {
            record,
            file: self.file.clone(),
            contents,
        };
        let files = journal.record.files.iter();
        for version in files.flat_map(|file| [file.before, file.after]).flatten() {
            if ContentHash::of(journal.bytes(version)) != version.hash {
                return Err(self.damaged("its contents do not fit its record"));
            }
        }
        Ok(journal)
    }
}

struct Header {
    bytes: u64,
    hash: ContentHash,
}

fn parse_header(line: &str) -> Option<Header> {
    let mut words = line.strip_prefix(MAGIC)?.split_whitespace();
    let bytes = words.next()?.parse().ok()?;
    let hash = u128::from_str_radix(words.next()?, 16).ok()?;
    let hash = ContentHash(hash);
    Some(Header { bytes, hash })
}

/// All journals in a directory, oldest first.
pub(crate) fn entries(directory: &Path) -> io::Result<Vec<Entry>> {
    let Some(found) = existing(fs::read_dir(directory))? else {
        return Ok(Vec::new());
    };
    let mut entries = Vec::new();
    for file in found {
        let file = file?.path();
        let stem = file.file_stem().and_then(|stem| stem.to_str());
        let parts = stem.and_then(|stem| stem.split_once('.'));
        let numbered = parts.and_then(|(number, id)| Some((number.parse().ok()?, id.to_owned())));
        if let (Some((number, id)), Some(_)) = (numbered, State::of(&file)) {
            entries.push(Entry { number, id, file });
        }
    }
    entries.sort();
    Ok(entries)
}

/// The journal of one migration.
pub(crate) struct Journal {
    pub record: Record,
    file: PathBuf,
    contents: Vec<u8>,
}

impl Journal {
    /// Writes a new journal and brings it to the disk: two syncs. Where that fails, there is none.
    pub fn create(
        directory: &Path,
        record: Record,
        contents: Contents,
        disk: &Disk,
    ) -> Result<Self, Error> {
        let (number, id) = (record.number, &record.id);
        let file = directory.join(format!("{number:04}.{id}.{}", State::Started.extension()));
        let contents = contents.bytes;
        let write = || -> io::Result<()> {
            disk.step(Step::Journal)?;
            let text = serde_json::to_vec(&record).map_err(io::Error::other)?;
            let mut new = tempfile::Builder::new()
                .suffix(".new")
                .tempfile_in(directory)?;
            writeln!(new, "{MAGIC} {} {}", text.len(), ContentHash::of(&text))?;
            new.write_all(&text)?;
            new.write_all(&contents)?;
            disk.step(Step::Sync)?;
            new.as_file().sync_all()?;
            new.persist_noclobber(&file).map_err(|error| error.error)?;
            disk.step(Step::Sync)?;
            system::sync_path(directory)
        };
        match write() {
            Ok(()) => Ok(Self {
                record,
                file,
                contents,
            }),
            Err(error) => {
                drop(fs::remove_file(file));
                Err(Error::state("the journal cannot be written", &error))
            }
        }
    }

    /// The bytes of a version; none where the journal has too few.
    pub fn bytes(&self, version: Version) -> &[u8] {
        let start = usize::try_from(version.offset).unwrap_or(usize::MAX);
        let bytes = usize::try_from(version.bytes).unwrap_or(usize::MAX);
        let range = start..start.saturating_add(bytes);
        self.contents.get(range).unwrap_or_default()
    }

    /// Says how far the migration is: one sync. Where that fails, nothing new was said.
    pub fn mark(&mut self, state: State, disk: &Disk) -> Result<(), Error> {
        let marked = self.file.with_extension(state.extension());
        let failed = |error| Error::state("the journal cannot be marked", &error);
        disk.step(Step::Mark)
            .and_then(|()| fs::rename(&self.file, &marked))
            .map_err(failed)?;
        if let Err(error) = self.sync_name(disk) {
            drop(fs::rename(&marked, &self.file));
            return Err(failed(error));
        }
        self.file = marked;
        Ok(())
    }

    /// Where the files that the migration replaced stay until it is forgotten.
    pub fn kept(&self) -> PathBuf {
        self.file.with_extension("kept")
    }

    /// Forgets a migration that was undone: one sync.
    pub fn discard(&self, disk: &Disk) -> Result<(), Error> {
        disk.step(Step::Mark)
            .and_then(|()| existing(fs::remove_dir_all(self.kept())))
            .and_then(|_| fs::remove_file(&self.file))
            .map_err(|error| Error::state("the journal cannot be removed", &error))?;
        // A journal that comes back when the power fails is one whose undo finds nothing to do.
        drop(self.sync_name(disk));
        Ok(())
    }

    fn sync_name(&self, disk: &Disk) -> io::Result<()> {
        disk.step(Step::Sync)?;
        system::sync_path(self.file.parent().unwrap_or(&self.file))
    }
}
