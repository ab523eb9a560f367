//! What a person should hear of and no caller waits for: a fallback, a slot that could not be given
//! back. Each goes to a hook, to standard error where there is none. What stays as it is for the
//! whole process, a fallback or a broken platform, is told once, however often it is met. Nothing is
//! decided here.
//!
//! ```
//! use core_gpu::{devices::DeviceManager, platform::Fallback, warning};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! warning::set_hook(|warning| println!("to the log: {warning}"));
//! let manager = DeviceManager::from_environment()?;
//! for _ in 0..3 {
//!     manager.resolve_device("metal:7", Fallback::Cpu)?;
//! }
//! assert_eq!(warning::count(), 1);
//! # Ok(())
//! # }
//! ```

use std::{
    collections::BTreeSet,
    fmt,
    sync::{
        Mutex, OnceLock, PoisonError,
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
    /// A store of slots cannot keep all that is promised of it.
    Store {
        /// The store, and what it cannot.
        why: String,
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
            Self::Store { why } => write!(f, "the store of slots: {why}"),
        }
    }
}

/// Hears of warnings, on the thread where they arise. Must not panic.
pub type WarningHook = fn(&Warning);

static HOOK: OnceLock<WarningHook> = OnceLock::new();
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Sets the hook of this process. The first one stays; the answer says whether it was this one.
pub fn set_hook(hook: WarningHook) -> bool {
    HOOK.set(hook).is_ok()
}

/// How many warnings were told in this process.
#[must_use]
pub fn count() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

impl Warning {
    /// Whether it says the same thing of the process as long as that runs.
    const fn is_lasting(&self) -> bool {
        matches!(
            self,
            Self::Fallback { .. } | Self::Broken { .. } | Self::NoDevice | Self::Store { .. }
        )
    }
}

/// Whether these words were told before. Of very many different ones the last are told again.
fn was_told(words: String) -> bool {
    const MOST: usize = 1024;
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    told.contains(&words) || (told.len() < MOST && !told.insert(words))
}

/// Tells a warning: for stores and platforms of others.
pub fn warn(warning: &Warning) {
    if warning.is_lasting() && was_told(warning.to_string()) {
        return;
    }
    COUNT.fetch_add(1, Ordering::Relaxed);
    match HOOK.get() {
        Some(hook) => hook(warning),
        None => eprintln!("warning: {warning}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lasts_is_told_once_and_what_happens_each_time() {
        let fallback = |why: &str| Warning::Fallback {
            wanted: "a test's device".to_owned(),
            used: PlatformKind::Host,
            why: why.to_owned(),
        };
        let released = Warning::SlotNotReleased {
            why: "a test".to_owned(),
        };
        for (warning, told) in [
            (fallback("one"), 1),
            (fallback("one"), 0),
            (fallback("other"), 1),
            (fallback("one"), 0),
            (released.clone(), 1),
            (released, 1),
        ] {
            let lasting = warning.is_lasting();
            let was_told = lasting && was_told(warning.to_string());
            assert_eq!(u64::from(!was_told), told, "{warning}");
        }
    }
}
