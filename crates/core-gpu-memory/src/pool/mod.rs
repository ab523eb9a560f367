//! The pool: blocks from segments, cached by threads, ordered by streams, accounted by source.

mod account;
mod builder;
mod capture;
mod central;
mod depot;
mod descend;
mod events;
pub(crate) mod inner;
pub(crate) mod lease;
mod live;
mod lock;
mod metrics;
mod order;
mod release;
mod remap;
mod reserve;
mod snapshot;
mod span;
mod statistics;
pub(crate) mod thread;

use std::{
    fmt,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use core_gpu_driver::{Driver, Stream};

pub(crate) use builder::Settings;
pub use builder::{ErrorHook, GrowthPolicy, PoolBuilder, StreamPolicy};
pub use capture::{PoolCapture, PooledGraph};
pub use live::{PoolUse, live_pools, trim_all_pools, trim_host_pools};
pub use snapshot::{BlockState, Snapshot, SnapshotBlock, SnapshotDiff, SnapshotSegment};
pub use statistics::{PoolStatistics, SourceStatistics};

use crate::{
    AllocError, Buffer, DeviceType, LeakReport, Source,
    observe::{Pressure, Reclaim},
    pool::inner::PoolInner,
    resource::{Block, Resource},
};

/// Memory of one device, kept for reuse.
///
/// May be used from several threads. Blocks belong to the stream that they were allocated on: a
/// block that is dropped is used again on that stream at once, and on another behind an event.
///
/// Limits and sums count whole blocks, as [`crate::size_class`] rounds requests up.
///
/// Clones are handles of the same pool. When the last of them goes, what nobody uses goes back to the
/// driver; buffers keep their own memory until they are dropped.
#[derive(Clone)]
pub struct Pool {
    pub(crate) inner: Arc<PoolInner>,
    handle: Arc<Handle>,
}

/// What the handles of a pool share: it goes with the last of them.
struct Handle {
    inner: Arc<PoolInner>,
    driver: Arc<dyn Driver>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        // What leaks is reported by the drivers' own hooks; there is nobody to tell here.
        let _ = self.inner.end();
    }
}

impl Pool {
    /// A pool with the usual settings. Takes nothing from the driver until it is needed.
    #[must_use]
    pub fn new(driver: &Arc<dyn Driver>) -> Pool {
        let builder = PoolBuilder::new(Arc::clone(driver));
        // Nothing is allocated without initial bytes, so that nothing can fail.
        builder
            .build()
            .expect("invariant: an empty pool asks for nothing")
    }

    /// A pool with settings of one's own.
    #[must_use]
    pub fn builder(driver: &Arc<dyn Driver>) -> PoolBuilder {
        PoolBuilder::new(Arc::clone(driver))
    }

    fn with(
        driver: Arc<dyn Driver>,
        settings: Settings,
        initial_bytes: u64,
    ) -> Result<Pool, AllocError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Relaxed);
        let inner = Arc::new(PoolInner::new(id, &driver, settings));
        let handle = Handle {
            inner: Arc::clone(&inner),
            driver,
        };
        let pool = Pool {
            inner,
            handle: Arc::new(handle),
        };
        live::list(&pool.inner);
        if initial_bytes > 0 {
            let device = pool.driver().info().total_bytes;
            let bytes =
                crate::size_class::block_bytes(initial_bytes).ok_or(AllocError::TooLarge {
                    bytes: initial_bytes,
                    device,
                })?;
            pool.inner.grow(bytes)?;
        }
        Ok(pool)
    }

    /// The device that the memory is on.
    #[must_use]
    pub fn driver(&self) -> &Arc<dyn Driver> {
        &self.handle.driver
    }

    /// Memory for `len` elements, to be used on `on`. Its contents are undefined, unless the pool
    /// fills with zeros; its address is a multiple of 256 bytes.
    ///
    /// # Errors
    /// See [`AllocError`]. The pool is usable after each of them.
    #[inline]
    pub fn allocate<T: DeviceType>(
        &self,
        len: usize,
        on: &Stream,
        by: Source,
    ) -> Result<Buffer<T>, AllocError> {
        let Some(bytes) = (len as u64).checked_mul(size_of::<T>() as u64) else {
            return Err(AllocError::SizeOverflow);
        };
        let block = self.block(bytes, on, by)?;
        Ok(Buffer::new(block, len))
    }

    #[inline]
    fn block(&self, bytes: u64, on: &Stream, by: Source) -> Result<Block, AllocError> {
        let lease = self.inner.allocate(bytes, on, by)?;
        let block = Block::pooled(lease);
        if self.inner.settings.zero_fill {
            on.set(block.span(), 0)?;
        }
        Ok(block)
    }

    /// As [`Pool::allocate`], filled with zeros in the stream's order.
    ///
    /// # Errors
    /// As [`Pool::allocate`], and as the driver's call fails.
    pub fn allocate_zeroed<T: DeviceType>(
        &self,
        len: usize,
        on: &Stream,
        by: Source,
    ) -> Result<Buffer<T>, AllocError> {
        let buffer = self.allocate(len, on, by)?;
        if !self.inner.settings.zero_fill {
            on.set(buffer.span(), 0)?;
        }
        Ok(buffer)
    }

    /// Bounds the bytes that a source may have in use. What it has already stays.
    pub fn set_source_limit(&self, by: Source, bytes: u64) {
        self.inner.lock().accounts.set_limit(by, bytes);
    }

    /// Asks whoever can to make room when there is none: first those who can give up what can be
    /// made again, then those who can move things to the host. Kept weakly.
    pub fn on_pressure(&self, pressure: Pressure, reclaimer: Weak<dyn Reclaim>) {
        self.inner.add_reclaimer(pressure, reclaimer);
    }

    /// Gives everything that is not in use back to the driver. See [`Pool::trim_to`].
    pub fn trim(&self) -> u64 {
        self.trim_to(0)
    }

    /// Gives free segments back to the driver until the pool has at most `bytes` from it, or until
    /// none is free. Returns the bytes given back. Waits for the device; if that fails the error
    /// goes to the error hook and nothing is given back.
    pub fn trim_to(&self, bytes: u64) -> u64 {
        self.inner.trim(bytes)
    }

    /// Asks those who can make room to do so before there is none: the cheap ones first. Returns
    /// what they say they freed.
    pub fn make_room(&self, bytes: u64) -> u64 {
        let mut freed = 0;
        for pressure in [Pressure::Evict, Pressure::Spill] {
            if freed < bytes {
                freed += self.inner.reclaim(pressure, bytes - freed);
            }
        }
        self.inner.recall_threads();
        freed
    }

    /// Asks every thread for what it caches. This thread gives at once, others at their next
    /// operation. Streams that somebody else made and does not use any more are let go of.
    pub fn flush_threads(&self) {
        self.inner.recall_threads();
        self.inner.lock().orders.let_go_of_idle();
    }

    /// Ends the pool for all of its handles: it gives out nothing any more
    /// ([`AllocError::ShutDown`]), and what is free goes back to the driver. Waits for the device, and
    /// tries failed frees again. May be called while others allocate: what they have just been given
    /// is theirs.
    ///
    /// # Errors
    /// What could not be given back. Blocks that are still in use stay valid; their memory goes
    /// back when they are dropped. Memory that other threads cache
    /// ([`LeakReport::thread_cached_bytes`]) is no error.
    pub fn shutdown(&self) -> Result<(), LeakReport> {
        let report = self.inner.shut_down();
        if report.is_clean() {
            Ok(())
        } else {
            Err(report)
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Pool")
            .field("device", &self.inner.device)
            .field("statistics", &self.statistics())
            .finish()
    }
}

impl Resource for Pool {
    fn driver(&self) -> &Arc<dyn Driver> {
        &self.handle.driver
    }

    fn allocate_block(&self, bytes: u64, on: &Stream, by: Source) -> Result<Block, AllocError> {
        self.block(bytes, on, by)
    }
}
