//! Memory of a GPU: a manager, a pool of blocks, a cache of arrays. Whether there is a GPU it asks by
//! itself, for it came before the manager of devices could be used here.

use std::{
    collections::BTreeMap,
    error::Error,
    fmt,
    path::Path,
    sync::{Mutex, OnceLock, PoisonError},
};

/// Bytes that the host lends where there is no device.
const HOST_BYTES: u64 = 1 << 30;

/// Why there is no memory.
#[derive(Debug, PartialEq, Eq)]
pub enum GpuMemoryError {
    /// The device has less.
    TooLarge,
    /// It has no more.
    OutOfMemory,
    /// Somebody records a graph.
    Capturing,
}

impl fmt::Display for GpuMemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLarge => "the device has less memory",
            Self::OutOfMemory => "the device has no more memory",
            Self::Capturing => "a graph is being recorded",
        })
    }
}

impl Error for GpuMemoryError {}

/// Hears what the pool does.
pub trait GpuObserver: Send + Sync {
    /// So many bytes were asked for.
    fn allocated(&self, bytes: u64);
}

/// What was copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransferStats {
    /// Bytes from the host to the device.
    pub to_device_bytes: u64,
    /// Bytes from the device to the host.
    pub to_host_bytes: u64,
    /// Copies.
    pub copies: u64,
}

/// Values in a block of the pool.
#[derive(Debug)]
pub struct GpuBuffer<T> {
    values: Vec<T>,
}

impl<T> GpuBuffer<T> {
    /// Its length in bytes.
    pub fn bytes(&self) -> u64 {
        size_of_val(self.values.as_slice()) as u64
    }
}

/// Blocks by size. They are kept until somebody says `cleanup`.
#[derive(Debug, Default)]
pub struct GpuMemoryPool {
    free: Mutex<BTreeMap<usize, Vec<Vec<u8>>>>,
}

impl GpuMemoryPool {
    /// A block of so many bytes, from those that are free if one fits exactly.
    ///
    /// # Errors
    /// [`GpuMemoryError::TooLarge`].
    pub fn take(&self, bytes: usize) -> Result<Vec<u8>, GpuMemoryError> {
        if bytes as u64 > HOST_BYTES {
            return Err(GpuMemoryError::TooLarge);
        }
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let known = free.get_mut(&bytes).and_then(Vec::pop);
        Ok(known.unwrap_or_else(|| vec![0; bytes]))
    }

    /// Gives a block back.
    pub fn give(&self, block: Vec<u8>) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.entry(block.len()).or_default().push(block);
    }

    /// Forgets the free blocks. Returns how many bytes they were.
    pub fn trim(&self) -> u64 {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = free.values().flatten().map(|block| block.len() as u64);
        let bytes = bytes.sum();
        free.clear();
        bytes
    }
}

/// How large a cache may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuCacheLimits {
    /// Bytes of all entries.
    pub bytes: u64,
    /// Entries.
    pub entries: usize,
}

/// Arrays by name, the oldest go first.
#[derive(Debug)]
pub struct GpuArrayCache {
    limits: GpuCacheLimits,
    entries: Vec<(String, Vec<u8>)>,
}

impl GpuArrayCache {
    /// An empty one.
    pub fn new(limits: GpuCacheLimits) -> Self {
        Self {
            limits,
            entries: Vec::new(),
        }
    }

    /// Keeps an array.
    pub fn put(&mut self, key: &str, array: Vec<u8>) {
        self.entries.push((key.to_owned(), array));
        let bytes = |entries: &[(String, Vec<u8>)]| -> u64 {
            entries.iter().map(|(_, array)| array.len() as u64).sum()
        };
        while self.entries.len() > self.limits.entries || bytes(&self.entries) > self.limits.bytes {
            self.entries.remove(0);
        }
    }
}

/// The memory of this process's device.
#[derive(Debug, Default)]
pub struct GpuMemoryManager {
    pool: GpuMemoryPool,
    in_use: Mutex<u64>,
}

impl GpuMemoryManager {
    /// Its pool.
    pub fn pool(&self) -> &GpuMemoryPool {
        &self.pool
    }

    /// Bytes that are given out.
    pub fn total_allocated(&self) -> u64 {
        *self.in_use.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives back what is not in use. Returns how many bytes.
    pub fn cleanup(&self) -> u64 {
        self.pool.trim()
    }
}

fn there_is_a_gpu() -> bool {
    Path::new("/proc/driver/nvidia/gpus").exists() || Path::new("/dev/kfd").exists()
}

/// The manager of this process.
///
/// # Errors
/// None, so far.
pub fn get_gpu_memory_manager() -> Result<&'static GpuMemoryManager, String> {
    static MANAGER: OnceLock<GpuMemoryManager> = OnceLock::new();
    Ok(MANAGER.get_or_init(|| {
        if !there_is_a_gpu() {
            eprintln!("no GPU: the host's memory is used");
        }
        GpuMemoryManager::default()
    }))
}

/// Gives back what is not in use. Returns how many bytes.
///
/// # Errors
/// None, so far.
pub fn cleanup_gpu_memory() -> Result<u64, String> {
    Ok(get_gpu_memory_manager()?.cleanup())
}

/// Whether so many bytes would fit now.
///
/// # Errors
/// None, so far.
pub fn check_gpu_memory(bytes: u64) -> Result<bool, String> {
    Ok(get_gpu_memory_manager()?.total_allocated() + bytes <= HOST_BYTES)
}
