//! What a pool says as it works: to an observer, and to those who can make room.

use core_gpu_driver::DriverError;
use serde::Serialize;

use crate::Source;

/// One thing that happened. Lengths in bytes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum MemoryEvent {
    /// A block was given out.
    Allocated {
        /// Its address.
        address: u64,
        /// Its length.
        bytes: u64,
        /// For whom.
        by: Source,
    },
    /// A block came back.
    Freed {
        /// Its address.
        address: u64,
        /// Its length.
        bytes: u64,
        /// For whom it was.
        by: Source,
    },
    /// The driver gave a segment.
    Grown {
        /// Its length.
        bytes: u64,
    },
    /// Segments went back to the driver.
    Trimmed {
        /// Their length.
        bytes: u64,
    },
    /// Something was done to make room for a request.
    Step {
        /// What.
        step: Step,
        /// Length of the request.
        for_bytes: u64,
    },
    /// An entry left the device for the host.
    Spilled {
        /// Its length.
        bytes: u64,
        /// For whom it is.
        by: Source,
    },
    /// An entry came back from the host.
    Promoted {
        /// Its length.
        bytes: u64,
        /// For whom it is.
        by: Source,
    },
    /// A free failed, and what it was for is in quarantine.
    FailedFree {
        /// Length of what could not be freed.
        bytes: u64,
        /// What the driver said.
        error: DriverError,
    },
}

/// Hears what a pool does. Called without the pool's locks held, on the thread that did it; it may
/// free memory, and must not ask for any. A pool without an observer spends nothing on it.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use core_gpu_driver::{Driver, HostDriver, Stream, StreamKind};
/// use core_gpu_memory::{MemoryEvent, Observer, Pool, Source};
///
/// /// Bytes that the pool got from the driver.
/// #[derive(Default)]
/// struct Grown(Mutex<Vec<u64>>);
///
/// impl Observer for Grown {
///     fn event(&self, event: &MemoryEvent) {
///         if let MemoryEvent::Grown { bytes } = event {
///             self.0.lock().unwrap().push(*bytes);
///         }
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 24));
/// let stream = Stream::new(&driver, StreamKind::NonBlocking)?;
/// let grown = Arc::new(Grown::default());
/// let pool = Pool::builder(&driver).observer(grown.clone()).build()?;
/// drop(pool.allocate::<u8>(1_000, &stream, Source::UNNAMED)?);
/// assert_eq!(*grown.0.lock().unwrap(), [2 << 20]);
/// # Ok(())
/// # }
/// ```
pub trait Observer: Send + Sync {
    /// One thing happened.
    fn event(&self, event: &MemoryEvent);
}

/// What a pool does to make room, in the order in which it tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Threads give up what they cache.
    FlushThreads,
    /// A block of another stream, behind an event: only where streams share
    /// ([`crate::StreamPolicy::Share`]).
    OtherStreams,
    /// Blocks that were used on several streams: those that are free by now, or behind their events
    /// where streams share.
    DrainPending,
    /// A new segment from the driver.
    Grow,
    /// A block of another stream, behind an event; or all streams' free blocks become this stream's,
    /// and join. Not where streams are local.
    JoinStreams,
    /// Segments that are free go back to the driver, so that another length fits.
    Trim,
    /// What is cached and can be made again goes.
    Evict,
    /// Memory of holes gets new addresses, under which it is one block.
    Remap,
    /// What nobody has pinned moves to host memory.
    Spill,
}

impl Step {
    /// All steps in their order.
    pub const ALL: [Step; 9] = [
        Step::FlushThreads,
        Step::OtherStreams,
        Step::DrainPending,
        Step::Grow,
        Step::JoinStreams,
        Step::Trim,
        Step::Evict,
        Step::Remap,
        Step::Spill,
    ];
}

/// Which step of making room somebody can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pressure {
    /// Give up what can be made again.
    Evict,
    /// Move what is not pinned to the host.
    Spill,
}

/// Somebody who can make room. Called without the pool's locks held, on whichever thread has none, and
/// on several at once; it may free, and asking for
/// memory in it is an error ([`crate::AllocError::Reclaiming`]).
pub trait Reclaim: Send + Sync {
    /// Frees at least `wanted` bytes if it can, and says how many it freed.
    fn reclaim(&self, wanted: u64) -> u64;
}
