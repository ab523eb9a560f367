//! The only writer of a user's tree: journal, apply, recover, undo.
//!
//! The journal holds the old and the new bytes of every path and is on disk before the first
//! change. Which way a path stands is decided by the hash of its bytes alone, so finishing and
//! undoing can run any number of times. Nothing here knows why a file changes.
//!
//! Bytes, permission bits and owners are kept, access lists and other extended attributes are not.
//! What is written again gets a new time, so that build tools see it.

mod begin;
mod calls;
mod carry;
#[cfg(feature = "git")]
mod commits;
#[cfg(not(feature = "git"))]
#[path = "commits_unknown.rs"]
mod commits;
#[cfg(feature = "git")]
mod dirty;
#[cfg(not(feature = "git"))]
#[path = "dirty_unknown.rs"]
mod dirty;
mod disk;
mod error;
mod journal;
mod place;
mod preflight;
mod room;
mod settle;
mod state;
mod store;
mod system;
mod trust;

pub use crate::{
    commits::Commits,
    dirty::{BytesBefore, bytes_before, left_out, uncommitted},
    error::{Error, ErrorKind},
    journal::Record,
    store::{Applied, Recovery, Remark, Store},
};

use coalesce_model::{ContentHash, TreePath};

/// What files of one kind may name.
#[derive(Clone, Debug)]
pub struct Sought {
    /// Extensions of such files.
    pub extensions: &'static [&'static str],
    /// Words that are looked for.
    pub words: Vec<String>,
}

/// The state of one path before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The path.
    pub path: TreePath,
    /// What is there now; `None`: nothing.
    pub before: Option<Stamp>,
    /// What shall be there; `None`: nothing.
    pub after: Option<Content>,
}

/// What a file is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Hash of its bytes.
    pub hash: ContentHash,
    /// Its permission bits.
    pub mode: u32,
}

/// What a file shall be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its permission bits; `None`: as they are, or 0644 for a new file.
    pub mode: Option<u32>,
}

/// One commit of a migration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitStep {
    /// What it says of itself.
    pub message: String,
    /// What it changes of the tree as it is, with all that the steps before it change.
    pub changes: Vec<FileChange>,
}

/// What is remembered with a migration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Ids of its manifests.
    pub manifests: Vec<String>,
}

#[cfg(test)]
mod tests;
