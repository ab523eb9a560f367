//! What each thread caches: blocks by pool, stream and class, and credit by pool and source.
//!
//! This is the path that a request normally takes. It has no lock and no atomic read-modify-write:
//! the thread owns what is here, and counters that others read are written by it alone. A pool
//! that wants something back raises its `recall`, and every thread that runs sees it at its next
//! operation. An idle thread keeps what it has, at most [`CACHE_MOST`] bytes a pool.

use std::{
    cell::RefCell,
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
const ROOM_EVERY: u32 = 8;
/// Classes of which so many or fewer blocks move at once are not moved between threads.
const FEW: usize = 4;
/// Leases that a thread keeps to fill anew, of 64 bytes each.
const SPARE_MOST: usize = 1024;
/// Blocks that move at once, at most.
const BATCH_MOST: usize = 64;

thread_local! {
    static CACHE: RefCell<ThreadCache> = const { RefCell::new(ThreadCache { pools: Vec::new(), last: 0 }) };
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
    /// Leases of blocks that have gone back to the heap, to be filled anew.
    #[expect(clippy::vec_box, reason = "leases move as boxes")]
    spare: Vec<Box<Lease>>,
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
    ((BATCH_BYTES / class.bytes()) as usize).clamp(1, BATCH_MOST)
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

    #[inline]
    fn is_current(&self) -> bool {
        self.seen_recall == self.pool.recall.load(Relaxed)
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
                let bytes: u64 = batch.iter().map(|lease| lease.span.bytes()).sum();
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

/// A cached block of the class, paid for by the thread's credit.
#[inline]
pub fn take(
    pool: &PoolInner,
    class: SizeClass,
    stream: StreamId,
    by: Source,
) -> Option<Box<Lease>> {
    let taken = CACHE.try_with(|cache| {
        let mut cache = cache.try_borrow_mut().ok()?;
        let cached = cache.pool(pool.id)?;
        if cached.seen_recall != pool.recall.load(Relaxed) {
            return None;
        }
        let counters = cached.counters.get(by.index())?.as_deref()?;
        let bin = bin_in(&mut cached.streams, &mut cached.last, stream, class)?;
        // The block knows its length, which is its class's.
        let bytes = bin.blocks.last()?.span.bytes();
        let left = counters.credit.load(Relaxed).checked_sub(bytes)?;
        let lease = bin.blocks.pop()?;
        cached.cached_bytes -= bytes;
        counters.credit.store(left, Relaxed);
        Counters::add(&counters.allocations, 1);
        Some(lease)
    });
    taken.ok().flatten()
}

/// Makes what this thread caches unavailable until its next flush.
pub fn make_stale(pool: &PoolInner) {
    let _ = CACHE.try_with(|cache| {
        let mut cache = cache.try_borrow_mut().ok()?;
        let cached = cache.pool(pool.id)?;
        cached.seen_recall = pool.recall.load(Relaxed).wrapping_sub(1);
        Some(())
    });
}

/// Caches a block that its stream may use again. Gives it back if it does not belong here.
#[inline]
pub fn put(lease: Box<Lease>) -> Option<Box<Lease>> {
    if lease.used_on.is_some() {
        return Some(lease);
    }
    let Some(class) = lease.class else {
        return Some(lease);
    };
    let mut lease = Some(lease);
    // A thread that is ending has no cache any more; neither has one whose cache is in use by a
    // caller further up.
    let _ = CACHE.try_with(|cache| {
        let mut cache = cache.try_borrow_mut().ok()?;
        let block = lease.as_ref()?;
        let (by, stream) = (block.by, block.stream);
        let cached = cache.pool(block.pool.id)?;
        let bytes = block.span.bytes();
        let cached_bytes = cached.cached_bytes + bytes;
        let recall = block.pool.recall.load(Relaxed);
        if cached.seen_recall != recall || cached_bytes > CACHE_MOST {
            return None;
        }
        let counters = cached.counters.get(by.index())?.as_deref()?;
        let credit = counters.credit.load(Relaxed) + bytes;
        if credit > counters.most.load(Relaxed) {
            return None;
        }
        let bin = bin_in(&mut cached.streams, &mut cached.last, stream, class)?;
        if bin.blocks.len() == bin.blocks.capacity() {
            return None;
        }
        bin.blocks.push(lease.take()?);
        cached.cached_bytes = cached_bytes;
        counters.credit.store(credit, Relaxed);
        Counters::add(&counters.frees, 1);
        Some(())
    });
    lease
}

/// What a miss should bring, and what the thread brings to it.
#[derive(Debug)]
pub struct Wanted {
    /// Blocks, the one that was asked for among them. None if only credit is missing.
    pub blocks: usize,
    /// Credit, for this thread has none left.
    pub credit: bool,
    /// A lease to fill anew.
    pub spare: Option<Box<Lease>>,
}

impl Default for Wanted {
    /// What a thread wants that has nothing yet.
    fn default() -> Wanted {
        Wanted {
            blocks: 1,
            credit: true,
            spare: None,
        }
    }
}

/// What this thread wants with the next block of that class, once it has given up what the pool
/// asks for. The miss after this one is told to bring more.
pub fn wanted(pool: &Arc<PoolInner>, stream: StreamId, class: SizeClass, by: Source) -> Wanted {
    let wanted = wanted_if_current(pool, stream, class, by);
    wanted.unwrap_or_else(|Recalled| {
        flush(pool);
        wanted_if_current(pool, stream, class, by).unwrap_or_default()
    })
}

/// The pool has asked for something back that this thread has not heard of.
struct Recalled;

#[inline]
fn wanted_if_current(
    pool: &PoolInner,
    stream: StreamId,
    class: SizeClass,
    by: Source,
) -> Result<Wanted, Recalled> {
    let wanted = CACHE.try_with(|cache| {
        let mut cache = cache.try_borrow_mut().ok()?;
        let cached = cache.pool(pool.id)?;
        if !cached.is_current() {
            return Some(Err(Recalled));
        }
        let room = (CACHE_MOST - cached.cached_bytes.min(CACHE_MOST)) / class.bytes();
        let counters = cached.counters(by);
        let credit = counters.is_none_or(|own| own.credit.load(Relaxed) < class.bytes());
        let bin = cached.bin(stream, class)?;
        let blocks = match bin.blocks.is_empty() {
            true => bin.next_refill.max(1).min(room as usize + 1),
            false => 0,
        };
        if blocks > 0 {
            bin.ask_for_more(class);
        }
        let spare = cached.spare.pop();
        Some(Ok(Wanted {
            blocks,
            credit,
            spare,
        }))
    });
    wanted.ok().flatten().unwrap_or(Ok(Wanted::default()))
}

/// A lease to fill anew, of the same pool, which this thread attends to from now on. None of the
/// outer if the pool has asked for something back that this thread has not heard of.
pub fn spare_if_current(pool: &Arc<PoolInner>) -> Option<Option<Box<Lease>>> {
    let spare = CACHE.try_with(|cache| {
        let Ok(mut cache) = cache.try_borrow_mut() else {
            return Some(None);
        };
        match attend(&mut cache, pool) {
            Some(cached) if !cached.is_current() => None,
            Some(cached) => Some(cached.spare.pop()),
            None => Some(None),
        }
    });
    spare.unwrap_or(Some(None))
}

/// A lease to fill anew, of the same pool.
pub fn spare(pool: &PoolInner) -> Option<Box<Lease>> {
    let spare = CACHE.try_with(|cache| {
        let mut cache = cache.try_borrow_mut().ok()?;
        cache.pool(pool.id)?.spare.pop()
    });
    spare.ok().flatten()
}

/// Keeps the lease of a block that has gone back to the heap.
pub fn keep_spare(lease: Box<Lease>) {
    let mut lease = Some(lease);
    let _ = CACHE.try_with(|cache| {
        let mut cache = cache.try_borrow_mut().ok()?;
        let cached = cache.pool(lease.as_ref()?.pool.id)?;
        if cached.spare.len() < SPARE_MOST {
            cached.spare.push(lease.take()?);
        }
        Some(())
    });
}

/// Keeps leases of blocks that have gone back to the heap, as many as fit.
pub fn keep_spares(pool: &PoolInner, leases: Batch) {
    let mut leases = leases;
    let _ = CACHE.try_with(|cache| {
        let mut cache = cache.try_borrow_mut().ok()?;
        let cached = cache.pool(pool.id)?;
        let room = SPARE_MOST
            .saturating_sub(cached.spare.len())
            .min(leases.len());
        cached.spare.extend(leases.drain(..room));
        Some(())
    });
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
        cache.pools.retain(|cached| !cached.pool.is_closed());
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
            spare: Vec::new(),
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
    /// The pool has asked for something back that this thread has not heard of.
    Recalled,
    /// To the heap.
    Heap,
    /// Into the cache, once there is room.
    Cache,
}

/// Where a free block goes. To the heap if the thread keeps few of its class and has those, or has
/// all that it may have. Of the latter one in so many makes room, so that what is not used any more
/// goes in the end.
pub fn way_of(lease: &Lease, class: SizeClass) -> Way {
    let way = CACHE.try_with(|cache| {
        let mut cache = cache.try_borrow_mut().ok()?;
        let cached = cache.pool(lease.pool.id)?;
        if cached.seen_recall != lease.pool.recall.load(Relaxed) {
            return Some(Way::Recalled);
        }
        let bin = cached.bin(lease.stream, class)?;
        let full = bin.blocks.capacity() > 0 && bin.blocks.len() == bin.blocks.capacity();
        if full && batch_of(class) <= FEW {
            return Some(Way::Heap);
        }
        if cached.cached_bytes + lease.span.bytes() <= CACHE_MOST {
            return Some(Way::Cache);
        }
        cached.overflows = cached.overflows.wrapping_add(1);
        match cached.overflows.is_multiple_of(ROOM_EVERY) {
            true => Some(Way::Cache),
            false => Some(Way::Heap),
        }
    });
    way.ok().flatten().unwrap_or(Way::Cache)
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
        let credit = excess_credit(own_counters(cached, by)?, class);
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
fn excess_credit(counters: &Counters, class: SizeClass) -> u64 {
    let (credit, most) = (counters.credit.load(Relaxed), counters.most.load(Relaxed));
    if credit + class.bytes() <= most {
        return 0;
    }
    let keep = credit.min(most / 2);
    counters.credit.store(keep, Relaxed);
    credit - keep
}

/// Whether the pool has asked for something back that this thread has not heard of.
pub fn is_recalled(pool: &PoolInner) -> bool {
    let recalled = CACHE.try_with(|cache| {
        let mut cache = cache.try_borrow_mut().ok()?;
        Some(!cache.pool(pool.id)?.is_current())
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
        Some((cached.give_up(), counters))
    });
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
    let segments = central.absorb_all(&blocks);
    drop(central);
    drop(segments);
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
