//! Fast paths.

/// Detection.
#[cfg(not(windows))]
#[deprecated(note = "use `lidar_native::core::gpu`; it will be removed in 2.0.0")]
pub mod gpu;

pub(crate) fn scale(x: usize) -> usize {
    x * 2
}
