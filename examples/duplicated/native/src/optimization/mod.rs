//! Fast paths.

pub mod gpu;
