//! What a pool keeps under its lock: the heap, the orders of streams, the accounts, and the blocks
//! that are nobody's at the moment.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, atomic::Ordering::Acquire},
};

use core_gpu_driver::{Driver, DriverError, Event, Piece, Region, Segment, Stream, StreamId};

use crate::{
    Source,
    observe::Step,
    pool::{
        account::Accounts,
        depot::{Batch, Depot},
        events::Events,
        inner::PoolInner,
        lease::{InUse, Lease, OtherStream, StatePage},
        order::Orders,
    },
    segment::{Heap, NodeId, Order, SegmentId, Taken},
    size_class::Shelf,
};

/// A request as the pool's slow path carries it.
#[derive(Debug, Clone, Copy)]
pub struct Request<'r> {
    /// Bytes asked for.
    pub requested: u64,
    /// Bytes of the block.
    pub bytes: u64,
    pub shelf: Shelf,
    pub stream: &'r Stream,
    pub by: Source,
}

/// Why a request was not served this time.
#[derive(Debug)]
pub enum Shortage {
    /// No free block is long enough.
    Blocks,
    /// A limit on what is in use leaves no room.
    Limit,
    /// The pool was shut down.
    Closed,
}

/// A block that was used on several streams, waiting for the others.
#[derive(Debug)]
pub struct Pending {
    /// When it was held back: see [`Central::next_held`].
    pub number: u64,
    pub node: NodeId,
    pub order: Order,
    pub bytes: u64,
    pub events: Vec<Event>,
    /// Other streams that have ended before the block was freed.
    pub ended: Vec<Order>,
}

/// A block that nobody may use until the device has been waited for.
#[derive(Debug, Clone, Copy)]
pub struct Quarantined {
    /// When it was held back: see [`Central::next_held`].
    pub number: u64,
    pub node: NodeId,
    pub bytes: u64,
}

/// Pending blocks that are not looked through before the pool has to make room.
const PENDING_LEAST: usize = 64;

/// Leases that are kept to be filled anew, of 64 bytes each.
const SPARE_MOST: usize = 1024;

/// How often each thing was done.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tallies {
    pub segments_made: u64,
    pub segments_freed: u64,
    pub failed_frees: u64,
    pub steps: [u64; Step::ALL.len()],
}

/// Segments by their numbers.
#[derive(Debug, Default)]
pub struct Segments(Vec<Option<Segment>>);

impl Segments {
    pub fn get(&self, id: SegmentId) -> Option<&Segment> {
        self.0.get(id.0 as usize)?.as_ref()
    }

    pub fn insert(&mut self, id: SegmentId, segment: Segment) {
        let index = id.0 as usize;
        if self.0.len() <= index {
            self.0.resize_with(index + 1, || None);
        }
        self.0[index] = Some(segment);
    }

    pub fn get_mut(&mut self, id: SegmentId) -> Option<&mut Segment> {
        self.0.get_mut(id.0 as usize)?.as_mut()
    }

    pub fn remove(&mut self, id: SegmentId) -> Option<Segment> {
        self.0.get_mut(id.0 as usize)?.take()
    }

    pub fn take_all(&mut self) -> Vec<Segment> {
        self.0.drain(..).flatten().collect()
    }
}

/// What the lock guards.
#[derive(Debug, Default)]
pub struct Central {
    pub heap: Heap,
    pub orders: Orders,
    pub accounts: Accounts,
    pub depot: Depot,
    /// Leases of blocks that have gone back to the heap, to be filled anew.
    #[expect(clippy::vec_box, reason = "leases move as boxes")]
    pub spares: Vec<Box<Lease>>,
    pub segments: Segments,
    pub pages: Vec<Arc<StatePage>>,
    /// Other streams that blocks in use were declared for.
    pub shared: HashMap<NodeId, Vec<OtherStream>>,
    pub events: Events,
    pub pending: Vec<Pending>,
    pub pending_bytes: u64,
    /// How many pending blocks are looked through when the next one comes.
    drain_at: usize,
    pub quarantine: Vec<Quarantined>,
    /// How many blocks have ever been held back.
    held_back: u64,
    /// Other devices of which a stream was declared for a block. Waiting for the pool's own says nothing
    /// of what they do.
    pub other_devices: Vec<Arc<dyn Driver>>,
    /// Segments that the driver would not take back.
    pub stuck: Vec<Segment>,
    /// Pieces that could not be taken from where they are mapped.
    pub stuck_pieces: Vec<Piece>,
    pub lost_bytes: u64,
    /// The device is lost, and what was reserved then is counted as lost.
    pub lost: bool,
    pub peak_reserved: u64,
    /// Segments that were freed under blocks which idle threads cache.
    pub discarded: HashSet<SegmentId>,
    pub closed: bool,
    pub tallies: Tallies,
}

impl Central {
    /// The order of a request's stream.
    #[inline]
    pub fn order_of(&mut self, pool: &Arc<PoolInner>, stream: &Stream) -> Order {
        match self.orders.find(stream.id()) {
            Some(order) => order,
            None => self.add_order(pool, stream),
        }
    }

    #[cold]
    fn add_order(&mut self, pool: &Arc<PoolInner>, stream: &Stream) -> Order {
        let watcher: std::sync::Weak<PoolInner> = Arc::downgrade(pool);
        stream.watch(watcher);
        let order = self.orders.add(stream);
        self.depot.open(order);
        order
    }

    /// Serves a request from what is free in its stream's order, or idle.
    #[inline(always)]
    pub fn serve(
        &mut self,
        pool: &Arc<PoolInner>,
        request: &Request<'_>,
    ) -> Result<Box<Lease>, Shortage> {
        if self.closed {
            return Err(Shortage::Closed);
        }
        let order = self.order_of(pool, request.stream);
        if !self.accounts.draw_for_miss(request.by, request.bytes) {
            return Err(Shortage::Limit);
        }
        let lease = self.carve(pool, order, request);
        let Some(lease) = lease.or_else(|| self.carve_joined(pool, order, request)) else {
            self.accounts.undo_miss(request.by, request.bytes);
            return Err(Shortage::Blocks);
        };
        Ok(lease)
    }

    /// As [`Central::serve`], for a stream that is known, after [`Central::reuse`] had nothing. None
    /// where a limit refuses as well.
    #[inline(always)]
    pub fn cut(
        &mut self,
        pool: &Arc<PoolInner>,
        order: Order,
        request: &Request<'_>,
    ) -> Option<Box<Lease>> {
        if !self.accounts.draw_for_miss(request.by, request.bytes) {
            return None;
        }
        let lease = match self.heap.take_or_idle(order, request.bytes) {
            Some(taken) => self.lease(pool, order, request, taken),
            None => self.carve_joined(pool, order, request),
        };
        if lease.is_none() {
            self.accounts.undo_miss(request.by, request.bytes);
        }
        lease
    }

    /// A block of the same length that is kept for the stream as it came back.
    #[inline]
    pub fn reuse(&mut self, order: Order, shelf: Shelf, by: Source) -> Option<Box<Lease>> {
        let lease = self.depot.take_one(order, shelf)?;
        if self.accounts.draw_for_miss(by, lease.region.bytes) {
            return Some(lease);
        }
        // A limit refuses: the block goes back to where it was.
        if let Some(lease) = self.depot.keep_one(lease) {
            self.join(lease);
        }
        None
    }

    /// A block that the stream may use at once.
    #[inline]
    pub fn carve(
        &mut self,
        pool: &Arc<PoolInner>,
        order: Order,
        request: &Request<'_>,
    ) -> Option<Box<Lease>> {
        if let Some(lease) = self.depot.take_one(order, request.shelf) {
            return Some(lease);
        }
        let taken = self.heap.take_or_idle(order, request.bytes)?;
        self.lease(pool, order, request, taken)
    }

    /// As [`Central::carve`], from the next longer block that the depot keeps for the order; or once
    /// all that it keeps is joined.
    #[inline(never)]
    fn carve_joined(
        &mut self,
        pool: &Arc<PoolInner>,
        order: Order,
        request: &Request<'_>,
    ) -> Option<Box<Lease>> {
        if let Some(longer) = self.depot.take_longer(order, request.shelf) {
            self.join(longer);
            return self.carve(pool, order, request);
        }
        // Few bytes may still be what is missing between two free blocks.
        if !self.join_all(order) {
            return None;
        }
        self.carve(pool, order, request)
    }

    /// Makes the lease of a block that was taken from the heap.
    #[inline(always)]
    pub fn lease(
        &mut self,
        pool: &Arc<PoolInner>,
        order: Order,
        request: &Request<'_>,
        taken: Taken,
    ) -> Option<Box<Lease>> {
        let segment = self.segments.get(taken.segment)?;
        let region = segment.span(taken.offset, taken.bytes)?.region();
        self.orders.lend(order);
        let Some(mut lease) = self.spares.pop() else {
            return Some(self.new_lease(pool, order, request, (taken, region)));
        };
        lease.stream = request.stream.id();
        lease.order = order;
        lease.shelf = request.shelf;
        lease.segment = taken.segment;
        lease.region = region;
        if StatePage::number_of(lease.node) != StatePage::number_of(taken.node) {
            lease.page = self.page_of(taken.node);
        }
        lease.node = taken.node;
        Some(lease)
    }

    fn new_lease(
        &mut self,
        pool: &Arc<PoolInner>,
        order: Order,
        request: &Request<'_>,
        (taken, region): (Taken, Region),
    ) -> Box<Lease> {
        Box::new(Lease {
            pool: Arc::clone(pool),
            stream: request.stream.id(),
            order,
            shelf: request.shelf,
            node: taken.node,
            segment: taken.segment,
            region,
            by: request.by,
            page: self.page_of(taken.node),
            held: None,
            shared: false.into(),
        })
    }

    /// The page that has the word of a node, made if there is none.
    #[inline(never)]
    fn page_of(&mut self, node: NodeId) -> Arc<StatePage> {
        let number = StatePage::number_of(node);
        while self.pages.len() <= number {
            self.pages.push(Arc::default());
        }
        Arc::clone(&self.pages[number])
    }

    /// Notes that a block is not in use any more.
    #[inline]
    pub fn account_freed(&mut self, lease: &Lease) {
        self.accounts.put_back_freed(lease.by, lease.region.bytes);
    }

    /// Takes a block back that is not in use any more and that its stream may use again. Comes back
    /// if the pool has ended.
    #[inline(always)]
    pub fn take_back(&mut self, lease: Box<Lease>) -> Option<Box<Lease>> {
        if self.closed {
            return Some(lease);
        }
        self.account_freed(&lease);
        let lease = self.depot.keep_one(lease)?;
        self.join(lease);
        None
    }

    /// Joins everything that the depot keeps of an order singly. Whether there was anything.
    fn join_all(&mut self, order: Order) -> bool {
        let mut any = false;
        while let Some(lease) = self.depot.take_longest(order) {
            any = true;
            self.join(lease);
        }
        any
    }

    /// Gives a block to the heap. Apart, so that keeping one needs few registers.
    #[inline(never)]
    fn join(&mut self, lease: Box<Lease>) {
        let freed_at = self.orders.take_back(lease.order);
        self.heap.release(lease.node, lease.order, freed_at);
        if self.spares.len() < SPARE_MOST {
            self.spares.push(lease);
        }
    }

    /// Takes a block back that its stream may use again, and joins it with its neighbours.
    #[inline]
    pub fn absorb(&mut self, lease: &Lease) -> Option<Segment> {
        let freed_at = self.orders.take_back(lease.order);
        if self.discarded.contains(&lease.segment) {
            return None;
        }
        self.heap.release(lease.node, lease.order, freed_at);
        if self.closed {
            self.take_out_if_free(lease.segment, lease.order)
        } else {
            None
        }
    }

    /// After the end a segment leaves with its last block.
    fn take_out_if_free(&mut self, id: SegmentId, order: Order) -> Option<Segment> {
        self.heap.hand_over(order, Order::IDLE, 0);
        if self.heap.remove_segment(id) {
            self.segments.remove(id)
        } else {
            None
        }
    }

    /// Takes blocks back, and returns segments and leases to be dropped without the lock.
    pub fn absorb_all(&mut self, leases: Batch) -> (Vec<Segment>, Batch) {
        let absorbed = leases.iter().filter_map(|lease| self.absorb(lease));
        let segments = absorbed.collect();
        let mut leases = leases;
        if !self.closed {
            let room = SPARE_MOST.saturating_sub(self.spares.len());
            let from = leases.len().saturating_sub(room);
            self.spares.extend(leases.drain(from..));
        }
        (segments, leases)
    }

    /// Everything that is kept as it was freed joins the heap.
    pub fn empty_depot(&mut self) -> (Vec<Segment>, Batch) {
        let batch = self.depot.drain();
        self.absorb_all(batch)
    }

    /// A free block of another stream, which the request's stream is made to wait for.
    pub fn borrow_from_others(
        &mut self,
        pool: &Arc<PoolInner>,
        request: &Request<'_>,
    ) -> Result<Option<Box<Lease>>, DriverError> {
        let order = self.order_of(pool, request.stream);
        for other in self.orders.all().filter(|other| *other != order) {
            let Some(taken) = self.heap.take(other, request.bytes) else {
                continue;
            };
            let waits = self
                .orders
                .wait_for(request.stream, order, other, taken.freed_at);
            if !matches!(waits, Ok(true)) {
                self.heap.release(taken.node, other, taken.freed_at);
            }
            if waits? {
                return Ok(self.lease(pool, order, request, taken));
            }
        }
        Ok(None)
    }

    /// Makes everything that is free the request's stream's, behind an event for each other stream.
    pub fn join_streams(
        &mut self,
        pool: &Arc<PoolInner>,
        stream: &Stream,
    ) -> Result<(), DriverError> {
        let order = self.order_of(pool, stream);
        for other in self.orders.all().filter(|other| *other != order) {
            if !self.heap.has_free(other) {
                continue;
            }
            let clock = self.orders.clock(other);
            if self.orders.wait_for(stream, order, other, clock)? {
                let freed_at = self.orders.clock(order);
                self.heap.hand_over(other, order, freed_at);
            }
        }
        let freed_at = self.orders.clock(order);
        self.heap.hand_over(Order::IDLE, order, freed_at);
        Ok(())
    }

    /// A number for a block that is held back from now on, pending or in quarantine. Blocks of smaller
    /// numbers than the next were held back before now, wherever they are by then.
    pub fn next_held(&mut self) -> u64 {
        self.held_back += 1;
        self.held_back
    }

    /// Keeps a block until its streams have come so far. Now and then those are freed that have, so
    /// that neither blocks nor events pile up while there is room.
    pub fn pend(&mut self, pending: Pending) {
        if self.pending.len() >= self.drain_at.max(PENDING_LEAST) {
            self.drain_reached();
            self.drain_at = self.pending.len() * 2;
        }
        self.pending_bytes += pending.bytes;
        self.pending.push(pending);
    }

    /// Frees pending blocks whose events have been reached, and orders of streams that are over.
    pub fn drain_reached(&mut self) {
        let (mut index, mut freed) = (0, 0);
        while let Some(pending) = self.pending.get_mut(index) {
            let reached = |event: &mut Event| matches!(event.query(), Ok(true));
            let reached = pending.events.extract_if(.., reached);
            drop(self.events.keep(reached));
            let orders = &mut self.orders;
            pending.ended.retain(|other| {
                let over = orders.is_over(*other);
                if over {
                    orders.forget(*other);
                }
                !over
            });
            if pending.events.is_empty() && pending.ended.is_empty() {
                let pending = self.pending.swap_remove(index);
                freed += pending.bytes;
                self.release_pending(&pending);
            } else {
                index += 1;
            }
        }
        self.pending_bytes -= freed;
        for order in self.orders.over() {
            self.heap.hand_over(order, Order::IDLE, 0);
        }
    }

    /// Frees pending blocks for `stream`, which is made to wait for their events.
    pub fn drain_behind_events(
        &mut self,
        pool: &Arc<PoolInner>,
        stream: &Stream,
    ) -> Result<(), DriverError> {
        self.drain_reached();
        let order = self.order_of(pool, stream);
        while let Some(pending) = self.pending.pop() {
            let waits = self.wait_for_pending(stream, order, &pending);
            if !matches!(waits, Ok(true)) {
                self.pending.push(pending);
                return waits.map(|_| ());
            }
            self.pending_bytes -= pending.bytes;
            self.forget_orders(&pending);
            let freed_at = self.orders.clock(order);
            self.heap.release(pending.node, order, freed_at);
            drop(self.events.keep(pending.events));
        }
        Ok(())
    }

    fn wait_for_pending(
        &mut self,
        stream: &Stream,
        order: Order,
        pending: &Pending,
    ) -> Result<bool, DriverError> {
        for event in &pending.events {
            stream.wait(event)?;
            self.orders.waits += 1;
        }
        for other in pending.ended.iter().chain([&pending.order]) {
            let clock = self.orders.clock(*other);
            if !self.orders.wait_for(stream, order, *other, clock)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn forget_orders(&mut self, pending: &Pending) {
        self.orders.forget(pending.order);
        pending
            .ended
            .iter()
            .for_each(|other| self.orders.forget(*other));
    }

    fn release_pending(&mut self, pending: &Pending) {
        let freed_at = self.orders.take_back(pending.order);
        self.heap.release(pending.node, pending.order, freed_at);
    }

    /// What everything that is free now would be idle after, once the device has been waited for.
    pub fn mark_ticks(&mut self) -> Vec<(Order, u64)> {
        let orders: Vec<_> = self.orders.all().collect();
        orders
            .into_iter()
            .map(|order| (order, self.orders.tick(order)))
            .collect()
    }

    /// Everything that was free at those ticks is idle: the device has been waited for.
    pub fn settle(&mut self, ticks: &[(Order, u64)]) {
        for (order, tick) in ticks {
            self.heap.hand_over_until(*order, Order::IDLE, *tick);
        }
    }

    /// Other devices that may be at work on blocks that nobody has any more.
    pub fn devices_to_wait_for(&self) -> Vec<Arc<dyn Driver>> {
        match self.pending.is_empty() && self.quarantine.is_empty() {
            true => Vec::new(),
            false => self.other_devices.clone(),
        }
    }

    /// Notes that a stream of that device was declared.
    pub fn note_other_device(&mut self, driver: &Arc<dyn Driver>) {
        let id = driver.info().id;
        if self.other_devices.iter().all(|known| known.info().id != id) {
            self.other_devices.push(Arc::clone(driver));
        }
    }

    /// Blocks that were held back before that number was given are free: the device, and others that
    /// had to do with them, were waited for after it. Told by their numbers, and not by their places:
    /// others drain and settle meanwhile, and later ones come into the places of those.
    pub fn settle_held(&mut self, before: u64) {
        let done: Vec<_> = self
            .pending
            .extract_if(.., |pending| pending.number < before)
            .collect();
        for pending in done {
            self.pending_bytes -= pending.bytes;
            self.forget_orders(&pending);
            self.heap.release(pending.node, Order::IDLE, 0);
            drop(self.events.keep(pending.events));
        }
        let done = self
            .quarantine
            .extract_if(.., |quarantined| quarantined.number < before);
        for quarantined in done {
            self.heap.release(quarantined.node, Order::IDLE, 0);
        }
    }

    /// Takes segments out that are free, the shortest first, until `reserved` bytes are left.
    pub fn take_free_segments(&mut self, reserved: u64) -> Vec<Segment> {
        let mut segments: Vec<_> = self.heap.segments().collect();
        segments.sort_unstable_by_key(|(id, bytes)| (*bytes, *id));
        let mut taken = Vec::new();
        for (id, _) in segments {
            if self.heap.reserved_bytes() <= reserved {
                break;
            }
            if self.heap.remove_segment(id) {
                taken.extend(self.segments.remove(id));
            }
        }
        taken
    }

    /// Who uses the block of a node.
    pub fn user(&self, node: NodeId) -> Option<InUse> {
        let page = self.pages.get(StatePage::number_of(node))?;
        InUse::decode(page.word(node).load(Acquire))
    }

    /// Bytes in quarantine: blocks, and segments that the driver would not take.
    pub fn quarantined_bytes(&self) -> u64 {
        let blocks: u64 = self
            .quarantine
            .iter()
            .map(|quarantined| quarantined.bytes)
            .sum();
        let segments: u64 = self.stuck.iter().map(Segment::memory_bytes).sum();
        let pieces: u64 = self.stuck_pieces.iter().map(Piece::bytes).sum();
        blocks + segments + pieces
    }

    /// Bytes that threads have in their caches: whatever is not anywhere else.
    pub fn thread_cached_bytes(&self) -> u64 {
        let out = self.heap.reserved_bytes() - self.heap.free_bytes();
        let blocks: u64 = self
            .quarantine
            .iter()
            .map(|quarantined| quarantined.bytes)
            .sum();
        let known = self.accounts.bytes_in_use() + self.depot.bytes() + self.pending_bytes + blocks;
        out.saturating_sub(known)
    }

    /// Forgets a stream that ends.
    pub fn stream_ends(
        &mut self,
        id: StreamId,
        ending: &core_gpu_driver::EndingStream<'_>,
    ) -> Result<(), DriverError> {
        if self.closed {
            // Whatever is still held goes back with its segment, which waits for the device.
            self.orders.end_unmarked(id);
            return Ok(());
        }
        if let Some(order) = self.orders.find(id) {
            // Nobody will ask for its blocks again; its event will cover them.
            self.join_all(order);
            let batches = self.depot.close(order);
            drop(self.absorb_all(batches));
        }
        self.orders.end(id, ending)
    }
}
