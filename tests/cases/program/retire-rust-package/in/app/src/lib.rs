//! Uses it.

/// Runs.
pub fn f() {
    old::run();
}
