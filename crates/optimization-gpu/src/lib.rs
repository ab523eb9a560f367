// coalesce: shim 0001-one-runtime
//! Moved to [`core_gpu`]; it will be removed in 0.2.0.
//!
//! rustc does not warn about globs of this library, nor about its bare name.

#![allow(deprecated, unused_imports)]

/// Moved to [`core_gpu::platform::DEFAULT_DEVICE`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::platform::DEFAULT_DEVICE`; it will be removed in 0.2.0"
)]
pub const DEFAULT_DEVICE: &str = core_gpu::platform::DEFAULT_DEVICE;

/// Moved to [`core_gpu::driver::PlatformKind`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::driver::PlatformKind`; it will be removed in 0.2.0"
)]
pub type GpuBackend = core_gpu::driver::PlatformKind;

/// Moved to [`core_gpu::managers::GpuManager`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::managers::GpuManager`; it will be removed in 0.2.0"
)]
pub type GpuManager = core_gpu::managers::GpuManager;

/// Moved to [`core_gpu::managers::DeviceUsage`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::managers::DeviceUsage`; it will be removed in 0.2.0"
)]
pub type GpuUsage = core_gpu::managers::DeviceUsage;

/// Moved to [`core_gpu::managers::MultiGpuManager`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::managers::MultiGpuManager`; it will be removed in 0.2.0"
)]
pub type MultiGpuManager = core_gpu::managers::MultiGpuManager;

/// Moved to [`core_gpu::accelerate::is_gpu_available`].
#[must_use]
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::accelerate::is_gpu_available`; it will be removed in 0.2.0"
)]
pub fn check_gpu_available() -> bool {
    core_gpu::accelerate::is_gpu_available()
}

/// Moved to [`core_gpu::platform::detect_available_backends`].
#[must_use]
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::platform::detect_available_backends`; it will be removed in 0.2.0"
)]
pub fn detect_gpu_backends() -> Vec<&'static str> {
    core_gpu::platform::detect_available_backends()
}

/// Moved to [`core_gpu::managers::gpu_manager`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::managers::gpu_manager`; it will be removed in 0.2.0"
)]
pub fn get_gpu_manager()
-> Result<&'static core_gpu::managers::GpuManager, core_gpu::managers::ManagerError> {
    core_gpu::managers::gpu_manager()
}

/// Moved to [`core_gpu::managers::multi_gpu_manager`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::managers::multi_gpu_manager`; it will be removed in 0.2.0"
)]
pub fn get_multi_gpu_manager()
-> Result<&'static core_gpu::managers::MultiGpuManager, core_gpu::managers::ManagerError> {
    core_gpu::managers::multi_gpu_manager()
}
