//! What the spans of a thread do to device memory, heard from the pools: a pool tells its observer
//! of each block on the thread that asked. Pools that are not watched are not seen.

use std::{
    cell::Cell,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use core_gpu_memory::{MemoryEvent, Observer};
use serde::Serialize;

thread_local! {
    static OF_THREAD: OfThread = const {
        OfThread {
            balance: Cell::new(0),
            peak: Cell::new(0),
        }
    };
}

/// Bytes that the thread has asked for less those that it has given back. Blocks may come back on
/// other threads: a balance may be below zero.
struct OfThread {
    balance: Cell<i64>,
    peak: Cell<i64>,
}

/// A thread's balance where a span began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    balance: i64,
    outer_peak: i64,
}

pub(super) fn mark() -> Mark {
    OF_THREAD.with(|thread| {
        let balance = thread.balance.get();
        let outer_peak = thread.peak.replace(balance);
        Mark {
            balance,
            outer_peak,
        }
    })
}

pub(super) fn since(mark: Mark) -> super::ring::MemoryOfSpan {
    OF_THREAD.with(|thread| {
        let peak = thread.peak.get();
        thread.peak.set(peak.max(mark.outer_peak));
        super::ring::MemoryOfSpan {
            change: thread.balance.get() - mark.balance,
            peak: (peak - mark.balance).max(0).cast_unsigned(),
        }
    })
}

/// What pools have done since the last reset, apart from giving out blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MemoryActivity {
    /// Blocks given out.
    pub allocations: u64,
    /// How many bytes more were given out than came back.
    pub balance_bytes: i64,
    /// Segments that came from the driver.
    pub segments: u64,
    /// Times that segments went back to the driver.
    pub trims: u64,
    /// Steps taken to make room for a request.
    pub reclaim_steps: u64,
    /// Entries that left the device for the host, in bytes.
    pub spilled_bytes: u64,
    /// Entries that came back from the host, in bytes.
    pub promoted_bytes: u64,
    /// Frees that failed.
    pub failed_frees: u64,
}

#[derive(Default)]
struct Counters {
    allocations: AtomicU64,
    /// As two's complement.
    balance_bytes: AtomicU64,
    segments: AtomicU64,
    trims: AtomicU64,
    reclaim_steps: AtomicU64,
    spilled_bytes: AtomicU64,
    promoted_bytes: AtomicU64,
    failed_frees: AtomicU64,
}

static COUNTERS: Counters = Counters {
    allocations: AtomicU64::new(0),
    balance_bytes: AtomicU64::new(0),
    segments: AtomicU64::new(0),
    trims: AtomicU64::new(0),
    reclaim_steps: AtomicU64::new(0),
    spilled_bytes: AtomicU64::new(0),
    promoted_bytes: AtomicU64::new(0),
    failed_frees: AtomicU64::new(0),
};

/// The observer that connects a pool with the profiler. Give it to the pools whose memory
/// [`super::profile_with_memory`] is to see; it hands every event on to another observer, if there
/// is one. Costs a few nanoseconds for each event while the profiler is on, a load while it is off.
#[derive(Default)]
pub struct MemoryWatch {
    next: Option<Arc<dyn Observer>>,
}

impl MemoryWatch {
    /// A watch alone.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A watch before another observer.
    #[must_use]
    pub fn before(next: Arc<dyn Observer>) -> Self {
        Self { next: Some(next) }
    }
}

impl Observer for MemoryWatch {
    fn event(&self, event: &MemoryEvent) {
        if super::span::is_on() {
            count(event);
        }
        if let Some(next) = &self.next {
            next.event(event);
        }
    }
}

fn count(event: &MemoryEvent) {
    let raise = |counter: &AtomicU64, by: u64| {
        counter.fetch_add(by, Ordering::Relaxed);
    };
    match event {
        MemoryEvent::Allocated { bytes, .. } => {
            raise(&COUNTERS.allocations, 1);
            raise(&COUNTERS.balance_bytes, *bytes);
            change(i64::try_from(*bytes).unwrap_or(i64::MAX));
        }
        MemoryEvent::Freed { bytes, .. } => {
            COUNTERS.balance_bytes.fetch_sub(*bytes, Ordering::Relaxed);
            change(-i64::try_from(*bytes).unwrap_or(i64::MAX));
        }
        MemoryEvent::Grown { .. } => raise(&COUNTERS.segments, 1),
        MemoryEvent::Trimmed { .. } => raise(&COUNTERS.trims, 1),
        MemoryEvent::Step { .. } => raise(&COUNTERS.reclaim_steps, 1),
        MemoryEvent::Spilled { bytes, .. } => raise(&COUNTERS.spilled_bytes, *bytes),
        MemoryEvent::Promoted { bytes, .. } => raise(&COUNTERS.promoted_bytes, *bytes),
        MemoryEvent::FailedFree { .. } => raise(&COUNTERS.failed_frees, 1),
        _ => {}
    }
}

/// A block came or went on this thread. During the thread's teardown nobody asks any more.
fn change(bytes: i64) {
    let _ = OF_THREAD.try_with(|thread| {
        let balance = thread.balance.get().saturating_add(bytes);
        thread.balance.set(balance);
        thread.peak.set(thread.peak.get().max(balance));
    });
}

pub(super) fn activity() -> MemoryActivity {
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    MemoryActivity {
        allocations: read(&COUNTERS.allocations),
        balance_bytes: read(&COUNTERS.balance_bytes).cast_signed(),
        segments: read(&COUNTERS.segments),
        trims: read(&COUNTERS.trims),
        reclaim_steps: read(&COUNTERS.reclaim_steps),
        spilled_bytes: read(&COUNTERS.spilled_bytes),
        promoted_bytes: read(&COUNTERS.promoted_bytes),
        failed_frees: read(&COUNTERS.failed_frees),
    }
}

pub(super) fn reset() {
    let counters = [
        &COUNTERS.allocations,
        &COUNTERS.balance_bytes,
        &COUNTERS.segments,
        &COUNTERS.trims,
        &COUNTERS.reclaim_steps,
        &COUNTERS.spilled_bytes,
        &COUNTERS.promoted_bytes,
        &COUNTERS.failed_frees,
    ];
    for counter in counters {
        counter.store(0, Ordering::Relaxed);
    }
}
