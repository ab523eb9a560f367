//! What stops the engine, as the user should see it: whose fault it is, where, and what would help.

use std::fmt;

use coalesce_model::{
    PathError,
    envelope::{ErrorEntry, ErrorKind, ErrorPlace},
    manifest::ManifestError,
};

/// An error for the user: whose it is, where it is, and what would help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(ErrorEntry);

impl Failure {
    /// Something about what was asked for, or the state of the tree.
    #[must_use]
    pub fn user(message: impl Into<String>) -> Self {
        Self::of_kind(ErrorKind::User, message)
    }

    /// Something about a manifest or another file that says what to do.
    #[must_use]
    pub fn config(message: impl Into<String>) -> Self {
        Self::of_kind(ErrorKind::Config, message)
    }

    /// A mistake of ours.
    #[must_use]
    pub fn internal(message: impl Into<String>) -> Self {
        Self::of_kind(ErrorKind::Internal, message)
    }

    fn of_kind(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(ErrorEntry {
            kind,
            message: message.into(),
            place: None,
            hints: Vec::new(),
        })
    }

    /// An error of a manifest, whose text is `text`, with the line it stands on.
    #[must_use]
    pub fn manifest(error: &ManifestError, text: &str) -> Self {
        let line_text = text
            .lines()
            .nth(error.line.saturating_sub(1) as usize)
            .unwrap_or_default();
        let meant = error
            .span
            .of(text)
            .and_then(|meant| meant.lines().next())
            .unwrap_or_default();
        let mut failure = Self::config(error.message.clone());
        failure.0.place = Some(ErrorPlace {
            path: error.path.clone(),
            line: error.line,
            column: error.column,
            line_text: line_text.to_owned(),
            length: u32::try_from(meant.chars().count()).unwrap_or(1).max(1),
        });
        failure.0.hints.extend(error.help.clone());
        failure
    }

    /// Adds what would help.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hints.push(hint.into());
        self
    }

    /// Adds what would help, if anything would.
    #[must_use]
    pub fn hints(mut self, hint: Option<String>) -> Self {
        self.0.hints.extend(hint);
        self
    }

    /// The error as it is printed.
    #[must_use]
    pub const fn entry(&self) -> &ErrorEntry {
        &self.0
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Failure {}

impl From<coalesce_apply::Error> for Failure {
    fn from(error: coalesce_apply::Error) -> Self {
        Self::user(error.to_string())
    }
}

impl From<coalesce_tree::Error> for Failure {
    fn from(error: coalesce_tree::Error) -> Self {
        Self::of_kind(error.whose(), error.to_string())
    }
}

impl From<coalesce_verify::Error> for Failure {
    fn from(error: coalesce_verify::Error) -> Self {
        let failure = Self::user(error.to_string());
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

/// A path that we put together ourselves and that is none.
impl From<PathError> for Failure {
    fn from(error: PathError) -> Self {
        Self::internal(error.to_string())
    }
}

impl From<coalesce_plan::SavedPlanError> for Failure {
    fn from(error: coalesce_plan::SavedPlanError) -> Self {
        Self::config(error.to_string())
    }
}
