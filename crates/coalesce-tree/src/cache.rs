//! Facts kept between runs, outside the tree, in the user's cache directory.
//!
//! Cached facts count without a look at the file when its size, times and inode are those that
//! were seen, and it had not changed shortly before they were (git's racy rule); otherwise when
//! the hash of its bytes is the same. A cache that cannot be read is dropped; one that cannot be
//! written costs time, never correctness.
//!
//! Facts are believed as they stand, so a cache counts only where nobody but this user, or root, can
//! have written it: a plain file of theirs that no one else may write, outside of the tree.

use std::{
    fs,
    io::Write as _,
    marker::PhantomData,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use coalesce_model::{ContentHash, TreePath, language::Taken};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::{
    FileEntry, SourceTree,
    plain::{self, Links},
};

/// A clock tick of the coarsest file systems, in nanoseconds.
const RACY: i128 = 2_000_000_000;
/// A longer cache is none of ours: facts have about the length of what they are taken from.
const LONGEST: u64 = 4 << 30;
/// Caches that nobody has written for so long belong to trees that are gone.
const FORGOTTEN: Duration = Duration::from_hours(24 * 60);

#[derive(Serialize, Deserialize)]
struct Header {
    version: String,
    facts_version: u32,
}

/// What was known of a file when its facts were taken.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Stat {
    bytes: u64,
    modified: i128,
    changed: i128,
    inode: u64,
}

impl Stat {
    fn of(file: &FileEntry) -> Self {
        let FileEntry {
            bytes,
            modified,
            changed,
            inode,
            ..
        } = *file;
        Self {
            bytes,
            modified,
            changed,
            inode,
        }
    }

    /// Whether a later change would show in the times, the file being read after `walk`.
    fn settled(self, walk: i128) -> bool {
        self.modified.max(self.changed) + RACY < walk
    }
}

/// The form of the rows, and who has written them.
const FORM: &str = concat!(env!("CARGO_PKG_VERSION"), " rows 3");

struct Entry<F> {
    stat: Stat,
    settled: bool,
    remarks: bool,
    hash: ContentHash,
    facts: Arc<F>,
}

/// What the cache knows of a file.
pub(crate) enum Found<F> {
    /// It is the file that these facts were taken from; whether it has remarks for us is known.
    Same {
        hash: ContentHash,
        facts: Arc<F>,
        remarks: bool,
    },
    /// It is, if its bytes have this hash.
    Perhaps { hash: ContentHash, facts: Arc<F> },
}

/// Where the facts of a file came from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// From the cache, without a look at the file.
    Cached,
    /// From the cache, after a look at the file.
    Confirmed,
    /// From the file.
    Taken,
}

/// One file, what was seen of its text, its facts, and where they came from.
pub(crate) type Row<'r, F> = (&'r FileEntry, Seen, &'r F, Origin);

/// What was seen of a text.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    /// The hash of its bytes.
    pub hash: ContentHash,
    /// Whether it has remarks for us.
    pub remarks: bool,
}

/// The cached facts of one language and one tree.
pub struct FactsCache<L: Taken> {
    file: PathBuf,
    entries: FxHashMap<TreePath, Entry<L::Of>>,
    language: PhantomData<fn() -> L>,
}

impl<L: Taken> FactsCache<L> {
    /// The cache of this tree and language; empty where none can be read. `None` when the user has
    /// no cache directory, switched it off with `COALESCE_CACHE_DIR=off`, or has it in the tree, whose
    /// maker could have written it.
    #[must_use]
    pub fn open(tree: &SourceTree, language: &L) -> Option<Self> {
        let directory = std::path::absolute(directory()?).ok()?;
        let real = directory.canonicalize();
        let inside = |path: &Path| path.starts_with(tree.root());
        if inside(&directory) || real.is_ok_and(|real| inside(&real)) {
            return None;
        }
        Some(Self::open_in(&directory, tree, language))
    }

    /// The cache of this tree and language below `directory`.
    #[must_use]
    pub fn open_in(directory: &Path, tree: &SourceTree, language: &L) -> Self {
        let root = ContentHash::of(tree.root().as_os_str().as_encoded_bytes());
        let name = format!("{root}-{}.facts", language.kept_as());
        let file = directory.join(name);
        let entries = load::<L>(&file).unwrap_or_default();
        Self {
            file,
            entries,
            language: PhantomData,
        }
    }

    /// What is known of a file.
    pub(crate) fn get(&self, file: &FileEntry) -> Option<Found<L::Of>> {
        let entry = self.entries.get(&file.path)?;
        let (hash, facts) = (entry.hash, Arc::clone(&entry.facts));
        if entry.settled && entry.stat == Stat::of(file) {
            let remarks = entry.remarks;
            return Some(Found::Same {
                hash,
                facts,
                remarks,
            });
        }
        let perhaps = entry.stat.bytes == file.bytes;
        perhaps.then_some(Found::Perhaps { hash, facts })
    }

    /// Writes the facts of a run whose walk began at `walk`, unless that would tell nothing new.
    pub(crate) fn store(&self, walk: i128, rows: &[Row<'_, L::Of>]) {
        let news = |(file, _, _, origin): &Row<'_, L::Of>| match origin {
            Origin::Taken => true,
            Origin::Confirmed => Stat::of(file).settled(walk),
            Origin::Cached => false,
        };
        if rows.len() == self.entries.len() && !rows.iter().any(news) {
            return;
        }
        // A cache that cannot be written is none: the next run reads the files again.
        if write::<L>(&self.file, walk, rows).is_some() {
            forget_old(&self.file);
        }
    }
}

/// A file's row: its path, what was known of it, whether that settles it, whether it has remarks for us, its hash, its
/// facts.
type Stored<P, F> = (P, Stat, bool, bool, u128, F);

fn load<L: Taken>(file: &Path) -> Option<FxHashMap<TreePath, Entry<L::Of>>> {
    let bytes = own_bytes(file)?;
    let (stamp, rest) = bytes.split_at_checked(16)?;
    if u128::from_le_bytes(stamp.try_into().ok()?) != ContentHash::of(rest).0 {
        return None;
    }
    let (header, mut rest): (Header, &[u8]) = postcard::take_from_bytes(rest).ok()?;
    if header.version != FORM || header.facts_version != L::VERSION {
        return None;
    }
    let mut entries = FxHashMap::default();
    // One by one: facts are large, and a list of all would be a second place for them.
    while !rest.is_empty() {
        let row: Stored<TreePath, L::Of>;
        (row, rest) = postcard::take_from_bytes(rest).ok()?;
        let (path, stat, settled, remarks, hash, facts) = row;
        let (hash, facts) = (ContentHash(hash), Arc::new(facts));
        let entry = Entry {
            stat,
            settled,
            remarks,
            hash,
            facts,
        };
        entries.insert(path, entry);
    }
    Some(entries)
}

/// The bytes of a file that nobody but this user or root can have written.
fn own_bytes(file: &Path) -> Option<Vec<u8>> {
    let opened = plain::open(file, Links::Refuse).ok()?;
    let metadata = opened.metadata().ok()?;
    if !is_own(&metadata) {
        return None;
    }
    plain::read_all(opened, metadata.len(), LONGEST).ok()
}

#[cfg(unix)]
fn is_own(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let owner = found.uid();
    let others_write = found.mode() & 0o022 != 0;
    !others_write && (owner == 0 || owner == rustix::process::geteuid().as_raw())
}

/// The user's own directory is nobody else's to write.
#[cfg(not(unix))]
fn is_own(_: &fs::Metadata) -> bool {
    true
}

fn write<L: Taken>(file: &Path, walk: i128, rows: &[Row<'_, L::Of>]) -> Option<()> {
    let header = Header {
        version: FORM.to_owned(),
        facts_version: L::VERSION,
    };
    let mut body = postcard::to_stdvec(&header).ok()?;
    for (file, seen, facts, _) in rows {
        let stat = Stat::of(file);
        let (settled, hash) = (stat.settled(walk), seen.hash.0);
        let row: Stored<&TreePath, &L::Of> =
            (&file.path, stat, settled, seen.remarks, hash, *facts);
        body = postcard::to_extend(&row, body).ok()?;
    }
    let directory = file.parent()?;
    fs::create_dir_all(directory).ok()?;
    let mut temporary = tempfile::NamedTempFile::new_in(directory).ok()?;
    let stamp = ContentHash::of(&body).0.to_le_bytes();
    temporary.write_all(&stamp).ok()?;
    temporary.write_all(&body).ok()?;
    temporary.persist(file).ok()?;
    Some(())
}

/// Removes caches of trees that nobody has read for long. One that stays is no harm.
fn forget_old(file: &Path) {
    let entries = file.parent().and_then(|parent| fs::read_dir(parent).ok());
    for entry in entries.into_iter().flatten().flatten() {
        let path = entry.path();
        let written = entry.metadata().and_then(|metadata| metadata.modified());
        let age = written.map(|written| {
            SystemTime::now()
                .duration_since(written)
                .unwrap_or_default()
        });
        let ours = path
            .extension()
            .is_some_and(|extension| extension == "facts");
        if ours && age.is_ok_and(|age| age > FORGOTTEN) {
            drop(fs::remove_file(path));
        }
    }
}

/// The user's cache directory for us, by the conventions of the platform; `None` when there is none,
/// or it is switched off with `COALESCE_CACHE_DIR=off`.
#[must_use]
pub fn directory() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(named) = variable("COALESCE_CACHE_DIR") {
        return (named != "off").then(|| PathBuf::from(named));
    }
    let absolute = |name: &str| {
        let path = variable(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let base = if cfg!(windows) {
        absolute("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        absolute("HOME").map(|home| home.join("Library/Caches"))
    } else {
        absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))
    };
    Some(base?.join("coalesce"))
}
