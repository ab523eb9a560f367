//! Nested values: dictionaries of arrays, saved as directories of blobs.

use std::collections::BTreeMap;

use crate::store::{Blob, Key, Kind, Store, StoreError};

/// Levels of dictionaries in each other that are read and written.
const DEEPEST: usize = 64;

/// An array, or values by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Bytes with shape and type.
    Array(Blob),
    /// Values by name. Names are single parts of a key.
    Dictionary(BTreeMap<String, Value>),
}

impl Value {
    /// Saves it, in place of what was there. A dictionary becomes a directory.
    ///
    /// # Errors
    /// As [`Store::save`] and [`Store::delete`]; a name that is not a single part of a key, or too
    /// many levels, before anything is written. What was written before an error stays.
    pub fn save(&self, store: &dyn Store, key: &Key) -> Result<(), StoreError> {
        self.check(key, 0)?;
        let (kind, becomes) = (store.kind(key)?, self.kind());
        if kind.is_some_and(|kind| kind != becomes || kind == Kind::Directory) {
            store.delete(key)?;
        }
        self.write(store, key)
    }

    fn kind(&self) -> Kind {
        match self {
            Value::Array(_) => Kind::Blob,
            Value::Dictionary(_) => Kind::Directory,
        }
    }

    fn check(&self, key: &Key, depth: usize) -> Result<(), StoreError> {
        let Value::Dictionary(values) = self else {
            return Ok(());
        };
        if depth > DEEPEST {
            return Err(too_deep(key));
        }
        for (name, value) in values {
            let below = key.join(name)?;
            if below.parent().as_ref() != Some(key) {
                return Err(StoreError::Damaged {
                    key: below,
                    what: format!("`{name}` is not a single name"),
                });
            }
            value.check(&below, depth + 1)?;
        }
        Ok(())
    }

    fn write(&self, store: &dyn Store, key: &Key) -> Result<(), StoreError> {
        match self {
            Value::Array(blob) => store.save(key, blob),
            Value::Dictionary(values) => {
                store.declare_directory(key)?;
                for (name, value) in values {
                    value.write(store, &key.join(name)?)?;
                }
                Ok(())
            }
        }
    }

    /// Loads what [`Value::save`] saved, or any directory.
    ///
    /// # Errors
    /// As [`Store::load`] and [`Store::list`]; too many levels.
    pub fn load(store: &dyn Store, key: &Key) -> Result<Value, StoreError> {
        Value::read(store, key, 0)
    }

    fn read(store: &dyn Store, key: &Key, depth: usize) -> Result<Value, StoreError> {
        if depth > DEEPEST {
            return Err(too_deep(key));
        }
        match store.kind(key)? {
            None => Err(StoreError::NotFound(key.clone())),
            Some(Kind::Blob) => Ok(Value::Array(store.load(key)?)),
            Some(Kind::Directory) => {
                let mut values = BTreeMap::new();
                for (below, _) in store.list(key)? {
                    let value = Value::read(store, &below, depth + 1)?;
                    values.insert(below.name().to_owned(), value);
                }
                Ok(Value::Dictionary(values))
            }
        }
    }
}

fn too_deep(key: &Key) -> StoreError {
    StoreError::Damaged {
        key: key.clone(),
        what: format!("more than {DEEPEST} levels"),
    }
}
