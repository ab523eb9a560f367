//! The home.

/// Detection.
#[cfg(not(windows))]
pub mod gpu;
pub mod memory;
