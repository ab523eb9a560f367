//! Old.
use crate::new;

/// Stays.
pub fn stays() -> usize {
    new::LIMIT
}
