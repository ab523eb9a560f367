//! How a command ends: its exit code, what it has to say, or the error that stopped it.
//!
//! Nothing is printed here; see `terminal`.

use std::process::ExitCode;

pub use coalesce_engine::Failure;
use coalesce_model::envelope::{Body, Envelope, ErrorEntry};

/// The exit codes, the same for all commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// The work is done, or there was none.
    Success,
    /// `check`, `verify`, `audit --fail-on` or `--require` found something.
    Findings,
    /// The command could not do its work; the tree is as it was.
    Failed,
    /// The tree is changed as asked, and something after that failed.
    Partly,
}

impl Exit {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 4] = [Self::Success, Self::Findings, Self::Failed, Self::Partly];

    /// The code that the process ends with.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Findings => 1,
            Self::Failed => 2,
            Self::Partly => 3,
        }
    }

    /// What the code means, for `--help`.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Success => "done, nothing to do, or nothing found",
            Self::Findings => "`check`, `verify`, `audit --fail-on` or `--require` found something",
            Self::Failed => "could not, and the tree is as it was",
            Self::Partly => "the tree is changed as asked, and something after that failed",
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

    /// How a command ends that did its work and cannot tell of it.
    #[must_use]
    pub fn untold(&self) -> Exit {
        let changed = match &self.envelope.body {
            Body::Migrate(body) => body.applied,
            Body::Entry(body) => body.migrate.applied,
            Body::Retire(body) => body.applied,
            Body::Check(body) => {
                let fixed = body.fixed.as_ref();
                fixed.is_some_and(|fixed| fixed.migration.is_some())
            }
            Body::Rollback(body) => body.migration.is_some(),
            Body::Recover(body) => body.migration.is_some(),
            _ => false,
        };
        if changed { Exit::Partly } else { Exit::Failed }
    }
}

/// What an error of a command is to the user: a [`Failure`] as it stands, anything else a mistake of
/// ours, with its causes.
#[must_use]
pub fn describe(error: &anyhow::Error) -> ErrorEntry {
    // anyhow looks through the context that was added on the way.
    let failure = error.downcast_ref::<Failure>().cloned();
    let failure = failure.unwrap_or_else(|| Failure::internal(""));
    ErrorEntry {
        message: format!("{error:#}"),
        ..failure.entry().clone()
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;
    use coalesce_model::envelope::ErrorKind;

    use super::*;

    #[test]
    fn a_failure_keeps_its_hints_under_context_and_others_are_ours() {
        let failure = Failure::user("no such module").hint("did you mean `a.b`?");
        let entry = describe(&Err::<(), _>(failure).context("plan").unwrap_err());
        assert_eq!(entry.message, "plan: no such module");
        assert_eq!((entry.kind, entry.hints.len()), (ErrorKind::User, 1));
        let ours = describe(&anyhow::anyhow!("index out of step"));
        assert_eq!(ours.kind, ErrorKind::Internal);
    }

    #[test]
    fn codes_are_those_that_the_help_promises() {
        let codes: Vec<_> = Exit::ALL.iter().map(|exit| exit.code()).collect();
        assert_eq!(codes, [0, 1, 2, 3]);
    }

    /// `docs/exit-codes.md` says what the program does: each code with its meaning, and each command
    /// with the codes that it can end with.
    #[test]
    fn the_table_of_exit_codes_is_whole() {
        use clap::CommandFactory as _;
        let table = include_str!("../../../docs/exit-codes.md");
        for exit in Exit::ALL {
            let line = format!("| {} | {} |", exit.code(), exit.meaning());
            assert!(table.contains(&line), "{line}");
        }
        let changing = [
            "migrate", "rollback", "recover", "retire", "move", "replace", "merge", "remove",
            "check",
        ];
        for command in crate::cli::Invocation::command().get_subcommands() {
            let name = command.get_name();
            let line = table
                .lines()
                .find(|line| line.starts_with(&format!("| `{name}` |")));
            let cells: Vec<&str> = line.expect(name).split('|').map(str::trim).collect();
            assert_eq!(cells.len(), 7, "{name}");
            let finds = ["audit", "plan", "check", "verify"].contains(&name);
            assert_eq!(cells[3] != "–", finds, "{name}");
            assert_eq!(cells[5] != "–", changing.contains(&name), "{name}");
        }
    }
}
