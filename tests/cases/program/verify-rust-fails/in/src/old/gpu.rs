//! Detection.

/// Detects.
pub fn detect() -> usize {
    1
}
