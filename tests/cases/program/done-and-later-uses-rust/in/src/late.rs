use crate::gpu::count;

pub fn late() -> u32 {
    count()
}
