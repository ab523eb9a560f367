//! A block on its way: owned by a buffer while it is in use, by a cache while it is not.
//!
//! A lease moves between them as one pointer, so giving a block out counts no references.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::Relaxed, Ordering::Release},
};

use core_gpu_driver::{DeviceSpan, RegionState, StreamId, WeakStream};

use crate::{
    Source,
    pool::inner::PoolInner,
    segment::{NodeId, Order, SegmentId},
    size_class::{Shelf, SizeClass},
};

/// What a snapshot sees of 4,096 blocks: one word each, written by whoever holds the block.
#[derive(Debug)]
pub struct StatePage {
    words: [AtomicU32; StatePage::WORDS],
}

impl Default for StatePage {
    fn default() -> StatePage {
        StatePage {
            words: [const { AtomicU32::new(0) }; StatePage::WORDS],
        }
    }
}

impl StatePage {
    /// Blocks on a page.
    pub const WORDS: usize = 4096;

    /// Which page of its pool has a node's word.
    #[inline]
    pub fn number_of(node: NodeId) -> usize {
        node.index() / StatePage::WORDS
    }

    #[inline]
    pub fn word(&self, node: NodeId) -> &AtomicU32 {
        // The index is below the length by construction; the compiler sees it.
        &self.words[node.index() % StatePage::WORDS]
    }
}

/// A word of a [`StatePage`]: who uses a block, and how much of it. As short as it can be: words that
/// one thread writes and another clears are what goes between their processors' caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InUse {
    pub by: Source,
    /// Bytes of the block that were not asked for: less than a sixteenth of a MiB.
    pub padding: u16,
}

impl InUse {
    #[inline]
    fn encode(self) -> u32 {
        // Sources have fifteen bits.
        1 << 31 | (self.by.index() as u32) << 16 | u32::from(self.padding)
    }

    /// None if nobody uses the block.
    pub fn decode(word: u32) -> Option<InUse> {
        if word == 0 {
            return None;
        }
        Some(InUse {
            by: Source::from_index((word >> 16 & 0x7fff) as usize),
            padding: (word & 0xffff) as u16,
        })
    }
}

/// Streams other than a block's own that were declared, with their orders.
pub type OtherStreams = Vec<(WeakStream, Order)>;

/// The right to use a block, and the way back for it. One cache line: whoever frees a block may
/// have nothing else of it near.
#[derive(Debug)]
#[repr(align(64))]
pub struct Lease {
    pub pool: Arc<PoolInner>,
    pub stream: StreamId,
    /// All of the block; how much of it was asked for is in the page.
    pub span: DeviceSpan,
    pub page: Arc<StatePage>,
    /// Streams other than `stream` that were declared; few blocks have any.
    pub used_on: Option<Box<OtherStreams>>,
    pub order: Order,
    pub node: NodeId,
    pub segment: SegmentId,
    pub by: Source,
    /// Where the pool keeps blocks of this length.
    pub shelf: Shelf,
}

const _: () = assert!(size_of::<Lease>() == 64);

impl Lease {
    /// Marks the block as in use.
    #[inline]
    pub fn begin(&mut self, by: Source, requested: u64) {
        // What is not written stays near both who allocates and who frees.
        if self.by != by {
            self.by = by;
        }
        let padding = self.span.bytes() - requested;
        let padding = padding.min(u64::from(u16::MAX)) as u16;
        let word = InUse { by, padding }.encode();
        self.page.word(self.node).store(word, Relaxed);
    }

    /// Bytes that were asked for; nothing when the block is not in use.
    pub fn requested(&self) -> u64 {
        let user = InUse::decode(self.page.word(self.node).load(Relaxed));
        user.map_or(0, |user| self.span.bytes() - u64::from(user.padding))
    }

    /// The class of the block, if threads cache it.
    #[inline]
    pub fn class(&self) -> Option<SizeClass> {
        self.shelf.class()
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
        // An error is in the hook already.
        let _ = PoolInner::take_back(self);
    }
}
