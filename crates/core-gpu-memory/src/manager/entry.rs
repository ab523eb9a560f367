//! Entries: memory by key, which may leave the device while nobody has it pinned, and comes back
//! when somebody does.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, TryLockError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst},
    },
};

use core_gpu_driver::{DeviceSpan, DriverError, Stream};

use crate::{
    AllocError, Buffer, Source,
    manager::{arena::HostPiece, inner::ManagerInner},
    ordered::{Access, OrderedBuffer},
};

/// Where an entry's bytes are.
#[derive(Debug)]
pub(super) enum Place {
    Device(OrderedBuffer),
    Host(HostPiece),
    /// Only while they are being moved, under the lock.
    Moving,
}

#[derive(Debug)]
pub(super) struct State {
    pub place: Place,
    pub pins: u32,
}

/// What handles of one entry share.
#[derive(Debug)]
pub(super) struct EntryCore {
    pub key: Arc<str>,
    pub bytes: u64,
    pub by: Source,
    pub state: Mutex<State>,
    /// Somebody has it pinned for writing.
    pub writing: AtomicBool,
    /// When it was last pinned, in pins of the manager.
    pub last_use: AtomicU64,
}

impl EntryCore {
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lock, unless somebody has it: for who must not wait.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, State>> {
        match self.state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// A handle of an entry. Dropping it releases what it holds; the bytes go when the key and all
/// handles are gone. It has no address: [`Entry::pin`] gives one.
///
/// May be sent to other threads and used from several.
pub struct Entry {
    pub(super) core: Arc<EntryCore>,
    pub(super) manager: Arc<ManagerInner>,
}

impl Entry {
    /// The key that it was inserted with.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.core.key
    }

    /// Length in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.core.bytes
    }

    /// Who it is accounted to.
    #[must_use]
    pub fn source(&self) -> Source {
        self.core.by
    }

    /// Whether the bytes are on the device at this moment.
    #[must_use]
    pub fn is_resident(&self) -> bool {
        matches!(self.core.lock().place, Place::Device(_))
    }

    /// Holds the bytes at an address of the device, for reading on a stream; brings them there if
    /// they are not. The stream waits for whatever wrote them. As long as it is held, the bytes
    /// stay where they are.
    ///
    /// # Errors
    /// As an allocation fails; [`AllocError::BeingWritten`] while another handle holds it for
    /// writing; as the driver's calls fail. The entry is as it was.
    pub fn pin(&self, on: &Stream) -> Result<PinnedEntry<'_>, AllocError> {
        self.manager.admit(on)?;
        let mut state = self.core.lock();
        if self.core.writing.load(SeqCst) {
            return Err(AllocError::BeingWritten);
        }
        let held = self.manager.hold(&self.core, &mut state, Access::Read, on);
        drop(state);
        let buffer = self.manager.held(&self.core, held)?;
        Ok(PinnedEntry {
            entry: self,
            buffer,
            on: on.clone(),
        })
    }

    /// As [`Entry::pin`], for writing. If there are other handles, this one gets a copy of its own
    /// first, which the key names from then on; the others keep what they have.
    ///
    /// # Errors
    /// As [`Entry::pin`].
    pub fn pin_mut(&mut self, on: &Stream) -> Result<PinnedEntryMut<'_>, AllocError> {
        self.manager.admit(on)?;
        Arc::clone(&self.manager).make_own(self, on)?;
        let mut state = self.core.lock();
        let held = self.manager.hold(&self.core, &mut state, Access::Write, on);
        drop(state);
        match self.manager.held(&self.core, held) {
            Ok(buffer) => Ok(PinnedEntryMut {
                entry: self,
                buffer,
                on: on.clone(),
            }),
            Err(error) => {
                self.core.writing.store(false, SeqCst);
                Err(error)
            }
        }
    }

    /// Replaces bytes from `offset` on; other handles keep what they have.
    ///
    /// # Errors
    /// As [`Entry::pin_mut`]; refused when the bytes do not fit.
    pub fn write(&mut self, offset: u64, data: &[u8], on: &Stream) -> Result<(), AllocError> {
        let bytes = self.core.bytes;
        let manager = Arc::clone(&self.manager);
        let pinned = self.pin_mut(on)?;
        let Some(part) = pinned.span().part(offset, data.len() as u64) else {
            let why = core_gpu_driver::Refusal::OutOfRange {
                offset,
                bytes: data.len() as u64,
                held: bytes,
            };
            let function = "write";
            return Err(DriverError::Refused { function, why }.into());
        };
        Ok(manager.staging.upload(part, data, on)?)
    }

    /// The bytes. An entry that is in host memory is read there, and stays there.
    ///
    /// # Errors
    /// As [`Entry::pin`].
    pub fn read(&self, on: &Stream) -> Result<Vec<u8>, AllocError> {
        let mut bytes = vec![0; usize::try_from(self.core.bytes).unwrap_or(usize::MAX)];
        let state = self.core.lock();
        if let Place::Host(piece) = &state.place {
            piece.read(&mut bytes)?;
            return Ok(bytes);
        }
        drop(state);
        let pinned = self.pin(on)?;
        self.manager
            .staging
            .download(&mut bytes, pinned.span(), on)?;
        Ok(bytes)
    }

    /// Moves the bytes to host memory now, if there is room and nobody has them pinned. Whether
    /// they are there afterwards.
    #[must_use]
    pub fn spill(&self) -> bool {
        self.manager.spill_one(&self.core);
        !self.is_resident()
    }
}

impl Clone for Entry {
    fn clone(&self) -> Entry {
        // Under the lock that a writer looks at the number of handles under.
        let _keys = self.manager.keys();
        Entry {
            core: Arc::clone(&self.core),
            manager: Arc::clone(&self.manager),
        }
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Entry")
            .field("key", &self.core.key)
            .field("bytes", &self.core.bytes)
            .finish_non_exhaustive()
    }
}

/// An entry held at its address for reading. Work that uses the address is put on the stream that
/// was named before this is dropped, which may be on another thread.
#[derive(Debug)]
pub struct PinnedEntry<'e> {
    entry: &'e Entry,
    buffer: Arc<Buffer<u8>>,
    on: Stream,
}

impl PinnedEntry<'_> {
    /// Where the bytes are. Only for work on the stream that was named, put there before this is
    /// dropped.
    #[must_use]
    pub fn span(&self) -> DeviceSpan<'_> {
        self.buffer.span()
    }
}

impl Drop for PinnedEntry<'_> {
    fn drop(&mut self) {
        let Entry { core, manager } = self.entry;
        manager.let_go(core, Access::Read, &self.on);
    }
}

/// An entry held at its address for writing. Work that uses the address is put on the stream that
/// was named before this is dropped, which may be on another thread.
#[derive(Debug)]
pub struct PinnedEntryMut<'e> {
    entry: &'e mut Entry,
    buffer: Arc<Buffer<u8>>,
    on: Stream,
}

impl PinnedEntryMut<'_> {
    /// As [`PinnedEntry::span`].
    #[must_use]
    pub fn span(&self) -> DeviceSpan<'_> {
        self.buffer.span()
    }
}

impl Drop for PinnedEntryMut<'_> {
    fn drop(&mut self) {
        let Entry { core, manager } = &*self.entry;
        manager.let_go(core, Access::Write, &self.on);
        core.writing.store(false, SeqCst);
    }
}

/// An entry that was pinned.
struct Held {
    buffer: Arc<Buffer<u8>>,
    /// Its bytes were on the host before.
    comes_back: bool,
}

impl ManagerInner {
    /// Counts a pin and brings the bytes to the device if they are not there; says whether it did.
    fn hold(
        &self,
        core: &EntryCore,
        state: &mut State,
        access: Access,
        on: &Stream,
    ) -> Result<Held, AllocError> {
        core.last_use.store(self.next_use(), Relaxed);
        let comes_back = matches!(state.place, Place::Host(_));
        if comes_back {
            self.promote(core, state, on)?;
        }
        let Place::Device(buffer) = &mut state.place else {
            return Err(AllocError::BeingWritten);
        };
        let buffer = buffer.begin(access, on)?;
        state.pins += 1;
        Ok(Held { buffer, comes_back })
    }

    /// What follows a pin when the entry's lock is let go of: observers hear of it.
    fn held(
        &self,
        core: &EntryCore,
        held: Result<Held, AllocError>,
    ) -> Result<Arc<Buffer<u8>>, AllocError> {
        let held = held?;
        if held.comes_back {
            self.say_promoted(core);
        }
        Ok(held.buffer)
    }

    fn let_go(self: &Arc<Self>, core: &Arc<EntryCore>, access: Access, on: &Stream) {
        let mut state = core.lock();
        if let Place::Device(buffer) = &mut state.place {
            buffer.end(access, on);
        }
        state.pins -= 1;
        let leaves = state.pins == 0 && !self.settings.keep_in_vram;
        drop(state);
        if leaves {
            self.spill_one(core);
        }
    }
}
