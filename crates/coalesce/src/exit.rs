//! How a command ends: its exit code, what it has to say, or the error that stopped it.
//!
//! Nothing is printed here; see `terminal`.

use std::{fmt, process::ExitCode};

use coalesce_model::{
    envelope::{Envelope, ErrorEntry, ErrorKind, ErrorPlace},
    manifest::ManifestError,
};

/// The exit codes, the same for all commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// The work is done, or there was none.
    Success,
    /// `check`, `verify` or `audit --fail-on` found something.
    Findings,
    /// The command could not do its work; the tree is as it was.
    Failed,
}

impl Exit {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 3] = [Self::Success, Self::Findings, Self::Failed];

    /// The code that the process ends with.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Findings => 1,
            Self::Failed => 2,
        }
    }

    /// What the code means, for `--help`.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Success => "done, nothing to do, or nothing found",
            Self::Findings => "`check`, `verify` or `audit --fail-on` found something",
            Self::Failed => "could not, and the tree is as it was",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// What a command has to say, and how it ends.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What is printed, as a page or as JSON.
    pub envelope: Envelope,
    /// How the process ends.
    pub exit: Exit,
}

impl Outcome {
    /// A command that did its work.
    #[must_use]
    pub fn success(envelope: Envelope) -> Self {
        Self {
            envelope,
            exit: Exit::Success,
        }
    }
}

/// An error for the user: whose it is, where it is, and what would help. Commands return it inside
/// an `anyhow::Error`; any other error counts as ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(ErrorEntry);

impl Failure {
    /// Something about the command line, or the state of the tree.
    #[must_use]
    pub fn user(message: impl Into<String>) -> Self {
        Self::of_kind(ErrorKind::User, message)
    }

    /// Something about a manifest or another file that says what to do.
    #[must_use]
    pub fn config(message: impl Into<String>) -> Self {
        Self::of_kind(ErrorKind::Config, message)
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

    /// The error as it is printed.
    #[must_use]
    pub fn entry(&self) -> &ErrorEntry {
        &self.0
    }

    /// What an error of a command is to the user: a [`Failure`] as it stands, anything else with
    /// its causes.
    #[must_use]
    pub fn describe(error: &anyhow::Error) -> ErrorEntry {
        // anyhow looks through the context that was added on the way.
        let mut entry = Self::of_kind(ErrorKind::Internal, "").0;
        if let Some(failure) = error.downcast_ref::<Self>() {
            entry.clone_from(&failure.0);
        }
        entry.message = format!("{error:#}");
        entry
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    #[test]
    fn a_failure_keeps_its_hints_under_context_and_others_are_ours() {
        let failure = Failure::user("no such module").hint("did you mean `a.b`?");
        let entry = Failure::describe(&Err::<(), _>(failure).context("plan").unwrap_err());
        assert_eq!(entry.message, "plan: no such module");
        assert_eq!((entry.kind, entry.hints.len()), (ErrorKind::User, 1));
        let ours = Failure::describe(&anyhow::anyhow!("index out of step"));
        assert_eq!(ours.kind, ErrorKind::Internal);
    }

    #[test]
    fn codes_are_those_that_the_help_promises() {
        let codes: Vec<_> = Exit::ALL.iter().map(|exit| exit.code()).collect();
        assert_eq!(codes, [0, 1, 2]);
    }
}
