//! Rules that a program broke, as values that say which bytes and which streams. Recorded where
//! they happen, whatever the schedule: nothing has to go wrong for a violation to be seen.

use std::fmt;

use crate::clock::StreamKey;

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The driver function that was called.
    pub function: &'static str,
    /// The first byte concerned.
    pub address: u64,
    /// How many bytes from there on.
    pub bytes: u64,
    /// The rule.
    pub kind: ViolationKind,
}

/// Which rule was broken. Streams are the driver's handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ViolationKind {
    /// Work on a stream touches a byte that the pool has not handed out.
    TouchesFree {
        /// The stream.
        stream: StreamKey,
    },
    /// Work on a stream touches a byte that was handed out for others only.
    NotDeclared {
        /// The stream.
        stream: StreamKey,
    },
    /// Two streams touch a byte, one of them writing, and neither waits for the other.
    Race {
        /// The stream that comes now.
        stream: StreamKey,
        /// The stream whose work is not waited for.
        other: StreamKey,
    },
    /// A byte is handed out for a stream while another's work on it is not waited for.
    ReusedTooEarly {
        /// The stream that it was handed out for.
        stream: StreamKey,
        /// The stream whose work is not waited for.
        other: StreamKey,
    },
    /// Memory was given back to the driver while a stream's work on it was not known to be done.
    FreedInUse {
        /// The stream.
        stream: StreamKey,
    },
    /// A byte was handed out for a stream that the device does not have.
    UnknownStream {
        /// Its handle.
        stream: u64,
    },
    /// A byte was handed out while somebody held it.
    HandedOutTwice,
    /// A byte was taken back that nobody held.
    FreedTwice,
    /// A graph was launched whose work touches a byte that had another owner, or any, when it was
    /// captured.
    OwnerChanged,
    /// Pinned memory of the host was given back while a stream's work on it was not known to be done.
    PinnedFreedInUse {
        /// The stream.
        stream: StreamKey,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (function, address, bytes) = (self.function, self.address, self.bytes);
        write!(f, "{function}: {bytes} bytes at {address:#x} ")?;
        match self.kind {
            ViolationKind::TouchesFree { stream } => {
                write!(f, "are free, and work on stream {stream:#x} touches them")
            }
            ViolationKind::NotDeclared { stream } => {
                write!(f, "were not handed out for stream {stream:#x}")
            }
            ViolationKind::Race { stream, other } => write!(
                f,
                "are used on stream {stream:#x}, which does not wait for stream {other:#x}"
            ),
            ViolationKind::ReusedTooEarly { stream, other } => write!(
                f,
                "are handed out for stream {stream:#x}, which does not wait for stream {other:#x}"
            ),
            ViolationKind::FreedInUse { stream } => {
                write!(f, "are given back while stream {stream:#x} may use them")
            }
            ViolationKind::UnknownStream { stream } => {
                write!(f, "are handed out for an unknown stream {stream:#x}")
            }
            ViolationKind::HandedOutTwice => f.write_str("are handed out and already held"),
            ViolationKind::OwnerChanged => {
                f.write_str("had another owner when the graph was captured that touches them")
            }
            ViolationKind::FreedTwice => f.write_str("are taken back and not held"),
            ViolationKind::PinnedFreedInUse { stream } => write!(
                f,
                "of the host are given back while stream {stream:#x} may use them"
            ),
        }
    }
}
