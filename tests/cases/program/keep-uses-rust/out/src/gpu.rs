// coalesce: shim 0001-gpu
//! Moved to [`crate::core::gpu`].

#![allow(deprecated, unused_imports)]

/// Moved to [`crate::core::gpu::begin`].
#[deprecated(note = "use `lab::core::gpu::begin`")]
pub fn begin() -> usize {
    crate::core::gpu::begin()
}

pub use crate::core::gpu::*;
