//! Uses it.

/// Runs.
pub fn f() {
    core_gpu::old::run();
}
