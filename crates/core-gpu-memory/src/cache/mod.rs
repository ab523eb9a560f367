//! A cache of device memory: bounded in bytes and in entries, and the first to go when the pool
//! runs out of room. It decides what stays; how bytes are made is the caller's.

mod policy;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use core_gpu_driver::{DeviceSpan, Stream};
use serde::Serialize;

use crate::{
    AllocError, Buffer, MemoryConfig, MemoryManager, Pressure, Reclaim, Source,
    cache::policy::{Policy, Rank, Worth},
    ordered::{Access, OrderedBuffer},
};

/// What a cache holds at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheLimits {
    /// Bytes of all entries, pinned ones included.
    pub bytes: u64,
    /// Entries, pinned ones included; weak ones are not counted.
    pub entries: usize,
}

impl Default for CacheLimits {
    /// No bound in bytes but the device's, and 100 entries.
    fn default() -> CacheLimits {
        CacheLimits {
            bytes: u64::MAX,
            entries: 100,
        }
    }
}

impl CacheLimits {
    /// As many entries as the configuration says, and no bound in bytes but the device's.
    #[must_use]
    pub fn configured(config: &MemoryConfig) -> CacheLimits {
        CacheLimits {
            entries: config.cache_size,
            ..CacheLimits::default()
        }
    }
}

/// How an entry is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hold {
    /// Until room is needed.
    #[default]
    Normal,
    /// Until it is removed or no longer pinned.
    Pinned,
    /// As long as somebody has it.
    Weak,
}

/// Why bytes are not in the cache.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError<E> {
    /// They could not be made. Nothing was cached.
    #[error("the bytes could not be made: {0}")]
    Load(E),
    /// There was no memory for them, or they did not get there.
    #[error(transparent)]
    Alloc(#[from] AllocError),
}

/// Numbers of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct CacheStatistics {
    /// Look-ups that found something.
    pub hits: u64,
    /// Look-ups that found nothing.
    pub misses: u64,
    /// Entries that came.
    pub insertions: u64,
    /// Entries that went because there was no room.
    pub evictions: u64,
    /// Their bytes.
    pub evicted_bytes: u64,
    /// Entries that were made and too large to stay.
    pub refused: u64,
    /// Bytes of all entries, weak ones left out.
    pub bytes: u64,
    /// Entries, weak ones left out.
    pub entries: usize,
}

impl CacheStatistics {
    /// Hits as a share of look-ups; zero before the first.
    #[must_use]
    pub fn hit_rate(&self) -> f64 {
        match self.hits + self.misses {
            0 => 0.0,
            all => self.hits as f64 / all as f64,
        }
    }
}

#[derive(Debug)]
struct Slot {
    buffer: Arc<Mutex<OrderedBuffer>>,
    hold: Hold,
    cost: f64,
    frequency: u64,
    bytes: u64,
    /// None while it is pinned.
    rank: Option<Rank>,
}

#[derive(Debug)]
struct WeakSlot {
    buffer: Weak<Mutex<OrderedBuffer>>,
    bytes: u64,
}

#[derive(Debug, Default)]
struct Books {
    slots: BTreeMap<Arc<str>, Slot>,
    by_rank: BTreeMap<Rank, Arc<str>>,
    weak: BTreeMap<Arc<str>, WeakSlot>,
    policy: Policy,
    statistics: CacheStatistics,
}

#[derive(Debug)]
struct Shared {
    manager: MemoryManager,
    limits: CacheLimits,
    by: Source,
    books: Mutex<Books>,
}

/// Bytes on the device by key. Clones are the same cache; may be used from several threads.
///
/// What somebody has a handle of stays where it is until that is dropped, evicted or not.
///
/// ```
/// use std::{convert::Infallible, sync::Arc};
/// use core_gpu_driver::{Driver, HostDriver};
/// use core_gpu_memory::{Cache, CacheLimits, MemoryManager, Source};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 26));
/// let manager = MemoryManager::builder(&driver).build()?;
/// let cache = Cache::new(&manager, CacheLimits::default(), Source::named("tables"));
/// for _ in 0..3 {
///     // Made once; 1.0 says how dear that is, beside the others.
///     let make = || Ok::<_, Infallible>(vec![7; 1_000]);
///     let table = cache.get_or_upload("sines", 1.0, manager.stream(), make)?;
///     assert_eq!(table.read_on(manager.stream())?.span().bytes(), 1_000);
/// }
/// assert_eq!((cache.statistics().hits, cache.statistics().misses), (2, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Cache {
    shared: Arc<Shared>,
}

/// A handle of cached bytes. They stay at their address as long as it lives. May be sent to and used
/// from several threads; [`Cached::read_on`] orders a stream behind whatever filled them.
#[derive(Clone)]
pub struct Cached {
    buffer: Arc<Mutex<OrderedBuffer>>,
    bytes: u64,
}

/// Cached bytes in use on a stream. Work that uses the address is put there before this is dropped.
#[derive(Debug)]
pub struct CachedUse<'c> {
    cached: &'c Cached,
    buffer: Arc<Buffer<u8>>,
    on: Stream,
}

impl Cached {
    /// Length in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn lock(&self) -> MutexGuard<'_, OrderedBuffer> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For reading on a stream, which waits for whatever sent the bytes.
    ///
    /// # Errors
    /// As the driver's calls fail.
    pub fn read_on(&self, on: &Stream) -> Result<CachedUse<'_>, AllocError> {
        let buffer = self.lock().begin(Access::Read, on)?;
        Ok(CachedUse {
            cached: self,
            buffer,
            on: on.clone(),
        })
    }
}

impl CachedUse<'_> {
    /// Where the bytes are. Only for reading, on the stream that was named.
    #[must_use]
    pub fn span(&self) -> DeviceSpan<'_> {
        self.buffer.span()
    }
}

impl Drop for CachedUse<'_> {
    fn drop(&mut self) {
        self.cached.lock().end(Access::Read, &self.on);
    }
}

impl fmt::Debug for Cached {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Cached")
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

impl Cache {
    /// A cache of the manager's memory, accounted to `by`. When the manager's pool runs out of room
    /// the cache gives up entries before anything is moved to the host.
    #[must_use]
    pub fn new(manager: &MemoryManager, limits: CacheLimits, by: Source) -> Cache {
        let shared = Arc::new(Shared {
            manager: manager.clone(),
            limits,
            by,
            books: Mutex::default(),
        });
        let reclaims: Weak<Shared> = Arc::downgrade(&shared);
        manager.pool().on_pressure(Pressure::Evict, reclaims);
        Cache { shared }
    }

    /// The entry with that key, if there is one.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Cached> {
        let mut books = self.shared.lock();
        let found = books.find(key);
        match found {
            Some(_) => books.statistics.hits += 1,
            None => books.statistics.misses += 1,
        }
        found
    }

    /// The entry with that key, made if there is none: `load` gives its bytes, which are sent in
    /// the order of `on`. `cost` says how dear making it again would be, in a unit that is the same
    /// for all entries of the cache.
    ///
    /// `load` runs without any lock. Of two threads that make the same entry at once, both get the
    /// one that came first.
    ///
    /// # Errors
    /// As `load` fails, as an allocation fails, and as sending fails; nothing is then cached.
    pub fn get_or_upload<B: AsRef<[u8]>, E>(
        &self,
        key: &str,
        cost: f64,
        on: &Stream,
        load: impl FnOnce() -> Result<B, E>,
    ) -> Result<Cached, CacheError<E>> {
        if let Some(cached) = self.get(key) {
            return Ok(cached);
        }
        let bytes = load().map_err(CacheError::Load)?;
        Ok(self.insert(key, bytes.as_ref(), cost, Hold::Normal, on)?)
    }

    /// Sends bytes and caches them. If the key is there already, that entry stays and is returned.
    /// Bytes that are more than the cache may hold are returned and not kept.
    ///
    /// # Errors
    /// As an allocation fails, and as sending fails; nothing is then cached.
    pub fn insert(
        &self,
        key: &str,
        bytes: &[u8],
        cost: f64,
        hold: Hold,
        on: &Stream,
    ) -> Result<Cached, AllocError> {
        let manager = &self.shared.manager;
        // Room first: what goes is not in the way of what comes.
        let gone = self
            .shared
            .lock()
            .make_way(&self.shared.limits, bytes.len() as u64, hold);
        drop(gone);
        let buffer = manager.allocate_on(bytes.len(), on, self.shared.by)?;
        let mut buffer = OrderedBuffer::new(buffer, on);
        let to = buffer.begin(Access::Write, on)?;
        let sent = manager.staging().upload(to.span(), bytes, on);
        drop(to);
        buffer.end(Access::Write, on);
        sent?;
        let slot = Slot {
            buffer: Arc::new(Mutex::new(buffer)),
            hold,
            cost,
            frequency: 1,
            bytes: bytes.len() as u64,
            rank: None,
        };
        let (cached, gone) = self.shared.lock().admit(&self.shared.limits, key, slot);
        drop(gone);
        Ok(cached)
    }

    /// Says how an entry is held from now on. False if there is none of that key. A weak entry that
    /// becomes another must fit like a new one.
    pub fn set_hold(&self, key: &str, hold: Hold) -> bool {
        let mut books = self.shared.lock();
        let (changed, gone) = books.set_hold(&self.shared.limits, key, hold);
        drop(books);
        drop(gone);
        changed
    }

    /// Forgets an entry. An unknown key does nothing; the answer says whether there was one.
    pub fn remove(&self, key: &str) -> bool {
        let mut books = self.shared.lock();
        let (slot, weak) = (books.take(key), books.weak.remove(key));
        drop(books);
        slot.is_some() || weak.is_some()
    }

    /// Forgets all entries, pinned ones too.
    pub fn clear(&self) {
        let mut books = self.shared.lock();
        let statistics = CacheStatistics {
            bytes: 0,
            entries: 0,
            ..books.statistics
        };
        let gone = std::mem::take(&mut *books);
        books.statistics = statistics;
        drop(books);
        drop(gone);
    }

    /// The cache's numbers.
    #[must_use]
    pub fn statistics(&self) -> CacheStatistics {
        self.shared.lock().statistics
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Books {
    fn find(&mut self, key: &str) -> Option<Cached> {
        if let Some(slot) = self.slots.get_mut(key) {
            slot.frequency += 1;
            let cached = slot.cached();
            self.rank(key);
            return Some(cached);
        }
        let weak = self.weak.get(key)?;
        let Some(buffer) = weak.buffer.upgrade() else {
            self.weak.remove(key);
            return None;
        };
        let bytes = weak.bytes;
        Some(Cached { buffer, bytes })
    }

    /// Ranks an entry by what is known of it now.
    fn rank(&mut self, key: &str) {
        let Some((name, _)) = self.slots.get_key_value(key) else {
            return;
        };
        let name = Arc::clone(name);
        let Some(slot) = self.slots.get_mut(key) else {
            return;
        };
        if let Some(rank) = slot.rank.take() {
            self.policy.forget(rank);
            self.by_rank.remove(&rank);
        }
        if slot.hold == Hold::Pinned {
            return;
        }
        let rank = self.policy.rank(Worth {
            bytes: slot.bytes,
            cost: slot.cost,
            frequency: slot.frequency,
        });
        slot.rank = Some(rank);
        self.by_rank.insert(rank, name);
    }

    /// Takes entries out until one of `bytes` fits.
    fn make_way(&mut self, limits: &CacheLimits, bytes: u64, hold: Hold) -> Vec<Slot> {
        let mut gone = Vec::new();
        if hold == Hold::Weak || bytes > limits.bytes || limits.entries == 0 {
            return gone;
        }
        while self.statistics.entries >= limits.entries
            || self.statistics.bytes > limits.bytes - bytes
        {
            let Some(slot) = self.evict(|_| true) else {
                break;
            };
            gone.push(slot);
        }
        gone
    }

    /// Takes the first entry out that may go.
    fn evict(&mut self, may: impl Fn(&Slot) -> bool) -> Option<Slot> {
        let slots = &self.slots;
        let mut in_order = self.policy.in_order();
        let rank = in_order.find(|rank| {
            let slot = self.by_rank.get(rank).and_then(|key| slots.get(key));
            slot.is_some_and(&may)
        })?;
        drop(in_order);
        self.policy.evicted(rank);
        let key = self.by_rank.remove(&rank)?;
        let slot = self.take(&key)?;
        self.statistics.evictions += 1;
        self.statistics.evicted_bytes += slot.bytes;
        Some(slot)
    }

    fn take(&mut self, key: &str) -> Option<Slot> {
        let slot = self.slots.remove(key)?;
        if let Some(rank) = slot.rank {
            self.policy.forget(rank);
            self.by_rank.remove(&rank);
        }
        self.statistics.bytes -= slot.bytes;
        self.statistics.entries -= 1;
        Some(slot)
    }

    /// Puts an entry in, unless there is one of that key, or it does not fit.
    fn admit(&mut self, limits: &CacheLimits, key: &str, slot: Slot) -> (Cached, Vec<Slot>) {
        if let Some(there) = self.find(key) {
            return (there, vec![slot]);
        }
        let gone = self.make_way(limits, slot.bytes, slot.hold);
        let cached = slot.cached();
        self.statistics.insertions += 1;
        if slot.hold == Hold::Weak {
            self.weak.retain(|_, weak| weak.buffer.strong_count() > 0);
            self.weak.insert(Arc::from(key), slot.weaken());
            return (cached, gone);
        }
        let fits = self.statistics.entries < limits.entries
            && self
                .statistics
                .bytes
                .checked_add(slot.bytes)
                .is_some_and(|sum| sum <= limits.bytes);
        if !fits {
            self.statistics.refused += 1;
            return (cached, gone);
        }
        self.statistics.bytes += slot.bytes;
        self.statistics.entries += 1;
        self.slots.insert(Arc::from(key), slot);
        self.rank(key);
        (cached, gone)
    }

    fn set_hold(&mut self, limits: &CacheLimits, key: &str, hold: Hold) -> (bool, Vec<Slot>) {
        let none = Vec::new();
        if hold == Hold::Weak {
            let Some(slot) = self.take(key) else {
                return (self.weak.contains_key(key), none);
            };
            self.weak.insert(Arc::from(key), slot.weaken());
            return (true, vec![slot]);
        }
        if let Some(slot) = self.slots.get_mut(key) {
            slot.hold = hold;
            self.rank(key);
            return (true, none);
        }
        let weak = self.weak.remove(key);
        let held = weak.and_then(|weak| Some((weak.buffer.upgrade()?, weak.bytes)));
        let Some((buffer, bytes)) = held else {
            return (false, none);
        };
        let slot = Slot {
            buffer,
            hold,
            cost: 1.0,
            frequency: 1,
            bytes,
            rank: None,
        };
        let (_, gone) = self.admit(limits, key, slot);
        (true, gone)
    }
}

impl Slot {
    fn cached(&self) -> Cached {
        Cached {
            buffer: Arc::clone(&self.buffer),
            bytes: self.bytes,
        }
    }

    fn weaken(&self) -> WeakSlot {
        WeakSlot {
            buffer: Arc::downgrade(&self.buffer),
            bytes: self.bytes,
        }
    }

    /// Whether its bytes become free when it goes.
    fn is_unused(&self) -> bool {
        Arc::strong_count(&self.buffer) == 1
    }
}

impl Reclaim for Shared {
    /// Gives up what nobody has a handle of.
    fn reclaim(&self, wanted: u64) -> u64 {
        let mut freed = 0;
        while freed < wanted {
            let gone = self.lock().evict(Slot::is_unused);
            let Some(slot) = gone else {
                break;
            };
            freed += slot.bytes;
        }
        freed
    }
}
