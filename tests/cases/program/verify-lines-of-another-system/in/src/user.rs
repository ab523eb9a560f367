#[cfg(target_os = "none")]
use crate::gpu::count;

#[cfg(target_os = "none")]
pub fn devices() -> u32 {
    count()
}

pub fn all() -> u32 {
    crate::gpu::count()
}
