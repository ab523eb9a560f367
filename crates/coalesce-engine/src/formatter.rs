//! Lays edited Rust files out as the project does: with rustfmt, by the project's own settings, and
//! only files that rustfmt would have left alone before.
//!
//! rustfmt is the one program that planning starts. It gets a text on standard input, a settings
//! file of the tree at most, and a working directory outside the tree; nothing of the tree is run.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use coalesce_model::{Finding, Severity, Texts, TreePath, finding::codes};
use coalesce_plan::Operation;
use rayon::prelude::*;

use crate::Session;

/// A rustfmt that can be started.
struct Formatter {
    /// Where it runs, and a settings file that sets nothing.
    directory: tempfile::TempDir,
}

/// Lays out the new texts of `operations`; what could not be done comes back as a note.
pub fn lay_out(operations: &mut [Operation], session: &Session) -> Option<Finding> {
    let jobs: Vec<usize> = operations
        .iter()
        .enumerate()
        .filter(|(_, operation)| job(operation).is_some())
        .map(|(at, _)| at)
        .collect();
    if jobs.is_empty() {
        return None;
    }
    let Some(formatter) = Formatter::find() else {
        return Some(missing());
    };
    let laid_out: Vec<(usize, String)> = jobs
        .into_par_iter()
        .filter_map(|at| {
            let text = operations
                .get(at)
                .and_then(|one| formatter.operation(one, session))?;
            Some((at, text))
        })
        .collect();
    for (at, new) in laid_out {
        if let Some(
            Operation::Move {
                text: Some(text), ..
            }
            | Operation::Create { text, .. }
            | Operation::Edit { text, .. },
        ) = operations.get_mut(at)
        {
            *text = new;
        }
    }
    None
}

fn missing() -> Finding {
    Finding {
        code: codes::PLAN_REMARK,
        severity: Severity::Note,
        path: TreePath::root(),
        span: None,
        message: "rustfmt was not found: edited Rust files keep the layout of the edits".to_owned(),
        help: Some("install it (`rustup component add rustfmt`), or run it afterwards".to_owned()),
    }
}

/// The path after and the new text of a Rust file.
fn job(operation: &Operation) -> Option<(&TreePath, &str)> {
    let (path, text) = match operation {
        Operation::Move { to, text, .. } => (to, text.as_deref()?),
        Operation::Create { path, text, .. } | Operation::Edit { path, text } => {
            (path, text.as_str())
        }
        Operation::Delete { .. } => return None,
    };
    (path.extension() == Some("rs")).then_some((path, text))
}

impl Formatter {
    fn find() -> Option<Self> {
        let directory = tempfile::tempdir().ok()?;
        std::fs::write(directory.path().join("rustfmt.toml"), "").ok()?;
        let formatter = Self { directory };
        formatter.format("", &formatter.nothing(), "2021")?;
        Some(formatter)
    }

    fn nothing(&self) -> PathBuf {
        self.directory.path().join("rustfmt.toml")
    }

    /// The text in its layout; `None` where it stays as it is.
    fn operation(&self, operation: &Operation, session: &Session) -> Option<String> {
        let (path, text) = job(operation)?;
        let old = match operation {
            Operation::Move { from, .. } => Some(from),
            Operation::Edit { path, .. } => Some(path),
            Operation::Create { .. } | Operation::Delete { .. } => None,
        };
        let settings = self.settings(old.unwrap_or(path), session);
        let edition = old
            .and_then(|old| session.rust.graph.edition_of(old))
            .or_else(|| session.rust.graph.edition_near(path))
            .unwrap_or("2021");
        let new = self.format(text, &settings, edition)?;
        if new == text {
            return None;
        }
        let before = old.and_then(|old| session.tree.text(old));
        let was_formatted = before.is_none_or(|before| {
            // rustfmt makes a line of nothing.
            before.trim().is_empty()
                || self.format(&before, &settings, edition).as_deref() == Some(&*before)
        });
        was_formatted.then_some(new)
    }

    /// The nearest settings file in the tree.
    fn settings(&self, path: &TreePath, session: &Session) -> PathBuf {
        let mut directory = path.parent();
        while let Some(here) = directory {
            for name in ["rustfmt.toml", ".rustfmt.toml"] {
                let file = here.join(name).ok();
                if let Some(file) = file.filter(|file| session.tree.exists(file)) {
                    return session.tree.root().join(file.as_str());
                }
            }
            directory = here.parent();
        }
        self.nothing()
    }

    /// What rustfmt makes of a text; `None` where it does not take it.
    fn format(&self, text: &str, settings: &Path, edition: &str) -> Option<String> {
        let mut child = Command::new("rustfmt")
            .args([
                "--edition",
                edition,
                "--emit",
                "stdout",
                "--quiet",
                "--config-path",
            ])
            .arg(settings)
            .current_dir(self.directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut input = child.stdin.take()?;
        let text = text.to_owned();
        let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
        let output = child.wait_with_output().ok()?;
        let written = writer.join().is_ok_and(|written| written.is_ok());
        let formatted = String::from_utf8(output.stdout).ok()?;
        (written && output.status.success()).then_some(formatted)
    }
}
