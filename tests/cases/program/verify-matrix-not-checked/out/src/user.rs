pub fn devices() -> u32 {
    crate::core::gpu::count()
}
