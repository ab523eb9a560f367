//! Facts kept between runs, outside the tree, in the user's cache directory.
//!
//! An entry is trusted when size, time of change and inode are those of the file and the file had
//! not changed within the moment before the cache was written (git's racy rule). A cache that
//! cannot be read is dropped; one that cannot be written costs time, never correctness.

use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use coalesce_model::{ContentHash, Language, TreePath};
use serde::{Deserialize, Serialize};

use crate::{FileEntry, SourceTree};

/// A clock tick of the coarsest file systems, in nanoseconds.
const RACY: i128 = 2_000_000_000;

#[derive(Serialize, Deserialize)]
struct Header {
    version: String,
    facts_version: u32,
    written: i128,
}

#[derive(Clone, Serialize, Deserialize)]
struct Key {
    bytes: u64,
    modified: i128,
    inode: u64,
}

/// The cached facts of one language and one tree.
pub struct FactsCache<L: Language> {
    file: PathBuf,
    written: i128,
    entries: BTreeMap<TreePath, (Key, Arc<L::Facts>)>,
}

impl<L: Language> FactsCache<L> {
    /// The cache of this tree and language; empty where none can be read. `None` when the user has
    /// no cache directory, or switched it off with `COALESCE_CACHE_DIR=off`.
    #[must_use]
    pub fn open(tree: &SourceTree, language: &L) -> Option<Self> {
        let root = ContentHash::of(tree.root().as_os_str().as_encoded_bytes());
        let name = format!(
            "{root}-{}-{}.facts",
            language.kind().separator().len(),
            L::FACTS_VERSION
        );
        let file = directory()?.join(name);
        let (written, entries) = load::<L>(&file).unwrap_or_default();
        Some(Self {
            file,
            written,
            entries,
        })
    }

    /// The facts of a file, when the file is the one that they were taken from.
    #[must_use]
    pub fn get(&self, file: &FileEntry) -> Option<Arc<L::Facts>> {
        let (key, facts) = self.entries.get(&file.path)?;
        let same =
            key.bytes == file.bytes && key.modified == file.modified && key.inode == file.inode;
        let settled = file.modified + RACY < self.written;
        (same && settled).then(|| Arc::clone(facts))
    }

    /// Writes the facts of this run, unless the cache holds them all already.
    pub(crate) fn store(&self, tree: &SourceTree, facts: &[(TreePath, Arc<L::Facts>)]) {
        let files: BTreeMap<&TreePath, &FileEntry> =
            tree.files().iter().map(|file| (&file.path, file)).collect();
        let known = |path: &TreePath| files.get(path).is_some_and(|file| self.get(file).is_some());
        let racy = |path: &TreePath| {
            files
                .get(path)
                .is_some_and(|file| file.modified + RACY >= now())
        };
        let news = facts.iter().any(|(path, _)| !known(path) && !racy(path));
        if !news && facts.len() == self.entries.len() {
            return;
        }
        let rows = facts.iter().filter_map(|(path, facts)| {
            let file = files.get(path)?;
            Some((
                path,
                Key {
                    bytes: file.bytes,
                    modified: file.modified,
                    inode: file.inode,
                },
                &**facts,
            ))
        });
        let rows: Vec<_> = rows.collect();
        // A cache that cannot be written is none; the next run reads the files again.
        let _written: Option<()> = write::<L>(&self.file, &rows);
    }
}

type Entries<L> = BTreeMap<TreePath, (Key, Arc<<L as Language>::Facts>)>;

fn load<L: Language>(file: &Path) -> Option<(i128, Entries<L>)> {
    let bytes = fs::read(file).ok()?;
    let (stamp, rest) = bytes.split_at_checked(16)?;
    if u128::from_le_bytes(stamp.try_into().ok()?) != ContentHash::of(rest).0 {
        return None;
    }
    let (header, rest): (Header, &[u8]) = postcard::take_from_bytes(rest).ok()?;
    if header.version != env!("CARGO_PKG_VERSION") || header.facts_version != L::FACTS_VERSION {
        return None;
    }
    let rows: Vec<(TreePath, Key, L::Facts)> = postcard::from_bytes(rest).ok()?;
    Some((
        header.written,
        rows.into_iter()
            .map(|(path, key, facts)| (path, (key, Arc::new(facts))))
            .collect(),
    ))
}

fn write<L: Language>(file: &Path, rows: &[(&TreePath, Key, &L::Facts)]) -> Option<()> {
    let header = Header {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        facts_version: L::FACTS_VERSION,
        written: now(),
    };
    let mut body = postcard::to_stdvec(&header).ok()?;
    body.extend(postcard::to_stdvec(rows).ok()?);
    let directory = file.parent()?;
    fs::create_dir_all(directory).ok()?;
    let mut temporary = tempfile::NamedTempFile::new_in(directory).ok()?;
    temporary
        .write_all(&ContentHash::of(&body).0.to_le_bytes())
        .ok()?;
    temporary.write_all(&body).ok()?;
    temporary.persist(file).ok()?;
    Some(())
}

fn now() -> i128 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i128::try_from(since.as_nanos()).unwrap_or(0)
}

/// The user's cache directory for us, by the conventions of the platform.
fn directory() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("COALESCE_CACHE_DIR") {
        return (named != "off").then(|| PathBuf::from(named));
    }
    let variable = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|home| home.join("Library/Caches"))
    } else {
        variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")))
    };
    Some(base?.join("coalesce"))
}
