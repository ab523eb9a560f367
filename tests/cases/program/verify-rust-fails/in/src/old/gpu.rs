//! Detection.

/// Detects.
pub fn detect() -> usize {
    1
}

pub const HERE: &str = module_path!();
