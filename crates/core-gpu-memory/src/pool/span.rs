//! The bytes of a block in use, as a span that borrows the block.
#![expect(
    unsafe_code,
    reason = "that a block's memory stays is the pool's promise, which no type of the driver's sees"
)]

use core_gpu_driver::DeviceSpan;

use crate::pool::lease::Lease;

impl Lease {
    /// All bytes of the block. Only for a block that is in use, whose owner is borrowed.
    pub fn span(&self) -> DeviceSpan<'_> {
        // SAFETY: the block is in use as long as its owner is borrowed, and the memory of a block in
        // use stays: trimming and remapping take free memory only, and the end of a pool leaves
        // segments alone that have a block in use. After the block is given back its memory goes to
        // nobody, and not to the driver either, before the work is done that was put on its stream and
        // on those that were declared. See `memory-model.md`.
        unsafe { DeviceSpan::adopt(self.region.address, self.region.bytes) }
    }
}
