//! Stores: bytes by path, in device memory, in host memory, on disk and in Zarr's format, behind one
//! trait.
//!
//! Several threads may read and write one store at once; a reader sees a blob as it was before a
//! write or after it, never between. The layout of [`DiskStore`] is this crate's own, with a checksum;
//! [`ZarrStore`] is for what other programs read or write.
//!
//! ```
//! use std::sync::Arc;
//! use core_gpu_driver::{Driver, HostDriver};
//! use core_gpu_memory::{DType, MemoryManager, Source};
//! use core_gpu_memory::store::{
//!     Blob, DeviceStore, DiskStore, HostStore, Key, Metadata, Store, ZarrStore,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 26));
//! let manager = MemoryManager::builder(&driver).build()?;
//! let stores: [Box<dyn Store>; 4] = [
//!     Box::new(DeviceStore::new(&manager, Source::named("model"))),
//!     Box::new(HostStore::new()),
//!     Box::new(DiskStore::open(folder.join("disk"))?),
//!     Box::new(ZarrStore::open(folder.join("model.zarr"))?),
//! ];
//! let metadata = Metadata::array(&[2, 3], DType::UInt8);
//! let weights = Blob { data: vec![1, 2, 3, 4, 5, 6], metadata };
//! let key = Key::new("layer/weights")?;
//! for store in &stores {
//!     store.save(&key, &weights)?;
//!     assert_eq!(store.load(&key)?, weights);
//! }
//! # Ok(())
//! # }
//! ```

mod device;
mod disk;
pub(crate) mod folder;
mod host;
mod key;
mod names;
mod registry;
mod value;
mod zarr;

use std::{fmt, path::PathBuf};

use serde::{Deserialize, Serialize};

pub use device::DeviceStore;
pub use disk::DiskStore;
pub use host::HostStore;
pub use key::{Key, KeyError};
pub use registry::StoreRegistry;
pub use value::Value;
pub use zarr::ZarrStore;

use crate::{AllocError, DType, InsertError};

/// What is known of a blob beside its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Metadata {
    /// The array's extents, when it is one.
    pub shape: Option<Vec<u64>>,
    /// The type of its elements.
    pub dtype: Option<DType>,
}

impl Metadata {
    /// Of an array.
    #[must_use]
    pub fn array(shape: &[u64], dtype: DType) -> Metadata {
        Metadata {
            shape: Some(shape.to_vec()),
            dtype: Some(dtype),
        }
    }

    /// Bytes that an array of this kind has; none if it is not said, or no number.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        self.dtype?.array_bytes(self.shape.as_deref()?)
    }
}

/// Bytes with what is known of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Blob {
    /// The bytes.
    pub data: Vec<u8>,
    /// What is known of them.
    pub metadata: Metadata,
}

/// What a key names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Something that holds others.
    Directory,
    /// Bytes.
    Blob,
}

/// What went wrong in a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no such blob.
    #[error("there is nothing at `{0}`")]
    NotFound(Key),
    /// The key names a directory, or one of its parts names a blob.
    #[error("`{0}` is a {what}", what = match .1 { Kind::Blob => "blob", Kind::Directory => "directory" })]
    WrongKind(Key, Kind),
    /// Something is there that must not be replaced.
    #[error("there is something at `{0}` already")]
    Exists(Key),
    /// A directory cannot be moved or copied into itself.
    #[error("`{0}` cannot go below itself")]
    IntoItself(Key),
    /// The length is not what shape and type say.
    #[error("`{key}` has {found} bytes instead of the {expected} of its shape and type")]
    Length {
        /// The blob.
        key: Key,
        /// Bytes by shape and type.
        expected: u64,
        /// Bytes that there are.
        found: u64,
    },
    /// What is stored is not what was saved.
    #[error("what is stored at `{key}` is damaged: {what}")]
    Damaged {
        /// The blob.
        key: Key,
        /// What is wrong.
        what: String,
    },
    /// The store's format does not have it, or not all of the format is read here.
    #[error("`{key}` cannot be stored or read here: {what}")]
    Unsupported {
        /// The blob or directory.
        key: Key,
        /// What is not supported.
        what: String,
    },
    /// It is no key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// There was no memory for it, or the device failed.
    #[error("`{key}`: {error}")]
    Memory {
        /// The blob.
        key: Key,
        /// Why.
        error: AllocError,
    },
    /// The file system failed.
    #[error("{path}: {error}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// There is no store of that name.
    #[error("there is no store `{name}`{}", nearest.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    UnknownStore {
        /// The name.
        name: String,
        /// The known name that is most like it.
        nearest: Option<String>,
    },
    /// There is a store of that name already.
    #[error("there is a store `{0}` already")]
    StoreExists(String),
}

impl StoreError {
    fn memory(key: &Key, error: impl Into<AllocError>) -> StoreError {
        StoreError::Memory {
            key: key.clone(),
            error: error.into(),
        }
    }

    fn insert(key: &Key, error: InsertError) -> StoreError {
        match error {
            InsertError::KeyInUse { .. } => StoreError::Exists(key.clone()),
            InsertError::Alloc(error) => StoreError::memory(key, error),
        }
    }
}

/// Bytes by path. May be used from several threads.
///
/// Directories come with what is saved in them, and stay when it goes. Nothing is both a directory
/// and a blob.
pub trait Store: fmt::Debug + Send + Sync {
    /// Puts a blob there, in place of what was there. Either all of it is there afterwards or all
    /// of what was there before.
    ///
    /// # Errors
    /// [`StoreError::WrongKind`] and [`StoreError::Length`]; as memory or the file system fails.
    fn save(&self, key: &Key, blob: &Blob) -> Result<(), StoreError>;

    /// The blob.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::WrongKind`], [`StoreError::Damaged`]; as memory or
    /// the file system fails.
    fn load(&self, key: &Key) -> Result<Blob, StoreError>;

    /// What is there; none if nothing is.
    ///
    /// # Errors
    /// As the file system fails.
    fn kind(&self, key: &Key) -> Result<Option<Kind>, StoreError>;

    /// What is known of a blob, without its bytes.
    ///
    /// # Errors
    /// As [`Store::load`].
    fn metadata(&self, key: &Key) -> Result<Metadata, StoreError>;

    /// Bytes of a blob, or of all blobs below a directory.
    ///
    /// # Errors
    /// As [`Store::load`].
    fn size(&self, key: &Key) -> Result<u64, StoreError>;

    /// Takes a blob away, or a directory with everything in it. Whether there was one.
    ///
    /// # Errors
    /// As the file system fails.
    fn delete(&self, key: &Key) -> Result<bool, StoreError>;

    /// Makes a directory, and those above it. One that is there is left as it is.
    ///
    /// # Errors
    /// [`StoreError::WrongKind`]; as the file system fails.
    fn declare_directory(&self, key: &Key) -> Result<(), StoreError>;

    /// What is directly in a directory, by name.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::WrongKind`]; as the file system fails.
    fn list(&self, directory: &Key) -> Result<Vec<(Key, Kind)>, StoreError>;

    /// Everything below a directory, in the order of the keys.
    ///
    /// # Errors
    /// As [`Store::list`].
    fn walk(&self, directory: &Key) -> Result<Vec<(Key, Kind)>, StoreError> {
        let mut found = Vec::new();
        let mut waiting = vec![directory.clone()];
        while let Some(next) = waiting.pop() {
            for (key, kind) in self.list(&next)? {
                if kind == Kind::Directory {
                    waiting.push(key.clone());
                }
                found.push((key, kind));
            }
        }
        found.sort();
        Ok(found)
    }

    /// Whether something is there.
    ///
    /// # Errors
    /// As [`Store::kind`].
    fn exists(&self, key: &Key) -> Result<bool, StoreError> {
        Ok(self.kind(key)?.is_some())
    }

    /// All blobs whose key begins with that text, in order. The text need not be a whole path.
    ///
    /// # Errors
    /// As [`Store::walk`].
    fn list_prefix(&self, prefix: &str) -> Result<Vec<Key>, StoreError> {
        let all = self.walk(&Key::root())?;
        let blobs = all.into_iter().filter(|(_, kind)| *kind == Kind::Blob);
        let keys = blobs.map(|(key, _)| key);
        Ok(keys
            .filter(|key| key.as_str().starts_with(prefix))
            .collect())
    }

    /// Copies a blob, or a directory with everything in it, to where nothing is.
    ///
    /// # Errors
    /// [`StoreError::Exists`], [`StoreError::IntoItself`]; as loading and saving fail. What was
    /// copied before an error stays.
    fn copy(&self, from: &Key, to: &Key) -> Result<(), StoreError> {
        for (source, kind) in self.pairs(from, to)? {
            let below = source.below(from).unwrap_or_default();
            let target = to.join(below.as_str())?;
            match kind {
                Kind::Directory => self.declare_directory(&target)?,
                Kind::Blob => self.save(&target, &self.load(&source)?)?,
            }
        }
        Ok(())
    }

    /// Moves a blob, or a directory with everything in it, to where nothing is.
    ///
    /// # Errors
    /// As [`Store::copy`]; nothing is taken away before all of it is there.
    fn rename(&self, from: &Key, to: &Key) -> Result<(), StoreError> {
        self.copy(from, to)?;
        self.delete(from).map(|_| ())
    }

    /// What a copy has to do: the thing itself and everything below it.
    #[doc(hidden)]
    fn pairs(&self, from: &Key, to: &Key) -> Result<Vec<(Key, Kind)>, StoreError> {
        let kind = self
            .kind(from)?
            .ok_or_else(|| StoreError::NotFound(from.clone()))?;
        if to.is_in(from) && to != from {
            return Err(StoreError::IntoItself(from.clone()));
        }
        if self.exists(to)? {
            return Err(StoreError::Exists(to.clone()));
        }
        let mut all = vec![(from.clone(), kind)];
        if kind == Kind::Directory {
            all.extend(self.walk(from)?);
        }
        Ok(all)
    }
}

/// Whether a blob has the length that its shape and type say.
fn check_length(key: &Key, blob: &Blob) -> Result<(), StoreError> {
    let found = blob.data.len() as u64;
    match blob.metadata.bytes() {
        Some(expected) if expected != found => Err(StoreError::Length {
            key: key.clone(),
            expected,
            found,
        }),
        _ => Ok(()),
    }
}
