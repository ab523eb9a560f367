//! Old names of [`core_gpu::accelerate`]: each says where it has gone. Types are the same types.
//! Nothing is done here.
//!
//! Silent: a glob (`use optimization_gpu_wrapper::*`) and the crate's own name. `coalesce lint`
//! finds them.

/// Now [`core_gpu::accelerate::GpuScope`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::accelerate::GpuScope`; gone in 0.2.0"
)]
pub type GpuContext = core_gpu::accelerate::GpuScope;

/// Now [`core_gpu::accelerate::Accelerated`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::accelerate::Accelerated`; gone in 0.2.0"
)]
pub type GpuResult<T> = core_gpu::accelerate::Accelerated<T>;

/// Now [`core_gpu::accelerate::NoGpu`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::accelerate::NoGpu`; gone in 0.2.0"
)]
pub type GpuRequiredError = core_gpu::accelerate::NoGpu;

/// Now [`core_gpu::accelerate::accelerated`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::accelerate::accelerated`; gone in 0.2.0"
)]
pub fn gpu_accelerated<T, E: std::fmt::Display>(
    gpu: impl FnOnce(&core_gpu::accelerate::GpuScope) -> Result<T, E>,
    cpu: impl FnOnce() -> T,
) -> core_gpu::accelerate::Accelerated<T> {
    core_gpu::accelerate::accelerated(gpu, cpu)
}

/// Now [`core_gpu::accelerate::require_gpu`].
///
/// # Errors
/// As there.
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::accelerate::require_gpu`; gone in 0.2.0"
)]
pub fn require_gpu() -> Result<core_gpu::accelerate::GpuScope, core_gpu::accelerate::NoGpu> {
    core_gpu::accelerate::require_gpu()
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
