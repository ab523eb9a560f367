//! A store in ordinary memory of the host.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::store::{Blob, Key, Kind, Metadata, Store, StoreError, check_length, names::Names};

/// Blobs in memory of the host. Gone when it is dropped. May be used from several threads, readers at
/// once.
#[derive(Debug, Default)]
pub struct HostStore {
    names: RwLock<Names<Arc<Blob>>>,
}

impl HostStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> HostStore {
        HostStore::default()
    }

    fn read(&self) -> RwLockReadGuard<'_, Names<Arc<Blob>>> {
        self.names.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Names<Arc<Blob>>> {
        self.names.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for HostStore {
    fn save(&self, key: &Key, blob: &Blob) -> Result<(), StoreError> {
        check_length(key, blob)?;
        let blob = Arc::new(blob.clone());
        let before = self.write().put(key, blob)?;
        drop(before);
        Ok(())
    }

    fn load(&self, key: &Key) -> Result<Blob, StoreError> {
        let blob = Arc::clone(self.read().get(key)?);
        Ok(Arc::unwrap_or_clone(blob))
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
            .map(|(_, blob)| blob.data.len() as u64)
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
