//! What a pool has and has done, as numbers.

use std::sync::atomic::Ordering::Relaxed;

use serde::Serialize;

use crate::{
    Pool,
    observe::Step,
    pool::{account::Usage, central::Central, lease::InUse},
};

/// Numbers of one source. Bytes count whole blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceStatistics {
    /// Its name.
    pub source: String,
    /// Bytes in use. Exact when no thread is in the middle of an operation.
    pub bytes_in_use: u64,
    /// The most bytes that were in use at once, credit of threads included: above the truth by at
    /// most 1 MiB for each thread that worked for the source.
    pub peak_bytes: u64,
    /// Bound on the bytes in use, if there is one.
    pub limit_bytes: Option<u64>,
    /// Requests that were served.
    pub allocations: u64,
    /// Bytes of all blocks that were ever given out.
    pub allocated_bytes: u64,
    /// Blocks that came back.
    pub frees: u64,
    /// Requests that were refused: for lack of room, or by a limit.
    pub refusals: u64,
}

/// Numbers of a pool. Bytes count whole blocks unless said otherwise.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PoolStatistics {
    /// Bytes in use by all sources.
    pub bytes_in_use: u64,
    /// Bytes that were asked for, of what is in use.
    pub bytes_requested: u64,
    /// Bytes of blocks in use beyond what was asked for.
    pub padding_bytes: u64,
    /// Bytes that the pool has from the driver.
    pub reserved_bytes: u64,
    /// The most bytes in use at once, credit of threads included.
    pub peak_bytes_in_use: u64,
    /// The most bytes that the pool had from the driver.
    pub peak_reserved_bytes: u64,
    /// Bytes that are free and joined with their neighbours.
    pub free_bytes: u64,
    /// The longest free piece in bytes.
    pub longest_free_bytes: u64,
    /// Bytes that threads cache, those that are idle too.
    pub thread_cached_bytes: u64,
    /// Bytes of free blocks that are kept as they came back, for the next request of their length.
    /// They join before the pool grows.
    pub depot_bytes: u64,
    /// Bytes that wait for work on other streams.
    pub pending_bytes: u64,
    /// Bytes of failed frees.
    pub quarantined_bytes: u64,
    /// Bytes lost with their device.
    pub lost_bytes: u64,
    /// Segments from the driver.
    pub segments: u64,
    /// Pieces that are free.
    pub free_blocks: u64,
    /// Requests that a thread's cache served.
    pub hits: u64,
    /// Requests that came to the pool.
    pub misses: u64,
    /// Bytes of all blocks that were ever given out.
    pub allocated_bytes: u64,
    /// Blocks that came back.
    pub frees: u64,
    /// One less the longest free piece through all that is free: 0 when it is one piece.
    pub fragmentation: f64,
    /// Bytes in use through bytes reserved.
    pub utilisation: f64,
    /// Segments that were asked for.
    pub segments_made: u64,
    /// Frees that failed.
    pub failed_frees: u64,
    /// Requests that were refused: for lack of room, or by a limit.
    pub refusals: u64,
    /// Callbacks of the program's that panicked.
    pub callback_panics: u64,
    /// Events that were asked of the driver for blocks that several streams used.
    pub events_made: u64,
    /// Events that were recorded because another stream wanted a block.
    pub events_recorded: u64,
    /// Waits that were put on streams.
    pub stream_waits: u64,
    /// How often each step of making room was taken.
    pub steps: Vec<(Step, u64)>,
    /// By source, in the order in which the names were first used.
    pub sources: Vec<SourceStatistics>,
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// Bytes that programs have asked for, and how many blocks are free.
fn requested_and_free(central: &Central) -> (u64, u64) {
    let heap = &central.heap;
    let (mut requested, mut free_blocks) = (0, 0);
    for block in heap.segments().flat_map(|(id, _)| heap.blocks(id)) {
        free_blocks += u64::from(block.free_in.is_some());
        let of_user = |user: InUse| block.bytes - u64::from(user.padding);
        requested += central.user(block.node).map_or(0, of_user);
    }
    (requested, free_blocks)
}

/// What one source has.
fn of_source(source: String, usage: &Usage, limit: u64) -> SourceStatistics {
    SourceStatistics {
        source,
        bytes_in_use: usage.bytes_in_use,
        peak_bytes: usage.peak_bytes,
        limit_bytes: (limit != u64::MAX).then_some(limit),
        allocations: usage.hits + usage.misses,
        allocated_bytes: usage.allocated_bytes,
        frees: usage.frees,
        refusals: usage.refusals,
    }
}

impl Pool {
    /// All numbers of the pool. Takes its lock, and time for each block; what is in use is exact
    /// when no thread is in the middle of an operation.
    #[must_use]
    pub fn statistics(&self) -> PoolStatistics {
        let central = self.inner.lock();
        let heap = &central.heap;
        let (requested, free_blocks) = requested_and_free(&central);
        let sources: Vec<_> = central
            .accounts
            .iter()
            .map(|(by, account)| (by, account.usage(), account.gauge.limit))
            .filter(|(_, usage, _)| usage.hits + usage.misses + usage.refusals > 0)
            .collect();
        let sum = |field: fn(&Usage) -> u64| {
            sources
                .iter()
                .map(|(_, usage, _)| field(usage))
                .sum::<u64>()
        };
        let bytes_in_use = sum(|usage| usage.bytes_in_use);
        let tallies = central.tallies;
        PoolStatistics {
            bytes_in_use,
            bytes_requested: requested,
            padding_bytes: bytes_in_use.saturating_sub(requested),
            reserved_bytes: heap.reserved_bytes(),
            peak_bytes_in_use: central.accounts.total.peak,
            peak_reserved_bytes: central.peak_reserved,
            free_bytes: heap.free_bytes(),
            longest_free_bytes: heap.longest_free(),
            thread_cached_bytes: central.thread_cached_bytes(),
            depot_bytes: central.depot.bytes(),
            pending_bytes: central.pending_bytes,
            quarantined_bytes: central.quarantined_bytes(),
            lost_bytes: central.lost_bytes,
            segments: heap.segments().count() as u64,
            free_blocks,
            hits: sum(|usage| usage.hits),
            misses: sum(|usage| usage.misses),
            allocated_bytes: sum(|usage| usage.allocated_bytes),
            frees: sum(|usage| usage.frees),
            fragmentation: match heap.free_bytes() {
                0 => 0.0,
                free => 1.0 - ratio(heap.longest_free(), free),
            },
            utilisation: ratio(bytes_in_use, heap.reserved_bytes()),
            segments_made: tallies.segments_made,
            failed_frees: tallies.failed_frees,
            refusals: sum(|usage| usage.refusals),
            callback_panics: self.inner.panics.load(Relaxed),
            events_made: central.events.made,
            events_recorded: central.orders.events_recorded,
            stream_waits: central.orders.waits,
            steps: Step::ALL.into_iter().zip(tallies.steps).collect(),
            sources: sources
                .iter()
                .map(|(by, usage, limit)| of_source(by.name(), usage, *limit))
                .collect(),
        }
    }

    /// Peaks count from what is in use now.
    pub fn reset_peaks(&self) {
        let mut central = self.inner.lock();
        central.accounts.reset_peaks();
        central.peak_reserved = central.heap.reserved_bytes();
    }

    /// Bytes in use by all sources. Takes the pool's lock.
    #[must_use]
    pub fn bytes_in_use(&self) -> u64 {
        self.inner.lock().accounts.bytes_in_use()
    }

    /// Bytes that the pool has from the driver. Takes the pool's lock.
    #[must_use]
    pub fn reserved_bytes(&self) -> u64 {
        self.inner.lock().heap.reserved_bytes()
    }
}
