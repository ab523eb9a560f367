//! Old names of [`core_gpu::memory`]: each says where it has gone. Types are the same types. Nothing
//! is done here.
//!
//! Silent: a glob (`use optimization_gpu_memory::*`) and the crate's own name. [`GpuObserver`] can
//! be asked for and not implemented: `impl core_gpu::memory::Observer` instead. `coalesce lint`
//! finds them.

/// Now [`core_gpu::memory::MemoryManager`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::memory::MemoryManager`; gone in 0.2.0"
)]
pub type GpuMemoryManager = core_gpu::memory::MemoryManager;

/// Now [`core_gpu::memory::Pool`].
#[deprecated(since = "0.1.0", note = "use `core_gpu::memory::Pool`; gone in 0.2.0")]
pub type GpuMemoryPool = core_gpu::memory::Pool;

/// Now [`core_gpu::memory::Buffer`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::memory::Buffer`; gone in 0.2.0"
)]
pub type GpuBuffer<T> = core_gpu::memory::Buffer<T>;

/// Now [`core_gpu::memory::Cache`].
#[deprecated(since = "0.1.0", note = "use `core_gpu::memory::Cache`; gone in 0.2.0")]
pub type GpuArrayCache = core_gpu::memory::Cache;

/// Now [`core_gpu::memory::CacheLimits`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::memory::CacheLimits`; gone in 0.2.0"
)]
pub type GpuCacheLimits = core_gpu::memory::CacheLimits;

/// Now [`core_gpu::memory::Transfers`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::memory::Transfers`; gone in 0.2.0"
)]
pub type TransferStats = core_gpu::memory::Transfers;

/// Now [`core_gpu::memory::AllocError`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::memory::AllocError`; gone in 0.2.0"
)]
pub type GpuMemoryError = core_gpu::memory::AllocError;

/// Now [`core_gpu::memory::Observer`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::memory::Observer`; gone in 0.2.0"
)]
pub trait GpuObserver: core_gpu::memory::Observer {}

#[expect(deprecated, reason = "the old name is what it is for")]
impl<T: core_gpu::memory::Observer + ?Sized> GpuObserver for T {}

/// Now [`core_gpu::managers::gpu_manager`], and its `memory()`.
///
/// # Errors
/// As there.
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::managers::gpu_manager`; gone in 0.2.0"
)]
pub fn get_gpu_memory_manager()
-> Result<&'static core_gpu::memory::MemoryManager, core_gpu::managers::ManagerError> {
    core_gpu::managers::gpu_manager().map(core_gpu::managers::GpuManager::memory)
}

/// Now [`core_gpu::managers::cleanup_memory`].
///
/// # Errors
/// As there.
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::managers::cleanup_memory`; gone in 0.2.0"
)]
pub fn cleanup_gpu_memory() -> Result<u64, core_gpu::managers::ManagerError> {
    core_gpu::managers::cleanup_memory()
}

/// Now [`core_gpu::managers::check_memory`]. In bytes.
///
/// # Errors
/// As there.
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::managers::check_memory`; gone in 0.2.0"
)]
pub fn check_gpu_memory(bytes: u64) -> Result<bool, core_gpu::managers::ManagerError> {
    core_gpu::managers::check_memory(bytes)
}
