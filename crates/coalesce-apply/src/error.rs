//! Why a tree is not written, or not restored, and whose mistake that is.

use std::{fmt::Display, io};

use coalesce_model::{TreePath, envelope};

/// What kind of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The system refused: no space, no permission, ….
    Io,
    /// A path that must not be written: a link on the way, a directory, a file with two names, one
    /// that belongs to somebody else or is read-only.
    Unsafe,
    /// The tree is not in the state that was expected.
    Changed,
    /// Another migration is under way.
    Locked,
    /// A migration was cut off and waits for `recover`.
    Unfinished,
    /// There is no such migration, or it cannot be undone by itself.
    NoSuchMigration,
    /// The journal is damaged.
    Journal,
    /// The repository cannot be read.
    Repository,
    /// Changes that contradict each other; whoever made them has a mistake.
    Contradiction,
}

/// Trouble with the tree or the journal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    paths: Vec<TreePath>,
    message: String,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            kind,
            paths: Vec::new(),
            message,
        }
    }

    pub(crate) fn path(kind: ErrorKind, path: &TreePath, message: impl Display) -> Self {
        let paths = vec![path.clone()];
        Self {
            paths,
            ..Self::new(kind, format!("{path}: {message}"))
        }
    }

    pub(crate) fn io(path: &TreePath, error: &io::Error) -> Self {
        Self::path(ErrorKind::Io, path, error)
    }

    /// Several paths with one trouble.
    pub(crate) fn paths(kind: ErrorKind, what: &str, paths: Vec<TreePath>) -> Self {
        let names: Vec<_> = paths.iter().map(ToString::to_string).collect();
        Self {
            paths,
            ..Self::new(kind, format!("{what}: {}", names.join(", ")))
        }
    }

    /// Trouble with our own state, not with a path of the tree.
    pub(crate) fn state(what: &str, error: &io::Error) -> Self {
        Self::new(ErrorKind::Io, format!("{what}: {error}"))
    }

    pub(crate) fn because(self, more: &str) -> Self {
        Self {
            message: format!("{}; {more}", self.message),
            ..self
        }
    }

    /// What kind of trouble.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whose error it is, as the exit code and the JSON say it.
    #[must_use]
    pub fn whose(&self) -> envelope::ErrorKind {
        match self.kind {
            ErrorKind::Contradiction => envelope::ErrorKind::Internal,
            _ => envelope::ErrorKind::User,
        }
    }

    /// The files that it is about, where it is about files.
    #[must_use]
    pub fn concerned(&self) -> &[TreePath] {
        &self.paths
    }
}
