//! Sums by source, exact at every moment, peaks too. The price is a lock; the pool's own numbers
//! have none, and peaks within what threads hold.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use core_gpu_driver::{Driver, DriverError, Stream};

use crate::{AllocError, Block, Resource, Source, adaptor::locked};

/// What a source has and had. Bytes as they were asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SourceUsage {
    /// Bytes in use.
    pub bytes_in_use: u64,
    /// The most bytes in use at once.
    pub peak_bytes: u64,
    /// Blocks in use.
    pub blocks_in_use: u64,
    /// Requests that were served.
    pub allocations: u64,
    /// Requests that were refused.
    pub refusals: u64,
    /// Bytes of all requests that were served.
    pub total_bytes: u64,
}

/// Counts what goes through it, in bytes of blocks. May be used from several threads.
pub struct Statistics {
    upstream: Arc<dyn Resource>,
    sources: Mutex<BTreeMap<Source, SourceUsage>>,
}

impl Statistics {
    /// Counts from now on.
    #[must_use]
    pub fn new(upstream: Arc<dyn Resource>) -> Statistics {
        Statistics {
            upstream,
            sources: Mutex::default(),
        }
    }

    /// The numbers of one source.
    #[must_use]
    pub fn of(&self, by: Source) -> SourceUsage {
        locked(&self.sources).get(&by).copied().unwrap_or_default()
    }

    /// All numbers, by name of the source.
    #[must_use]
    pub fn by_name(&self) -> BTreeMap<String, SourceUsage> {
        let sources = locked(&self.sources).clone();
        sources
            .into_iter()
            .map(|(by, usage)| (by.name(), usage))
            .collect()
    }
}

impl Resource for Statistics {
    fn driver(&self) -> &Arc<dyn Driver> {
        self.upstream.driver()
    }

    fn allocate_block(&self, bytes: u64, on: &Stream, by: Source) -> Result<Block, AllocError> {
        let allocated = self.upstream.allocate_block(bytes, on, by);
        let mut sources = locked(&self.sources);
        let usage = sources.entry(by).or_default();
        if allocated.is_ok() {
            usage.bytes_in_use += bytes;
            usage.peak_bytes = usage.peak_bytes.max(usage.bytes_in_use);
            usage.blocks_in_use += 1;
            usage.allocations += 1;
            usage.total_bytes += bytes;
        } else {
            usage.refusals += 1;
        }
        allocated
    }

    fn free_block(&self, block: Block) -> Result<(), DriverError> {
        let mut sources = locked(&self.sources);
        let usage = sources.entry(block.source()).or_default();
        usage.bytes_in_use = usage.bytes_in_use.saturating_sub(block.requested_bytes());
        usage.blocks_in_use = usage.blocks_in_use.saturating_sub(1);
        drop(sources);
        self.upstream.free_block(block)
    }
}
