//! The names of a store in memory: a tree of directories and blobs of any kind.

use std::collections::{BTreeMap, BTreeSet};

use crate::store::{Key, Kind, StoreError};

/// Directories and blobs by key. The root is always there.
#[derive(Debug)]
pub struct Names<B> {
    blobs: BTreeMap<Key, B>,
    directories: BTreeSet<Key>,
}

impl<B> Default for Names<B> {
    fn default() -> Names<B> {
        Names {
            blobs: BTreeMap::new(),
            directories: BTreeSet::from([Key::root()]),
        }
    }
}

impl<B> Names<B> {
    pub fn kind(&self, key: &Key) -> Option<Kind> {
        if self.directories.contains(key) {
            Some(Kind::Directory)
        } else {
            self.blobs.contains_key(key).then_some(Kind::Blob)
        }
    }

    /// Whether a blob could be put there.
    pub fn may_hold_blob(&self, key: &Key) -> Result<(), StoreError> {
        if self.directories.contains(key) {
            return Err(StoreError::WrongKind(key.clone(), Kind::Directory));
        }
        self.may_hold_directories(key.ancestors())
    }

    fn may_hold_directories(&self, mut keys: impl Iterator<Item = Key>) -> Result<(), StoreError> {
        match keys.find(|key| self.blobs.contains_key(key)) {
            Some(blob) => Err(StoreError::WrongKind(blob, Kind::Blob)),
            None => Ok(()),
        }
    }

    /// Puts a blob there; what was there before comes back.
    pub fn put(&mut self, key: &Key, blob: B) -> Result<Option<B>, StoreError> {
        self.may_hold_blob(key)?;
        self.directories.extend(key.ancestors());
        Ok(self.blobs.insert(key.clone(), blob))
    }

    pub fn get(&self, key: &Key) -> Result<&B, StoreError> {
        match self.blobs.get(key) {
            Some(blob) => Ok(blob),
            None if self.directories.contains(key) => {
                Err(StoreError::WrongKind(key.clone(), Kind::Directory))
            }
            None => Err(StoreError::NotFound(key.clone())),
        }
    }

    /// Takes a blob out, or everything in a directory and the directory. The root stays.
    pub fn take(&mut self, key: &Key) -> (bool, Vec<B>) {
        let there = self.kind(key).is_some();
        let gone: Vec<_> = self
            .blobs
            .keys()
            .filter(|blob| blob.is_in(key))
            .cloned()
            .collect();
        let blobs = gone
            .iter()
            .filter_map(|blob| self.blobs.remove(blob))
            .collect();
        self.directories
            .retain(|directory| directory.is_root() || !directory.is_in(key));
        (there, blobs)
    }

    pub fn declare(&mut self, key: &Key) -> Result<(), StoreError> {
        self.may_hold_directories(key.ancestors().chain([key.clone()]))?;
        self.directories.extend(key.ancestors());
        self.directories.insert(key.clone());
        Ok(())
    }

    /// What is directly in a directory.
    pub fn list(&self, directory: &Key) -> Result<Vec<(Key, Kind)>, StoreError> {
        match self.kind(directory) {
            None => return Err(StoreError::NotFound(directory.clone())),
            Some(Kind::Blob) => return Err(StoreError::WrongKind(directory.clone(), Kind::Blob)),
            Some(Kind::Directory) => (),
        }
        let inside = |key: &Key| key.parent().as_ref() == Some(directory);
        let directories = self.directories.iter().map(|key| (key, Kind::Directory));
        let blobs = self.blobs.keys().map(|key| (key, Kind::Blob));
        let mut found: Vec<_> = directories
            .chain(blobs)
            .filter(|(key, _)| inside(key))
            .map(|(key, kind)| (key.clone(), kind))
            .collect();
        found.sort();
        Ok(found)
    }

    /// Blobs at a key or below it.
    pub fn below<'n>(&'n self, key: &'n Key) -> impl Iterator<Item = (&'n Key, &'n B)> {
        self.blobs.iter().filter(move |(blob, _)| blob.is_in(key))
    }
}
