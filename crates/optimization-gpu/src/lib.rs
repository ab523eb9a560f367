//! Old names of [`core_gpu::managers`] and [`core_gpu::platform`]: each says where it has gone. Types
//! are the same types. Nothing is done here.
//!
//! Silent: a glob (`use optimization_gpu::*`) and the crate's own name. `coalesce lint` finds them.

/// Now [`core_gpu::managers::GpuManager`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::managers::GpuManager`; gone in 0.2.0"
)]
pub type GpuManager = core_gpu::managers::GpuManager;

/// Now [`core_gpu::managers::MultiGpuManager`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::managers::MultiGpuManager`; gone in 0.2.0"
)]
pub type MultiGpuManager = core_gpu::managers::MultiGpuManager;

/// Now [`core_gpu::managers::DeviceUsage`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::managers::DeviceUsage`; gone in 0.2.0"
)]
pub type GpuUsage = core_gpu::managers::DeviceUsage;

/// Now [`core_gpu::driver::PlatformKind`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::driver::PlatformKind`; gone in 0.2.0"
)]
pub type GpuBackend = core_gpu::driver::PlatformKind;

/// The name of the device that is taken where nothing speaks for another.
#[deprecated(since = "0.1.0", note = "write `\"auto\"`; gone in 0.2.0")]
pub const DEFAULT_DEVICE: &str = "auto";

/// Now [`core_gpu::managers::gpu_manager`].
///
/// # Errors
/// As there.
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::managers::gpu_manager`; gone in 0.2.0"
)]
pub fn get_gpu_manager()
-> Result<&'static core_gpu::managers::GpuManager, core_gpu::managers::ManagerError> {
    core_gpu::managers::gpu_manager()
}

/// Now [`core_gpu::managers::multi_gpu_manager`].
///
/// # Errors
/// As there.
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::managers::multi_gpu_manager`; gone in 0.2.0"
)]
pub fn get_multi_gpu_manager()
-> Result<&'static core_gpu::managers::MultiGpuManager, core_gpu::managers::ManagerError> {
    core_gpu::managers::multi_gpu_manager()
}

/// Now [`core_gpu::accelerate::is_gpu_available`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::accelerate::is_gpu_available`; gone in 0.2.0"
)]
#[must_use]
pub fn check_gpu_available() -> bool {
    core_gpu::accelerate::is_gpu_available()
}

/// Now [`core_gpu::platform::detect_available_backends`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::platform::detect_available_backends`; gone in 0.2.0"
)]
#[must_use]
pub fn detect_gpu_backends() -> Vec<&'static str> {
    core_gpu::platform::detect_available_backends()
}
