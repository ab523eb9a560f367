//! What each thread caches: blocks by pool, stream and class, and credit by pool and source.
//!
//! This is the path that a request normally takes. It has no lock and no atomic read-modify-write:
//! the thread owns what is here, and counters that others read are written by it alone. A pool
//! that wants something back raises its `recall`, and every thread that runs sees it at its next
//! operation. An idle thread keeps what it has, at most [`CACHE_MOST`] bytes a pool.

use std::{
    cell::{Cell, RefCell},
    sync::{Arc, atomic::Ordering::Relaxed},
};

use core_gpu_driver::StreamId;

use crate::{
    Source,
    pool::{
        account::Counters,
        depot::Batch,
        inner::{PoolInner, is_reclaiming},
        lease::Lease,
    },
    size_class::{CLASS_COUNT, SizeClass},
};

/// Bytes that a thread caches for one pool at most.
pub const CACHE_MOST: u64 = 4 * 1024 * 1024;
/// Bytes of one class that move between a thread and its pool at once, at most.
const BATCH_BYTES: u64 = 256 * 1024;
/// Of the frees that find the cache full, one in so many makes room in it.
const ROOM_EVERY: u32 = 32;
/// Blocks of classes of which so many or fewer could move at once move one by one.
const FEW: usize = 4;
/// Blocks that move at once, at most.
const BATCH_MOST: usize = 128;

thread_local! {
    static CACHE: RefCell<ThreadCache> = const { RefCell::new(ThreadCache { pools: Vec::new(), last: 0 }) };
    /// The pool of the last request that had no class, and which of its recalls this thread has heard
    /// of: enough to know that there is nothing to give up, without looking into the cache.
    static HEARD: Cell<(u64, u32)> = const { Cell::new((u64::MAX, 0)) };
}

struct ThreadCache {
    pools: Vec<PoolCache>,
    last: usize,
}

struct PoolCache {
    id: u64,
    pool: Arc<PoolInner>,
    seen_recall: u32,
    cached_bytes: u64,
    streams: Vec<StreamBins>,
    last: usize,
    counters: Vec<Option<Arc<Counters>>>,
    /// Frees that found the cache full, and the bin that made room last.
    overflows: u32,
    cursor: usize,
}

struct StreamBins {
    stream: StreamId,
    bins: Box<[Bin; CLASS_COUNT]>,
}

#[derive(Default)]
struct Bin {
    blocks: Vec<Box<Lease>>,
    /// How many blocks the next miss asks for: more each time, so that a class that is used once
    /// takes one block.
    next_refill: usize,
}

impl Bin {
    /// Doubles what the next miss brings, up to what moves at once.
    #[inline]
    fn ask_for_more(&mut self, class: SizeClass) {
        self.next_refill = (self.next_refill.max(1) * 2).min(batch_of(class));
    }
}

/// Blocks of a class that move at once.
#[inline]
fn batch_of(class: SizeClass) -> usize {
    // A division for each miss would be a good part of it.
    const BATCHES: [u8; CLASS_COUNT] = batches();
    BATCHES
        .get(class.index())
        .map_or(1, |batch| usize::from(*batch))
}

/// Blocks of the class are long enough to come one by one: several would be much memory for one
/// thread, and they are fewer to begin with.
#[inline]
pub fn is_long(class: SizeClass) -> bool {
    batch_of(class) <= FEW
}

const fn batches() -> [u8; CLASS_COUNT] {
    let mut batches = [1; CLASS_COUNT];
    let mut index = 0;
    while index < CLASS_COUNT {
        let batch = BATCH_BYTES / SizeClass::at(index).bytes();
        // Fits in eight bits.
        batches[index] = if batch > BATCH_MOST as u64 {
            BATCH_MOST as u8
        } else if batch > 1 {
            batch as u8
        } else {
            1
        };
        index += 1;
    }
    batches
}

impl ThreadCache {
    #[inline]
    fn pool(&mut self, id: u64) -> Option<&mut PoolCache> {
        let last = self.last;
        if self.pools.get(last).is_some_and(|pool| pool.id == id) {
            return self.pools.get_mut(last);
        }
        let found = self.pools.iter().position(|pool| pool.id == id)?;
        self.last = found;
        self.pools.get_mut(found)
    }
}

/// The bin of a class for a stream, beginning with the stream of the last time.
#[inline(always)]
fn bin_in<'c>(
    streams: &'c mut [StreamBins],
    last: &mut usize,
    stream: StreamId,
    class: SizeClass,
) -> Option<&'c mut Bin> {
    if streams.get(*last).is_none_or(|bins| bins.stream != stream) {
        *last = streams.iter().position(|bins| bins.stream == stream)?;
    }
    let bins = streams.get_mut(*last)?;
    bins.bins.get_mut(class.index())
}

impl PoolCache {
    #[inline]
    fn bin(&mut self, stream: StreamId, class: SizeClass) -> Option<&mut Bin> {
        bin_in(&mut self.streams, &mut self.last, stream, class)
    }

    #[inline]
    fn counters(&self, by: Source) -> Option<&Counters> {
        self.counters.get(by.index())?.as_deref()
    }

    /// Half of the blocks of one bin, of another each time.
    fn half_of_the_next_bin(&mut self) -> Batch {
        let count = self.streams.len() * CLASS_COUNT;
        for _ in 0..count {
            self.cursor = (self.cursor + 1) % count;
            let (stream, class) = (self.cursor / CLASS_COUNT, self.cursor % CLASS_COUNT);
            let bins = self.streams.get_mut(stream);
            let Some(bin) = bins.and_then(|bins| bins.bins.get_mut(class)) else {
                continue;
            };
            if !bin.blocks.is_empty() {
                let keep = bin.blocks.len() / 2;
                let batch: Batch = bin.blocks.drain(keep..).collect();
                let bytes: u64 = batch.iter().map(|lease| lease.region.bytes).sum();
                self.cached_bytes -= bytes;
                return batch;
            }
        }
        Batch::new()
    }

    /// Everything that is cached, credit too.
    fn give_up(&mut self) -> Batch {
        self.cached_bytes = 0;
        self.last = 0;
        let streams = std::mem::take(&mut self.streams);
        let bins = streams.into_iter().flat_map(|stream| *stream.bins);
        bins.flat_map(|bin| bin.blocks).collect()
    }
}

/// What a thread's cache has for a request.
#[derive(Debug)]
pub enum Take {
    /// A block.
    Hit(Box<Lease>),
    /// None, and what to ask the pool for.
    Miss(Wanted),
}

/// A cached block of the class, paid for by the thread's credit.
#[inline]
pub fn take(pool: &PoolInner, class: SizeClass, stream: StreamId, by: Source) -> Take {
    let taken = CACHE.try_with(|cache| {
        let mut cache = cache.try_borrow_mut().ok()?;
        Some(cache.pool(pool.id)?.take(pool, class, stream, by))
    });
    let nothing = Take::Miss(Wanted::FIRST);
    taken.ok().flatten().unwrap_or(nothing)
}

impl PoolCache {
    #[inline(always)]
    fn take(&mut self, pool: &PoolInner, class: SizeClass, stream: StreamId, by: Source) -> Take {
        if self.seen_recall != pool.recall.load(Relaxed) {
            return Take::Miss(Wanted::RECALLED);
        }
        let Some(Some(counters)) = self.counters.get(by.index()) else {
            return Take::Miss(Wanted::FIRST);
        };
        let Some(bin) = bin_in(&mut self.streams, &mut self.last, stream, class) else {
            return Take::Miss(Wanted::FIRST);
        };
        let credit = counters.credit.load(Relaxed);
        let Some(lease) = bin.blocks.pop() else {
            return Take::Miss(bin.wanted(class, self.cached_bytes, credit));
        };
        // The block knows its length, which is its class's.
        let bytes = lease.region.bytes;
        let Some(left) = credit.checked_sub(bytes) else {
            bin.blocks.push(lease);
            return Take::Miss(Wanted::PAY);
        };
        self.cached_bytes -= bytes;
        counters.credit.store(left, Relaxed);
        Counters::add(&counters.allocations, 1);
        Counters::add(&counters.allocated_bytes, bytes);
        Take::Hit(lease)
    }

    /// What this thread wants with the next block of a class.
    fn wanted(
        &mut self,
        pool: &PoolInner,
        class: SizeClass,
        stream: StreamId,
        by: Source,
    ) -> Wanted {
        if self.seen_recall != pool.recall.load(Relaxed) {
            return Wanted::RECALLED;
        }
        let counters = self.counters(by);
        let credit = counters.map_or(0, |own| own.credit.load(Relaxed));
        let cached_bytes = self.cached_bytes;
        match self.bin(stream, class) {
            Some(bin) if bin.blocks.is_empty() => bin.wanted(class, cached_bytes, credit),
            Some(_) => Wanted::PAY,
            None => Wanted::FIRST,
        }
    }
}

impl Bin {
    /// What a miss should bring. The one after it is told to bring more.
    #[inline]
    fn wanted(&mut self, class: SizeClass, cached_bytes: u64, credit: u64) -> Wanted {
        if is_long(class) {
            return Wanted::ONE;
        }
        self.refill(class, cached_bytes, credit)
    }

    #[inline(never)]
    fn refill(&mut self, class: SizeClass, cached_bytes: u64, credit: u64) -> Wanted {
        let bytes = class.bytes();
        let room = CACHE_MOST.saturating_sub(cached_bytes);
        let mut blocks = self.next_refill.max(1);
        if (blocks as u64 - 1) * bytes > room {
            blocks = (room / bytes) as usize + 1;
        }
        self.ask_for_more(class);
        Wanted {
            // At most a batch.
            blocks: blocks as u16,
            credit: credit < bytes,
            recalled: false,
        }
    }
}

/// Makes what this thread caches unavailable until its next flush.
pub fn make_stale(pool: &PoolInner) {
    let _ = CACHE.try_with(|cache| {
        let mut cache = cache.try_borrow_mut().ok()?;
        let cached = cache.pool(pool.id)?;
        cached.seen_recall = pool.recall.load(Relaxed).wrapping_sub(1);
        Some(())
    });
    HEARD.set((u64::MAX, 0));
}

/// Whether the pool has asked for nothing back that this thread has not heard of.
#[inline]
pub fn has_heard(pool: &PoolInner) -> bool {
    let now = (pool.id, pool.recall.load(Relaxed));
    HEARD.get() == now || hears(pool, now)
}

#[cold]
fn hears(pool: &PoolInner, now: (u64, u32)) -> bool {
    if is_recalled(pool) {
        return false;
    }
    HEARD.set(now);
    true
}

/// What a thread's cache does with a free block.
#[derive(Debug)]
pub enum Put {
    /// It has it, or the heap.
    Done,
    /// It does not belong here.
    Rejected(Box<Lease>, Way),
}

/// Caches a block that its stream may use again, or takes it to the heap.
#[inline]
pub fn put(lease: Box<Lease>) -> Put {
    if lease.shared.load(Relaxed) {
        return Put::Rejected(lease, Way::Recalled);
    }
    let mut lease = Some(lease);
    // A thread that is ending has no cache any more; neither has one whose cache is in use by a
    // caller further up.
    let way = CACHE.try_with(|cache| {
        let mut cache = cache.try_borrow_mut().ok()?;
        let block = lease.take()?;
        let Some(cached) = cache.pool(block.pool.id) else {
            lease = Some(block);
            return None;
        };
        match cached.keep(block) {
            Put::Done => {}
            Put::Rejected(block, way) => {
                lease = Some(block);
                return Some(way);
            }
        }
        None
    });
    match lease {
        None => Put::Done,
        Some(lease) => Put::Rejected(lease, way.ok().flatten().unwrap_or(Way::Cache)),
    }
}

impl PoolCache {
    #[inline(always)]
    fn keep(&mut self, block: Box<Lease>) -> Put {
        let Some(class) = block.class() else {
            return self.to_heap(block);
        };
        let bytes = block.region.bytes;
        let cached_bytes = self.cached_bytes + bytes;
        if self.seen_recall != block.pool.recall.load(Relaxed) {
            return Put::Rejected(block, Way::Recalled);
        }
        // Before anything is looked for: a thread that frees more than it may keep does so often.
        if cached_bytes > CACHE_MOST {
            return self.overflow(block);
        }
        let counters = self.counters.get(block.by.index());
        let Some(counters) = counters.and_then(Option::as_deref) else {
            return Put::Rejected(block, Way::Cache);
        };
        let credit = counters.credit.load(Relaxed) + bytes;
        let found = bin_in(&mut self.streams, &mut self.last, block.stream, class);
        let Some(bin) = found else {
            return Put::Rejected(block, Way::Cache);
        };
        let full = bin.blocks.len() == bin.blocks.capacity();
        if full || credit > counters.most.load(Relaxed) {
            // A thread keeps few long blocks; of the others some go at once.
            return match full && bin.blocks.capacity() > 0 && is_long(class) {
                true => self.to_heap(block),
                false => Put::Rejected(block, Way::Cache),
            };
        }
        bin.blocks.push(block);
        self.cached_bytes = cached_bytes;
        counters.credit.store(credit, Relaxed);
        Counters::add(&counters.frees, 1);
        Put::Done
    }

    /// The thread has all that it may have: the block goes to the pool. One in so many makes room, so that
    /// what is not used any more goes in the end.
    #[inline(always)]
    fn overflow(&mut self, block: Box<Lease>) -> Put {
        self.overflows = self.overflows.wrapping_add(1);
        if self.overflows.is_multiple_of(ROOM_EVERY) {
            return Put::Rejected(block, Way::Cache);
        }
        self.to_heap(block)
    }

    /// The lock is taken through this thread's handle of the pool: the block's own goes with it.
    #[inline(always)]
    fn to_heap(&self, block: Box<Lease>) -> Put {
        match self.pool.take_back_at_once(block) {
            None => Put::Done,
            Some(block) => Put::Rejected(block, Way::Heap),
        }
    }
}

/// What a miss should bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Blocks, the one that was asked for among them. None if only credit is missing.
    pub blocks: u16,
    /// Credit, for this thread has none left.
    pub credit: bool,
    /// The pool has asked for something back that this thread has not heard of.
    pub recalled: bool,
}

impl Wanted {
    /// One block, paid for at the pool, and nothing for the cache.
    pub const ONE: Wanted = Wanted {
        blocks: 1,
        credit: false,
        recalled: false,
    };
    /// What a thread wants that has nothing yet.
    pub const FIRST: Wanted = Wanted {
        credit: true,
        ..Wanted::ONE
    };
    /// Credit for a block that is there.
    pub const PAY: Wanted = Wanted {
        blocks: 0,
        ..Wanted::FIRST
    };
    /// What a thread wants that has to give up something first.
    pub const RECALLED: Wanted = Wanted {
        recalled: true,
        ..Wanted::FIRST
    };
}

/// What this thread wants with the next block of that class.
pub fn wanted(pool: &PoolInner, stream: StreamId, class: SizeClass, by: Source) -> Wanted {
    let wanted = CACHE.try_with(|cache| {
        let mut cache = cache.try_borrow_mut().ok()?;
        Some(cache.pool(pool.id)?.wanted(pool, class, stream, by))
    });
    wanted.ok().flatten().unwrap_or(Wanted::FIRST)
}

/// Before this thread begins to cache for a pool: what it has of pools that were shut down goes back, so
/// that it does not keep them.
#[cold]
fn hand_back_closed() {
    let closed = CACHE.try_with(|cache| {
        let mut cache = cache.try_borrow_mut().ok()?;
        let closed = cache.pools.extract_if(.., |cached| cached.pool.is_closed());
        Some(closed.collect::<Vec<_>>())
    });
    for mut cached in closed.ok().flatten().unwrap_or_default() {
        let blocks = cached.give_up();
        hand_back(&cached.pool, blocks, std::mem::take(&mut cached.counters));
    }
}

fn is_new(pool: &PoolInner) -> bool {
    let known = CACHE.try_with(|cache| {
        let mut cache = cache.try_borrow_mut().ok()?;
        Some(cache.pool(pool.id).is_some())
    });
    known == Ok(Some(false))
}

/// Puts blocks and credit where the thread finds them. What does not fit comes back.
pub fn stock(
    pool: &Arc<PoolInner>,
    stream: StreamId,
    class: SizeClass,
    by: Source,
    blocks: Batch,
    credit: u64,
) -> Excess {
    if is_new(pool) {
        hand_back_closed();
    }
    let mut rest = Excess { blocks, credit };
    let _ = CACHE.try_with(|cache| {
        let mut cache = cache.try_borrow_mut().ok()?;
        let cached = attend(&mut cache, pool)?;
        let counters = own_counters(cached, by)?;
        Counters::add(&counters.credit, std::mem::take(&mut rest.credit));
        let blocks = std::mem::take(&mut rest.blocks);
        let arrived = class.bytes() * blocks.len() as u64;
        let bin = own_bin(cached, stream, class)?;
        if bin.next_refill == 0 {
            bin.ask_for_more(class);
        }
        bin.blocks.extend(blocks);
        cached.cached_bytes += arrived;
        Some(())
    });
    rest
}

/// The thread's cache of that pool, made if there is none.
fn attend<'c>(cache: &'c mut ThreadCache, pool: &Arc<PoolInner>) -> Option<&'c mut PoolCache> {
    if cache.pool(pool.id).is_none() {
        cache.pools.push(PoolCache {
            id: pool.id,
            pool: Arc::clone(pool),
            seen_recall: pool.recall.load(Relaxed),
            cached_bytes: 0,
            streams: Vec::new(),
            last: 0,
            counters: Vec::new(),
            overflows: 0,
            cursor: 0,
        });
    }
    cache.pool(pool.id)
}

fn own_counters(cached: &mut PoolCache, by: Source) -> Option<&Counters> {
    let index = by.index();
    if cached.counters.len() <= index {
        cached.counters.resize(index + 1, None);
    }
    let pool = &cached.pool;
    let slot = cached.counters.get_mut(index)?;
    Some(slot.get_or_insert_with(|| pool.lock().accounts.join(by)))
}

fn own_bin(cached: &mut PoolCache, stream: StreamId, class: SizeClass) -> Option<&mut Bin> {
    if cached.bin(stream, class).is_none() {
        let bins = Box::new(std::array::from_fn(|_| Bin::default()));
        cached.streams.push(StreamBins { stream, bins });
    }
    let bin = cached.bin(stream, class)?;
    if bin.blocks.capacity() == 0 {
        bin.blocks.reserve_exact(batch_of(class) * 2);
    }
    Some(bin)
}

/// Where a free block goes that the thread's cache did not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The pool has asked for something back that this thread has not heard of, or other streams
    /// have to do with it.
    Recalled,
    /// To the heap.
    Heap,
    /// Into the cache, once there is room.
    Cache,
}

/// What has to go so that a free block fits.
#[derive(Debug, Default)]
pub struct Excess {
    pub blocks: Batch,
    pub credit: u64,
}

/// Sees to it that a free block fits, and returns what has to go for it.
pub fn make_room(pool: &Arc<PoolInner>, stream: StreamId, class: SizeClass, by: Source) -> Excess {
    let room = CACHE.try_with(|cache| {
        let mut cache = cache.try_borrow_mut().ok()?;
        let cached = attend(&mut cache, pool)?;
        let credit = excess_credit(own_counters(cached, by)?);
        let overflows = cached.cached_bytes + class.bytes() > CACHE_MOST;
        let bin = own_bin(cached, stream, class)?;
        let keep = bin.blocks.len() / 2;
        let mut blocks = Batch::new();
        if bin.blocks.len() == bin.blocks.capacity() {
            blocks.extend(bin.blocks.drain(keep..));
            cached.cached_bytes -= class.bytes() * blocks.len() as u64;
        } else if overflows {
            blocks = cached.half_of_the_next_bin();
        }
        Some(Excess { blocks, credit })
    });
    room.ok().flatten().unwrap_or_default()
}

/// Credit above what a thread should keep, for the pool to take back.
fn excess_credit(counters: &Counters) -> u64 {
    let (credit, most) = (counters.credit.load(Relaxed), counters.most.load(Relaxed));
    let keep = credit.min(most / 2);
    counters.credit.store(keep, Relaxed);
    credit - keep
}

/// Whether the pool has asked for something back that this thread has not heard of.
pub fn is_recalled(pool: &PoolInner) -> bool {
    let recalled = CACHE.try_with(|cache| {
        let mut cache = cache.try_borrow_mut().ok()?;
        Some(cache.pool(pool.id)?.seen_recall != pool.recall.load(Relaxed))
    });
    recalled.ok().flatten().unwrap_or(false)
}

/// Gives everything of this thread back to the pool: blocks and credit.
pub fn flush(pool: &Arc<PoolInner>) {
    let given_up = CACHE.try_with(|cache| {
        let mut cache = cache.try_borrow_mut().ok()?;
        let cached = cache.pool(pool.id)?;
        // While room is being made nothing may be had from the cache: it stays stale.
        let stale = u32::from(is_reclaiming());
        cached.seen_recall = pool.recall.load(Relaxed).wrapping_sub(stale);
        let counters = std::mem::take(&mut cached.counters);
        let blocks = cached.give_up();
        if pool.is_closed() {
            // Nothing of it will be cached again.
            cache.pools.retain(|cached| cached.id != pool.id);
        }
        Some((blocks, counters))
    });
    HEARD.set((u64::MAX, 0));
    if let Some((blocks, counters)) = given_up.ok().flatten() {
        hand_back(pool, blocks, counters);
    }
}

fn hand_back(pool: &Arc<PoolInner>, blocks: Batch, counters: Vec<Option<Arc<Counters>>>) {
    let mut central = pool.lock();
    for (index, counters) in counters.into_iter().enumerate() {
        if let Some(counters) = counters {
            central.accounts.leave(Source::from_index(index), &counters);
        }
    }
    let gone = central.absorb_all(blocks);
    drop(central);
    drop(gone);
}

impl Drop for ThreadCache {
    /// The thread ends: everything goes back.
    fn drop(&mut self) {
        for mut cached in std::mem::take(&mut self.pools) {
            let blocks = cached.give_up();
            hand_back(&cached.pool, blocks, std::mem::take(&mut cached.counters));
        }
    }
}
