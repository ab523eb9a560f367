//! Which free blocks there are of which length: two levels of bitmaps over doubly linked lists.
//!
//! Thirty-two bins to a power of two. The lists' links live in the nodes; here are only heads.

use crate::segment::node::NodeId;

const BIN_BITS: u32 = 5;
const BINS_PER_LEVEL: usize = 1 << BIN_BITS;
const LEVELS: usize = 28;
/// How many bins there are.
const BIN_COUNT: usize = LEVELS * BINS_PER_LEVEL;

/// Where in the bitmaps a length belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Bin {
    level: u32,
    bin: u32,
}

impl Bin {
    /// The bin that holds blocks of `units`.
    #[inline]
    pub fn of(units: u32) -> Bin {
        if units < BINS_PER_LEVEL as u32 {
            return Bin {
                level: 0,
                bin: units,
            };
        }
        let log = units.ilog2();
        Bin {
            level: log - BIN_BITS + 1,
            bin: (units >> (log - BIN_BITS)) & (BINS_PER_LEVEL as u32 - 1),
        }
    }

    /// The first bin of which every block is at least `units` long.
    #[inline]
    fn all_fit(units: u32) -> Option<Bin> {
        if units < BINS_PER_LEVEL as u32 {
            return Some(Bin::of(units));
        }
        let width = 1_u32 << (units.ilog2() - BIN_BITS);
        units.checked_add(width - 1).map(Bin::of)
    }

    #[inline]
    fn index(self) -> usize {
        self.level as usize * BINS_PER_LEVEL + self.bin as usize
    }
}

/// When the free blocks of an order were freed, as its stream counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ticks {
    /// All of them then. What the nodes say does not count, and is not brought near.
    All(u64),
    /// As each node says.
    Each,
}

/// The free blocks of one order.
#[derive(Debug)]
pub struct Bins {
    pub ticks: Ticks,
    levels: u32,
    bins: [u32; LEVELS],
    heads: Box<[Option<NodeId>]>,
}

impl Default for Bins {
    fn default() -> Bins {
        Bins {
            ticks: Ticks::All(0),
            levels: 0,
            bins: [0; LEVELS],
            heads: vec![None; BIN_COUNT].into_boxed_slice(),
        }
    }
}

impl Bins {
    /// The first block of a bin.
    #[inline]
    pub fn head(&self, bin: Bin) -> Option<NodeId> {
        self.heads.get(bin.index()).copied().flatten()
    }

    /// Puts another block, or none, at the front of a bin.
    #[inline]
    pub fn set_head(&mut self, bin: Bin, head: Option<NodeId>) {
        let (level, bit) = (bin.level as usize, 1_u32 << bin.bin);
        self.heads[bin.index()] = head;
        if head.is_some() {
            self.bins[level] |= bit;
            self.levels |= 1 << bin.level;
        } else {
            self.bins[level] &= !bit;
            if self.bins[level] == 0 {
                self.levels &= !(1 << bin.level);
            }
        }
    }

    /// A bin of which every block is at least `units` long, the shortest such.
    #[inline]
    pub fn fitting(&self, units: u32) -> Option<Bin> {
        let from = Bin::all_fit(units)?;
        let same = self.bins.get(from.level as usize)? & (u32::MAX << from.bin);
        if same != 0 {
            return Some(Bin {
                level: from.level,
                bin: same.trailing_zeros(),
            });
        }
        let above = self.levels & u32::MAX.checked_shl(from.level + 1).unwrap_or(0);
        if above == 0 {
            return None;
        }
        let level = above.trailing_zeros();
        let bin = self.bins[level as usize].trailing_zeros();
        Some(Bin { level, bin })
    }

    /// The first blocks of all bins that have one.
    pub fn heads(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.heads.iter().copied().flatten()
    }

    /// The longest bin that has a block.
    pub fn longest(&self) -> Option<Bin> {
        if self.levels == 0 {
            return None;
        }
        let level = self.levels.ilog2();
        Some(Bin {
            level,
            bin: self.bins[level as usize].ilog2(),
        })
    }
}
