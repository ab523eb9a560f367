//! Stores by name, for programs that say in their configuration where things go.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
};

use crate::store::{Store, StoreError};

/// Stores by name. May be used from several threads.
#[derive(Debug, Default)]
pub struct StoreRegistry {
    stores: RwLock<BTreeMap<String, Arc<dyn Store>>>,
}

impl StoreRegistry {
    /// A registry without stores.
    #[must_use]
    pub fn new() -> StoreRegistry {
        StoreRegistry::default()
    }

    /// Gives a store a name.
    ///
    /// # Errors
    /// [`StoreError::StoreExists`]: the store that has it keeps it.
    pub fn register(&self, name: &str, store: Arc<dyn Store>) -> Result<(), StoreError> {
        let mut stores = self.stores.write().unwrap_or_else(PoisonError::into_inner);
        if stores.contains_key(name) {
            return Err(StoreError::StoreExists(name.to_owned()));
        }
        stores.insert(name.to_owned(), store);
        Ok(())
    }

    /// The store of that name.
    ///
    /// # Errors
    /// [`StoreError::UnknownStore`], with the nearest name.
    pub fn get(&self, name: &str) -> Result<Arc<dyn Store>, StoreError> {
        let stores = self.stores.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = stores.get(name) {
            return Ok(Arc::clone(store));
        }
        let distances = stores
            .keys()
            .map(|known| (strsim::damerau_levenshtein(known, name), known));
        let nearest = distances
            .min()
            .filter(|(distance, _)| *distance <= name.len() / 2);
        Err(StoreError::UnknownStore {
            name: name.to_owned(),
            nearest: nearest.map(|(_, known)| known.clone()),
        })
    }

    /// Takes a name away; who has the store keeps it.
    pub fn unregister(&self, name: &str) -> Option<Arc<dyn Store>> {
        let mut stores = self.stores.write().unwrap_or_else(PoisonError::into_inner);
        stores.remove(name)
    }

    /// All names, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let stores = self.stores.read().unwrap_or_else(PoisonError::into_inner);
        stores.keys().cloned().collect()
    }
}
