//! Commits, in a program that is built without `git`: none are made, and it says so.

use std::path::Path;

use coalesce_model::TreePath;

use crate::{CommitStep, Error, dirty::unknown};

/// Commits that nothing names yet; without `git` there never are any.
#[derive(Clone, Debug)]
pub enum Commits {}

impl Commits {
    /// Always an error.
    ///
    /// # Errors
    /// Always.
    pub fn make(_root: &Path, _read: &[TreePath], _steps: &[CommitStep]) -> Result<Self, Error> {
        Err(unknown())
    }

    /// Leads the branch to the last commit.
    ///
    /// # Errors
    /// Never: there are none.
    pub fn publish(&self) -> Result<(), Error> {
        match *self {}
    }

    /// What the branch led to before.
    #[must_use]
    pub fn base(&self) -> String {
        match *self {}
    }

    /// The full hashes of the commits.
    #[must_use]
    pub fn hashes(&self) -> Vec<String> {
        match *self {}
    }

    /// Whether git is configured to sign commits, which these are not.
    #[must_use]
    pub fn lack_signature(&self) -> bool {
        match *self {}
    }
}
