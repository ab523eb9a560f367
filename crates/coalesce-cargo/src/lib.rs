//! Cargo as text: what manifests, workspaces and lock files say, and edits of them that leave
//! everything else as it is written.
//!
//! Cargo is never run and nothing of a tree is executed. [`manifest`] reads what packages, targets and
//! dependencies there are; [`dependencies`], [`features`], [`workspace`] and [`lock`] edit. Every edit
//! takes a text and gives the new one: several can follow each other, each reading what the one before
//! it left. What a manifest says in a way that is not understood (a table of dependencies in braces)
//! is an error, never a guess.

pub mod dependencies;
pub mod document;
pub mod features;
pub mod join;
pub mod lints;
pub mod lock;
pub mod manifest;
pub mod package;
pub mod packed;
pub mod requirements;
pub mod workspace;

use coalesce_model::{EditError, PathError};
use thiserror::Error;

/// Why a manifest cannot be edited.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// It is no TOML.
    #[error("it does not parse: {0}")]
    Syntax(String),
    /// A table of dependencies that is written in braces, or as dotted keys.
    #[error("`{0}` is no table with a header")]
    NoHeader(String),
    /// A feature that is no list.
    #[error("the feature `{0}` is no list")]
    NoList(String),
    /// A value of which the parser does not tell where it stands.
    #[error("a value without a place")]
    NoPlace,
    /// An entry that an earlier edit took out.
    #[error("`{0}` is there no more")]
    Gone(String),
    /// Two lines of one key that name two things.
    #[error("`{key}` is asked for in two ways: `{known}` here, and `{more}` by what comes")]
    TwoWays {
        /// The key of both.
        key: String,
        /// The line that is there.
        known: String,
        /// The line that would come.
        more: String,
    },
    /// A path that leads out of the tree.
    #[error(transparent)]
    Path(#[from] PathError),
    /// An edit that does not fit its text.
    #[error(transparent)]
    Edit(#[from] EditError),
}

impl From<Error> for String {
    fn from(error: Error) -> Self {
        error.to_string()
    }
}
