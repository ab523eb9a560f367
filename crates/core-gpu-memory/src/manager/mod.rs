//! The manager: memory of one device by bytes and by key, within a share of it, with room made
//! before there is none. What moves and when is here; where bytes lie is the pool's.

mod arena;
mod builder;
mod entry;
mod inner;
mod process;
mod scope;

use std::{collections::BTreeMap, sync::Arc};

use core_gpu_driver::{Driver, DriverError, Stream};
use serde::Serialize;

pub(crate) use builder::ManagerSettings;
pub use builder::{MemoryManagerBuilder, Watermarks};
pub use entry::{Entry, PinnedEntry, PinnedEntryMut};
pub use process::{
    ProcessManagerError, existing_memory_manager, memory_manager, set_memory_manager,
};
pub use scope::Scope;

use crate::{
    AllocError, Buffer, LeakReport, Pool, Pressure, Reclaim, Source, Transfers,
    manager::inner::ManagerInner, pool::SourceStatistics, staging::Staging,
};

/// Why an entry was not inserted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InsertError {
    /// The key names an entry already.
    #[error("the key `{key}` is in use")]
    KeyInUse {
        /// The key.
        key: String,
    },
    /// There was no memory for it, or it did not get there.
    #[error(transparent)]
    Alloc(#[from] AllocError),
}

/// Numbers of a manager, beside those of its pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ManagerStatistics {
    /// Bytes that the manager may have from the device.
    pub budget_bytes: u64,
    /// Bytes of blocks in use.
    pub bytes_in_use: u64,
    /// Entries that have a key.
    pub entries: usize,
    /// Bytes of the host's memory that is kept for entries, and how many of them are used.
    pub host_bytes: u64,
    /// See above.
    pub host_bytes_used: u64,
    /// Entries that were moved to the host, and their bytes.
    pub spills: u64,
    /// See above.
    pub spilled_bytes: u64,
    /// Entries that came back, and their bytes.
    pub promotions: u64,
    /// See above.
    pub promoted_bytes: u64,
    /// Moves that failed; the entry stayed where it was.
    pub failed_spills: u64,
    /// What went over the link for the program: entries that were moved are not in it.
    pub transfers: Transfers,
}

/// Memory of one device, by bytes and by key. Clones are the same manager; may be used from
/// several threads.
///
/// # What too little room costs
/// Entries that do not fit lie on the host and come back when they are pinned. A program that goes
/// round and round over entries of 1 MiB, changes each, and has one and a half times as many as
/// there is room for moves every entry each time, which is the worst case: 51 us for each on the
/// simulated machine, whose link moves 50 GB/s. There it takes so many times as long as with room for
/// all (a test holds these numbers; on a card they have not been measured):
///
/// | work on an entry, each time | with room for two thirds |
/// | --- | --- |
/// | 24 us | 3.13 times as long |
/// | 234 us | 1.22 times |
/// | 2.3 ms | 1.02 times |
///
/// Nothing moves while all fits: [`ManagerStatistics::transfers`] is then exactly what the program
/// sent and fetched.
///
/// ```
/// use std::sync::Arc;
/// use core_gpu_driver::{Driver, HostDriver};
/// use core_gpu_memory::{MemoryManager, Source};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 26));
/// let manager = MemoryManager::builder(&driver).max_memory_fraction(0.5).build()?;
/// let buffer = manager.allocate(1_000, Source::named("scratch"))?;
/// assert_eq!(manager.total_allocated(), 1_024);
/// manager.deallocate(buffer)?;
/// manager.insert("weights", &[1, 2, 3], manager.stream())?;
/// let weights = manager.get("weights").ok_or("no weights")?;
/// let pinned = weights.pin(manager.stream())?;
/// assert_eq!(pinned.span().bytes(), 3);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct MemoryManager {
    inner: Arc<ManagerInner>,
}

impl MemoryManager {
    /// A manager with settings of one's own.
    #[must_use]
    pub fn builder(driver: &Arc<dyn Driver>) -> MemoryManagerBuilder {
        MemoryManagerBuilder::new(driver)
    }

    fn with(inner: ManagerInner) -> MemoryManager {
        let inner = Arc::new(inner);
        let spills: std::sync::Weak<ManagerInner> = Arc::downgrade(&inner);
        inner.pool.on_pressure(Pressure::Spill, spills);
        MemoryManager { inner }
    }

    /// The device.
    #[must_use]
    pub fn driver(&self) -> &Arc<dyn Driver> {
        self.inner.pool.driver()
    }

    /// The pool that everything comes from. Its bound is the manager's budget.
    #[must_use]
    pub fn pool(&self) -> &Pool {
        &self.inner.pool
    }

    /// The stream that [`MemoryManager::allocate`] allocates on.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        &self.inner.stream
    }

    /// The way to the device and back that the manager uses.
    #[must_use]
    pub fn staging(&self) -> &Staging {
        &self.inner.staging
    }

    /// Memory of at least `bytes` bytes on the manager's stream; its contents are undefined. For
    /// another stream see [`MemoryManager::allocate_on`].
    ///
    /// # Errors
    /// See [`AllocError`].
    pub fn allocate(&self, bytes: usize, by: Source) -> Result<Buffer<u8>, AllocError> {
        self.allocate_on(bytes, &self.inner.stream, by)
    }

    /// As [`MemoryManager::allocate`], on a stream of the caller's.
    ///
    /// # Errors
    /// See [`AllocError`].
    pub fn allocate_on(
        &self,
        bytes: usize,
        on: &Stream,
        by: Source,
    ) -> Result<Buffer<u8>, AllocError> {
        self.inner.relieve(bytes as u64);
        self.inner.pool.allocate(bytes, on, by)
    }

    /// Gives memory back. Dropping the buffer does the same; this says if it did not go well.
    ///
    /// # Errors
    /// As [`Buffer::free`].
    pub fn deallocate(&self, buffer: Buffer<u8>) -> Result<(), DriverError> {
        buffer.free()
    }

    /// Bytes of blocks in use, entries on the device included.
    #[must_use]
    pub fn total_allocated(&self) -> u64 {
        self.inner.pool.bytes_in_use()
    }

    /// Bytes that could still be allocated without anything having to go: what is left of the
    /// budget, or of the device where others have it.
    ///
    /// # Errors
    /// As the driver's call fails.
    pub fn free_memory(&self) -> Result<u64, DriverError> {
        let statistics = self.inner.pool.statistics();
        let device = self.driver().memory_info()?;
        let idle = statistics
            .reserved_bytes
            .saturating_sub(statistics.bytes_in_use);
        let budget = self
            .inner
            .budget_bytes
            .saturating_sub(statistics.bytes_in_use);
        Ok(budget.min(device.free_bytes.saturating_add(idle)))
    }

    /// What each source has, by name.
    #[must_use]
    pub fn allocation_stats(&self) -> BTreeMap<String, SourceStatistics> {
        let sources = self.inner.pool.statistics().sources;
        let named = sources
            .into_iter()
            .map(|source| (source.source.clone(), source));
        named.collect()
    }

    /// Whether that many bytes are free. Fragments may still be too short for one block of them.
    ///
    /// # Errors
    /// As the driver's call fails.
    pub fn check_memory(&self, bytes: u64) -> Result<bool, DriverError> {
        let wanted = crate::size_class::block_bytes(bytes).unwrap_or(u64::MAX);
        Ok(wanted <= self.free_memory()?)
    }

    /// Gives everything that is not in use back to the driver. Returns the bytes given back. Waits
    /// for the device.
    pub fn cleanup(&self) -> u64 {
        self.inner.pool.trim()
    }

    /// A new entry with these bytes. They are sent in the order of `on`, which need not be waited
    /// for; `data` may be changed at once.
    ///
    /// # Errors
    /// [`InsertError::KeyInUse`], or as an allocation or the driver's calls fail; there is then no
    /// such entry.
    pub fn insert(&self, key: &str, data: &[u8], on: &Stream) -> Result<Entry, InsertError> {
        self.insert_by(key, data, on, Source::named("entries"))
    }

    /// As [`MemoryManager::insert`], accounted to a source.
    ///
    /// # Errors
    /// As [`MemoryManager::insert`].
    pub fn insert_by(
        &self,
        key: &str,
        data: &[u8],
        on: &Stream,
        by: Source,
    ) -> Result<Entry, InsertError> {
        self.inner.insert(key, data, by, on)
    }

    /// A handle of the entry with that key. Dropping it is its release.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Entry> {
        let keys = self.inner.keys();
        let core = Arc::clone(keys.named.get(key)?);
        drop(keys);
        Some(Entry {
            core,
            manager: Arc::clone(&self.inner),
        })
    }

    /// Forgets a key. The bytes go when the last handle does. An unknown key does nothing; the
    /// answer says whether there was one.
    pub fn release(&self, key: &str) -> bool {
        let mut keys = self.inner.keys();
        let released = keys.named.remove(key);
        keys.unnamed.extend(released.iter().map(Arc::downgrade));
        drop(keys);
        released.is_some()
    }

    /// Forgets all keys. Returns how many there were.
    pub fn clear(&self) -> usize {
        let mut keys = self.inner.keys();
        let released = std::mem::take(&mut keys.named);
        keys.unnamed.extend(released.values().map(Arc::downgrade));
        drop(keys);
        released.len()
    }

    /// All keys, sorted.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        let keys = self.inner.keys();
        keys.named.keys().map(|key| key.to_string()).collect()
    }

    /// A scope, at the end of which everything that was taken in it is released.
    #[must_use]
    pub fn scope(&self) -> Scope<'_> {
        Scope::new(self)
    }

    /// Moves entries that nobody has pinned to the host, those first that were not used for
    /// longest, until so many bytes are free or none is left that fits there. Returns the bytes.
    pub fn spill(&self, bytes: u64) -> u64 {
        self.inner.reclaim(bytes)
    }

    /// The manager's numbers.
    #[must_use]
    pub fn statistics(&self) -> ManagerStatistics {
        use std::sync::atomic::Ordering::Relaxed;
        let inner = &self.inner;
        let counters = &inner.counters;
        ManagerStatistics {
            budget_bytes: inner.budget_bytes,
            bytes_in_use: inner.pool.bytes_in_use(),
            entries: inner.keys().named.len(),
            host_bytes: inner.arena.bytes(),
            host_bytes_used: inner.arena.used_bytes(),
            spills: counters.spills.load(Relaxed),
            spilled_bytes: counters.spilled_bytes.load(Relaxed),
            promotions: counters.promotions.load(Relaxed),
            promoted_bytes: counters.promoted_bytes.load(Relaxed),
            failed_spills: counters.failures.load(Relaxed),
            transfers: inner.staging.counter().read(),
        }
    }

    /// Ends the manager for all of its handles: keys are forgotten, and what is free goes back to the
    /// driver. Waits for the device.
    ///
    /// # Errors
    /// What could not be given back; see [`Pool::shutdown`].
    pub fn shutdown(&self) -> Result<(), LeakReport> {
        self.clear();
        self.inner.pool.shutdown()
    }
}
