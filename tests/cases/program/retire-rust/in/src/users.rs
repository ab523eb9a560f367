use crate::{
    core::memory::BYTES,
    optimization::{
        gpu::{self, detect, Device as Found}, // two ways
        scale,
    },
};

macro_rules! batch {
    () => {
        $crate::optimization::gpu::BATCH
    };
}

pub fn all() -> usize {
    match gpu::detect() {
        Found::Cpu => 0,
        crate::optimization::gpu::Device::Gpu(n) => n + batch!() + scale(BYTES),
    }
}

pub fn again() -> Found {
    use crate::optimization::gpu::*;
    let _ = BATCH;
    detect()
}
