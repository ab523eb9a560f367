//! What a person should hear of and no caller waits for: a fallback, a slot that could not be given
//! back. Each goes to a hook, to standard error where there is none. Nothing is decided here.

use std::{
    fmt,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use core_gpu_driver::PlatformKind;

use crate::platform::Unavailable;

/// Something that a person should hear of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// A platform that was asked for is not used.
    Fallback {
        /// What was asked for.
        wanted: String,
        /// What is used in its place.
        used: PlatformKind,
        /// Why.
        why: String,
    },
    /// A platform that nobody asked for by name is there and does not work.
    Broken {
        /// The platform.
        platform: PlatformKind,
        /// Why.
        why: Unavailable,
    },
    /// The registry is initialised and has no device.
    NoDevice,
    /// A slot could not be given back; the system does so when the process ends.
    SlotNotReleased {
        /// The slot, and why.
        why: String,
    },
    /// A device is out of use, or back.
    Health {
        /// The device, and what happened.
        what: String,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fallback { wanted, used, why } => {
                let used = crate::platform::name_of(*used);
                write!(f, "{wanted} cannot be used, {used} is used instead: {why}")
            }
            Self::Broken { platform, why } => write!(f, "{platform} is passed over: {why}"),
            Self::NoDevice => f.write_str("no GPU was found: everything runs on the processor"),
            Self::SlotNotReleased { why } => write!(f, "a slot was not given back: {why}"),
            Self::Health { what } => f.write_str(what),
        }
    }
}

/// Hears of warnings, on the thread where they arise. Must not panic.
pub type Hook = fn(&Warning);

static HOOK: OnceLock<Hook> = OnceLock::new();
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Sets the hook of this process. The first one stays; the answer says whether it was this one.
pub fn set_hook(hook: Hook) -> bool {
    HOOK.set(hook).is_ok()
}

/// How many warnings there were in this process.
#[must_use]
pub fn count() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

pub(crate) fn warn(warning: &Warning) {
    COUNT.fetch_add(1, Ordering::Relaxed);
    match HOOK.get() {
        Some(hook) => hook(warning),
        None => eprintln!("warning: {warning}"),
    }
}
