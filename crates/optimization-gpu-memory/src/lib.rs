// coalesce: shim 0001-one-runtime
//! Moved to [`core_gpu`]; it will be removed in 0.2.0.
//!
//! rustc does not warn about globs of this library, nor about its bare name.

#![allow(deprecated, unused_imports)]

/// Moved to [`core_gpu::memory::Cache`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::memory::Cache`; it will be removed in 0.2.0"
)]
pub type GpuArrayCache = core_gpu::memory::Cache;

/// Moved to [`core_gpu::memory::Buffer`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::memory::Buffer`; it will be removed in 0.2.0"
)]
pub type GpuBuffer<T> = core_gpu::memory::Buffer<T>;

/// Moved to [`core_gpu::memory::CacheLimits`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::memory::CacheLimits`; it will be removed in 0.2.0"
)]
pub type GpuCacheLimits = core_gpu::memory::CacheLimits;

/// Moved to [`core_gpu::memory::AllocError`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::memory::AllocError`; it will be removed in 0.2.0"
)]
pub type GpuMemoryError = core_gpu::memory::AllocError;

/// Moved to [`core_gpu::memory::MemoryManager`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::memory::MemoryManager`; it will be removed in 0.2.0"
)]
pub type GpuMemoryManager = core_gpu::memory::MemoryManager;

/// Moved to [`core_gpu::memory::Pool`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::memory::Pool`; it will be removed in 0.2.0"
)]
pub type GpuMemoryPool = core_gpu::memory::Pool;

/// Moved to [`core_gpu::memory::Observer`].
/// It is asked for by this name, and implemented by that one.
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::memory::Observer`; it will be removed in 0.2.0"
)]
pub trait GpuObserver: core_gpu::memory::Observer {}

impl<T: core_gpu::memory::Observer + ?Sized> GpuObserver for T {}

/// Moved to [`core_gpu::memory::Transfers`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::memory::Transfers`; it will be removed in 0.2.0"
)]
pub type TransferStats = core_gpu::memory::Transfers;

/// Moved to [`core_gpu::managers::check_memory`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::managers::check_memory`; it will be removed in 0.2.0"
)]
pub fn check_gpu_memory(bytes: u64) -> Result<bool, core_gpu::managers::ManagerError> {
    core_gpu::managers::check_memory(bytes)
}

/// Moved to [`core_gpu::managers::cleanup_memory`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::managers::cleanup_memory`; it will be removed in 0.2.0"
)]
pub fn cleanup_gpu_memory() -> Result<u64, core_gpu::managers::ManagerError> {
    core_gpu::managers::cleanup_memory()
}

/// Moved to [`core_gpu::managers::gpu_memory`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::managers::gpu_memory`; it will be removed in 0.2.0"
)]
pub fn get_gpu_memory_manager()
-> Result<&'static core_gpu::memory::MemoryManager, core_gpu::managers::ManagerError> {
    core_gpu::managers::gpu_memory()
}
