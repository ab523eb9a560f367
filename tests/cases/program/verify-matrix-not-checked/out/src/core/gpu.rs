//! The GPU.

pub fn count() -> u32 {
    1
}
