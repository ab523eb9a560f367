//! Each old name works and warns: an expectation that is not fulfilled fails the build, and so does
//! a warning that none was written for.
#![deny(deprecated, unfulfilled_lint_expectations)]

use std::sync::Arc;

use core_gpu::{
    driver::{Driver, HostDriver, Stream, StreamKind},
    memory,
};

#[test]
fn functions_warn_and_answer_as_the_new_ones() {
    #[expect(deprecated, reason = "the old name")]
    let manager = optimization_gpu_memory::get_gpu_memory_manager().unwrap();
    let new = core_gpu::managers::gpu_manager().unwrap().memory();
    assert!(std::ptr::eq(manager, new));
    #[expect(deprecated, reason = "the old name")]
    let fits = optimization_gpu_memory::check_gpu_memory(1).unwrap();
    assert!(fits);
    #[expect(deprecated, reason = "the old name")]
    let given_back = optimization_gpu_memory::cleanup_gpu_memory().unwrap();
    assert_eq!(given_back, 0);
}

#[test]
fn types_warn_and_are_the_new_ones() {
    let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 20));
    let stream = Stream::new(&driver, StreamKind::NonBlocking).unwrap();
    #[expect(deprecated, reason = "the old name")]
    let pool = optimization_gpu_memory::GpuMemoryPool::new(&driver);
    #[expect(deprecated, reason = "the old name, with a parameter")]
    let buffer: optimization_gpu_memory::GpuBuffer<f32> =
        pool.allocate(4, &stream, memory::Source::UNNAMED).unwrap();
    let buffer: memory::Buffer<f32> = buffer;
    assert_eq!(buffer.bytes(), 16);
    #[expect(deprecated, reason = "the old name")]
    let manager = optimization_gpu_memory::GpuMemoryManager::builder(&driver)
        .build()
        .unwrap();
    #[expect(deprecated, reason = "the old name, of a struct that is written out")]
    let limits = optimization_gpu_memory::GpuCacheLimits {
        bytes: 9,
        entries: 1,
    };
    #[expect(deprecated, reason = "the old name")]
    let cache =
        optimization_gpu_memory::GpuArrayCache::new(&manager, limits, memory::Source::UNNAMED);
    let _: &memory::Cache = &cache;
    #[expect(deprecated, reason = "the old name")]
    let transfers = optimization_gpu_memory::TransferStats::default();
    assert_eq!(transfers, memory::Transfers::default());
    #[expect(deprecated, reason = "the old name")]
    let error = optimization_gpu_memory::GpuMemoryError::Capturing;
    assert!(matches!(error, memory::AllocError::Capturing));
}

#[test]
fn the_trait_warns_where_it_is_asked_for() {
    #[expect(deprecated, reason = "the old name")]
    fn takes(_: &impl optimization_gpu_memory::GpuObserver) {}
    takes(&core_gpu::profiler::MemoryWatch::new());
}

/// What rustc says nothing about.
mod silent {
    use optimization_gpu_memory as _;
    #[expect(unused_imports, reason = "that it is silent is what is shown")]
    use optimization_gpu_memory::*;
}
