//! What is a sickness and what is only worth a word.

use std::fmt;

/// How a device is at one moment. What it does not tell is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Vital {
    /// Percent of the last moments in which it worked.
    pub utilization_percent: Option<u32>,
    /// Bytes in use, by whomever.
    pub used_bytes: Option<u64>,
    /// Bytes that there are.
    pub total_bytes: Option<u64>,
    /// Degrees Celsius.
    pub temperature_celsius: Option<u32>,
    /// Degrees at which it slows itself down.
    pub slowdown_celsius: Option<u32>,
    /// Power that it draws.
    pub power_milliwatts: Option<u32>,
    /// Power that it may draw.
    pub power_limit_milliwatts: Option<u32>,
    /// Why it runs slower than it could, as the management library's bits.
    pub throttling: Option<u64>,
    /// Errors of memory that were put right, since the driver started.
    pub corrected_errors: Option<u64>,
    /// Errors of memory that were not.
    pub uncorrected_errors: Option<u64>,
    /// A row of memory is to be replaced at the next reset.
    pub row_remap_pending: Option<bool>,
    /// A row of memory could not be replaced.
    pub row_remap_failed: Option<bool>,
}

/// What makes a device sick.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Condition {
    /// It is gone.
    Lost,
    /// It has raised an error that it does not get over by itself, or only with lost work.
    Critical {
        /// The driver's number (XID).
        xid: u64,
    },
    /// Memory had errors that were not put right, since the last look.
    UncorrectedErrors {
        /// How many.
        new: u64,
    },
    /// A row of memory could not be replaced.
    RowRemapFailed,
    /// It is as hot as it may be.
    TooHot {
        /// Degrees Celsius.
        celsius: u32,
        /// Those it may have.
        limit: u32,
    },
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost => f.write_str("the device is lost"),
            Self::Critical { xid } => match meaning(*xid) {
                Some(meaning) => write!(f, "XID {xid}: {meaning}"),
                None => write!(f, "XID {xid}"),
            },
            Self::UncorrectedErrors { new } => {
                write!(f, "{new} new errors of memory that were not put right")
            }
            Self::RowRemapFailed => f.write_str("a row of memory could not be replaced"),
            Self::TooHot { celsius, limit } => write!(f, "{celsius} degrees, {limit} are allowed"),
        }
    }
}

/// As displayed.
impl serde::Serialize for Condition {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// As displayed.
impl serde::Serialize for Notice {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What a critical error means, for those that make a device sick unless it is said.
fn meaning(xid: u64) -> Option<&'static str> {
    Some(match xid {
        48 => "an error of memory that cannot be put right",
        64 => "a row of memory could not be replaced",
        74 => "NVLink failed",
        79 => "the device has fallen off the bus",
        92 => "many errors of memory",
        94 => "an error of memory, contained",
        95 => "an error of memory, not contained",
        119 | 120 => "the device's own processor does not answer",
        140 => "an error of memory that cannot be put right",
        _ => return None,
    })
}

/// What is worth a word and takes no device out of use.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// It runs slower than it could, for a reason of its hardware.
    Throttled {
        /// The reasons.
        reasons: Vec<&'static str>,
    },
    /// A row of memory is to be replaced: the device wants a reset.
    RowRemapPending,
    /// Its memory had errors that were not put right, since its driver started. When is not known
    /// where nobody had looked before; new ones make it sick, see [`Condition::UncorrectedErrors`].
    UncorrectedErrors {
        /// How many.
        since_start: u64,
    },
    /// It has raised an error of a program's making.
    Raised {
        /// The driver's number (XID).
        xid: u64,
    },
    /// It could not be asked.
    Unknown {
        /// Why not.
        why: String,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Throttled { reasons } => {
                write!(f, "slower than it could: {}", reasons.join(", "))
            }
            Self::RowRemapPending => f.write_str("a row of memory is to be replaced by a reset"),
            Self::UncorrectedErrors { since_start } => write!(
                f,
                "{since_start} errors of memory that were not put right, since its driver started"
            ),
            Self::Raised { xid } => write!(f, "XID {xid}, of a program's making"),
            Self::Unknown { why } => write!(f, "it could not be asked: {why}"),
        }
    }
}

/// The bits that say that the hardware holds the device back; others are choices.
const THROTTLING: &[(u64, &str)] = &[
    (0x08, "the hardware slows it down"),
    (0x20, "its temperature, by the driver"),
    (0x40, "its temperature, by the hardware"),
    (0x80, "its power supply"),
];

/// From when on a device is sick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthLimits {
    /// Degrees Celsius; where the device slows itself down unless it is said.
    pub temperature_celsius: Option<u32>,
    /// Critical errors (XIDs) that make it sick. Others are a program's own making.
    pub critical: Vec<u64>,
    /// Looks in a row that must find it well before it is used again.
    pub well_looks: u32,
}

impl Default for HealthLimits {
    fn default() -> Self {
        Self {
            temperature_celsius: None,
            critical: vec![48, 64, 74, 79, 92, 94, 95, 119, 120, 140],
            well_looks: 3,
        }
    }
}

impl HealthLimits {
    /// What is wrong with a device that is like that; `before` is how many errors of memory it had
    /// at the last look.
    pub(super) fn judge(&self, vital: &Vital, before: Option<u64>) -> Vec<Condition> {
        let mut found = Vec::new();
        let limit = self.temperature_celsius.or(vital.slowdown_celsius);
        if let (Some(celsius), Some(limit)) = (vital.temperature_celsius, limit)
            && celsius >= limit
        {
            found.push(Condition::TooHot { celsius, limit });
        }
        // Without an earlier look nobody knows when they were.
        if let (Some(now), Some(before)) = (vital.uncorrected_errors, before)
            && now > before
        {
            let new = now - before;
            found.push(Condition::UncorrectedErrors { new });
        }
        if vital.row_remap_failed == Some(true) {
            found.push(Condition::RowRemapFailed);
        }
        found
    }
}

/// What is worth a word; `is_first` says that nobody looked before.
pub fn notices(vital: &Vital, is_first: bool) -> Vec<Notice> {
    let mut found = Vec::new();
    let bits = vital.throttling.unwrap_or(0);
    let reasons: Vec<_> = THROTTLING
        .iter()
        .filter(|(bit, _)| bits & bit != 0)
        .map(|(_, reason)| *reason)
        .collect();
    if !reasons.is_empty() {
        found.push(Notice::Throttled { reasons });
    }
    if vital.row_remap_pending == Some(true) {
        found.push(Notice::RowRemapPending);
    }
    // Later looks compare with this one: what is new then makes the device sick.
    let old = vital.uncorrected_errors.filter(|errors| *errors > 0);
    if let Some(since_start) = old.filter(|_| is_first) {
        found.push(Notice::UncorrectedErrors { since_start });
    }
    found
}
