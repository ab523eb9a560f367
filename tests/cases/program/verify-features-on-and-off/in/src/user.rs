#[cfg(feature = "cuda")]
use crate::gpu::count;

#[cfg(feature = "cuda")]
pub fn devices() -> u32 {
    count()
}

#[cfg(not(feature = "cuda"))]
pub fn devices() -> u32 {
    0
}
