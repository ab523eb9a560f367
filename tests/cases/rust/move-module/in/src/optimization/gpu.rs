//! Detection.

use super::scale;

/// Points a launch.
pub const BATCH: usize = 1 << 16;

/// What there is.
#[derive(Clone, Copy, Debug)]
pub enum Device {
    /// None.
    Cpu,
    /// One.
    Gpu(usize),
}

/// Detects.
pub fn detect() -> Device {
    Device::Gpu(scale(BATCH))
}
