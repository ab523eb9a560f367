//! Old.

/// Runs.
pub fn run() {}
