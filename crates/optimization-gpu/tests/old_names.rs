//! Each old name works and warns: an expectation that is not fulfilled fails the build, and so does
//! a warning that none was written for.
#![deny(deprecated, unfulfilled_lint_expectations)]

#[test]
fn functions_warn_and_answer_as_the_new_ones() {
    #[expect(deprecated, reason = "the old name")]
    let manager = optimization_gpu::get_gpu_manager().unwrap();
    let new = core_gpu::managers::gpu_manager().unwrap();
    assert!(std::ptr::eq(manager, new));
    #[expect(deprecated, reason = "the old name")]
    let several = optimization_gpu::get_multi_gpu_manager().unwrap();
    assert!(std::ptr::eq(
        several,
        core_gpu::managers::multi_gpu_manager().unwrap()
    ));
    #[expect(deprecated, reason = "the old name")]
    let available = optimization_gpu::check_gpu_available();
    assert_eq!(available, core_gpu::accelerate::is_gpu_available());
    #[expect(deprecated, reason = "the old name")]
    let backends = optimization_gpu::detect_gpu_backends();
    assert_eq!(backends, core_gpu::platform::detect_available_backends());
    #[expect(deprecated, reason = "the old name")]
    let device = optimization_gpu::DEFAULT_DEVICE;
    assert_eq!(device, "auto");
}

#[test]
fn types_warn_and_are_the_new_ones() {
    #[expect(deprecated, reason = "the old name")]
    fn one(manager: &optimization_gpu::GpuManager) -> &core_gpu::managers::GpuManager {
        manager
    }
    #[expect(deprecated, reason = "the old name")]
    fn several(
        manager: &optimization_gpu::MultiGpuManager,
    ) -> &core_gpu::managers::MultiGpuManager {
        manager
    }
    #[expect(deprecated, reason = "the old name")]
    fn usage(usage: optimization_gpu::GpuUsage) -> core_gpu::managers::DeviceUsage {
        usage
    }
    #[expect(deprecated, reason = "the old name, with a variant")]
    let backend = optimization_gpu::GpuBackend::Cuda;
    assert_eq!(backend, core_gpu::driver::PlatformKind::Cuda);
    let _ = (
        one as fn(&_) -> &_,
        several as fn(&_) -> &_,
        usage as fn(_) -> _,
    );
}

/// What rustc says nothing about.
mod silent {
    use optimization_gpu as _;
    #[expect(unused_imports, reason = "that it is silent is what is shown")]
    use optimization_gpu::*;
}
