//! The coalescing allocator: cuts segments into blocks and joins them again.
//!
//! It knows numbers only, no driver and no streams. A block is found by two bitmap look-ups, so the
//! cost does not depend on how many holes there are. Free blocks belong to an *order*: the work
//! that has to be done before they may be touched. Neighbours join only within one order.

mod bins;
mod heap;
mod node;

pub use heap::{FreeBlock, Heap, SegmentId, Taken};
pub use node::{NodeId, Order};

#[cfg(test)]
mod tests;
