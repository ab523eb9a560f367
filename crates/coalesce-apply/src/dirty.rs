//! Which files have changes that no commit holds. Reads the repository's own files; runs nothing of
//! it, no filter and no `git`, and heeds no configuration from outside it.

use std::{
    fmt::Display,
    fs,
    path::{Path, PathBuf},
};

use coalesce_model::TreePath;
use gix::{Repository, ThreadSafeRepository, bstr::ByteSlice as _, index, objs::Kind, open, sec};

use crate::{Error, ErrorKind};

/// The files among `paths` that differ from the last commit, or are in none. Empty where there is
/// no repository, or where its commits hold nothing of the tree.
///
/// A file that a filter changes on checkout counts as clean while the index says that nobody has
/// touched it since, or when it differs in line ends only and the repository has them converted;
/// otherwise it counts as changed.
///
/// # Errors
/// When there is a repository and it cannot be read.
pub fn uncommitted(root: &Path, paths: &[TreePath]) -> Result<Vec<TreePath>, Error> {
    let Some(repository) = discover(root)? else {
        return Ok(Vec::new());
    };
    let Some(checkout) = Checkout::of(&repository, root)? else {
        return Ok(Vec::new());
    };
    let mut dirty = Vec::new();
    for path in paths {
        if checkout.is_changed(path)? {
            dirty.push(path.clone());
        }
    }
    Ok(dirty)
}

fn trouble(error: impl Display) -> Error {
    let message = format!("the repository cannot be read: {error}");
    Error::new(ErrorKind::Repository, message)
}

fn discover(root: &Path) -> Result<Option<Repository>, Error> {
    let options = || open::Options::isolated();
    let options = sec::trust::Mapping {
        full: options(),
        reduced: options(),
    };
    match ThreadSafeRepository::discover_opts(
        root,
        gix::discover::upwards::Options::default(),
        options,
    ) {
        Ok(repository) => Ok(Some(repository.to_thread_local())),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(trouble(error)),
    }
}

/// The part of a repository's working directory that is the tree.
struct Checkout<'r> {
    repository: &'r Repository,
    /// The last commit; `None` where nothing was ever committed.
    head: Option<gix::Tree<'r>>,
    index: gix::worktree::Index,
    root: PathBuf,
    /// The root, relative to the working directory.
    below: PathBuf,
}

impl<'r> Checkout<'r> {
    /// `None` where the repository has no working directory, or does not hold the tree.
    fn of(repository: &'r Repository, root: &Path) -> Result<Option<Self>, Error> {
        let Some(top) = repository.workdir() else {
            return Ok(None);
        };
        let top = top.canonicalize().map_err(trouble)?;
        let root = root.canonicalize().map_err(trouble)?;
        let Ok(below) = root.strip_prefix(&top) else {
            return Ok(None);
        };
        let born = !repository.head().map_err(trouble)?.is_unborn();
        let head = born.then(|| repository.head_tree().map_err(trouble));
        let checkout = Self {
            repository,
            head: head.transpose()?,
            index: repository.index_or_empty().map_err(trouble)?,
            below: below.to_owned(),
            root,
        };
        let whole = checkout.below.as_os_str().is_empty();
        let held = whole || checkout.committed(&checkout.below)?.is_some();
        Ok(held.then_some(checkout))
    }

    fn committed(&self, path: &Path) -> Result<Option<gix::ObjectId>, Error> {
        let Some(head) = &self.head else {
            return Ok(None);
        };
        let entry = head.lookup_entry_by_path(path).map_err(trouble)?;
        Ok(entry.map(|entry| entry.object_id()))
    }

    fn is_changed(&self, path: &TreePath) -> Result<bool, Error> {
        let file = self.root.join(path.as_str());
        // What is no plain file is not ours to judge: it is refused before anything is written.
        if !fs::symlink_metadata(&file).is_ok_and(|metadata| metadata.is_file()) {
            return Ok(false);
        }
        let bytes = fs::read(&file).map_err(|error| Error::io(path, &error))?;
        let below = self.below.join(path.as_str());
        let Some(committed) = self.committed(&below)? else {
            return Ok(true);
        };
        let is = |bytes: &[u8]| {
            let hash = gix::objs::compute_hash(self.repository.object_hash(), Kind::Blob, bytes);
            hash.is_ok_and(|hash| hash == committed)
        };
        let clean = is(&bytes)
            || self.is_untouched(&file, &below, committed)
            || (self.converts_line_ends(path) && is(&without_carriage_returns(&bytes)));
        Ok(!clean)
    }

    /// Whether the index holds what is committed, and the file is the one that it was checked out
    /// to: then it is clean, whatever filters made of it.
    fn is_untouched(&self, file: &Path, below: &Path, committed: gix::ObjectId) -> bool {
        let below = below.to_string_lossy().replace('\\', "/");
        let Some(entry) = self.index.entry_by_path(below.as_bytes().as_bstr()) else {
            return false;
        };
        let options = index::entry::stat::Options::default();
        let now = index::fs::Metadata::from_path_no_follow(file).ok();
        let now = now.and_then(|metadata| index::entry::Stat::from_fs(&metadata).ok());
        entry.id == committed
            && now.is_some_and(|now| entry.stat.matches(&now, options))
            && !entry.stat.is_racy(self.index.timestamp(), options)
    }

    /// Whether the repository may have line ends converted, by its configuration or by attributes
    /// on the way to the file.
    fn converts_line_ends(&self, path: &TreePath) -> bool {
        let configured = self.repository.config_snapshot().string("core.autocrlf");
        if configured.is_some_and(|value| value.as_bstr() != "false") {
            return true;
        }
        let top = self.root.ancestors().nth(self.below.components().count());
        let file = self.root.join(path.as_str());
        let above = file.ancestors().skip(1);
        let inside =
            above.take_while(|directory| top.is_some_and(|top| directory.starts_with(top)));
        inside
            .into_iter()
            .any(|directory| directory.join(".gitattributes").is_file())
    }
}

fn without_carriage_returns(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes.len());
    for (at, byte) in bytes.iter().enumerate() {
        if !(*byte == b'\r' && bytes.get(at + 1) == Some(&b'\n')) {
            plain.push(*byte);
        }
    }
    plain
}
