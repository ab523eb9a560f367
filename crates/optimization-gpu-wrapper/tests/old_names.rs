//! Each old name works and warns: an expectation that is not fulfilled fails the build, and so does
//! a warning that none was written for.
#![deny(deprecated, unfulfilled_lint_expectations)]

#[test]
fn functions_warn_and_answer_as_the_new_ones() {
    #[expect(deprecated, reason = "the old name")]
    let done = optimization_gpu_wrapper::gpu_accelerated(|_| Ok::<_, String>(1), || 1);
    assert_eq!(done.value, 1);
    #[expect(deprecated, reason = "the old name")]
    let available = optimization_gpu_wrapper::check_gpu_available();
    assert_eq!(available, core_gpu::accelerate::is_gpu_available());
    #[expect(deprecated, reason = "the old name")]
    let required = optimization_gpu_wrapper::require_gpu();
    assert_eq!(required.is_ok(), available);
}

#[test]
fn types_warn_and_are_the_new_ones() {
    #[expect(deprecated, reason = "the old name")]
    fn scope(scope: &optimization_gpu_wrapper::GpuContext) -> &core_gpu::accelerate::GpuScope {
        scope
    }
    #[expect(deprecated, reason = "the old name, with a parameter")]
    fn value(
        done: optimization_gpu_wrapper::GpuResult<u8>,
    ) -> core_gpu::accelerate::Accelerated<u8> {
        done
    }
    #[expect(deprecated, reason = "the old name, with a variant")]
    let error = optimization_gpu_wrapper::GpuRequiredError::None;
    assert_eq!(error, core_gpu::accelerate::NoGpu::None);
    let _ = (scope as fn(&_) -> &_, value as fn(_) -> _);
}

/// What rustc says nothing about.
mod silent {
    use optimization_gpu_wrapper as _;
    #[expect(unused_imports, reason = "that it is silent is what is shown")]
    use optimization_gpu_wrapper::*;
}
