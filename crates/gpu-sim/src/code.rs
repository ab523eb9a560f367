//! The driver's result codes that a simulated machine answers with, by their documented numbers.

use std::fmt;

pub use core_gpu_driver::codes::is_sticky;

/// A result code other than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub i32);

impl Code {
    /// An argument is wrong. Also what a call that breaks a rule answers with.
    pub const INVALID_VALUE: Self = Self(1);
    /// No memory of the kind asked for is left.
    pub const OUT_OF_MEMORY: Self = Self(2);
    /// The driver was not initialised in this process; also after a fork.
    pub const NOT_INITIALIZED: Self = Self(3);
    /// The driver is shutting down with the process.
    pub const DEINITIALIZED: Self = Self(4);
    /// The device cannot be had at the moment.
    pub const DEVICE_UNAVAILABLE: Self = Self(46);
    /// There is no device.
    pub const NO_DEVICE: Self = Self(100);
    /// There is no device of this number.
    pub const INVALID_DEVICE: Self = Self(101);
    /// The thread has no current context, or one that is gone.
    pub const INVALID_CONTEXT: Self = Self(201);
    /// Memory with an error that could not be corrected. Sticky.
    pub const ECC_UNCORRECTABLE: Self = Self(214);
    /// A handle that is not one, or of another device.
    pub const INVALID_HANDLE: Self = Self(400);
    /// A name that does not exist.
    pub const NOT_FOUND: Self = Self(500);
    /// Not done yet.
    pub const NOT_READY: Self = Self(600);
    /// Work touched an address that it must not. Sticky.
    pub const ILLEGAL_ADDRESS: Self = Self(700);
    /// A kernel failed. Sticky.
    pub const LAUNCH_FAILED: Self = Self(719);
    /// The device or driver cannot do it.
    pub const NOT_SUPPORTED: Self = Self(801);
    /// Not allowed while a stream is being captured.
    pub const CAPTURE_UNSUPPORTED: Self = Self(900);
    /// The capture was broken by an earlier error.
    pub const CAPTURE_INVALIDATED: Self = Self(901);
    /// The stream takes part in a capture that began on another.
    pub const CAPTURE_UNMATCHED: Self = Self(903);
    /// Work of the capture was not joined to the stream that it began on.
    pub const CAPTURE_UNJOINED: Self = Self(904);
    /// The stream being captured would have to wait for work outside of the capture.
    pub const CAPTURE_ISOLATION: Self = Self(905);
    /// The legacy default stream would have to wait for a stream that is being captured.
    pub const CAPTURE_IMPLICIT: Self = Self(906);
    /// An event of a capture used outside of it.
    pub const CAPTURED_EVENT: Self = Self(907);

    /// Whether nothing on the device works any more after it.
    #[must_use]
    pub const fn is_sticky(self) -> bool {
        is_sticky(self.0)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "code {}", self.0)
    }
}
