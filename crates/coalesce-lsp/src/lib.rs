//! A language server beside the one that an editor has already: findings of `check`, references of
//! modules and items across languages and documents, and moves that references follow.
//!
//! Everything is about files as they are saved. Where a buffer that matters is not, the server says so
//! instead of guessing. Nothing of the tree is executed, and nothing is written but by the commands
//! that move and take back, through the journal.

mod documents;
mod edits;
mod lines;
mod moves;
mod names;
mod rename;
mod server;
mod transport;
mod workspace;

use std::path::Path;

use coalesce_model::envelope::{Envelope, ErrorEntry};

pub use moves::{MOVE, MOVE_HERE, MoveArguments, ROLLBACK, RollbackArguments};
pub use server::{ServeError, serve, serve_stdio};

/// Whoever looks for what a tree must not have: `coalesce check`.
pub trait Checker {
    /// What it finds in the tree at `root`.
    ///
    /// # Errors
    /// When the tree cannot be looked at.
    fn check(&self, root: &Path) -> Result<Envelope, ErrorEntry>;
}
