//! Memory of the host, at its real addresses: pinned memory, and what copies read and write. All of
//! the simulator's own `unsafe` code.
#![expect(
    unsafe_code,
    reason = "a device reads and writes memory of the host by itself"
)]

use std::{alloc::Layout, ptr::NonNull};

use core_gpu_driver::HostAddress;

use crate::{code::Code, memory::Memory};

/// What pinned memory is aligned to, in bytes.
const PAGE: usize = 4096;

fn layout(bytes: u64) -> Result<Layout, Code> {
    let size = usize::try_from(bytes).map_err(|_| Code::OUT_OF_MEMORY)?;
    if size == 0 {
        return Err(Code::INVALID_VALUE);
    }
    Layout::from_size_align(size, PAGE).map_err(|_| Code::OUT_OF_MEMORY)
}

/// Memory of the process, filled with [`crate::memory::POISON`].
pub(super) fn allocate(bytes: u64) -> Result<HostAddress, Code> {
    let layout = layout(bytes)?;
    // SAFETY: the layout has a size.
    let pointer = NonNull::new(unsafe { std::alloc::alloc(layout) }).ok_or(Code::OUT_OF_MEMORY)?;
    // SAFETY: all of it was just allocated.
    unsafe {
        pointer
            .as_ptr()
            .write_bytes(crate::memory::POISON, layout.size())
    };
    Ok(HostAddress::of(pointer))
}

/// Gives back what [`allocate`] returned for this many bytes.
///
/// # Safety
/// It was not given back, and nobody uses it.
pub(super) unsafe fn free(at: HostAddress, bytes: u64) {
    if let Ok(layout) = layout(bytes) {
        // SAFETY: the caller's promise, and the same layout as in `allocate`.
        unsafe { std::alloc::dealloc(at.pointer(), layout) };
    }
}

/// Copies bytes of the host, now.
///
/// # Safety
/// There are `bytes` readable bytes at `from`.
pub(super) unsafe fn stage(from: HostAddress, bytes: u64) -> Result<Vec<u8>, Code> {
    let size = usize::try_from(bytes).map_err(|_| Code::INVALID_VALUE)?;
    let mut staged = vec![0; size];
    // SAFETY: the caller's promise; `staged` has as many bytes and is new.
    unsafe {
        from.pointer()
            .copy_to_nonoverlapping(staged.as_mut_ptr(), size)
    };
    Ok(staged)
}

/// Reads bytes of the host into a device.
pub(super) fn upload(
    memory: &mut Memory,
    to: u64,
    from: HostAddress,
    bytes: u64,
) -> Result<(), Code> {
    memory.pieces(to, bytes, |offset, piece| {
        // SAFETY: whoever gave this copy promised, by calling `Machine::copy`, that `bytes` bytes at
        // `from` stay until it is done and that nobody writes them; `offset` is within.
        unsafe {
            let from = from.pointer().add(offset);
            from.copy_to_nonoverlapping(piece.as_mut_ptr(), piece.len());
        }
    })
}

/// Writes bytes of a device to the host.
pub(super) fn download(
    memory: &mut Memory,
    to: HostAddress,
    from: u64,
    bytes: u64,
) -> Result<(), Code> {
    memory.pieces(from, bytes, |offset, piece| {
        // SAFETY: as in `upload`, and nobody reads them.
        unsafe {
            let to = to.pointer().add(offset);
            to.copy_from_nonoverlapping(piece.as_ptr(), piece.len());
        }
    })
}
