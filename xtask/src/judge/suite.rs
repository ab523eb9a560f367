//! The tree's own tests as a judge, where a command that runs them is given.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context as _;

use super::arguments::Arguments;

/// What `timeout` ends with: tests that ran out of their time say nothing.
const LATE: i32 = 124;

/// The command, which passed on the tree as it was.
pub struct Suite {
    command: String,
    python: PathBuf,
    target: PathBuf,
}

impl Suite {
    /// The one that was asked for; `None` where none was, or where it fails as the tree is.
    pub fn new(root: &Path, target: &Path, arguments: &Arguments) -> anyhow::Result<Option<Self>> {
        let Some(command) = &arguments.tests else {
            return Ok(None);
        };
        let suite = Self {
            command: command.clone(),
            python: arguments.python.clone(),
            target: target.to_owned(),
        };
        Ok(suite.failure(root)?.is_none().then_some(suite))
    }

    /// What it says last where it fails.
    pub fn failure(&self, root: &Path) -> anyhow::Result<Option<String>> {
        let output = Command::new("sh")
            .args(["-c", &self.command])
            .current_dir(root)
            .env("PYTHON", &self.python)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("CARGO_TARGET_DIR", &self.target)
            .output()
            .context("failed to start the tests")?;
        if output.status.success() || output.status.code() == Some(LATE) {
            return Ok(None);
        }
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let said = said + &String::from_utf8_lossy(&output.stderr);
        let last = said.lines().rev().find(|line| !line.trim().is_empty());
        let last = last.unwrap_or_default();
        Ok(Some(format!("tests ({}): {last}", output.status)))
    }

    /// What is judged, in a line.
    pub fn told(&self) -> String {
        format!("tests: {}", self.command)
    }
}
