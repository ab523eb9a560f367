//! Why a check could not be made. That a project fails its checks is no error but an outcome.

use std::{fmt, io, path::Path};

/// Why a check could not be made: the kind, and a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

/// What kind of obstacle it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The copy cannot be written.
    Copy,
    /// There is no room for the copy.
    DiskFull,
    /// Another check of the same tree is under way.
    Busy,
    /// A program that is needed is not installed.
    ProgramMissing,
    /// A program took longer than it may.
    TimedOut,
    /// A program printed more than it may.
    TooMuchOutput,
    /// A program used more memory or disk than it may.
    TooMuchSpace,
    /// A program left a process behind that could not be ended.
    LeftBehind,
    /// The tree as it is fails so early that nothing can be compared.
    BaselineFails,
    /// A program's report cannot be read.
    Report,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl fmt::Display) -> Self {
        Self {
            kind,
            message: message.to_string(),
        }
    }

    /// An error of the scratch copy at `path`.
    pub(crate) fn copy(path: &Path, error: &io::Error) -> Self {
        let full = matches!(
            error.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        );
        if full {
            let message = format!(
                "there is no room for the scratch copy at {}",
                path.display()
            );
            return Self::new(ErrorKind::DiskFull, message);
        }
        let message = format!(
            "cannot write the scratch copy at {}: {error}",
            path.display()
        );
        Self::new(ErrorKind::Copy, message)
    }

    /// What kind of obstacle it is.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What would help, where that can be said.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        match self.kind {
            ErrorKind::DiskFull => {
                Some("make room, or name another directory with COALESCE_CACHE_DIR")
            }
            ErrorKind::Busy => Some("wait for it to end"),
            ErrorKind::TimedOut => Some("raise `timeout` in `[verify]` of the manifest"),
            ErrorKind::TooMuchOutput => {
                Some("name a quieter command in `[verify]` of the manifest")
            }
            ErrorKind::BaselineFails => Some(
                "mend the project first, or name a check that passes with `commands` in `[verify]` \
                 of the manifest",
            ),
            ErrorKind::ProgramMissing => Some("install it, or put it on the PATH"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_from_other_obstacles() {
        for (cause, kind) in [
            (io::ErrorKind::StorageFull, ErrorKind::DiskFull),
            (io::ErrorKind::QuotaExceeded, ErrorKind::DiskFull),
            (io::ErrorKind::PermissionDenied, ErrorKind::Copy),
        ] {
            let error = Error::copy(Path::new("/copy/a"), &io::Error::from(cause));
            assert_eq!(error.kind(), kind);
            assert!(error.to_string().contains("/copy/a"), "{error}");
        }
    }
}
