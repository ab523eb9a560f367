//! Why a tree cannot be read, and whose mistake that is.

use std::{io, path::Path};

use coalesce_model::{TreePath, envelope};

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
    pub(crate) fn new(
        kind: ErrorKind,
        path: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        let (path, message) = (path.into(), message.into());
        Self {
            kind,
            path,
            message,
        }
    }

    /// What the system says of a path of the tree.
    pub(crate) fn io(path: &TreePath, error: &io::Error) -> Self {
        Self::new(ErrorKind::from(error), path.to_string(), error.to_string())
    }

    /// Trouble with a path as the user gave it.
    pub(crate) fn given(kind: ErrorKind, path: &Path, message: impl Into<String>) -> Self {
        Self::new(kind, path.display().to_string(), message)
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
            ErrorKind::Settings => envelope::ErrorKind::Config,
            _ => envelope::ErrorKind::User,
        }
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
            io::ErrorKind::NotADirectory => Self::NotADirectory,
            _ => Self::Io,
        }
    }
}
