//! A pool as the allocator of a library that asks for one in C: PyTorch's
//! [`CUDAPluggableAllocator`], CuPy's `PythonFunctionAllocator` through ctypes.
//!
//! [`serve`] says which pool answers for a device; the two C functions below take from it and give back
//! to it, each on the stream that the library names. Blocks are in the order of that stream, as the
//! library's own allocator has them.
//!
//! [`CUDAPluggableAllocator`]: https://docs.pytorch.org/docs/stable/notes/cuda.html#using-custom-memory-allocators-for-cuda
#![expect(
    unsafe_code,
    reason = "a stream is named by a handle that C code vouches for, and C code finds functions by name"
)]

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use core_gpu_driver::{RawStream, Stream};

use crate::{Buffer, Pool, Source};

/// Pools by the number of their device, and what was given out by address.
#[derive(Default)]
struct Served {
    pools: BTreeMap<i32, Pool>,
    blocks: BTreeMap<u64, Buffer<u8>>,
}

static SERVED: Mutex<Served> = Mutex::new(Served {
    pools: BTreeMap::new(),
    blocks: BTreeMap::new(),
});

fn served() -> MutexGuard<'static, Served> {
    SERVED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets a pool answer for the device of that number, in place of one that did so far. The blocks of that
/// one stay its own.
pub fn serve(ordinal: i32, pool: &Pool) {
    let before = served().pools.insert(ordinal, pool.clone());
    // Its end may wait for a device, and is nothing that others should wait for.
    drop(before);
}

/// Blocks that libraries hold, and their bytes.
#[must_use]
pub fn held() -> (usize, u64) {
    let served = served();
    let bytes = served.blocks.values().map(Buffer::bytes).sum();
    (served.blocks.len(), bytes)
}

/// Memory for a library in C, on the device of that number and in the order of that stream. `0` where
/// there is none: no pool serves the device, it refuses, or the stream is the thread's own default one,
/// which cannot be told from thread to thread.
///
/// # Safety
/// `stream` is null, or a live CUDA stream of that device, and lives until the block was freed and all
/// that was done with it there is over.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn core_gpu_allocate(bytes: isize, ordinal: i32, stream: u64) -> u64 {
    let Ok(bytes) = usize::try_from(bytes) else {
        return 0;
    };
    let Some(pool) = served().pools.get(&ordinal).cloned() else {
        return 0;
    };
    let raw = match RawStream(stream) {
        // Null is the legacy default stream, unless a program was compiled otherwise.
        RawStream(0) => RawStream::LEGACY_DEFAULT,
        RawStream::PER_THREAD_DEFAULT => return 0,
        raw => raw,
    };
    // SAFETY: the caller vouches for the stream.
    let stream = unsafe { Stream::adopt(pool.driver(), raw) };
    let Ok(buffer) = pool.allocate::<u8>(bytes, &stream, Source::named("a library")) else {
        return 0;
    };
    let address = buffer.address().get();
    served().blocks.insert(address, buffer);
    address
}

/// Gives a block back. What was asked of its stream before is done with it first; an address that was not
/// given out is without effect.
#[unsafe(no_mangle)]
pub extern "C" fn core_gpu_free(address: u64, _bytes: isize, _ordinal: i32, _stream: u64) {
    let block = served().blocks.remove(&address);
    drop(block);
}
