//! The only reader of disk: walks with ignore rules, reads, decodes, and takes facts in parallel.
//!
//! Nothing of the tree is written or executed, symbolic links are not followed, and what cannot be
//! read is a [`Skip`] with its reason, never passed over in silence.

mod cache;
mod error;
mod filter;
mod parsing;
pub mod plain;
mod read;
mod settings;
pub mod threads;
mod tree;
mod walk;

use coalesce_model::TreePath;

pub use crate::{
    cache::{FactsCache, directory as cache_directory},
    error::{Error, ErrorKind},
    filter::PathFilter,
    read::MAXIMUM_FILE_BYTES,
    settings::{EXAMPLES as SETTINGS_EXAMPLES, schema as settings_schema},
    tree::SourceTree,
};

/// A file that was not read, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skip {
    /// The file, or the directory that could not be listed.
    pub path: TreePath,
    /// Why, as a sentence fragment.
    pub reason: String,
    /// What it is, as far as that is known.
    pub unread: Unread,
}

/// What was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unread {
    /// A file that could not be read, or is no text.
    File,
    /// A directory that could not be listed, or whose path is too long.
    Directory,
    /// A link to something in the tree, or to nothing.
    LinkInside,
    /// A link that leads out of the tree.
    LinkOut,
    /// A device, a pipe, a socket.
    Special,
}

/// What kind of file it is. Only plain ones are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FileKind {
    /// Bytes.
    Plain,
    /// A symbolic link, whatever it leads to.
    Link,
    /// A device, a pipe, a socket.
    Special,
}

impl FileKind {
    pub(crate) fn of(kind: std::fs::FileType) -> Self {
        if kind.is_file() {
            Self::Plain
        } else if kind.is_symlink() {
            Self::Link
        } else {
            Self::Special
        }
    }

    /// Why a file that is not plain is skipped.
    pub(crate) const fn reason(self) -> &'static str {
        match self {
            Self::Plain => "a plain file",
            Self::Link => "a symbolic link, which is not followed",
            Self::Special => "a device, a pipe or a socket",
        }
    }
}

/// What the walk saw of one file.
#[derive(Clone, Debug)]
pub struct FileEntry {
    /// The path.
    pub path: TreePath,
    /// Plain, or why it is not read.
    pub kind: FileKind,
    /// Length in bytes.
    pub bytes: u64,
    /// Time of the last change of its bytes, in nanoseconds since 1970.
    pub modified: i128,
    /// Time of the last change of anything about it, which no program can set back; `modified`
    /// where the system does not tell.
    pub changed: i128,
    /// Number of the file in its file system; 0 where there is none.
    pub inode: u64,
    /// Permission bits; 0 where there are none.
    pub mode: u32,
}
