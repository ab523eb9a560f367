use crate::core::gpu::count;

pub fn late() -> u32 {
    count()
}
