//! Old.

/// Stays.
pub fn stays() -> usize {
    crate::new::LIMIT
}
