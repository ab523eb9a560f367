//! The guards of spans on the host.

use std::{
    cell::{Cell, OnceCell},
    marker::PhantomData,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use core_gpu_driver::ticks;

use super::{
    memory,
    name::{Met, SpanName},
    ranges,
    ring::{OwnRing, Recorded},
};

/// Zero while nothing is recorded; else the number of the recording, which a reset changes.
static RECORDING: AtomicU64 = AtomicU64::new(0);
/// In [`RECORDING`]: spans are also ranges of NVTX.
const RANGES: u64 = 1 << 63;
/// The number of the last recording, whether it goes on or not.
static LAST: AtomicU64 = AtomicU64::new(1);
/// Whether spans are ranges, too, when there is a recording.
static WITH_RANGES: AtomicBool = AtomicBool::new(false);
/// When it began.
static SINCE: AtomicU64 = AtomicU64::new(0);

/// The number of the recording that reports are about.
pub(super) fn epoch() -> u64 {
    LAST.load(Ordering::Acquire)
}

/// When the recording began.
pub(super) fn since_ticks() -> u64 {
    SINCE.load(Ordering::Acquire)
}

#[inline]
pub(super) fn is_on() -> bool {
    RECORDING.load(Ordering::Relaxed) != 0
}

/// Lets spans that begin from now on also be ranges.
pub(super) fn set_ranges(on: bool) {
    WITH_RANGES.store(on, Ordering::Release);
    if is_on() {
        switch(true);
    }
}

/// A recording's number and how it is made.
fn recording(epoch: u64) -> u64 {
    let ranges = WITH_RANGES.load(Ordering::Acquire);
    if ranges { epoch | RANGES } else { epoch }
}

pub(super) fn switch(on: bool) {
    let epoch = if on { recording(epoch()) } else { 0 };
    if on && since_ticks() == 0 {
        SINCE.store(ticks::now(), Ordering::Release);
    }
    RECORDING.store(epoch, Ordering::Release);
}

/// A new recording. Spans that are open belong to neither.
pub(super) fn begin_anew() {
    SINCE.store(ticks::now(), Ordering::Release);
    let next = LAST.fetch_add(1, Ordering::AcqRel) + 1;
    if is_on() {
        RECORDING.store(recording(next), Ordering::Release);
    }
}

struct Local {
    ring: OnceCell<OwnRing>,
    met: Met,
    depth: Cell<u32>,
    /// Ticks of the spans inside of the innermost open one.
    inner_ticks: Cell<u64>,
}

thread_local! {
    static LOCAL: Local = const {
        Local {
            ring: OnceCell::new(),
            met: Met::new(),
            depth: Cell::new(0),
            inner_ticks: Cell::new(0),
        }
    };
}

/// A span of the host: from here to the drop. Stays on its thread.
#[derive(Debug)]
#[must_use = "the span ends when the guard is dropped"]
pub struct Span {
    start: u64,
    epoch: u64,
    outer_ticks: u64,
    name: SpanName,
    stays: PhantomData<*const ()>,
}

impl Span {
    const OFF: Self = Self {
        start: 0,
        epoch: 0,
        outer_ticks: 0,
        name: SpanName::NONE,
        stays: PhantomData,
    };

    #[inline]
    fn begin(name: impl FnOnce(&Met) -> SpanName, epoch: u64) -> Self {
        let begun = LOCAL.try_with(|local| {
            let name = name(&local.met);
            local.depth.set(local.depth.get() + 1);
            (name, local.inner_ticks.replace(0))
        });
        // A thread that is being taken down has nowhere to record.
        let Ok((name, outer_ticks)) = begun else {
            return Self::OFF;
        };
        if epoch & RANGES != 0 {
            ranges::push(name);
        }
        Self {
            start: ticks::now(),
            epoch,
            outer_ticks,
            name,
            stays: PhantomData,
        }
    }

    #[inline]
    fn end(&mut self) {
        let end = ticks::now();
        if self.epoch & RANGES != 0 {
            ranges::pop();
        }
        // Nobody can be told that the thread is being taken down.
        let _ = LOCAL.try_with(|local| {
            let depth = local.depth.get().saturating_sub(1);
            local.depth.set(depth);
            let lasted = end.saturating_sub(self.start);
            let own = lasted.saturating_sub(local.inner_ticks.get());
            local.inner_ticks.set(self.outer_ticks + lasted);
            if RECORDING.load(Ordering::Relaxed) != self.epoch {
                return;
            }
            let span = Recorded {
                name: self.name,
                depth,
                start_ticks: self.start,
                end_ticks: end,
            };
            let ring = local.ring.get_or_init(OwnRing::new);
            ring.0.record(span, own, self.epoch & !RANGES);
        });
    }
}

impl Drop for Span {
    #[inline]
    fn drop(&mut self) {
        if self.epoch != 0 {
            self.end();
        }
    }
}

/// Measures from here to the guard's drop. While the profiler is off it is one relaxed load.
///
/// ```
/// use core_gpu::profiler::{profile, profiler};
///
/// profiler().enable();
/// {
///     let _span = profile("load");
/// }
/// assert_eq!(profiler().stats()["load"].count, 1);
/// ```
#[inline]
pub fn profile(name: &'static str) -> Span {
    let epoch = RECORDING.load(Ordering::Relaxed);
    if epoch == 0 {
        return Span::OFF;
    }
    Span::begin(|met| met.name(name), epoch)
}

/// As [`profile`], for a name that is made while the program runs.
#[inline]
pub fn profile_named(name: SpanName) -> Span {
    let epoch = RECORDING.load(Ordering::Relaxed);
    if epoch == 0 {
        return Span::OFF;
    }
    Span::begin(|_| name, epoch)
}

/// A span that also tells what it did to memory; see [`profile_with_memory`].
#[derive(Debug)]
#[must_use = "the span ends when the guard is dropped"]
pub struct MemorySpan {
    span: Span,
    mark: Option<memory::Mark>,
}

/// As [`profile`], and also how much more memory the thread holds at the end than at the beginning,
/// and how much more it held at most, in bytes. It sees the pools that a
/// [`super::MemoryWatch`] observes.
#[inline]
pub fn profile_with_memory(name: &'static str) -> MemorySpan {
    let span = profile(name);
    let mark = (span.epoch != 0).then(memory::mark);
    MemorySpan { span, mark }
}

impl Drop for MemorySpan {
    fn drop(&mut self) {
        let Some(mark) = self.mark.take() else { return };
        let (name, epoch) = (self.span.name, self.span.epoch);
        self.span.end();
        self.span.epoch = 0;
        let change = memory::since(mark);
        if RECORDING.load(Ordering::Relaxed) != epoch {
            return;
        }
        // As in `Span::end`.
        let _ = LOCAL.try_with(|local| {
            if let Some(ring) = local.ring.get() {
                ring.0.record_memory(name, change);
            }
        });
    }
}
