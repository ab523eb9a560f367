// coalesce: shim 0001-one-runtime
//! Moved to [`core_gpu`]; it will be removed in 0.2.0.
//!
//! rustc does not warn about globs of this library, nor about its bare name.

#![allow(deprecated, unused_imports)]

/// Moved to [`core_gpu::profiler::Recommendation`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::profiler::Recommendation`; it will be removed in 0.2.0"
)]
pub type Bottleneck = core_gpu::profiler::Recommendation;

/// Moved to [`core_gpu::profiler::SpanStatistics`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::profiler::SpanStatistics`; it will be removed in 0.2.0"
)]
pub type GpuOperationMetrics = core_gpu::profiler::SpanStatistics;

/// Moved to [`core_gpu::profiler::Profiler`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::profiler::Profiler`; it will be removed in 0.2.0"
)]
pub type GpuProfiler = core_gpu::profiler::Profiler;

/// Moved to [`core_gpu::profiler::Work`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::profiler::Work`; it will be removed in 0.2.0"
)]
pub type OperationKind = core_gpu::profiler::Work;

/// Moved to [`core_gpu::profiler::Span`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::profiler::Span`; it will be removed in 0.2.0"
)]
pub type OperationProfiler = core_gpu::profiler::Span;

/// Moved to [`core_gpu::profiler::ProfileReport`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::profiler::ProfileReport`; it will be removed in 0.2.0"
)]
pub type ProfilingStats = core_gpu::profiler::ProfileReport;

/// Moved to [`core_gpu::profiler::profiler`].
#[must_use]
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::profiler::profiler`; it will be removed in 0.2.0"
)]
pub fn get_profiler() -> &'static core_gpu::profiler::Profiler {
    core_gpu::profiler::profiler()
}

/// Moved to [`core_gpu::profiler::profile`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::profiler::profile`; it will be removed in 0.2.0"
)]
pub fn profile_operation(name: &'static str) -> core_gpu::profiler::Span {
    core_gpu::profiler::profile(name)
}
