//! The journal of one migration: one file with a record of every path and the bytes before and
//! after. How far the migration is stands in the file's name, so that one rename changes it.
//!
//! A journal may have come with the tree, from anybody: its hashes show damage and no more. What it
//! says is done only as far as a migration could have written it (`trust`).

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{self, BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
};

use coalesce_model::{ContentHash, TreePath};
use serde::{Deserialize, Serialize};

use coalesce_tree::plain::{self, Links};

use crate::{
    Error, ErrorKind,
    calls::{Calls, existing},
    disk::holds_either,
    room::{FOUND, numbered},
    system::Owner,
    trust,
};

/// First word of a journal; its format follows.
const MAGIC: &str = "coalesce-journal-";
/// The format that this build writes, and the only one that it reads.
const FORMAT: u32 = 1;
/// Longer records are damage: half a million paths take less.
const MAXIMUM_RECORD_BYTES: u64 = 64 << 20;
/// More than this is not migrated at once: it goes through memory.
const MAXIMUM_CONTENT_BYTES: u64 = 1 << 30;

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
    /// Bytes that no version is known of.
    #[cfg(test)]
    pub fn of(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            known: BTreeMap::new(),
        }
    }

    /// Refuses more than a journal may keep.
    pub fn refuse_too_many(&self) -> Result<(), Error> {
        if self.bytes.len() as u64 <= MAXIMUM_CONTENT_BYTES {
            return Ok(());
        }
        let message = format!(
            "a migration keeps {} MiB of what it changes, before and after, and this one has more: split it",
            MAXIMUM_CONTENT_BYTES >> 20
        );
        Err(Error::new(ErrorKind::Io, message))
    }

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

    fn of_another_format(&self, format: u32) -> Error {
        let file = self.file.file_name().unwrap_or_default().display();
        let message = format!(
            "the journal .coalesce/journal/{file} has format {format}, and this build reads format \
             {FORMAT}: finish or undo it with the build that wrote it"
        );
        Error::new(ErrorKind::Journal, message)
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
        let file = plain::open(&self.file, Links::Refuse).map_err(failed)?;
        let mut reader = BufReader::new(file);
        let mut line = String::new();
        reader
            .by_ref()
            .take(256)
            .read_line(&mut line)
            .map_err(failed)?;
        let header = parse_header(&line).ok_or_else(|| self.damaged("it does not begin as one"))?;
        if header.format != FORMAT {
            return Err(self.of_another_format(header.format));
        }
        let mut text = Vec::new();
        let record = reader.by_ref().take(header.bytes.min(MAXIMUM_RECORD_BYTES));
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
        trust::check(&record).map_err(|what| self.damaged(&what))?;
        Ok((record, reader))
    }

    /// The whole journal, every byte of it checked.
    pub fn open(&self) -> Result<Journal, Error> {
        let (record, mut reader) = self.read_record()?;
        let mut contents = Vec::new();
        let read = reader
            .by_ref()
            .take(MAXIMUM_CONTENT_BYTES)
            .read_to_end(&mut contents);
        read.map_err(|error| self.damaged(&error.to_string()))?;
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
    format: u32,
    bytes: u64,
    hash: ContentHash,
}

fn parse_header(line: &str) -> Option<Header> {
    let mut words = line.strip_prefix(MAGIC)?.split_whitespace();
    let format = words.next()?.parse().ok()?;
    let bytes = words.next()?.parse().ok()?;
    let hash = u128::from_str_radix(words.next()?, 16).ok()?;
    let hash = ContentHash(hash);
    Some(Header {
        format,
        bytes,
        hash,
    })
}

/// All journals in a directory, oldest first.
pub(crate) fn entries(directory: &Path) -> io::Result<Vec<Entry>> {
    let Some(found) = existing(fs::read_dir(directory))? else {
        return Ok(Vec::new());
    };
    let mut entries = Vec::new();
    for file in found {
        let file = file?;
        if !file.file_type()?.is_file() {
            continue;
        }
        let file = file.path();
        let stem = file.file_stem().and_then(|stem| stem.to_str());
        let parts = stem.and_then(|stem| stem.split_once('.'));
        let numbered = parts.and_then(|(number, id)| Some((number.parse().ok()?, id.to_owned())));
        let written = numbered.filter(|(_, id)| id.chars().all(is_safe));
        if let (Some((number, id)), Some(_)) = (written, State::of(&file)) {
            entries.push(Entry { number, id, file });
        }
    }
    entries.sort();
    Ok(entries)
}

/// Characters of a migration's name; it is part of a file name.
pub(crate) fn is_safe(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+' | '.')
}

/// The largest number of anything in a directory of journals.
pub(crate) fn last_number(directory: &Path) -> io::Result<u32> {
    let numbers = numbered(directory)?.into_iter().map(|(number, _)| number);
    Ok(numbers
        .max()
        .map_or(0, |last| u32::try_from(last).unwrap_or(u32::MAX)))
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
        calls: &Calls,
    ) -> Result<Self, Error> {
        contents.refuse_too_many()?;
        let (number, id) = (record.number, &record.id);
        let file = directory.join(format!("{number:04}.{id}.{}", State::Started.extension()));
        let new = file.with_extension(NEW);
        let contents = contents.bytes;
        let write = || -> io::Result<()> {
            let text = serde_json::to_vec(&record).map_err(io::Error::other)?;
            if text.len() as u64 > MAXIMUM_RECORD_BYTES {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            let hash = ContentHash::of(&text);
            let mut whole = format!("{MAGIC}{FORMAT} {} {hash}\n", text.len()).into_bytes();
            whole.extend_from_slice(&text);
            whole.extend_from_slice(&contents);
            drop(calls.create(&new, &whole)?);
            calls.sync_one(&new)?;
            calls.place(&new, &file)?;
            calls.sync_one(directory)
        };
        match write() {
            Ok(()) => Ok(Self {
                record,
                file,
                contents,
            }),
            Err(error) => {
                drop((fs::remove_file(file), fs::remove_file(new)));
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
    pub fn mark(&mut self, state: State, calls: &Calls) -> Result<(), Error> {
        let marked = self.file.with_extension(state.extension());
        let failed = |error| Error::state("the journal cannot be marked", &error);
        calls.rename(&self.file, &marked).map_err(failed)?;
        if let Err(error) = self.sync_name(calls) {
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

    /// Forgets a migration that was undone: one sync. Of what it took out of the tree, that goes
    /// which the journal has, too; the rest stays, and so does what was there before a file that
    /// somebody else has changed. Gives the files that stay.
    pub fn discard(&self, left: &[TreePath], calls: &Calls) -> Result<Vec<PathBuf>, Error> {
        let failed = |error| Error::state("the journal cannot be removed", &error);
        let left: BTreeSet<&TreePath> = left.iter().collect();
        let mut stay = Vec::new();
        for (number, at) in numbered(&self.kept()).map_err(failed)? {
            let own = self.record.files.get(number);
            let own = own.filter(|file| !left.contains(&file.path));
            let recorded = own.is_some_and(|file| holds_either(&at, file.before, file.after));
            if recorded && !at.to_string_lossy().contains(FOUND) {
                existing(calls.remove(&at)).map_err(failed)?;
            } else {
                stay.push(at);
            }
        }
        if stay.is_empty() {
            existing(calls.remove_directory(&self.kept())).map_err(failed)?;
        }
        calls.remove(&self.file).map_err(failed)?;
        // A journal that comes back when the power fails is one whose undo finds nothing to do.
        drop(self.sync_name(calls));
        Ok(stay)
    }

    fn sync_name(&self, calls: &Calls) -> io::Result<()> {
        calls.sync_one(self.file.parent().unwrap_or(&self.file))
    }
}

/// A journal that is being written.
const NEW: &str = "new";

/// Removes journals that were never finished being written; nobody else writes one meanwhile.
pub(crate) fn forget_unwritten(directory: &Path) -> io::Result<()> {
    for (_, path) in numbered(directory)? {
        if path.extension().is_some_and(|extension| extension == NEW) {
            existing(fs::remove_file(path))?;
        }
    }
    Ok(())
}
