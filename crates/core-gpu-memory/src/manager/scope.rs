//! Scopes: what was taken in one is released at its end, also when that end is a panic.

use std::sync::{
    Mutex, OnceLock, PoisonError,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use core_gpu_driver::Stream;

use crate::{AllocError, Buffer, Entry, InsertError, MemoryManager, Source};

/// Buffers in the first chunk; each further one has twice as many.
const FIRST_CHUNK: usize = 8;
/// Chunks, enough for more buffers than there are addresses.
const CHUNKS: usize = 48;

type Chunk = Box<[OnceLock<Buffer<u8>>]>;

/// Buffers and keys that live as long as the scope. May be used from several threads.
///
/// Buffers are lent, so that none can outlive the scope. Keys are released at its end; handles that
/// were taken of them keep their bytes as they always do.
pub struct Scope<'m> {
    manager: &'m MemoryManager,
    chunks: [OnceLock<Chunk>; CHUNKS],
    count: AtomicUsize,
    keys: Mutex<Vec<String>>,
}

impl<'m> Scope<'m> {
    pub(crate) fn new(manager: &'m MemoryManager) -> Scope<'m> {
        Scope {
            manager,
            chunks: [const { OnceLock::new() }; CHUNKS],
            count: AtomicUsize::new(0),
            keys: Mutex::default(),
        }
    }

    /// Memory on the manager's stream until the end of the scope.
    ///
    /// # Errors
    /// See [`AllocError`].
    pub fn allocate(&self, bytes: usize, by: Source) -> Result<&Buffer<u8>, AllocError> {
        self.allocate_on(bytes, self.manager.stream(), by)
    }

    /// Memory on a stream until the end of the scope.
    ///
    /// # Errors
    /// See [`AllocError`].
    pub fn allocate_on(
        &self,
        bytes: usize,
        on: &Stream,
        by: Source,
    ) -> Result<&Buffer<u8>, AllocError> {
        let buffer = self.manager.allocate_on(bytes, on, by)?;
        Ok(self.keep(buffer))
    }

    fn keep(&self, buffer: Buffer<u8>) -> &Buffer<u8> {
        let index = self.count.fetch_add(1, Relaxed) + FIRST_CHUNK;
        let level = (index / FIRST_CHUNK).ilog2() as usize;
        let length = FIRST_CHUNK << level;
        let make = || (0..length).map(|_| OnceLock::new()).collect();
        let slot = self
            .chunks
            .get(level)
            .and_then(|chunk| chunk.get_or_init(make).get(index - length));
        slot.expect("invariant: there are slots for every number")
            .get_or_init(|| buffer)
    }

    /// Buffers that the scope holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count.load(Relaxed)
    }

    /// Whether it holds no buffer.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// As [`MemoryManager::insert`]; the key is released at the end of the scope.
    ///
    /// # Errors
    /// As [`MemoryManager::insert`].
    pub fn insert(&self, key: &str, data: &[u8], on: &Stream) -> Result<Entry, InsertError> {
        let entry = self.manager.insert(key, data, on)?;
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.push(key.to_owned());
        Ok(entry)
    }
}

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        let keys = self.keys.get_mut().unwrap_or_else(PoisonError::into_inner);
        for key in keys.drain(..) {
            self.manager.release(&key);
        }
    }
}

impl std::fmt::Debug for Scope<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Scope")
            .field("buffers", &self.len())
            .finish_non_exhaustive()
    }
}
