//! Taking, releasing and joining blocks.

use crate::{
    segment::{
        bins::{Bin, Bins, Ticks},
        node::{Node, NodeId, Order, Slab, State},
    },
    size_class::ALIGNMENT,
};

/// Blocks of the exact bin that are looked at before a longer bin is used: fewer leftovers, and
/// still a constant.
const LOOK_FIRST: usize = 2;
/// The same when no longer bin has anything.
const LOOK_LAST: usize = 64;

/// Names a segment; numbers are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SegmentId(pub u32);

#[derive(Debug, Clone, Copy)]
struct Segment {
    units: u32,
    first: NodeId,
    /// Units that the memory was taken away from.
    holes: u32,
    /// Somebody is at work on it: it stays.
    held: bool,
}

/// A block that was just taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// What to release it by.
    pub node: NodeId,
    /// The segment that it lies in.
    pub segment: SegmentId,
    /// Bytes from the segment's start.
    pub offset: u64,
    /// Length in bytes, at least what was asked for.
    pub bytes: u64,
    /// When it was freed, as its order counts.
    pub freed_at: u64,
}

/// A block as a snapshot shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeBlock {
    /// Its node.
    pub node: NodeId,
    /// Bytes from the segment's start.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// The order that it is free in; none if it is given out.
    pub free_in: Option<Order>,
    /// There is no memory under it any more.
    pub is_hole: bool,
}

/// Segments and their blocks. Not synchronised: its owner holds a lock.
#[derive(Debug, Default)]
pub struct Heap {
    slab: Slab,
    segments: Vec<Option<Segment>>,
    orders: Vec<Bins>,
    free_bytes: u64,
    reserved_bytes: u64,
}

/// A length in units of the alignment, at least one.
#[inline]
fn units_of(bytes: u64) -> Option<u32> {
    Some(u32::try_from(bytes.div_ceil(ALIGNMENT)).ok()?.max(1))
}

impl Heap {
    /// Adds `bytes` as one free idle block. None if the length is no multiple of the alignment,
    /// nothing, or more than a segment can be (1 TiB).
    pub fn add_segment(&mut self, bytes: u64) -> Option<SegmentId> {
        if !bytes.is_multiple_of(ALIGNMENT) {
            return None;
        }
        let units = u32::try_from(bytes / ALIGNMENT)
            .ok()
            .filter(|units| *units > 0)?;
        let vacant = self.segments.iter().position(Option::is_none);
        let index = vacant.unwrap_or(self.segments.len());
        let number = u32::try_from(index).ok()?;
        let first = self.slab.insert(Node::taken(number, 0, units))?;
        if vacant.is_none() {
            self.segments.push(None);
        }
        self.segments[index] = Some(Segment {
            units,
            first,
            holes: 0,
            held: false,
        });
        self.reserved_bytes += bytes;
        self.release(first, Order::IDLE, 0);
        Some(SegmentId(number))
    }

    /// Takes a segment out if it is one free idle block.
    pub fn remove_segment(&mut self, id: SegmentId) -> bool {
        let Some(segment) = self.whole_free(id) else {
            return false;
        };
        let mut next = Some(segment.first);
        while let Some(node) = next {
            next = self.slab[node].after;
            self.unlink(node);
            self.slab.remove(node);
        }
        self.segments[id.0 as usize] = None;
        let bytes = u64::from(segment.units - segment.holes) * ALIGNMENT;
        self.free_bytes -= bytes;
        self.reserved_bytes -= bytes;
        true
    }

    /// Whether nothing of the segment is given out and no work is left on it.
    pub fn is_whole_free(&self, id: SegmentId) -> bool {
        self.whole_free(id).is_some()
    }

    fn whole_free(&self, id: SegmentId) -> Option<Segment> {
        let segment = (*self.segments.get(id.0 as usize)?)?;
        if segment.held {
            return None;
        }
        let first = &self.slab[segment.first];
        let whole = if segment.holes == 0 {
            first.units == segment.units && first.state == State::free_in(Order::IDLE)
        } else {
            let idle = [State::free_in(Order::IDLE), State::HOLE];
            self.nodes_of(segment.first)
                .all(|node| idle.contains(&self.slab[node].state))
        };
        whole.then_some(segment)
    }

    /// Takes a block of at least `bytes` that is free in `order`.
    #[inline]
    pub fn take(&mut self, order: Order, bytes: u64) -> Option<Taken> {
        let units = units_of(bytes)?;
        let node = self.find(order, units)?;
        Some(self.take_found(node, order, units))
    }

    /// As [`Heap::take`], also from what is idle. Always inlined: what is known of the block stays
    /// in registers.
    #[inline(always)]
    pub fn take_or_idle(&mut self, order: Order, bytes: u64) -> Option<Taken> {
        let units = units_of(bytes)?;
        let (node, from) = match self.find(order, units) {
            Some(node) => (node, order),
            None => (self.find(Order::IDLE, units)?, Order::IDLE),
        };
        Some(self.take_found(node, from, units))
    }

    #[inline(always)]
    fn take_found(&mut self, node: NodeId, order: Order, units: u32) -> Taken {
        self.unlink(node);
        self.split(node, order, units);
        let found = &mut self.slab[node];
        found.state = State::TAKEN;
        let taken = Taken {
            node,
            segment: SegmentId(found.segment),
            offset: u64::from(found.start) * ALIGNMENT,
            bytes: u64::from(found.units) * ALIGNMENT,
            freed_at: self.freed_at(node, order),
        };
        self.free_bytes -= taken.bytes;
        taken
    }

    #[inline]
    fn find(&self, order: Order, units: u32) -> Option<NodeId> {
        let bins = self.orders.get(order.0 as usize)?;
        let exact = Bin::of(units);
        if let Some(node) = self.look_in(bins, exact, units, LOOK_FIRST) {
            return Some(node);
        }
        if let Some(bin) = bins.fitting(units) {
            return bins.head(bin);
        }
        self.look_in(bins, exact, units, LOOK_LAST)
    }

    #[inline]
    fn look_in(&self, bins: &Bins, bin: Bin, units: u32, at_most: usize) -> Option<NodeId> {
        let mut next = bins.head(bin);
        for _ in 0..at_most {
            let node = &self.slab[next?];
            if node.units >= units {
                return next;
            }
            next = node.list_after;
        }
        None
    }

    /// Cuts off what is too much. The rest keeps the order and its time.
    #[inline]
    fn split(&mut self, node: NodeId, order: Order, units: u32) {
        let whole = self.slab[node];
        let rest = whole.units - units;
        if rest == 0 {
            return;
        }
        let mut tail = Node::taken(whole.segment, whole.start + units, rest);
        tail.before = Some(node);
        tail.after = whole.after;
        // A full slab only means that the block stays longer than asked for.
        let Some(tail) = self.slab.insert(tail) else {
            return;
        };
        if self.ticks_of(order) == Ticks::Each {
            let freed_at = self.slab.freed_at(node);
            self.slab.set_freed_at(tail, freed_at);
        }
        if let Some(after) = whole.after {
            self.slab[after].before = Some(tail);
        }
        self.slab[node].after = Some(tail);
        self.slab[node].units = units;
        self.link(tail, order);
    }

    /// Gives a taken block back, free in `order` since `freed_at`, and joins it with free
    /// neighbours of that order. The joined block counts as freed when its last part was.
    #[inline]
    pub fn release(&mut self, node: NodeId, order: Order, freed_at: u64) {
        self.free_bytes += u64::from(self.slab[node].units) * ALIGNMENT;
        self.note_tick(node, order, freed_at);
        self.join_and_link(node, order);
    }

    /// When the free blocks of an order were freed.
    #[inline]
    fn ticks_of(&self, order: Order) -> Ticks {
        let bins = self.orders.get(order.0 as usize);
        bins.map_or(Ticks::Each, |bins| bins.ticks)
    }

    #[inline]
    fn freed_at(&self, node: NodeId, order: Order) -> u64 {
        match self.ticks_of(order) {
            Ticks::All(tick) => tick,
            Ticks::Each => self.slab.freed_at(node),
        }
    }

    /// Notes when a block was freed that is about to be free in the order.
    #[inline]
    fn note_tick(&mut self, node: NodeId, order: Order, tick: u64) {
        if self.ticks_of(order) != Ticks::All(tick) {
            self.note_another_tick(node, order, tick);
        }
    }

    /// The order's blocks were not all freed at that tick, or there are none.
    #[inline(never)]
    fn note_another_tick(&mut self, node: NodeId, order: Order, tick: u64) {
        let index = order.0 as usize;
        if self.orders.len() <= index {
            self.orders.resize_with(index + 1, Bins::default);
        }
        let bins = &mut self.orders[index];
        if bins.longest().is_none() {
            bins.ticks = Ticks::All(tick);
            return;
        }
        if let Ticks::All(known) = bins.ticks {
            bins.ticks = Ticks::Each;
            for node in self.free_in(order) {
                self.slab.set_freed_at(node, known);
            }
        }
        self.slab.set_freed_at(node, tick);
    }

    /// The free blocks of an order.
    fn free_in(&self, order: Order) -> Vec<NodeId> {
        let bins = self.orders.get(order.0 as usize);
        let heads = bins.into_iter().flat_map(Bins::heads);
        let lists = heads
            .flat_map(|head| std::iter::successors(Some(head), |node| self.slab[*node].list_after));
        lists.collect()
    }

    #[inline]
    fn join_and_link(&mut self, node: NodeId, order: Order) {
        let mut node = node;
        let this = self.slab[node];
        if let Some(after) = this.after.filter(|after| self.is_free_in(*after, order)) {
            self.unlink(after);
            self.absorb(node, after, order);
        }
        if let Some(before) = this.before.filter(|before| self.is_free_in(*before, order)) {
            self.unlink(before);
            self.absorb(before, node, order);
            node = before;
        }
        self.link(node, order);
    }

    #[inline]
    fn is_free_in(&self, node: NodeId, order: Order) -> bool {
        self.slab[node].state == State::free_in(order)
    }

    /// Makes `node` longer by its neighbour `after`, which ceases to be.
    #[inline]
    fn absorb(&mut self, node: NodeId, after: NodeId, order: Order) {
        let gone = self.slab[after];
        let this = &mut self.slab[node];
        this.units += gone.units;
        this.after = gone.after;
        if self.ticks_of(order) == Ticks::Each {
            let freed_at = self.slab.freed_at(node).max(self.slab.freed_at(after));
            self.slab.set_freed_at(node, freed_at);
        }
        if let Some(next) = gone.after {
            self.slab[next].before = Some(node);
        }
        self.slab.remove(after);
    }

    #[inline]
    fn link(&mut self, node: NodeId, order: Order) {
        let index = order.0 as usize;
        if self.orders.len() <= index {
            self.orders.resize_with(index + 1, Bins::default);
        }
        let bins = &mut self.orders[index];
        let bin = Bin::of(self.slab[node].units);
        let head = bins.head(bin);
        bins.set_head(bin, Some(node));
        if let Some(head) = head {
            self.slab[head].list_before = Some(node);
        }
        let this = &mut self.slab[node];
        this.state = State::free_in(order);
        this.list_before = None;
        this.list_after = head;
    }

    #[inline]
    fn unlink(&mut self, node: NodeId) {
        let this = self.slab[node];
        let Some(order) = this.state.order() else {
            return;
        };
        if let Some(after) = this.list_after {
            self.slab[after].list_before = this.list_before;
        }
        match this.list_before {
            Some(before) => self.slab[before].list_after = this.list_after,
            None => self.orders[order.0 as usize].set_head(Bin::of(this.units), this.list_after),
        }
        self.slab[node].state = State::TAKEN;
    }

    /// Makes every free block of `from` free in `to`, since `freed_at`, joining what can be joined.
    /// Takes time for each such block.
    pub fn hand_over(&mut self, from: Order, to: Order, freed_at: u64) {
        loop {
            let Some(bins) = self.orders.get(from.0 as usize) else {
                return;
            };
            let Some(node) = bins.longest().and_then(|bin| bins.head(bin)) else {
                return;
            };
            self.unlink(node);
            self.note_tick(node, to, freed_at);
            self.join_and_link(node, to);
        }
    }

    /// As [`Heap::hand_over`], for blocks that were freed at `tick` or before. They join as if they
    /// were freed at tick zero, for the work is done.
    pub fn hand_over_until(&mut self, from: Order, to: Order, tick: u64) {
        let mut nodes = self.free_in(from);
        nodes.retain(|node| self.freed_at(*node, from) <= tick);
        for node in nodes {
            // Blocks of `from` never join while others leave it, so each is still what it was.
            self.unlink(node);
            self.note_tick(node, to, 0);
            self.join_and_link(node, to);
        }
    }

    /// Takes a segment out whatever is in it: its blocks are nobody's any more.
    pub fn discard_segment(&mut self, id: SegmentId) {
        let Some(segment) = self.segments.get_mut(id.0 as usize).and_then(Option::take) else {
            return;
        };
        let mut next = Some(segment.first);
        while let Some(node) = next {
            let this = self.slab[node];
            if this.state.order().is_some() {
                self.unlink(node);
                self.free_bytes -= u64::from(this.units) * ALIGNMENT;
            }
            self.slab.remove(node);
            next = this.after;
        }
        self.reserved_bytes -= u64::from(segment.units - segment.holes) * ALIGNMENT;
    }

    fn nodes_of(&self, first: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(Some(first), |node| self.slab[*node].after)
    }

    /// Lets a segment stay whatever becomes of its blocks, or lets it go again.
    pub fn hold(&mut self, id: SegmentId, held: bool) {
        if let Some(Some(segment)) = self.segments.get_mut(id.0 as usize) {
            segment.held = held;
        }
    }

    /// Whole pieces of `piece_bytes` in a segment that are free and idle, by their numbers.
    pub fn idle_pieces(&self, id: SegmentId, piece_bytes: u64) -> Vec<u64> {
        let idle = self
            .blocks(id)
            .filter(|block| block.free_in == Some(Order::IDLE));
        let pieces = idle.flat_map(|block| {
            let first = block.offset.div_ceil(piece_bytes);
            first..((block.offset + block.bytes) / piece_bytes).max(first)
        });
        pieces.collect()
    }

    /// Makes a piece that is free and idle a hole: its memory is taken away. False if it is not.
    pub fn punch(&mut self, id: SegmentId, piece: u64, piece_bytes: u64) -> bool {
        let (start, end) = (piece * piece_bytes, (piece + 1) * piece_bytes);
        let holds = |block: &FreeBlock| {
            let inside = block.offset <= start && end <= block.offset + block.bytes;
            inside && block.free_in == Some(Order::IDLE)
        };
        let Some(block) = self.blocks(id).find(holds) else {
            return false;
        };
        let units = |bytes: u64| (bytes / ALIGNMENT) as u32;
        let mut node = block.node;
        self.unlink(node);
        if start > block.offset {
            // The front stays free; what is behind it is the rest of the block.
            self.split(node, Order::IDLE, units(start - block.offset));
            let cut = self.slab[node].units == units(start - block.offset);
            let rest = self.slab[node].after.filter(|_| cut);
            self.link(node, Order::IDLE);
            let Some(rest) = rest else {
                return false;
            };
            self.unlink(rest);
            node = rest;
        }
        self.split(node, Order::IDLE, units(piece_bytes));
        if self.slab[node].units != units(piece_bytes) {
            self.link(node, Order::IDLE);
            return false;
        }
        self.slab[node].state = State::HOLE;
        self.free_bytes -= piece_bytes;
        self.reserved_bytes -= piece_bytes;
        if let Some(Some(segment)) = self.segments.get_mut(id.0 as usize) {
            segment.holes += units(piece_bytes);
        }
        true
    }

    /// Orders that have been used, idle among them.
    pub fn order_count(&self) -> u32 {
        u32::try_from(self.orders.len()).unwrap_or(u32::MAX)
    }

    /// Whether some block is free in the order.
    pub fn has_free(&self, order: Order) -> bool {
        let bins = self.orders.get(order.0 as usize);
        bins.is_some_and(|bins| bins.longest().is_some())
    }

    /// Bytes of the longest block that is free in any order.
    pub fn longest_free(&self) -> u64 {
        let longest = self.orders.iter().filter_map(|bins| {
            let mut next = bins.head(bins.longest()?);
            let mut units = 0;
            // The bin's lengths differ by a thirty-second: a few looks are near enough.
            for _ in 0..LOOK_LAST {
                let Some(node) = next.map(|id| &self.slab[id]) else {
                    break;
                };
                units = units.max(node.units);
                next = node.list_after;
            }
            Some(u64::from(units) * ALIGNMENT)
        });
        longest.max().unwrap_or(0)
    }

    /// Bytes that are free, in any order.
    pub fn free_bytes(&self) -> u64 {
        self.free_bytes
    }

    /// Bytes of all segments.
    pub fn reserved_bytes(&self) -> u64 {
        self.reserved_bytes
    }

    /// The segments that there are, with their lengths in bytes.
    pub fn segments(&self) -> impl Iterator<Item = (SegmentId, u64)> + '_ {
        let numbered = (0_u32..).zip(&self.segments);
        numbered.filter_map(|(number, segment)| {
            let units = segment.as_ref()?.units;
            Some((SegmentId(number), u64::from(units) * ALIGNMENT))
        })
    }

    /// The blocks of a segment in order of their offsets.
    pub fn blocks(&self, id: SegmentId) -> impl Iterator<Item = FreeBlock> + '_ {
        let segment = self.segments.get(id.0 as usize).copied().flatten();
        let first = segment.map(|segment| segment.first);
        first
            .into_iter()
            .flat_map(|first| self.nodes_of(first))
            .map(|node| {
                let this = &self.slab[node];
                FreeBlock {
                    node,
                    offset: u64::from(this.start) * ALIGNMENT,
                    bytes: u64::from(this.units) * ALIGNMENT,
                    free_in: this.state.order(),
                    is_hole: this.state == State::HOLE,
                }
            })
    }
}
