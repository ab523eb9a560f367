// coalesce: shim 0001-one-runtime
//! Moved to [`core_gpu`]; it will be removed in 0.2.0.
//!
//! rustc does not warn about globs of this library, nor about its bare name.

#![allow(deprecated, unused_imports)]

/// Moved to [`core_gpu::accelerate::GpuScope`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::accelerate::GpuScope`; it will be removed in 0.2.0"
)]
pub type GpuContext = core_gpu::accelerate::GpuScope;

/// Moved to [`core_gpu::accelerate::NoGpu`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::accelerate::NoGpu`; it will be removed in 0.2.0"
)]
pub type GpuRequiredError = core_gpu::accelerate::NoGpu;

/// Moved to [`core_gpu::accelerate::Accelerated`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::accelerate::Accelerated`; it will be removed in 0.2.0"
)]
pub type GpuResult<T> = core_gpu::accelerate::Accelerated<T>;

/// Moved to [`core_gpu::accelerate::is_gpu_available`].
#[must_use]
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::accelerate::is_gpu_available`; it will be removed in 0.2.0"
)]
pub fn check_gpu_available() -> bool {
    core_gpu::accelerate::is_gpu_available()
}

/// Moved to [`core_gpu::accelerate::accelerated`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::accelerate::accelerated`; it will be removed in 0.2.0"
)]
pub fn gpu_accelerated<T, E: std::fmt::Display>(
    gpu: impl FnOnce(&core_gpu::accelerate::GpuScope) -> Result<T, E>,
    cpu: impl FnOnce() -> T,
) -> core_gpu::accelerate::Accelerated<T> {
    core_gpu::accelerate::accelerated::<T, E>(gpu, cpu)
}

/// Moved to [`core_gpu::accelerate::require_gpu`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::accelerate::require_gpu`; it will be removed in 0.2.0"
)]
pub fn require_gpu() -> Result<core_gpu::accelerate::GpuScope, core_gpu::accelerate::NoGpu> {
    core_gpu::accelerate::require_gpu()
}
