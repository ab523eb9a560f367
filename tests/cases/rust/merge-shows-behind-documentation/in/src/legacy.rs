//! Kept for old users.
pub use crate::quantile::median as p50;

/// Range.
pub fn range(x: &[f64]) -> f64 {
    x.len() as f64
}
