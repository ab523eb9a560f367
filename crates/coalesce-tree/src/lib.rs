//! The only reader of disk: walks with ignore rules, reads, decodes, and takes facts in parallel.
//!
//! Nothing of the tree is written or executed, symbolic links are not followed, and what cannot be
//! read is a [`Skip`] with its reason, never passed over in silence.

mod cache;
mod error;
mod settings;
mod walk;

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use coalesce_model::{Language, PathError, Settings, Texts, TreePath};
use rayon::prelude::*;

pub use crate::{
    cache::FactsCache,
    error::{Error, ErrorKind},
};

/// Larger files are skipped: no source file is, and spans have 32 bits.
pub const MAXIMUM_FILE_BYTES: u64 = 64 << 20;

/// A file that was not read, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skip {
    /// The file.
    pub path: TreePath,
    /// Why, as a sentence fragment.
    pub reason: String,
}

/// What the walk saw of one file.
#[derive(Clone, Debug)]
pub struct FileEntry {
    /// The path.
    pub path: TreePath,
    /// Length in bytes.
    pub bytes: u64,
    /// Time of the last change, in nanoseconds since 1970.
    pub modified: i128,
    /// Number of the file in its file system; 0 where there is none.
    pub inode: u64,
    /// Permission bits; 0 where there are none.
    pub mode: u32,
}

/// A tree on disk: its files, and their texts once they were asked for. Cheap to share.
pub struct SourceTree {
    root: PathBuf,
    files: Vec<FileEntry>,
    paths: Vec<TreePath>,
    texts: Vec<OnceLock<Option<Arc<str>>>>,
    skips: Mutex<Vec<Skip>>,
    settings: Settings,
}

impl SourceTree {
    /// Walks the tree at `root` and reads its `coalesce.toml`; source files are read when needed.
    ///
    /// # Errors
    /// When the root is no readable directory, or `coalesce.toml` is malformed.
    pub fn open(root: &Path) -> Result<Self, Error> {
        let io = |error: &io::Error| {
            Error::new(
                ErrorKind::from(error),
                root.display().to_string(),
                error.to_string(),
            )
        };
        let root_path = root.canonicalize().map_err(|error| io(&error))?;
        if !root_path.is_dir() {
            return Err(Error::new(
                ErrorKind::NotADirectory,
                root.display().to_string(),
                "it is not a directory".to_owned(),
            ));
        }
        let settings = settings::read(&root_path)?;
        let walk::Walk { files, skips } = walk::walk(&root_path, &settings.exclude)?;
        Ok(Self {
            paths: files.iter().map(|file| file.path.clone()).collect(),
            texts: files.iter().map(|_| OnceLock::new()).collect(),
            files,
            skips: Mutex::new(skips),
            root: root_path,
            settings: settings.for_languages,
        })
    }

    /// The absolute path of the root.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What `coalesce.toml` says.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Every file, sorted by path.
    #[must_use]
    pub fn files(&self) -> &[FileEntry] {
        &self.files
    }

    /// The path inside the tree of a path as a user gives it, relative to the current directory.
    ///
    /// # Errors
    /// When it is not inside the tree.
    pub fn tree_path(&self, path: &Path) -> Result<TreePath, Error> {
        let outside = || {
            Error::new(
                ErrorKind::Outside,
                path.display().to_string(),
                "it is outside the tree".to_owned(),
            )
        };
        let absolute = std::path::absolute(path).map_err(|_| outside())?;
        // What does not exist yet is judged by the nearest directory that does.
        let existing = absolute
            .ancestors()
            .find(|ancestor| ancestor.exists())
            .ok_or_else(outside)?;
        let rest = absolute.strip_prefix(existing).map_err(|_| outside())?;
        let real = existing.canonicalize().map_err(|_| outside())?.join(rest);
        let relative = real.strip_prefix(&self.root).map_err(|_| outside())?;
        TreePath::new(relative.to_str().ok_or_else(outside)?).map_err(|_: PathError| outside())
    }

    /// The bytes and permission bits of a file, as they are on disk now.
    ///
    /// # Errors
    /// When it cannot be read, or is not a plain file of the tree.
    pub fn content(&self, path: &TreePath) -> Result<(Vec<u8>, u32), Error> {
        let absolute = self.root.join(path.as_str());
        let failed = |error: io::Error| {
            Error::new(ErrorKind::from(&error), path.to_string(), error.to_string())
        };
        let metadata = fs::symlink_metadata(&absolute).map_err(failed)?;
        if !metadata.is_file() {
            return Err(Error::new(
                ErrorKind::NotAFile,
                path.to_string(),
                "it is not a plain file".to_owned(),
            ));
        }
        Ok((fs::read(&absolute).map_err(failed)?, walk::mode(&metadata)))
    }

    /// The facts of every file that the language claims, sorted by path: from the cache where it
    /// holds them, else read and taken, in parallel.
    pub fn facts<L: Language>(
        &self,
        language: &L,
        cache: Option<&FactsCache<L>>,
    ) -> Vec<(TreePath, Arc<L::Facts>)> {
        let claimed: Vec<usize> = (0..self.files.len())
            .filter(|at| {
                self.files
                    .get(*at)
                    .is_some_and(|file| language.claims(&file.path))
            })
            .collect();
        let taken = claimed.into_par_iter().filter_map(|at| {
            let file = self.files.get(at)?;
            if let Some(facts) = cache.and_then(|cache| cache.get(file)) {
                return Some((file.path.clone(), facts));
            }
            let text = self.text_at(at)?;
            Some((
                file.path.clone(),
                Arc::new(language.facts(&file.path, &text)),
            ))
        });
        let taken: Vec<_> = taken.collect();
        if let Some(cache) = cache {
            cache.store(self, &taken);
        }
        taken
    }

    /// The files that were not read, and why, sorted.
    #[must_use]
    pub fn skips(&self) -> Vec<Skip> {
        let mut skips = self
            .skips
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        skips.sort();
        skips.dedup();
        skips
    }

    fn text_at(&self, at: usize) -> Option<Arc<str>> {
        let (file, slot) = (self.files.get(at)?, self.texts.get(at)?);
        slot.get_or_init(|| match decode(&self.root, file) {
            Ok(text) => Some(text),
            Err(reason) => {
                let skip = Skip {
                    path: file.path.clone(),
                    reason,
                };
                self.skips
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(skip);
                None
            }
        })
        .clone()
    }
}

fn decode(root: &Path, file: &FileEntry) -> Result<Arc<str>, String> {
    if file.bytes > MAXIMUM_FILE_BYTES {
        return Err(format!("larger than {} MiB", MAXIMUM_FILE_BYTES >> 20));
    }
    let bytes = fs::read(root.join(file.path.as_str())).map_err(|error| error.to_string())?;
    if memchr::memchr(0, &bytes).is_some() {
        return Err("binary: it holds a NUL byte".to_owned());
    }
    let text = String::from_utf8(bytes)
        .map_err(|error| format!("not UTF-8 at byte {}", error.utf8_error().valid_up_to()))?;
    Ok(Arc::from(text))
}

impl Texts for SourceTree {
    fn text(&self, path: &TreePath) -> Option<Arc<str>> {
        self.text_at(self.paths.binary_search(path).ok()?)
    }

    fn paths(&self) -> &[TreePath] {
        &self.paths
    }
}
