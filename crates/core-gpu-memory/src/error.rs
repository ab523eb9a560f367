//! What can go wrong with memory, and who held how much when it did.

use std::fmt;

use core_gpu_driver::DriverError;
use serde::Serialize;

use crate::{Source, StagingError};

/// Why there is no memory for a request.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AllocError {
    /// The device could not hold it if it were empty, nor can a pool bounded below it.
    #[error("{bytes} bytes are more than the {device} bytes that there can ever be")]
    TooLarge {
        /// Bytes asked for.
        bytes: u64,
        /// Bytes of the device, or the bound of the pool if that is less.
        device: u64,
    },
    /// There is no room now, and everything that could make room was tried.
    #[error("out of device memory: {0}")]
    OutOfMemory(Box<ShortageReport>),
    /// A limit on bytes in use would be exceeded.
    #[error("the limit on memory in use leaves no room for {by}")]
    Limit {
        /// Who asked.
        by: Source,
    },
    /// The stream is being captured into a graph, which would keep the block's address for ever.
    #[error("the stream is being captured into a graph")]
    Capturing,
    /// The pool was shut down.
    #[error("the pool was shut down")]
    ShutDown,
    /// This process was forked from the one that made the pool, and a device does not follow. Told where
    /// the request needs more than the thread had cached before the fork; a buffer of that fails at its
    /// first use on the device.
    #[error("the pool belongs to the process that this one was forked from")]
    Forked,
    /// A callback that frees memory asked for some.
    #[error("memory was asked for while making room for another request")]
    Reclaiming,
    /// The stream belongs to another device than the pool.
    #[error("the stream belongs to another device")]
    OtherDevice,
    /// More elements than can be counted in bytes.
    #[error("the size in bytes does not fit a number")]
    SizeOverflow,
    /// Somebody else holds the entry for writing.
    #[error("the entry is being written")]
    BeingWritten,
    /// The host has no pinned memory left, or not as much as was asked for.
    #[error("the host is out of pinned memory")]
    HostMemory,
    /// Bytes did not arrive as they were sent.
    #[error(transparent)]
    Staging(StagingError),
    /// The driver failed otherwise.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

impl From<StagingError> for AllocError {
    fn from(error: StagingError) -> AllocError {
        match error {
            StagingError::Driver(error) => AllocError::Driver(error),
            error => AllocError::Staging(error),
        }
    }
}

impl AllocError {
    /// Whether freeing something and asking again can help.
    #[must_use]
    pub fn is_out_of_room(&self) -> bool {
        matches!(self, AllocError::OutOfMemory(_) | AllocError::Limit { .. })
    }
}

/// Bytes of one source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Holding {
    /// Name of the source.
    pub source: String,
    /// Bytes of blocks in use.
    pub bytes: u64,
}

/// The state of the pool when a request had to be refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
pub struct ShortageReport {
    /// Bytes asked for.
    pub requested_bytes: u64,
    /// Bytes that the pool has from the driver.
    pub reserved_bytes: u64,
    /// Bytes in use, by source, most first.
    pub holdings: Vec<Holding>,
    /// Bytes that are free, in pieces that are too short.
    pub free_bytes: u64,
    /// The longest free piece.
    pub longest_free_bytes: u64,
    /// Bytes that wait for work on other streams.
    pub pending_bytes: u64,
    /// Bytes in the caches of threads: those that run give them up at their next operation, those
    /// that are idle keep them.
    pub thread_cached_bytes: u64,
    /// Bytes given up on after a failed free.
    pub quarantined_bytes: u64,
    /// Bytes that the driver says are free, if it says.
    pub device_free_bytes: Option<u64>,
    /// Bytes used on the device that are not the pool's: contexts, libraries, other processes.
    pub foreign_bytes: Option<u64>,
    /// What the driver said last.
    pub driver: Option<String>,
}

impl fmt::Display for ShortageReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} bytes asked for, {} reserved, {} free (longest {}), {} pending, {} in thread \
             caches, {} quarantined",
            self.requested_bytes,
            self.reserved_bytes,
            self.free_bytes,
            self.longest_free_bytes,
            self.pending_bytes,
            self.thread_cached_bytes,
            self.quarantined_bytes,
        )?;
        if let Some(bytes) = self.foreign_bytes {
            write!(formatter, ", {bytes} not ours")?;
        }
        for holding in &self.holdings {
            write!(formatter, "; {} has {}", holding.source, holding.bytes)?;
        }
        Ok(())
    }
}

/// A block that was still in use when its pool was shut down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeakedBlock {
    /// Name of its source.
    pub source: String,
    /// Its address.
    pub address: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

/// What a pool could not give back when it was shut down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default, thiserror::Error)]
#[error(
    "{} blocks still in use, {quarantined_bytes} bytes quarantined, {lost_bytes} bytes lost with the device",
    self.live.len()
)]
pub struct LeakReport {
    /// Blocks in use. Their memory goes back when their buffers are dropped.
    pub live: Vec<LeakedBlock>,
    /// Bytes in segments that other threads cache a block of. They go back as those threads give
    /// them up: at their next operation on any pool, at their end, or when the last handle of the pool
    /// goes. Not a leak.
    pub thread_cached_bytes: u64,
    /// Bytes whose free failed again.
    pub quarantined_bytes: u64,
    /// Bytes that were on a device that is lost.
    pub lost_bytes: u64,
    /// What the driver said.
    pub errors: Vec<String>,
}

impl LeakReport {
    /// Whether everything was given back.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.live.is_empty() && self.quarantined_bytes == 0 && self.lost_bytes == 0
    }
}
