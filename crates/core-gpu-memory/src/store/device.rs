//! A store in device memory: blobs are entries of a manager, so that they move to the host when
//! room runs out and come back when they are wanted.

use std::sync::{
    PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use core_gpu_driver::Stream;

use crate::{
    Entry, MemoryManager, Source,
    store::{Blob, Key, Kind, Metadata, Store, StoreError, check_length, names::Names},
};

#[derive(Debug)]
struct Stored {
    entry: Entry,
    metadata: Metadata,
}

/// Blobs in device memory, owned. Gone when it is dropped. May be used from several threads; its work
/// is on the stream of its manager, which is waited for.
#[derive(Debug)]
pub struct DeviceStore {
    manager: MemoryManager,
    stream: Stream,
    by: Source,
    names: RwLock<Names<Stored>>,
}

impl DeviceStore {
    /// A store in the manager's memory, accounted to `by`. Copies are made on the manager's stream.
    #[must_use]
    pub fn new(manager: &MemoryManager, by: Source) -> DeviceStore {
        DeviceStore {
            manager: manager.clone(),
            stream: manager.stream().clone(),
            by,
            names: RwLock::default(),
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Names<Stored>> {
        self.names.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Names<Stored>> {
        self.names.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// A handle of a blob, to be used where it is. It keeps its bytes whatever happens to the blob.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] and [`StoreError::WrongKind`].
    pub fn entry(&self, key: &Key) -> Result<Entry, StoreError> {
        Ok(self.read().get(key)?.entry.clone())
    }

    /// Moves a blob to host memory now. Whether it is there afterwards.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] and [`StoreError::WrongKind`].
    pub fn spill(&self, key: &Key) -> Result<bool, StoreError> {
        Ok(self.entry(key)?.spill())
    }

    /// Brings a blob back to the device, before somebody waits for it.
    ///
    /// # Errors
    /// As for [`Store::load`].
    pub fn reload(&self, key: &Key) -> Result<(), StoreError> {
        let entry = self.entry(key)?;
        let pinned = entry.pin(&self.stream);
        pinned
            .map(|_| ())
            .map_err(|error| StoreError::memory(key, error))
    }
}

/// Entries are held by their handles; their names in the manager are never looked for.
fn name_of_entry() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("device store {}", NEXT.fetch_add(1, Relaxed))
}

impl Store for DeviceStore {
    fn save(&self, key: &Key, blob: &Blob) -> Result<(), StoreError> {
        check_length(key, blob)?;
        self.read().may_hold_blob(key)?;
        let name = name_of_entry();
        let entry = self
            .manager
            .insert_by(&name, &blob.data, &self.stream, self.by);
        let entry = entry.map_err(|error| StoreError::insert(key, error))?;
        self.manager.release(&name);
        let stored = Stored {
            entry,
            metadata: blob.metadata.clone(),
        };
        let before = self.write().put(key, stored)?;
        drop(before);
        Ok(())
    }

    fn load(&self, key: &Key) -> Result<Blob, StoreError> {
        let (entry, metadata) = {
            let names = self.read();
            let stored = names.get(key)?;
            (stored.entry.clone(), stored.metadata.clone())
        };
        let data = entry.read(&self.stream);
        let data = data.map_err(|error| StoreError::memory(key, error))?;
        Ok(Blob { data, metadata })
    }

    fn kind(&self, key: &Key) -> Result<Option<Kind>, StoreError> {
        Ok(self.read().kind(key))
    }

    fn metadata(&self, key: &Key) -> Result<Metadata, StoreError> {
        Ok(self.read().get(key)?.metadata.clone())
    }

    fn size(&self, key: &Key) -> Result<u64, StoreError> {
        let names = self.read();
        names
            .kind(key)
            .ok_or_else(|| StoreError::NotFound(key.clone()))?;
        Ok(names
            .below(key)
            .map(|(_, stored)| stored.entry.bytes())
            .sum())
    }

    fn delete(&self, key: &Key) -> Result<bool, StoreError> {
        let (there, gone) = self.write().take(key);
        drop(gone);
        Ok(there)
    }

    fn declare_directory(&self, key: &Key) -> Result<(), StoreError> {
        self.write().declare(key)
    }

    fn list(&self, directory: &Key) -> Result<Vec<(Key, Kind)>, StoreError> {
        self.read().list(directory)
    }
}
