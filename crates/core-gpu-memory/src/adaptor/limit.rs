//! Bounds the bytes that go through it. It knows no sources; the pool has limits by source.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use core_gpu_driver::{Driver, DriverError, Stream};

use crate::{AllocError, Block, Resource, Source, size_class::block_bytes};

/// Refuses what would have more than so many bytes in use at once. Requests count as the blocks
/// that they are rounded up to. May be used from several threads; the limit holds at any time.
pub struct Limit {
    upstream: Arc<dyn Resource>,
    limit: u64,
    used: AtomicU64,
}

impl Limit {
    /// At most `limit` bytes through this adaptor.
    #[must_use]
    pub fn new(upstream: Arc<dyn Resource>, limit: u64) -> Limit {
        Limit {
            upstream,
            limit,
            used: AtomicU64::new(0),
        }
    }

    /// Bytes in use through this adaptor.
    #[must_use]
    pub fn bytes_in_use(&self) -> u64 {
        self.used.load(Relaxed)
    }

    /// The bound in bytes.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Relaxed);
    }
}

impl Resource for Limit {
    fn driver(&self) -> &Arc<dyn Driver> {
        self.upstream.driver()
    }

    fn allocate_block(&self, bytes: u64, on: &Stream, by: Source) -> Result<Block, AllocError> {
        let too_large = || AllocError::TooLarge {
            bytes,
            device: self.limit,
        };
        let block = block_bytes(bytes).filter(|block| *block <= self.limit);
        let block = block.ok_or_else(too_large)?;
        let drawn = self.used.fetch_update(Relaxed, Relaxed, |used| {
            used.checked_add(block).filter(|sum| *sum <= self.limit)
        });
        if drawn.is_err() {
            return Err(AllocError::Limit { by });
        }
        let allocated = self.upstream.allocate_block(bytes, on, by);
        if allocated.is_err() {
            self.give_back(block);
        }
        allocated
    }

    fn free_block(&self, block: Block) -> Result<(), DriverError> {
        let bytes = block_bytes(block.requested_bytes()).unwrap_or(0);
        let freed = self.upstream.free_block(block);
        self.give_back(bytes);
        freed
    }
}
