use crate::{
    core::gpu::{self, detect, Device as Found},
    core::memory::BYTES,
    optimization::{
        // two ways
        scale,
    },
};

macro_rules! batch {
    () => {
        $crate::core::gpu::BATCH
    };
}

pub fn all() -> usize {
    match gpu::detect() {
        Found::Cpu => 0,
        crate::core::gpu::Device::Gpu(n) => n + batch!() + scale(BYTES),
    }
}

pub fn again() -> Found {
    use crate::core::gpu::*;
    let _ = BATCH;
    detect()
}
