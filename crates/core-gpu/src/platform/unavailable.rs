//! Why a platform is not there, in words that a person can act on.

use std::{path::PathBuf, time::Duration};

use core_gpu_driver::{Absent, DriverError};

/// Why a platform cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// Its library is not installed.
    #[error("no library: tried {tried}")]
    Library {
        /// The names tried, and the last one's error.
        tried: String,
    },
    /// Its library lacks a function.
    #[error("{library} has no function {symbol}: the driver is too old")]
    Symbol {
        /// The library.
        library: &'static str,
        /// The function.
        symbol: &'static str,
    },
    /// Its driver is older than what is used of it.
    #[error("the driver has version {found}, and {needed} is the oldest that works")]
    DriverTooOld {
        /// The driver's version, as it counts.
        found: u32,
        /// The oldest that works.
        needed: u32,
    },
    /// The library works and there is no device.
    #[error("no device")]
    NoDevice,
    /// A variable hides the devices.
    #[error("{variable}={value} leaves no device: {why}")]
    Hidden {
        /// The variable's name.
        variable: &'static str,
        /// What it says.
        value: String,
        /// What that means here.
        why: String,
    },
    /// The devices are there and this user may not use them.
    #[error("no permission to use {}", path.display())]
    Permission {
        /// The file of the device.
        path: PathBuf,
    },
    /// It did not answer in time. It is not asked again in this process.
    #[error("no answer within {} ms; it is not asked again in this process", after.as_millis())]
    Hung {
        /// How long it was waited for.
        after: Duration,
    },
    /// This program was built without it.
    #[error("built without the feature `{feature}`")]
    NotBuilt {
        /// The crate's feature.
        feature: &'static str,
    },
    /// It is a part of other systems.
    #[error("{platform} is not on this system")]
    System {
        /// What is not here.
        platform: &'static str,
    },
    /// It is none of those that are looked for here.
    #[error("it is not among the platforms that are looked for")]
    Unknown,
    /// No thread could be started to look for it.
    #[error("no thread could be started to look for it: {0}")]
    Thread(String),
    /// It panicked. This is an error in the code that looks for it.
    #[error("looking for it ended with a panic")]
    Panicked,
    /// A call of its driver failed.
    #[error(transparent)]
    Failed(DriverError),
}

impl Unavailable {
    /// One word that programs can rely on.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Library { .. } => "library-absent",
            Self::Symbol { .. } => "symbol-missing",
            Self::DriverTooOld { .. } => "driver-too-old",
            Self::NoDevice => "no-device",
            Self::Hidden { .. } => "hidden",
            Self::Permission { .. } => "permission",
            Self::Hung { .. } => "hung",
            Self::NotBuilt { .. } => "not-built",
            Self::System { .. } => "other-system",
            Self::Unknown => "unknown",
            Self::Thread(_) => "no-thread",
            Self::Panicked => "panicked",
            Self::Failed(_) => "failed",
        }
    }

    /// Whether something is wrong, rather than just not there: worth a warning where nobody has asked
    /// for this platform by name.
    #[must_use]
    pub const fn is_broken(&self) -> bool {
        !matches!(
            self,
            Self::Library { .. }
                | Self::NoDevice
                | Self::Hidden { .. }
                | Self::NotBuilt { .. }
                | Self::System { .. }
                | Self::Unknown
        )
    }
}

impl From<DriverError> for Unavailable {
    fn from(error: DriverError) -> Self {
        match error {
            DriverError::Absent(absent) => absent.into(),
            error => Self::Failed(error),
        }
    }
}

impl From<Absent> for Unavailable {
    fn from(absent: Absent) -> Self {
        match absent {
            Absent::Library { tried, .. } => Self::Library { tried },
            Absent::Symbol { library, symbol } => Self::Symbol { library, symbol },
            Absent::NotBuilt { feature } => Self::NotBuilt { feature },
            Absent::System { platform } => Self::System { platform },
            absent => Self::Failed(absent.into()),
        }
    }
}
