//! Which files have changes that no commit holds. Reads the repository; runs nothing of it.

use std::{fs, path::Path};

use coalesce_model::TreePath;
use gix::objs::Kind;

use crate::{Error, ErrorKind};

/// The files among `paths` that differ from the last commit, or are in none. Empty where there is
/// no repository, or where it does not hold the tree at all.
///
/// # Errors
/// When there is a repository and it cannot be read.
pub fn uncommitted(root: &Path, paths: &[TreePath]) -> Result<Vec<TreePath>, Error> {
    let trouble = |error: &dyn std::fmt::Display| {
        Error::new(
            ErrorKind::Repository,
            format!("the repository cannot be read: {error}"),
        )
    };
    let Ok(repository) = gix::discover(root) else {
        return Ok(Vec::new());
    };
    let Some(top) = repository.workdir().and_then(|top| top.canonicalize().ok()) else {
        return Ok(Vec::new());
    };
    let root = root.canonicalize().map_err(|error| trouble(&error))?;
    let Ok(below) = root.strip_prefix(&top) else {
        return Ok(Vec::new());
    };
    let head = match repository.head_commit() {
        Ok(commit) => commit.tree().map_err(|error| trouble(&error))?,
        // Nothing was ever committed: nothing can be told apart.
        Err(_) => return Ok(Vec::new()),
    };
    let in_tree = |path: &Path| {
        head.lookup_entry_by_path(path)
            .map_err(|error| trouble(&error))
    };
    if !below.as_os_str().is_empty() && in_tree(below)?.is_none() {
        return Ok(Vec::new());
    }
    let mut dirty = Vec::new();
    for path in paths {
        let Ok(bytes) = fs::read(root.join(path.as_str())) else {
            continue;
        };
        let committed = in_tree(&below.join(path.as_str()))?.map(|entry| entry.object_id());
        let kind = repository.object_hash();
        let hash = |bytes: &[u8]| gix::objs::compute_hash(kind, Kind::Blob, bytes).ok();
        let plain = hash(&bytes);
        // A checkout may have turned line ends into CRLF.
        let unix = hash(&without_carriage_returns(&bytes));
        if committed.is_none() || (committed != plain && committed != unix) {
            dirty.push(path.clone());
        }
    }
    Ok(dirty)
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
