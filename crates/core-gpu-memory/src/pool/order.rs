//! The order of streams: what one stream has to wait for before it may have another's block.
//!
//! Each stream that a pool knows has an order with a clock. A block freed at some tick is covered
//! by every event recorded at that tick or later. Events are recorded only when another stream
//! wants a block, or when the stream ends, and one event covers all blocks freed before it.

use std::{collections::HashMap, sync::Arc};

use core_gpu_driver::{
    Driver, DriverError, EndingStream, Event, EventKind, Stream, StreamId, WeakStream,
};

use crate::segment::Order;

/// What is known of one stream.
#[derive(Debug)]
struct StreamRecord {
    stream: WeakStream,
    /// Tick of the blocks that are freed now.
    clock: u64,
    event: Option<Event>,
    /// Blocks freed at or before this tick are covered by `event`.
    covered: u64,
    ended: bool,
    /// The stream has ended and was waited for.
    done: bool,
    /// Blocks of this order that are not in the heap.
    leases: u64,
    /// Up to which tick of other streams this one has waited.
    waited: HashMap<Order, u64>,
}

/// The orders of a pool. Order zero is for blocks that no work is left on.
#[derive(Debug, Default)]
pub struct Orders {
    records: Vec<StreamRecord>,
    by_stream: HashMap<StreamId, Order>,
    /// Orders of streams that have ended and left nothing behind. Their clocks go on.
    vacant: Vec<Order>,
    /// Orders of streams that have ended, until nothing is left of them.
    ending: Vec<Order>,
    /// The stream asked for last: most programs use few.
    last: Option<(StreamId, Order)>,
    /// Foreign streams with owners, kept for the next block that is asked for on them.
    parked: Vec<Stream>,
    /// Streams that must be dropped without the pool's lock, for that may be their end.
    pub to_drop: Vec<Stream>,
    /// Events that were recorded, and waits that were put on streams.
    pub events_recorded: u64,
    pub waits: u64,
}

impl Orders {
    /// The stream's order if the pool knows it.
    #[inline]
    pub fn find(&mut self, stream: StreamId) -> Option<Order> {
        if let Some((id, order)) = self.last
            && id == stream
        {
            return Some(order);
        }
        self.find_another(stream)
    }

    #[inline(never)]
    fn find_another(&mut self, stream: StreamId) -> Option<Order> {
        let order = *self.by_stream.get(&stream)?;
        self.last = Some((stream, order));
        Some(order)
    }

    /// Makes an order for a stream that the pool does not know yet.
    pub fn add(&mut self, stream: &Stream) -> Order {
        let mut record = StreamRecord {
            stream: stream.downgrade(),
            clock: 1,
            event: None,
            covered: 0,
            ended: false,
            done: false,
            leases: 0,
            waited: HashMap::new(),
        };
        let order = match self.vacant.pop() {
            Some(order) => {
                record.clock = self.clock(order) + 1;
                self.records[order.0 as usize - 1] = record;
                order
            }
            None => {
                self.records.push(record);
                Order(u32::try_from(self.records.len()).unwrap_or(u32::MAX))
            }
        };
        self.by_stream.insert(stream.id(), order);
        self.park(stream);
        order
    }

    /// Counts blocks that leave the heap for that order.
    #[inline]
    pub fn lend(&mut self, order: Order) {
        if let Some(record) = self.record(order) {
            record.leases += 1;
        }
    }

    /// Counts blocks that come back, and says at which tick.
    #[inline]
    pub fn take_back(&mut self, order: Order) -> u64 {
        let Some(record) = self.record(order) else {
            return 0;
        };
        record.leases -= 1;
        record.clock
    }

    /// As [`Orders::take_back`], for who does not ask for the tick.
    pub fn forget(&mut self, order: Order) {
        self.take_back(order);
    }

    /// Orders of ended streams of which the device has done all work. What is free in them is idle.
    pub fn over(&mut self) -> Vec<Order> {
        let mut over = std::mem::take(&mut self.ending);
        over.retain(|order| {
            let is_over = self.is_over(*order);
            let leases = self.record(*order).map_or(0, |record| record.leases);
            if !(is_over && leases == 0) {
                self.ending.push(*order);
            } else {
                self.vacant.push(*order);
            }
            is_over
        });
        over
    }

    /// Takes the events out: the device was waited for, and nothing will be asked of them again.
    pub fn take_events(&mut self) -> Vec<Event> {
        let records = self.records.iter_mut();
        let events = records.filter_map(|record| {
            record.covered = 0;
            record.waited.clear();
            record.event.take()
        });
        events.collect()
    }

    fn record(&mut self, order: Order) -> Option<&mut StreamRecord> {
        self.records.get_mut((order.0 as usize).checked_sub(1)?)
    }

    /// The tick at which a block of that order is freed now.
    #[inline]
    pub fn clock(&self, order: Order) -> u64 {
        let index = (order.0 as usize).wrapping_sub(1);
        self.records.get(index).map_or(0, |record| record.clock)
    }

    /// Begins a new tick, and says which was the last.
    pub fn tick(&mut self, order: Order) -> u64 {
        let Some(record) = self.record(order) else {
            return 0;
        };
        let now = record.clock;
        if !record.ended {
            record.clock += 1;
        }
        now
    }

    /// Keeps a foreign stream that has an owner, until that is kept by nothing else: the stream would
    /// end with each of its blocks.
    fn park(&mut self, stream: &Stream) {
        self.let_go_of_idle();
        if stream.is_owner_in_use() {
            self.parked.push(stream.clone());
        }
    }

    /// Lets go of foreign streams whose owners nobody uses any more.
    pub fn let_go_of_idle(&mut self) {
        let idle = self
            .parked
            .extract_if(.., |stream| !stream.is_owner_in_use());
        self.to_drop.extend(idle);
    }

    /// Lets go of all foreign streams.
    pub fn let_go_of_all(&mut self) {
        self.to_drop.append(&mut self.parked);
    }

    /// Whether any stream that lives is being captured, as far as can be said.
    pub fn is_any_capturing(&mut self) -> bool {
        let live = self.records.iter().filter(|record| !record.ended);
        let live: Vec<_> = live.filter_map(|record| record.stream.upgrade()).collect();
        let any = live
            .iter()
            .any(|stream| stream.may_be_capturing() && stream.is_capturing() != Ok(false));
        self.to_drop.extend(live);
        any
    }

    /// Whether a live stream of that order is being captured.
    fn is_capturing(&mut self, order: Order) -> Result<bool, DriverError> {
        let Some(stream) = self
            .record(order)
            .and_then(|record| record.stream.upgrade())
        else {
            return Ok(false);
        };
        let capturing = stream.may_be_capturing() && stream.is_capturing()?;
        self.to_drop.push(stream);
        Ok(capturing)
    }

    /// Lets `stream`, whose order is `order`, wait for what was freed in `other` at `freed_at`.
    /// False if that cannot be said now: the other stream is being captured, or is just ending.
    pub fn wait_for(
        &mut self,
        stream: &Stream,
        order: Order,
        other: Order,
        freed_at: u64,
    ) -> Result<bool, DriverError> {
        let waited = self
            .record(order)
            .and_then(|record| record.waited.get(&other).copied());
        let done = self.record(other).is_none_or(|record| record.done);
        if other == order || done || waited.is_some_and(|tick| tick >= freed_at) {
            return Ok(true);
        }
        if !self.cover(other, freed_at)? {
            return Ok(false);
        }
        let Some(record) = self.record(other) else {
            return Ok(false);
        };
        let covered = record.covered;
        let Some(event) = &record.event else {
            return Ok(false);
        };
        stream.wait(event)?;
        self.waits += 1;
        if let Some(record) = self.record(order) {
            record.waited.insert(other, covered);
        }
        Ok(true)
    }

    /// Sees to it that the order's event covers `freed_at`.
    fn cover(&mut self, order: Order, freed_at: u64) -> Result<bool, DriverError> {
        let Some(record) = self.record(order) else {
            return Ok(false);
        };
        if record.event.is_some() && record.covered >= freed_at {
            return Ok(true);
        }
        if self.is_capturing(order)? {
            return Ok(false);
        }
        let Some(record) = self.record(order) else {
            return Ok(false);
        };
        let Some(stream) = record.stream.upgrade() else {
            return Ok(false);
        };
        let recorded = record.record_on(stream.driver(), |event| stream.record(event));
        self.to_drop.push(stream);
        recorded?;
        self.events_recorded += 1;
        Ok(true)
    }

    /// The stream ends: one event is recorded on it, which covers all that it ever did. If that
    /// fails, it is waited for.
    pub fn end(&mut self, id: StreamId, ending: &EndingStream<'_>) -> Result<(), DriverError> {
        let Some(order) = self.by_stream.remove(&id) else {
            return Ok(());
        };
        self.last = None;
        let Some(record) = self.record(order) else {
            return Ok(());
        };
        record.ended = true;
        let recorded = record.record_on(ending.driver(), |event| ending.record(event));
        // What is freed in this order from now on cannot have work on it after the end.
        record.clock = record.covered;
        let done = recorded.is_err() && ending.synchronize().is_ok();
        record.done = done;
        self.ending.push(order);
        if done { Ok(()) } else { recorded }
    }

    /// The stream ends, and nobody will wait for it through here.
    pub fn end_unmarked(&mut self, id: StreamId) {
        self.last = None;
        let order = self.by_stream.remove(&id);
        if let Some(record) = order.and_then(|order| self.record(order)) {
            record.ended = true;
            record.done = true;
        }
    }

    /// Whether the order's stream has ended and the device has done all of its work.
    pub fn is_over(&mut self, order: Order) -> bool {
        let Some(record) = self.record(order) else {
            return false;
        };
        let reached = record.event.as_ref().map(Event::query);
        record.ended && (record.done || matches!(reached, Some(Ok(true))))
    }

    /// The orders that there are, idle not among them.
    pub fn all(&self) -> impl Iterator<Item = Order> + use<> {
        (1..=u32::try_from(self.records.len()).unwrap_or(u32::MAX)).map(Order)
    }
}

impl StreamRecord {
    fn record_on(
        &mut self,
        driver: &Arc<dyn Driver>,
        record: impl FnOnce(&Event) -> Result<(), DriverError>,
    ) -> Result<(), DriverError> {
        let event = match self.event.take() {
            Some(event) => event,
            None => Event::new(driver, EventKind::Order)?,
        };
        let recorded = record(&event);
        if recorded.is_ok() {
            self.covered = self.clock;
            self.clock += 1;
            self.event = Some(event);
        } else {
            // An event that may or may not be recorded covers nothing.
            self.covered = 0;
        }
        recorded
    }
}
