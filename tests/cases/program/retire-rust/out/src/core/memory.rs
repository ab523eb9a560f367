//! Memory.

/// Bytes.
pub const BYTES: usize = 1;
