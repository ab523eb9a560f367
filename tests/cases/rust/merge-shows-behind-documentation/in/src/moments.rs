//! Moments.

/// Mean.
pub fn mean(x: &[f64]) -> f64 {
    x.iter().sum()
}
