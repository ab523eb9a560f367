//! Where errors go that happen while something is dropped: to a hook, and into a count. They are
//! never kept back to be reported by an unrelated call.

use std::sync::{
    OnceLock,
    atomic::{AtomicU64, Ordering},
};

use crate::error::DriverError;

/// What was being dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// A [`crate::Segment`]: its memory is leaked.
    Segment,
    /// A [`crate::Pinned`]: its memory is leaked.
    Pinned,
    /// A [`crate::Stream`].
    Stream,
    /// A [`crate::Event`].
    Event,
    /// A [`crate::Graph`].
    Graph,
}

/// Hears of errors in drops. Called on the dropping thread; must not panic.
pub type DropErrorHook = fn(What, &DriverError);

static COUNT: AtomicU64 = AtomicU64::new(0);
static HOOK: OnceLock<DropErrorHook> = OnceLock::new();

/// Sets the hook of this process. The first one stays; the answer says whether it was this one.
pub fn set_hook(hook: DropErrorHook) -> bool {
    HOOK.set(hook).is_ok()
}

/// How many errors there were in drops, in this process. A driver that shuts down with the process
/// is not counted: it gives everything back by itself.
#[must_use]
pub fn count() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// Tells of an error that a drop cannot return: for crates whose own types give memory back.
pub fn report(what: What, error: &DriverError) {
    if error.is_deinitialized() {
        return;
    }
    COUNT.fetch_add(1, Ordering::Relaxed);
    if let Some(hook) = HOOK.get() {
        hook(what, error);
    }
}
