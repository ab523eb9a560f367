// coalesce: shim 0001-gpu
//! Moved to [`crate::core::gpu`]; it will be removed in 2.0.0.

#![allow(deprecated, unused_imports)]

/// Moved to [`crate::core::gpu::BATCH`].
#[deprecated(note = "use `lidar_native::core::gpu::BATCH`; it will be removed in 2.0.0")]
pub const BATCH: usize = crate::core::gpu::BATCH;

/// Moved to [`crate::core::gpu::Device`].
#[deprecated(note = "use `lidar_native::core::gpu::Device`; it will be removed in 2.0.0")]
pub type Device = crate::core::gpu::Device;

/// Moved to [`crate::core::gpu::detect`].
#[deprecated(note = "use `lidar_native::core::gpu::detect`; it will be removed in 2.0.0")]
pub fn detect() -> Device {
    crate::core::gpu::detect()
}

pub use crate::core::gpu::*;
