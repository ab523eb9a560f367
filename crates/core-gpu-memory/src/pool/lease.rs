//! A block on its way: owned by a buffer while it is in use, by a cache while it is not.
//!
//! A lease moves between them as one pointer, so giving a block out counts no references.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, Ordering::Relaxed, Ordering::Release},
};

use core_gpu_driver::{DriverError, Region, RegionState, Stream, StreamId, WeakStream};

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

/// A stream other than a block's own that was declared.
#[derive(Debug, Clone)]
pub struct OtherStream {
    pub stream: WeakStream,
    pub order: Order,
    /// A stream that somebody else made is kept until the block is free: its last handle of ours may
    /// go while its work goes on.
    pub _held: Option<Stream>,
}

/// The right to use a block, and the way back for it. One cache line: whoever frees a block may
/// have nothing else of it near.
#[derive(Debug)]
#[repr(align(64))]
pub struct Lease {
    pub pool: Arc<PoolInner>,
    pub stream: StreamId,
    /// All of the block; how much of it was asked for is in the page.
    pub region: Region,
    pub page: Arc<StatePage>,
    /// The stream that it was handed out for, if somebody else made that: its last handle of ours
    /// may go while its work goes on.
    pub held: Option<Stream>,
    pub order: Order,
    pub node: NodeId,
    pub segment: SegmentId,
    pub by: Source,
    /// Where the pool keeps blocks of this length.
    pub shelf: Shelf,
    /// Other streams were declared, which the pool knows; few blocks have any.
    pub shared: AtomicBool,
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
        let padding = self.region.bytes - requested;
        let padding = padding.min(u64::from(u16::MAX)) as u16;
        let word = InUse { by, padding }.encode();
        self.page.word(self.node).store(word, Relaxed);
    }

    /// Bytes that were asked for; nothing when the block is not in use.
    pub fn requested(&self) -> u64 {
        let user = InUse::decode(self.page.word(self.node).load(Relaxed));
        user.map_or(0, |user| self.region.bytes - u64::from(user.padding))
    }

    /// The class of the block, if threads cache it.
    #[inline]
    pub fn class(&self) -> Option<SizeClass> {
        self.shelf.class()
    }

    /// Marks the block as not in use: what its user put on streams comes before this.
    #[inline]
    pub fn end(&self) {
        if self.pool.talks {
            self.pool.annotate(self.region, RegionState::Free);
            self.pool.say_freed(self);
        }
        self.page.word(self.node).store(0, Release);
    }

    /// Gives the block back: to this thread's cache, or to the pool. An error is in the hook already.
    #[inline]
    pub fn give_back(self: Box<Lease>) -> Option<DriverError> {
        if self.held.is_some() {
            return self.give_back_and_let_go();
        }
        self.end();
        PoolInner::take_back(self)
    }

    /// The block is back before its stream is let go of, which may be the stream's end: the event
    /// recorded then comes after everything that used the block.
    #[cold]
    fn give_back_and_let_go(mut self: Box<Lease>) -> Option<DriverError> {
        let stream = self.held.take();
        self.end();
        let error = PoolInner::take_back(self);
        drop(stream);
        error
    }
}
