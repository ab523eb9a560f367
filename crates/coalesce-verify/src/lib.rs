//! Runs a project's own checks on a scratch copy of its tree, before and after a migration, and
//! says what fails after that did not before.
//!
//! The one crate that runs the project's code. The tree itself is only read: a [`Scratch`] is a
//! persistent copy outside of it with a target directory of its own, in which files that stay the
//! same are not touched, so that a second check is quick and the user's build is left alone.
//!
//! Programs inherit the environment, get no input, a time limit and a bound on what they may print,
//! and what they leave running in their process group ends with them. Their environment has
//! besides: `COALESCE_VERIFY=1` and `NO_COLOR=1`; for cargo `CARGO_TARGET_DIR`; for Python `PYTHONPATH`,
//! `PYTHONDONTWRITEBYTECODE`, `PYTHONPYCACHEPREFIX` and `COALESCE_VERIFY_REPORT`. Nothing else confines them: what a
//! project's build scripts and imports do, they do.

mod blame;
mod cargo;
mod check;
mod compare;
mod compiled;
mod error;
mod memory;
mod program;
mod python;
mod scratch;
mod unused;

pub use blame::Blame;
pub use check::{
    CargoConfiguration, Check, Checker, CompiledFile, Failure, Limits, Outcome, Place,
    SuggestedEdit, Suggestion, Watch,
};
pub use compare::{Renames, compare};
pub use error::{Error, ErrorKind};
pub use scratch::{Content, Scratch, Wanted};
pub use unused::UnusedImport;
