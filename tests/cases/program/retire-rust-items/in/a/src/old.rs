//! Old.
use std::collections::BTreeSet;

/// The most.
pub const LIMIT: usize = 3;

/// A unit.
pub struct Unit;

/// Runs.
pub fn run(numbers: &[usize]) -> BTreeSet<usize> {
    numbers.iter().copied().collect()
}

/// Stays.
pub fn stays() -> usize {
    LIMIT
}
