//! Why a tree cannot be read.

use std::io;

/// What kind of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no such file or directory.
    NotFound,
    /// It may not be read.
    Permission,
    /// The root is no directory.
    NotADirectory,
    /// A link, a device or a directory where a file is wanted.
    NotAFile,
    /// A path that leads out of the tree.
    Outside,
    /// `coalesce.toml` is malformed.
    Settings,
    /// Anything else the system reports.
    Io,
}

/// Trouble with one path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct Error {
    kind: ErrorKind,
    path: String,
    message: String,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, path: String, message: String) -> Self {
        Self {
            kind,
            path,
            message,
        }
    }

    /// What kind of trouble.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The path, relative to the root, or as the user gave it.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl From<&io::Error> for ErrorKind {
    fn from(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound,
            io::ErrorKind::PermissionDenied => Self::Permission,
            _ => Self::Io,
        }
    }
}
