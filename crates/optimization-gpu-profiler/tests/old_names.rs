//! Each old name works and warns: an expectation that is not fulfilled fails the build, and so does
//! a warning that none was written for.
#![deny(deprecated, unfulfilled_lint_expectations)]

#[test]
fn functions_warn_and_answer_as_the_new_ones() {
    #[expect(deprecated, reason = "the old name")]
    let profiler = optimization_gpu_profiler::get_profiler();
    assert!(std::ptr::eq(profiler, core_gpu::profiler::profiler()));
    profiler.enable();
    #[expect(deprecated, reason = "the old name")]
    let span = optimization_gpu_profiler::profile_operation("an operation");
    drop(span);
    assert_eq!(profiler.stats()["an operation"].count, 1);
}

#[test]
fn types_warn_and_are_the_new_ones() {
    #[expect(deprecated, reason = "the old name")]
    fn profiler(one: &optimization_gpu_profiler::GpuProfiler) -> &core_gpu::profiler::Profiler {
        one
    }
    #[expect(deprecated, reason = "the old name")]
    let stats = optimization_gpu_profiler::ProfilingStats::default();
    assert_eq!(stats, core_gpu::profiler::ProfileReport::default());
    #[expect(deprecated, reason = "the old name")]
    let metrics = optimization_gpu_profiler::GpuOperationMetrics::default();
    assert_eq!(metrics, core_gpu::profiler::SpanStatistics::default());
    #[expect(deprecated, reason = "the old name, with a variant")]
    let kind = optimization_gpu_profiler::OperationKind::Upload { bytes: 1 };
    assert_eq!(kind, core_gpu::profiler::Work::Upload { bytes: 1 });
    #[expect(deprecated, reason = "the old name")]
    fn span(one: optimization_gpu_profiler::OperationProfiler) -> core_gpu::profiler::Span {
        one
    }
    #[expect(deprecated, reason = "the old name")]
    fn found(one: optimization_gpu_profiler::Bottleneck) -> core_gpu::profiler::Recommendation {
        one
    }
    let _ = (
        profiler as fn(&_) -> &_,
        span as fn(_) -> _,
        found as fn(_) -> _,
    );
}

/// What rustc says nothing about.
mod silent {
    use optimization_gpu_profiler as _;
    #[expect(unused_imports, reason = "that it is silent is what is shown")]
    use optimization_gpu_profiler::*;
}
