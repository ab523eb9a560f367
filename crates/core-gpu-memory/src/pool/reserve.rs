//! Giving memory back to the driver: trimming, and the end of a pool.

use std::sync::Arc;

use core_gpu_driver::{Driver, DriverError, Segment, graph::is_any_underway};

use crate::{
    error::{LeakReport, LeakedBlock},
    observe::MemoryEvent,
    pool::{central::Central, inner::PoolInner},
    segment::{Order, SegmentId},
};

impl PoolInner {
    /// Gives segments back until `reserved` bytes are left, or what is in use. Returns the bytes
    /// given back. Waits for the device, for only then is it known that nothing uses them: while a
    /// stream of it is being captured, which waiting would break, nothing is given back.
    pub fn trim(self: &Arc<Self>, reserved: u64) -> u64 {
        self.recall_threads();
        self.empty_depot();
        self.lock().orders.let_go_of_idle();
        if self.lock().heap.reserved_bytes() <= reserved || self.is_any_capturing() {
            return 0;
        }
        if let Err(error) = self.wait_for_device() {
            self.note_loss(&error);
            self.report(&error);
            return 0;
        }
        let segments = self.lock().take_free_segments(reserved);
        let (freed, _) = self.free_segments(segments);
        if freed > 0 {
            self.say(&MemoryEvent::Trimmed { bytes: freed });
        }
        freed
    }

    /// Whether a stream of the device is being captured, as far as can be said: one that the pool knows,
    /// or one whose capture was begun through `Stream::begin_capture`.
    pub fn is_any_capturing(&self) -> bool {
        let announced = self.driver().is_ok_and(|driver| is_any_underway(&driver))
            || self
                .lock()
                .devices_to_wait_for()
                .iter()
                .any(is_any_underway);
        announced || !self.captures.is_empty() || self.lock().orders.is_any_capturing()
    }

    /// After it everything that was free before is idle, and joins.
    pub fn wait_for_device(&self) -> Result<(), DriverError> {
        let mut central = self.lock();
        let ticks = central.mark_ticks();
        let mark = central.next_held();
        let others = central.devices_to_wait_for();
        drop(central);
        self.driver()?.synchronize()?;
        wait_for_others(&others)?;
        let mut central = self.lock();
        central.settle(&ticks);
        central.settle_held(mark);
        Ok(())
    }

    /// Frees segments. One that the driver does not take goes into quarantine.
    fn free_segments(&self, segments: Vec<Segment>) -> (u64, Vec<DriverError>) {
        let (mut freed, mut errors) = (0, Vec::new());
        for segment in segments {
            let bytes = segment.memory_bytes();
            match segment.free() {
                Ok(()) => freed += bytes,
                Err((error, segment)) if error.is_deinitialized() => {
                    // The driver gives everything back by itself as the process ends.
                    freed += segment.abandon();
                }
                Err((error, segment)) => {
                    self.keep_stuck(segment, &error);
                    errors.push(error);
                }
            }
        }
        self.lock().tallies.segments_freed += 1;
        (freed, errors)
    }

    fn keep_stuck(&self, segment: Segment, error: &DriverError) {
        let bytes = segment.memory_bytes();
        if error.is_lost() {
            let bytes = segment.abandon();
            let mut central = self.lock();
            if !central.lost {
                central.lost_bytes += bytes;
            }
            drop(central);
        } else {
            let state = core_gpu_driver::RegionState::Quarantined;
            self.annotate(segment.whole().region(), state);
            self.lock().stuck.push(segment);
        }
        self.fail_free(bytes, error.clone());
    }

    /// The end of giving out: what is free goes back to the driver. Others may hold handles of the
    /// pool, and be in the middle of a request that their thread's cache serves: segments that a
    /// thread caches a block of stay until that thread gives it up, or until [`PoolInner::end`].
    pub fn shut_down(self: &Arc<Self>) -> LeakReport {
        let mut report = self.stop();
        if self.is_capture_underway() {
            let segments = self.lock().take_free_of_all_streams();
            self.give_back_after_captures(segments, &mut report);
            return report;
        }
        let idle = self.wait_at_the_end(&mut report.errors);
        let segments = self.lock().take_free_segments(0);
        self.give_back_at_the_end(segments, idle, &mut report);
        report
    }

    /// Whether [`core_gpu_driver::Stream::begin_capture`] has begun a capture of the device that is not
    /// over. Segments that are dropped meanwhile go afterwards.
    fn is_capture_underway(&self) -> bool {
        self.driver().is_ok_and(|driver| is_any_underway(&driver))
    }

    /// Waiting now would break a capture: each segment waits for the device when the captures are over.
    fn give_back_after_captures(self: &Arc<Self>, segments: Vec<Segment>, report: &mut LeakReport) {
        drop(segments);
        // Nothing but the drop, which is put off as well.
        drop(std::mem::take(&mut self.lock().stuck));
        self.complete(report);
    }

    /// The last handle is gone, so that no request comes any more: everything that nobody uses goes
    /// back to the driver. Blocks that idle threads cache are nobody's.
    pub fn end(self: &Arc<Self>) -> LeakReport {
        let mut report = self.stop();
        if self.is_capture_underway() {
            let mut central = self.lock();
            central.drain_reached();
            let unused = central.unused_segments();
            let segments = central.take_segments(&unused);
            drop(central);
            self.give_back_after_captures(segments, &mut report);
            return report;
        }
        loop {
            // Chosen before the device is waited for: a block that is freed meanwhile may have had
            // work put on it after that.
            let unused = self.lock().unused_segments();
            let idle = self.wait_at_the_end(&mut report.errors);
            let mut central = self.lock();
            let mut segments = central.take_segments(&unused);
            // What waited for other streams has become free by waiting.
            segments.extend(central.take_free_segments(0));
            drop(central);
            let found = !segments.is_empty();
            self.give_back_at_the_end(segments, idle, &mut report);
            if !found || !idle {
                return report;
            }
        }
    }

    /// Gives out nothing from now on, and says who holds what.
    fn stop(self: &Arc<Self>) -> LeakReport {
        self.close();
        self.recall_threads();
        let mut central = self.lock();
        let gone = central.empty_depot();
        central.closed = true;
        central.orders.let_go_of_all();
        // They keep the pool alive.
        let spares = std::mem::take(&mut central.spares);
        let live = live_blocks(&central);
        drop(central);
        drop((spares, gone));
        LeakReport {
            live,
            ..LeakReport::default()
        }
    }

    fn give_back_at_the_end(
        self: &Arc<Self>,
        segments: Vec<Segment>,
        idle: bool,
        report: &mut LeakReport,
    ) {
        let stuck = std::mem::take(&mut self.lock().stuck);
        let segments: Vec<_> = segments.into_iter().chain(stuck).collect();
        let pieces = std::mem::take(&mut self.lock().stuck_pieces);
        // Each tries once more as it is dropped.
        drop(pieces);
        let (_, errors) = if idle {
            self.free_segments(segments)
        } else {
            // Nobody knows whether work still uses them. They wait once more when they are dropped.
            self.lock().stuck = segments;
            (0, Vec::new())
        };
        report.errors.extend(errors.iter().map(ToString::to_string));
        self.complete(report);
    }

    /// Says what is left, and lets go of the events.
    fn complete(&self, report: &mut LeakReport) {
        let mut central = self.lock();
        report.quarantined_bytes = central.quarantined_bytes();
        report.lost_bytes = central.lost_bytes;
        report.thread_cached_bytes = central.thread_cached_bytes();
        // Threads that have ended their use of the pool may keep it alive for long: not its events.
        let events = (central.orders.take_events(), central.events.drain());
        drop(central);
        drop(events);
    }
}

/// Waits for other devices. One that is lost does nothing any more, and is no loss of this one.
pub fn wait_for_others(devices: &[Arc<dyn Driver>]) -> Result<(), DriverError> {
    let waits = devices.iter().map(|device| device.synchronize());
    waits
        .filter(
            |waited| !matches!(waited, Err(error) if error.is_lost() || error.is_deinitialized()),
        )
        .collect()
}

impl PoolInner {
    /// Waits for the device, twice if need be. Whether it does nothing any more, also because it is
    /// gone.
    fn wait_at_the_end(&self, said: &mut Vec<String>) -> bool {
        for _ in 0..2 {
            let Err(error) = self.wait_for_device() else {
                return true;
            };
            self.note_loss(&error);
            said.push(error.to_string());
            if error.is_lost() || error.is_deinitialized() {
                return true;
            }
        }
        false
    }
}

fn live_blocks(central: &Central) -> Vec<LeakedBlock> {
    let mut live = Vec::new();
    for (id, _) in central.heap.segments() {
        let Some(segment) = central.segments.get(id) else {
            continue;
        };
        for block in central
            .heap
            .blocks(id)
            .filter(|block| block.free_in.is_none())
        {
            if let Some(user) = central.user(block.node) {
                let address = segment.address().get() + block.offset;
                let source = user.by.name();
                live.push(LeakedBlock {
                    source,
                    address,
                    bytes: block.bytes,
                });
            }
        }
    }
    live
}

impl Drop for Central {
    /// What is left of the segments goes now, each after its own device was waited for.
    fn drop(&mut self) {
        let others = self.devices_to_wait_for();
        if others.iter().any(is_any_underway) {
            // Waiting would break a capture, and freeing would take memory from under work.
            let left = self.segments.take_all();
            left.into_iter().for_each(|segment| {
                let _ = segment.abandon();
            });
            return;
        }
        for device in others {
            // One that fails does nothing any more, or nothing that could be known.
            let _ = device.synchronize();
        }
    }
}

impl Central {
    /// Takes segments out that are free in whichever order. Only of a closed pool, where nobody is given
    /// them again; they wait for the device as they are dropped.
    fn take_free_of_all_streams(&mut self) -> Vec<Segment> {
        for order in self.orders.all() {
            self.heap.hand_over(order, Order::IDLE, 0);
        }
        self.take_free_segments(0)
    }

    /// Segments of which no block is in use or held back.
    fn unused_segments(&self) -> Vec<SegmentId> {
        let ids = self.heap.segments().map(|(id, _)| id);
        ids.filter(|id| self.is_unused(*id)).collect()
    }

    /// Takes segments out that are still there, and of which nothing can come into use again.
    fn take_segments(&mut self, ids: &[SegmentId]) -> Vec<Segment> {
        let take = |id: &SegmentId| {
            let segment = self.segments.remove(*id)?;
            self.heap.discard_segment(*id);
            self.discarded.insert(*id);
            Some(segment)
        };
        ids.iter().filter_map(take).collect()
    }

    fn is_unused(&self, id: SegmentId) -> bool {
        self.heap.blocks(id).all(|block| {
            let pending = self
                .pending
                .iter()
                .any(|pending| pending.node == block.node);
            let held = self.quarantine.iter().any(|held| held.node == block.node);
            // On its way from its user to those that are pending: other devices may be at work on it.
            let shared = self.shared.contains_key(&block.node);
            block.free_in.is_some()
                || block.is_hole
                || (self.user(block.node).is_none() && !shared && !pending && !held)
        })
    }
}
