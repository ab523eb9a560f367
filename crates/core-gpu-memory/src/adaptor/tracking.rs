//! Which allocations are live, whose they are and how old. For finding leaks; it costs a lock and a
//! map entry each, and a backtrace where that is asked for.

use std::{
    backtrace::Backtrace,
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use core_gpu_driver::{Driver, DriverError, Stream};

use crate::{AllocError, Block, Resource, Source, adaptor::locked};

/// An allocation that is live.
#[derive(Debug, Clone)]
pub struct LiveAllocation {
    /// Its address.
    pub address: u64,
    /// Bytes that were asked for.
    pub bytes: u64,
    /// Who asked.
    pub by: Source,
    /// Counts allocations through this adaptor, from zero.
    pub sequence: u64,
    /// How long it has been live.
    pub age: Duration,
    /// Where it was asked for, if backtraces are on.
    pub backtrace: Option<String>,
}

struct Tracked {
    bytes: u64,
    by: Source,
    sequence: u64,
    since: Instant,
    backtrace: Option<Backtrace>,
}

#[derive(Default)]
struct Live {
    by_address: BTreeMap<u64, Tracked>,
    next: u64,
}

/// Remembers every live allocation that went through it, and owns none. May be used from several
/// threads.
pub struct Tracking {
    upstream: Arc<dyn Resource>,
    backtraces: bool,
    live: Mutex<Live>,
}

impl Tracking {
    /// Remembers from now on. With `backtraces` also where each was asked for: some microseconds
    /// each.
    #[must_use]
    pub fn new(upstream: Arc<dyn Resource>, backtraces: bool) -> Tracking {
        Tracking {
            upstream,
            backtraces,
            live: Mutex::default(),
        }
    }

    /// The live allocations, oldest first.
    #[must_use]
    pub fn live(&self) -> Vec<LiveAllocation> {
        let live = locked(&self.live);
        let mut all: Vec<_> = live
            .by_address
            .iter()
            .map(|(address, tracked)| LiveAllocation {
                address: *address,
                bytes: tracked.bytes,
                by: tracked.by,
                sequence: tracked.sequence,
                age: tracked.since.elapsed(),
                backtrace: tracked.backtrace.as_ref().map(ToString::to_string),
            })
            .collect();
        all.sort_by_key(|allocation| allocation.sequence);
        all
    }

    /// Bytes of all live allocations.
    #[must_use]
    pub fn bytes_in_use(&self) -> u64 {
        locked(&self.live)
            .by_address
            .values()
            .map(|tracked| tracked.bytes)
            .sum()
    }
}

impl Resource for Tracking {
    fn driver(&self) -> &Arc<dyn Driver> {
        self.upstream.driver()
    }

    fn allocate_block(&self, bytes: u64, on: &Stream, by: Source) -> Result<Block, AllocError> {
        let block = self.upstream.allocate_block(bytes, on, by)?;
        let backtrace = self.backtraces.then(Backtrace::force_capture);
        let mut live = locked(&self.live);
        let sequence = live.next;
        live.next += 1;
        let tracked = Tracked {
            bytes,
            by,
            sequence,
            since: Instant::now(),
            backtrace,
        };
        live.by_address
            .insert(block.span().address().get(), tracked);
        Ok(block)
    }

    fn free_block(&self, block: Block) -> Result<(), DriverError> {
        locked(&self.live)
            .by_address
            .remove(&block.span().address().get());
        self.upstream.free_block(block)
    }
}
