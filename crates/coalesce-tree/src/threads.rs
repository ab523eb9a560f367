//! The threads that share work.
//!
//! A `check` whose caches know every file mostly needs none, and starting two takes a tenth of it.

use std::sync::OnceLock;

/// Stack of every thread, in bytes. Trees of expressions are walked level by level, and how deep a text may nest is
/// bounded by the language that reads it; what is not used costs nothing.
pub const STACK_BYTES: usize = 64 << 20;

/// Starts the threads for all that is done in parallel, with a stack of [`STACK_BYTES`]. Has to be called before anything is:
/// whoever comes without it gets threads with the stack that the system gives. Later calls do nothing, and neither does the
/// first where a program that has us as a library has started its own.
pub fn start() {
    STARTED.get_or_init(|| {
        let threads = rayon::ThreadPoolBuilder::new().stack_size(STACK_BYTES);
        threads.build_global().is_ok()
    });
}

/// Whether threads are there that [`start`] has not started.
#[must_use]
pub fn were_missed() -> bool {
    STARTED.get().is_some_and(|started| !started)
}

/// Whether the threads are ours, once it was tried.
static STARTED: OnceLock<bool> = OnceLock::new();
