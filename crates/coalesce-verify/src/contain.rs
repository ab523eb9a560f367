//! What is asked of the contained child, and what it answers.
//!
//! A program of the project is not started by this process but by a child of it that is the same
//! executable: a child may bind itself without `unsafe`, and what it binds stays bound in all that
//! it starts. The child adopts whatever detaches from the program, ends all of it, and reports.

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
    sync::OnceLock,
};

use serde::{Deserialize, Serialize};

/// First argument of a contained child.
const ASKED: &str = "__contained";

/// The executable that can be started as a contained child.
static EXECUTABLE: OnceLock<PathBuf> = OnceLock::new();

/// What a child is to hold to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Bounds {
    /// The tree that nobody may write to.
    pub tree: PathBuf,
    /// Where programs may write, wherever it is.
    pub scratch: PathBuf,
    /// Where the answer is written.
    pub report: PathBuf,
    /// Resident memory of all processes together, in bytes.
    pub memory_bytes: u64,
    /// How much the free space of the disk may shrink, in bytes.
    pub disk_bytes: u64,
    /// Length of one file, in bytes.
    pub file_bytes: u64,
}

/// How a contained program ended.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    /// Its exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Why it could not be started: whether there is none, and what the system said.
    pub failed: Option<(bool, String)>,
    /// The bound that it ran into.
    pub over: Option<String>,
    /// Processes that had detached themselves, and were ended.
    pub detached: usize,
    /// Whether it ran in a control group of its own.
    pub grouped: bool,
    /// Why the tree could be written to; `None` when it could not.
    pub writable: Option<String>,
}

/// Lets programs be started in a contained child, which is this very executable; for the `main` of a
/// program, which has to begin with [`contained_main`]. Without it, and on other systems than Linux,
/// programs run in a process group of their own and nothing else confines them.
pub fn enable_containment() {
    // The name leads to the executable that runs, also after another one was installed in its place.
    let own = PathBuf::from("/proc/self/exe");
    if cfg!(target_os = "linux") && own.exists() {
        // It was enabled before.
        let _ = EXECUTABLE.set(own);
    }
}

/// Does the work of a contained child where these are the arguments of one; the exit code, then.
#[must_use]
pub fn contained_main(arguments: impl IntoIterator<Item = OsString>) -> Option<u8> {
    let mut arguments = arguments.into_iter().skip(1);
    if arguments.next()? != OsStr::new(ASKED) {
        return None;
    }
    let bounds = arguments.next()?;
    let bounds: Bounds = serde_json::from_str(bounds.to_str()?).ok()?;
    let program = arguments.next()?;
    #[cfg(target_os = "linux")]
    return Some(crate::contained::run(&bounds, &program, arguments));
    #[cfg(not(target_os = "linux"))]
    {
        drop((bounds, program));
        Some(2)
    }
}

/// The executable to start, and the arguments that come before the program's own.
pub(crate) fn child(bounds: &Bounds) -> Option<(&'static PathBuf, [OsString; 2])> {
    let executable = EXECUTABLE.get()?;
    let bounds = serde_json::to_string(bounds).ok()?;
    Some((executable, [ASKED.into(), bounds.into()]))
}
