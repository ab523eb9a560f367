//! Why a tree is not written, or not restored.

use std::io;

use coalesce_model::TreePath;

/// What kind of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The system refused: no space, no permission, ….
    Io,
    /// A path that must not be written: a link on the way, a directory, a file with two names.
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
}

/// Trouble with the tree or the journal.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    pub(crate) fn path(kind: ErrorKind, path: &TreePath, message: impl std::fmt::Display) -> Self {
        Self::new(kind, format!("{path}: {message}"))
    }

    pub(crate) fn io(path: &TreePath, error: &io::Error) -> Self {
        Self::path(ErrorKind::Io, path, error)
    }

    /// Several paths with one trouble.
    pub(crate) fn paths(kind: ErrorKind, what: &str, paths: &[TreePath]) -> Self {
        let names: Vec<_> = paths.iter().map(ToString::to_string).collect();
        Self::new(kind, format!("{what}: {}", names.join(", ")))
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
}
