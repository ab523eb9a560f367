//! Fast paths.

/// Detection.
#[cfg(not(windows))]
pub mod gpu;

pub(crate) fn scale(x: usize) -> usize {
    x * 2
}
