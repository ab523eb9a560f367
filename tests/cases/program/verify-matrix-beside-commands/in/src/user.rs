pub fn devices() -> u32 {
    crate::gpu::count()
}
