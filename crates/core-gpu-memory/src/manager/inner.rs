//! What a manager's handles share: keys, moving entries between device and host, and who is asked
//! to go when room runs out.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst},
    },
};

use core_gpu_driver::{DriverError, Stream};

use crate::{
    AllocError, MemoryEvent, Pool, Reclaim, Source, Staging,
    manager::{
        InsertError, ManagerSettings,
        arena::Arena,
        entry::{Entry, EntryCore, Place, State},
    },
    ordered::{Access, OrderedBuffer},
};

/// Counts of what was moved to make room.
#[derive(Debug, Default)]
pub struct SpillCounters {
    pub spills: AtomicU64,
    pub spilled_bytes: AtomicU64,
    pub promotions: AtomicU64,
    pub promoted_bytes: AtomicU64,
    pub failures: AtomicU64,
}

/// Shared by a manager's handles and its entries.
#[derive(Debug)]
pub struct ManagerInner {
    /// All entries that are reachable by key, and those that only handles hold. Before the pool,
    /// so that their blocks are back when it ends.
    keys: Mutex<Keys>,
    pub pool: Pool,
    /// Where allocations by bytes belong.
    pub stream: Stream,
    /// Where entries are moved to the host.
    pub transfer: Stream,
    pub staging: Staging,
    pub arena: Arc<Arena>,
    pub settings: ManagerSettings,
    pub budget_bytes: u64,
    pub counters: SpillCounters,
    uses: AtomicU64,
    /// Bytes that were allocated since the watermark was last looked at.
    pub unchecked_bytes: AtomicU64,
}

/// Entries by key.
#[derive(Debug, Default)]
pub struct Keys {
    pub named: BTreeMap<Arc<str>, Arc<EntryCore>>,
    /// Entries without a key, held by handles; looked through when room is made.
    pub unnamed: Vec<std::sync::Weak<EntryCore>>,
}

impl ManagerInner {
    pub fn new(
        pool: Pool,
        streams: (Stream, Stream),
        staging: Staging,
        arena: Arc<Arena>,
        settings: ManagerSettings,
        budget_bytes: u64,
    ) -> ManagerInner {
        ManagerInner {
            pool,
            stream: streams.0,
            transfer: streams.1,
            staging,
            arena,
            settings,
            budget_bytes,
            counters: SpillCounters::default(),
            keys: Mutex::default(),
            uses: AtomicU64::new(0),
            unchecked_bytes: AtomicU64::new(0),
        }
    }

    pub fn keys(&self) -> MutexGuard<'_, Keys> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn next_use(&self) -> u64 {
        self.uses.fetch_add(1, Relaxed)
    }

    /// Streams on which entries may be used now.
    pub fn admit(&self, on: &Stream) -> Result<(), AllocError> {
        if on.driver().info().id != self.pool.driver().info().id {
            return Err(AllocError::OtherDevice);
        }
        if on.is_capturing()? {
            return Err(AllocError::Capturing);
        }
        Ok(())
    }

    /// Memory for an entry on the device.
    fn room(&self, bytes: u64, by: Source, on: &Stream) -> Result<OrderedBuffer, AllocError> {
        let len = usize::try_from(bytes).map_err(|_| AllocError::SizeOverflow)?;
        let buffer = self.pool.allocate::<u8>(len, on, by)?;
        Ok(OrderedBuffer::new(buffer, on))
    }

    /// A new entry, sent to the device.
    pub fn insert(
        self: &Arc<Self>,
        key: &str,
        data: &[u8],
        by: Source,
        on: &Stream,
    ) -> Result<Entry, InsertError> {
        let taken = || InsertError::KeyInUse {
            key: key.to_owned(),
        };
        if self.keys().named.contains_key(key) {
            return Err(taken());
        }
        self.relieve(data.len() as u64);
        self.admit(on)?;
        let mut buffer = self.room(data.len() as u64, by, on)?;
        let to = buffer.begin(Access::Write, on).map_err(AllocError::from)?;
        let sent = self.staging.upload(to.span(), data, on);
        drop(to);
        buffer.end(Access::Write, on);
        sent.map_err(AllocError::from)?;
        let core = self.core(Arc::from(key), data.len() as u64, by, Place::Device(buffer));
        let mut keys = self.keys();
        if keys.named.contains_key(key) {
            drop(keys);
            return Err(taken());
        }
        keys.named.insert(Arc::clone(&core.key), Arc::clone(&core));
        drop(keys);
        let manager = Arc::clone(self);
        Ok(Entry { core, manager })
    }

    fn core(&self, key: Arc<str>, bytes: u64, by: Source, place: Place) -> Arc<EntryCore> {
        Arc::new(EntryCore {
            key,
            bytes,
            by,
            state: Mutex::new(State { place, pins: 0 }),
            writing: AtomicBool::new(false),
            last_use: AtomicU64::new(self.next_use()),
        })
    }

    /// Sees to it that the handle is the only one, and marks its entry as being written.
    pub fn make_own(self: &Arc<Self>, entry: &mut Entry, on: &Stream) -> Result<(), AllocError> {
        if self.claim(&entry.core) {
            return Ok(());
        }
        let copy = self.copy_of(entry, on)?;
        copy.writing.store(true, SeqCst);
        let mut keys = self.keys();
        let named = keys.named.get(&entry.core.key);
        if named.is_some_and(|named| Arc::ptr_eq(named, &entry.core)) {
            let old = keys.named.insert(Arc::clone(&copy.key), Arc::clone(&copy));
            keys.unnamed.extend(old.iter().map(Arc::downgrade));
        } else {
            keys.unnamed.push(Arc::downgrade(&copy));
        }
        let before = std::mem::replace(&mut entry.core, copy);
        drop(keys);
        drop(before);
        Ok(())
    }

    /// Marks an entry as being written if there is one handle of it.
    fn claim(&self, core: &Arc<EntryCore>) -> bool {
        let keys = self.keys();
        let named = keys.named.get(&core.key);
        let by_key = usize::from(named.is_some_and(|named| Arc::ptr_eq(named, core)));
        let alone = Arc::strong_count(core) - by_key == 1;
        if alone {
            core.writing.store(true, SeqCst);
        }
        alone
    }

    fn copy_of(self: &Arc<Self>, entry: &Entry, on: &Stream) -> Result<Arc<EntryCore>, AllocError> {
        let from = entry.pin(on)?;
        let core = &entry.core;
        let mut buffer = self.room(core.bytes, core.by, on)?;
        let to = buffer.begin(Access::Write, on)?;
        let copied = on.copy(to.span(), from.span());
        drop(to);
        buffer.end(Access::Write, on);
        copied?;
        Ok(self.core(
            Arc::clone(&core.key),
            core.bytes,
            core.by,
            Place::Device(buffer),
        ))
    }

    /// Brings an entry back to the device.
    pub fn promote(
        &self,
        core: &EntryCore,
        state: &mut State,
        on: &Stream,
    ) -> Result<(), AllocError> {
        let mut buffer = self.room(core.bytes, core.by, on)?;
        let Place::Host(piece) = std::mem::replace(&mut state.place, Place::Moving) else {
            return Ok(());
        };
        let sent = buffer
            .begin(Access::Write, on)
            .and_then(|to| piece.send(to.span(), on));
        if let Err(error) = sent {
            state.place = Place::Host(piece);
            return Err(error.into());
        }
        buffer.end(Access::Write, on);
        piece.retire(on);
        state.place = Place::Device(buffer);
        self.counters.promotions.fetch_add(1, Relaxed);
        self.counters.promoted_bytes.fetch_add(core.bytes, Relaxed);
        Ok(())
    }

    /// Says that an entry came back, once its lock is let go of.
    pub fn say_promoted(&self, core: &EntryCore) {
        let (bytes, by) = (core.bytes, core.by);
        self.pool.inner.say(&MemoryEvent::Promoted { bytes, by });
    }

    /// Moves an entry to the host if nobody uses it. Returns the bytes that became free.
    pub fn spill_one(&self, core: &Arc<EntryCore>) -> u64 {
        let Some(mut state) = core.try_lock() else {
            return 0;
        };
        let writing = core.writing.load(SeqCst);
        let State { place, pins } = &mut *state;
        let Place::Device(buffer) = place else {
            return 0;
        };
        if *pins > 0 || writing {
            return 0;
        }
        let Some(piece) = self.arena.take(buffer.bytes()) else {
            return 0;
        };
        let moved = buffer
            .begin(Access::Read, &self.transfer)
            .and_then(|from| piece.fill(from.span(), &self.transfer));
        if let Err(error) = moved {
            buffer.end(Access::Read, &self.transfer);
            self.note_failure(&error);
            piece.retire(&self.transfer);
            return 0;
        }
        let bytes = piece.bytes();
        *place = Place::Host(piece);
        drop(state);
        self.counters.spills.fetch_add(1, Relaxed);
        self.counters.spilled_bytes.fetch_add(bytes, Relaxed);
        let by = core.by;
        self.pool.inner.say(&MemoryEvent::Spilled { bytes, by });
        bytes
    }

    fn note_failure(&self, error: &DriverError) {
        self.counters.failures.fetch_add(1, Relaxed);
        self.pool.inner.report(error);
    }

    /// Entries, those first that were not used for longest.
    fn by_age(&self) -> Vec<Arc<EntryCore>> {
        let mut keys = self.keys();
        keys.unnamed.retain(|entry| entry.strong_count() > 0);
        let unnamed = keys.unnamed.iter().filter_map(std::sync::Weak::upgrade);
        let mut entries: Vec<_> = keys.named.values().cloned().chain(unnamed).collect();
        drop(keys);
        entries.sort_by_key(|entry| entry.last_use.load(Relaxed));
        entries
    }

    /// Starts to make room when more than the high watermark would be in use.
    pub fn relieve(&self, wanted: u64) {
        let before = self.unchecked_bytes.fetch_add(wanted, Relaxed);
        let unchecked = before.saturating_add(wanted);
        if unchecked < self.budget_bytes / 64 {
            return;
        }
        self.unchecked_bytes.store(0, Relaxed);
        let in_use = self.pool.bytes_in_use().saturating_add(wanted);
        if in_use <= self.settings.high_watermark_bytes(self.budget_bytes) {
            return;
        }
        let low = self.settings.low_watermark_bytes(self.budget_bytes);
        self.pool.make_room(in_use.saturating_sub(low));
    }
}

impl Reclaim for ManagerInner {
    /// Moves what was not used for longest to the host.
    fn reclaim(&self, wanted: u64) -> u64 {
        let mut freed = 0;
        for entry in self.by_age() {
            if freed >= wanted {
                break;
            }
            freed += self.spill_one(&entry);
        }
        freed
    }
}
