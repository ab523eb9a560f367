//! The core.

pub mod gpu;
