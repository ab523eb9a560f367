//! Old names of [`core_gpu::profiler`]: each says where it has gone. Types are the same types. Nothing
//! is done here.
//!
//! Silent: a glob (`use optimization_gpu_profiler::*`) and the crate's own name. `coalesce lint`
//! finds them.

/// Now [`core_gpu::profiler::Profiler`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::profiler::Profiler`; gone in 0.2.0"
)]
pub type GpuProfiler = core_gpu::profiler::Profiler;

/// Now [`core_gpu::profiler::Report`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::profiler::Report`; gone in 0.2.0"
)]
pub type ProfilingStats = core_gpu::profiler::Report;

/// Now [`core_gpu::profiler::SpanStatistics`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::profiler::SpanStatistics`; gone in 0.2.0"
)]
pub type GpuOperationMetrics = core_gpu::profiler::SpanStatistics;

/// Now [`core_gpu::profiler::Span`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::profiler::Span`; gone in 0.2.0"
)]
pub type OperationProfiler = core_gpu::profiler::Span;

/// Now [`core_gpu::profiler::Work`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::profiler::Work`; gone in 0.2.0"
)]
pub type OperationKind = core_gpu::profiler::Work;

/// Now [`core_gpu::profiler::Recommendation`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::profiler::Recommendation`; gone in 0.2.0"
)]
pub type Bottleneck = core_gpu::profiler::Recommendation;

/// Now [`core_gpu::profiler::profiler`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::profiler::profiler`; gone in 0.2.0"
)]
#[must_use]
pub fn get_profiler() -> &'static core_gpu::profiler::Profiler {
    core_gpu::profiler::profiler()
}

/// Now [`core_gpu::profiler::profile`].
#[deprecated(
    since = "0.1.0",
    note = "use `core_gpu::profiler::profile`; gone in 0.2.0"
)]
pub fn profile_operation(name: &'static str) -> core_gpu::profiler::Span {
    core_gpu::profiler::profile(name)
}
