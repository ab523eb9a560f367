//! What a driver can answer instead of success. Codes are kept as the numbers they are: asking a
//! library for their text could fail for the reason that is being reported.

use crate::identity::DeviceId;

/// Why a driver call did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// There is no driver, no device, or not the part of a driver that is needed.
    #[error(transparent)]
    Absent(#[from] Absent),
    /// The device has no memory left for this. Less may still fit.
    #[error("the device is out of memory")]
    OutOfMemory,
    /// The device is unusable for the rest of the process: every later call on it fails too, and
    /// the bytes on it are gone.
    #[error("device {device} is lost (code {code})")]
    Lost {
        /// The device.
        device: DeviceId,
        /// The driver's number.
        code: i32,
    },
    /// A call failed.
    #[error("{function} failed with code {code}{}", if *.from_earlier_work { " (of earlier asynchronous work)" } else { "" })]
    Call {
        /// The driver's function.
        function: &'static str,
        /// The driver's number.
        code: i32,
        /// The code says that work given to the device *before* this call failed. Whether the call
        /// itself took effect is then unknown.
        from_earlier_work: bool,
    },
    /// The arguments were refused before the driver was asked.
    #[error("{function} was not called: {why}")]
    Refused {
        /// The driver's function, or the operation.
        function: &'static str,
        /// What is wrong with the arguments.
        why: Refusal,
    },
}

impl DriverError {
    /// Whether reclaiming memory and trying again can help.
    #[must_use]
    pub const fn is_out_of_memory(&self) -> bool {
        matches!(self, Self::OutOfMemory)
    }

    /// Whether nothing on the device will work any more.
    #[must_use]
    pub const fn is_lost(&self) -> bool {
        matches!(self, Self::Lost { .. })
    }

    /// Whether the driver is shutting down with the process. Memory is then given back by the
    /// driver itself, so a failed free is no leak.
    #[must_use]
    pub const fn is_deinitialized(&self) -> bool {
        matches!(self, Self::Absent(Absent::Deinitialized))
    }

    /// Whether the call surely had no effect, so that it may be repeated as it is.
    #[must_use]
    pub const fn had_no_effect(&self) -> bool {
        matches!(
            self,
            Self::Absent(_) | Self::OutOfMemory | Self::Refused { .. }
        )
    }
}

/// What is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Absent {
    /// None of these libraries could be loaded.
    #[error("no {platform} driver library: tried {tried}")]
    Library {
        /// What the library is for.
        platform: &'static str,
        /// The names tried, separated by a comma and a space, with the reason after the last.
        tried: String,
    },
    /// A library was loaded and lacks a function: it is older than what is asked of it.
    #[error("{library} has no function {symbol}: the driver is too old")]
    Symbol {
        /// The library.
        library: &'static str,
        /// The function's exported name.
        symbol: &'static str,
    },
    /// The driver works and shows no such device.
    #[error("no such device: {wanted}")]
    Device {
        /// The identity or number asked for.
        wanted: String,
    },
    /// This device cannot do it.
    #[error("the device has no {what}")]
    Capability {
        /// What it lacks.
        what: &'static str,
    },
    /// Its devices are found, and nothing here can work on them yet.
    #[error("devices of {platform} are only detected: {what} are not supported yet")]
    Unsupported {
        /// The platform.
        platform: &'static str,
        /// What is not supported.
        what: &'static str,
    },
    /// It is a part of other systems than this one.
    #[error("{platform} is not on this system")]
    System {
        /// What is not here.
        platform: &'static str,
    },
    /// This program was built without it.
    #[error("built without the feature `{feature}`")]
    NotBuilt {
        /// The crate feature.
        feature: &'static str,
    },
    /// The driver is not usable in a process that was forked off after it started.
    #[error("the driver does not work in a forked process")]
    Forked,
    /// The driver is shutting down with the process.
    #[error("the driver is shutting down")]
    Deinitialized,
}

/// What is wrong with arguments.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// No bytes were asked for.
    #[error("zero bytes")]
    ZeroBytes,
    /// Bytes outside of what is held.
    #[error("{bytes} bytes at offset {offset} of {held}")]
    OutOfRange {
        /// Where the access begins.
        offset: u64,
        /// How many bytes it wants.
        bytes: u64,
        /// How many bytes there are.
        held: u64,
    },
    /// Things of two devices in one call.
    #[error("its arguments belong to different devices")]
    OtherDevice,
    /// An address that this driver did not give out, or has taken back.
    #[error("an unknown address")]
    UnknownAddress,
    /// An address that a kernel's buffer cannot begin at.
    #[error("an address that is not aligned")]
    Unaligned,
    /// A stream that this driver does not have.
    #[error("an unknown stream")]
    UnknownStream,
    /// An event that this driver does not have.
    #[error("an unknown event")]
    UnknownEvent,
    /// The event has not been recorded, or keeps no time.
    #[error("the event has no time")]
    NoTime,
    /// The stream is being captured into a graph.
    #[error("the stream is being captured")]
    Capturing,
}
