//! A block on its way: owned by a buffer while it is in use, by a cache while it is not.
//!
//! A lease moves between them as one pointer, so giving a block out counts no references.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed, Ordering::Release},
};

use core_gpu_driver::{DeviceSpan, RegionState, StreamId, WeakStream};

use crate::{
    Source,
    pool::inner::PoolInner,
    segment::{NodeId, Order, SegmentId},
    size_class::SizeClass,
};

/// What a snapshot sees of 256 blocks: one word each, written by whoever holds the block.
#[derive(Debug)]
pub struct StatePage {
    /// Which page of the pool it is.
    pub number: usize,
    words: [AtomicU64; StatePage::WORDS],
}

impl StatePage {
    /// Blocks on a page.
    pub const WORDS: usize = 256;

    pub fn new(number: usize) -> StatePage {
        let words = [const { AtomicU64::new(0) }; StatePage::WORDS];
        StatePage { number, words }
    }

    #[inline]
    pub fn word(&self, node: NodeId) -> &AtomicU64 {
        // The index is below the length by construction; the compiler sees it.
        &self.words[node.index() % StatePage::WORDS]
    }
}

/// A word of a [`StatePage`]: who uses a block, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InUse {
    pub by: Source,
    pub requested: u64,
}

impl InUse {
    const REQUESTED_BITS: u32 = 48;

    #[inline]
    fn encode(self) -> u64 {
        let source = self.by.index() as u64;
        let requested = self.requested & ((1 << InUse::REQUESTED_BITS) - 1);
        1 << 63 | source << InUse::REQUESTED_BITS | requested
    }

    /// None if nobody uses the block.
    pub fn decode(word: u64) -> Option<InUse> {
        if word == 0 {
            return None;
        }
        let source = (word >> InUse::REQUESTED_BITS) & 0x7fff;
        Some(InUse {
            by: Source::from_index(source as usize),
            requested: word & ((1 << InUse::REQUESTED_BITS) - 1),
        })
    }
}

/// The right to use a block, and the way back for it.
#[derive(Debug)]
pub struct Lease {
    pub pool: Arc<PoolInner>,
    pub stream: StreamId,
    pub order: Order,
    pub class: Option<SizeClass>,
    pub node: NodeId,
    pub segment: SegmentId,
    /// All of the block, of which `requested` bytes were asked for.
    pub span: DeviceSpan,
    pub by: Source,
    pub requested: u64,
    pub page: Arc<StatePage>,
    /// Streams other than `stream` that were declared.
    pub used_on: Vec<(WeakStream, Order)>,
}

impl Lease {
    /// Marks the block as in use.
    #[inline]
    pub fn begin(&mut self, by: Source, requested: u64) {
        self.by = by;
        self.requested = requested;
        let word = InUse { by, requested }.encode();
        self.page.word(self.node).store(word, Relaxed);
    }

    /// Marks the block as not in use: what its user put on streams comes before this.
    #[inline]
    pub fn end(&self) {
        self.page.word(self.node).store(0, Release);
        if self.pool.talks {
            self.pool
                .driver
                .annotate(self.span.region(), RegionState::Free);
            self.pool.say_freed(self);
        }
    }

    /// Gives the block back: to this thread's cache, or to the pool.
    #[inline]
    pub fn give_back(self: Box<Lease>) {
        self.end();
        if let Some(lease) = crate::pool::thread::put(self) {
            PoolInner::release(lease);
        }
    }
}
