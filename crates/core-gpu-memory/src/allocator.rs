//! A pool as the allocator of a library that asks for one in C: PyTorch's
//! [`CUDAPluggableAllocator`], CuPy's `PythonFunctionAllocator` through ctypes.
//!
//! [`serve`] says which pool answers for a device; the C functions below take from it and give back to it,
//! each on the stream that the library names. Blocks are in the order of that stream, as the library's own
//! allocator has them, and of others that it names ([`core_gpu_record_stream`]).
//!
//! ```
//! use std::sync::Arc;
//! use core_gpu_driver::{Driver, HostDriver};
//! use core_gpu_memory::{Pool, allocator};
//!
//! let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 24));
//! let pool = Pool::new(&driver);
//! allocator::serve(0, &pool);
//! // What a library in C does:
//! // SAFETY: the legacy default stream lives as long as the device.
//! let address = unsafe { allocator::core_gpu_allocate(1_000, 0, 0) };
//! assert_eq!(allocator::held(), (1, 1_000));
//! allocator::core_gpu_free(address, 1_000, 0, 0);
//! assert_eq!(allocator::held(), (0, 0));
//! ```
//!
//! [`CUDAPluggableAllocator`]: https://docs.pytorch.org/docs/stable/notes/cuda.html#using-custom-memory-allocators-for-cuda
#![expect(
    unsafe_code,
    reason = "a stream is named by a handle that C code vouches for, and C code finds functions by name"
)]

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use core_gpu_driver::{Driver, RawStream, Stream, drop_error};

use crate::{Buffer, Pool, Source};

/// Pools by the number of their device, and what was given out by address.
#[derive(Default)]
struct Served {
    pools: BTreeMap<i32, Pool>,
    blocks: BTreeMap<u64, Lent>,
}

/// A block that a library has.
struct Lent {
    buffer: Buffer<u8>,
    driver: Arc<dyn Driver>,
    /// It was used on a stream that cannot be named here: the device is waited for before it goes back.
    waits: bool,
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
    let bytes = served.blocks.values().map(|held| held.buffer.bytes()).sum();
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
    let Some(raw) = named(stream) else {
        return 0;
    };
    // SAFETY: the caller vouches for the stream.
    let stream = unsafe { Stream::adopt(pool.driver(), raw) };
    let Ok(buffer) = pool.allocate::<u8>(bytes, &stream, Source::named("a library")) else {
        return 0;
    };
    let address = buffer.address().get();
    let lent = Lent {
        buffer,
        driver: Arc::clone(pool.driver()),
        waits: false,
    };
    served().blocks.insert(address, lent);
    address
}

/// None for the thread's own default stream, which is another on each thread.
fn named(stream: u64) -> Option<RawStream> {
    match RawStream(stream) {
        // Null is the legacy default stream, unless a program was compiled otherwise.
        RawStream(0) => Some(RawStream::LEGACY_DEFAULT),
        RawStream::PER_THREAD_DEFAULT => None,
        raw => Some(raw),
    }
}

/// Notes that a block is used on another stream as well: PyTorch's `Tensor.record_stream`. It is given to
/// nobody else before what that stream was asked for until the block is freed is done. An address that
/// was not given out is without effect.
///
/// # Safety
/// `stream` is null, or a live CUDA stream of the block's device, and lives until the block was freed and
/// all that was done with it there is over.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn core_gpu_record_stream(address: u64, stream: u64) {
    let mut served = served();
    let Some(held) = served.blocks.get_mut(&address) else {
        return;
    };
    match named(stream) {
        // SAFETY: the caller vouches for the stream.
        Some(raw) => held
            .buffer
            .used_on(&unsafe { Stream::adopt(&held.driver, raw) }),
        None => held.waits = true,
    }
}

/// Gives a block back. What was asked of its stream before is done with it first; an address that was not
/// given out is without effect.
#[unsafe(no_mangle)]
pub extern "C" fn core_gpu_free(address: u64, _bytes: isize, _ordinal: i32, _stream: u64) {
    let Some(held) = served().blocks.remove(&address) else {
        return;
    };
    if !held.waits {
        return;
    }
    match held.driver.synchronize() {
        Err(error) if !error.is_lost() && !error.is_deinitialized() => {
            // Nobody knows whether it is still in use: it is nobody's from now on.
            std::mem::forget(held.buffer);
            drop_error::report(drop_error::What::Segment, &error);
        }
        _ => (),
    }
}
