//! Runs a project's own checks on a scratch copy of its tree, before and after a migration, and
//! says what fails after that did not before.
//!
//! The one crate that runs the project's code. The tree itself is only read: a [`Scratch`] is a
//! persistent copy outside of it with a target directory of its own, in which files that stay the
//! same are not touched, so that a second check is quick and the user's build is left alone.
//!
//! Programs inherit the environment, get no input, a time limit and bounds on what they may print, on
//! memory and on the disk. Their environment has besides: `COALESCE_VERIFY=1`, `NO_COLOR=1` and a
//! `TMPDIR` of its own; for cargo `CARGO_TARGET_DIR`; for Python `PYTHONPATH`,
//! `PYTHONDONTWRITEBYTECODE`, `PYTHONPYCACHEPREFIX` and `COALESCE_VERIFY_REPORT`.
//!
//! On Linux, where the program has asked for it ([`enable_containment`]), they run below a process
//! that adopts what detaches from them and ends all of it, and the tree itself cannot be written to
//! where the kernel has Landlock; else that is said. Everything else that the user may do, they may:
//! the network, the home directory. Elsewhere what they leave running in their process group ends
//! with them, and nothing else confines them.

mod blame;
mod cargo;
#[cfg(target_os = "linux")]
mod cgroup;
mod check;
mod compare;
mod compiled;
#[cfg(target_os = "linux")]
mod confine;
mod contain;
#[cfg(target_os = "linux")]
mod contained;
#[cfg(target_os = "linux")]
mod descendants;
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
pub use contain::{contained_main, enable_containment};
pub use error::{Error, ErrorKind};
pub use program::{Filtered, filter_text, wait_for_end};
pub use scratch::{Content, Scratch, Wanted};
pub use unused::UnusedImport;
