//! Files in device memory: read through staging, cached by path and modification, written back so
//! that a reader sees the old bytes or the new ones. Formats are none of its business.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{ErrorKind, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use core_gpu_driver::{DeviceSpan, Stream};

use crate::{
    AllocError, Cache, CacheLimits, CacheStatistics, Cached, Hold, MemoryManager, Source,
    StagingError, store::folder,
};

/// How often a file is read anew that changes while it is read.
const TRIES: usize = 4;
/// What opening a file costs, in bytes that could be read meanwhile.
const OPENING_COSTS: f64 = 100_000.0;

/// Why a file did not get to the device, or back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file system failed.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// It changed every time that it was read.
    #[error("{0} changes while it is read")]
    Changing(PathBuf),
    /// It is a directory, a device or a pipe.
    #[error("{0} is not a file")]
    NotAFile(PathBuf),
    /// There was no memory for it, or the device failed.
    #[error("{path}: {error}")]
    Memory {
        /// The file.
        path: PathBuf,
        /// Why.
        error: AllocError,
    },
}

/// What tells one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Version {
    bytes: u64,
    modified: SystemTime,
}

impl Version {
    fn of(found: &fs::Metadata) -> std::io::Result<Version> {
        Ok(Version {
            bytes: found.len(),
            modified: found.modified()?,
        })
    }
}

/// Files of one device. May be used from several threads.
///
/// A file that changes without its length or its time of modification is not noticed.
///
/// ```
/// use std::sync::Arc;
/// use core_gpu_driver::{Driver, HostDriver};
/// use core_gpu_memory::{CacheLimits, FileManager, MemoryManager};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("table");
/// let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 26));
/// let manager = MemoryManager::builder(&driver).build()?;
/// let files = FileManager::new(&manager, CacheLimits::default());
/// std::fs::write(&path, "first")?;
/// assert_eq!(files.load(&path, manager.stream())?.bytes(), 5);
/// assert_eq!(files.load(&path, manager.stream())?.bytes(), 5); // read once
/// std::fs::write(&path, "another one")?;
/// assert_eq!(files.load(&path, manager.stream())?.bytes(), 11);
/// assert_eq!(files.statistics().hits, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct FileManager {
    manager: MemoryManager,
    cache: Cache,
    versions: Mutex<BTreeMap<PathBuf, Version>>,
}

impl FileManager {
    /// Files in the manager's memory, accounted to `files`.
    #[must_use]
    pub fn new(manager: &MemoryManager, limits: CacheLimits) -> FileManager {
        FileManager {
            manager: manager.clone(),
            cache: Cache::new(manager, limits, Source::named("files")),
            versions: Mutex::default(),
        }
    }

    /// The bytes of a file. Reads it if it is not cached, or is not what it was.
    ///
    /// # Errors
    /// See [`FileError`].
    pub fn load(&self, path: &Path, on: &Stream) -> Result<Cached, FileError> {
        let path = resolve(path)?;
        let found =
            fs::metadata(&path).and_then(|found| Ok((Version::of(&found)?, found.is_file())));
        let (version, is_file) = found.map_err(|error| io(&path, error))?;
        if !is_file {
            return Err(FileError::NotAFile(path));
        }
        if let Some(cached) = self.cache.get(&key_of(&path, version)) {
            return Ok(cached);
        }
        self.read_and_send(path, on)
    }

    /// What is cached is named by path and version, so that of two who read a file around a change
    /// each caches what it has read.
    fn read_and_send(&self, path: PathBuf, on: &Stream) -> Result<Cached, FileError> {
        let (bytes, version) = read_whole(&path)?;
        let cost = bytes.len() as f64 + OPENING_COSTS;
        let key = key_of(&path, version);
        let sent = self.cache.insert(&key, &bytes, cost, Hold::Normal, on);
        let cached = sent.map_err(|error| FileError::Memory {
            path: path.clone(),
            error,
        })?;
        let before = self.versions().insert(path.clone(), version);
        if let Some(before) = before.filter(|before| *before != version) {
            self.cache.remove(&key_of(&path, before));
        }
        Ok(cached)
    }

    fn versions(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Version>> {
        self.versions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes bytes of the device into a file, in the order of `on`, and waits for them. They are
    /// written beside the file, which is then replaced: a link stays a link, and who may do what
    /// with the file stays as it was.
    ///
    /// # Errors
    /// See [`FileError`]; the file is then as it was.
    pub fn write_back(
        &self,
        path: &Path,
        from: DeviceSpan<'_>,
        on: &Stream,
    ) -> Result<(), FileError> {
        let path = resolve(path)?;
        let memory = |error: StagingError| FileError::Memory {
            path: path.clone(),
            error: error.into(),
        };
        let mut bytes = vec![0; usize::try_from(from.bytes()).unwrap_or(usize::MAX)];
        let staging = self.manager.staging();
        staging.download(&mut bytes, from, on).map_err(memory)?;
        replace(&path, &bytes).map_err(|error| io(&path, error))?;
        self.forget(&path);
        Ok(())
    }

    /// Forgets what is cached of a file. Whether there was something.
    pub fn forget(&self, path: &Path) -> bool {
        let Ok(path) = resolve(path) else {
            return false;
        };
        let version = self.versions().remove(&path);
        version.is_some_and(|version| self.cache.remove(&key_of(&path, version)))
    }

    /// The numbers of the cache.
    #[must_use]
    pub fn statistics(&self) -> CacheStatistics {
        self.cache.statistics()
    }
}

fn io(path: &Path, error: std::io::Error) -> FileError {
    FileError::Io {
        path: path.to_owned(),
        error,
    }
}

/// One path for one file, links resolved. A file that is not there yet is in a directory that is.
fn resolve(path: &Path) -> Result<PathBuf, FileError> {
    match path.canonicalize() {
        Ok(path) => Ok(path),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let parent = path
                .parent()
                .filter(|parent| !parent.as_os_str().is_empty());
            let parent = parent.unwrap_or(Path::new(".")).canonicalize();
            let name = path.file_name().ok_or_else(|| io(path, error))?;
            Ok(parent.map_err(|error| io(path, error))?.join(name))
        }
        Err(error) => Err(io(path, error)),
    }
}

/// The cache's key: the path's own bytes, since two paths may look alike as text, and the version.
fn key_of(path: &Path, version: Version) -> String {
    let since = version.modified.duration_since(SystemTime::UNIX_EPOCH);
    // Before the epoch the distance counts as well; the sign tells them apart.
    let (sign, since) = match since {
        Ok(since) => ('+', since),
        Err(error) => ('-', error.duration()),
    };
    let version = format!("{}{sign}{}\0", version.bytes, since.as_nanos());
    let bytes = path.as_os_str().as_encoded_bytes();
    match std::str::from_utf8(bytes) {
        Ok(text) => version + text,
        Err(_) => bytes
            .iter()
            .fold(version + "\0", |key, byte| format!("{key}{byte:02x}")),
    }
}

fn read_whole(path: &Path) -> Result<(Vec<u8>, Version), FileError> {
    for _ in 0..TRIES {
        let read = (|| {
            let mut file = File::open(path)?;
            let before = Version::of(&file.metadata()?)?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            let after = Version::of(&file.metadata()?)?;
            let whole = before == after && bytes.len() as u64 == after.bytes;
            Ok(whole.then_some((bytes, after)))
        })();
        if let Some(read) = read.map_err(|error| io(path, error))? {
            return Ok(read);
        }
    }
    Err(FileError::Changing(path.to_owned()))
}

fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", folder::unfinished()));
    folder::replace(path, &path.with_file_name(name), |file| {
        file.write_all(bytes)?;
        match fs::metadata(path) {
            Ok(there) => file.set_permissions(there.permissions()),
            Err(_) => Ok(()),
        }
    })
}
