//! What the programs share.

use optimization_gpu_memory::{GpuCacheLimits, GpuMemoryError, GpuMemoryManager, TransferStats};
use optimization_gpu_profiler::{Bottleneck, GpuOperationMetrics, OperationKind};
use optimization_gpu_wrapper::{GpuContext, GpuResult, gpu_accelerated};

/// How large the cache of tiles may be.
pub const TILES: GpuCacheLimits = GpuCacheLimits {
    bytes: 64 << 20,
    entries: 16,
};

/// The heights above a limit: on the GPU if somebody has written that by then.
#[must_use]
pub fn above(heights: &[f32], limit: f32) -> GpuResult<Vec<f32>> {
    let on_the_host = || -> Vec<f32> {
        let high = heights.iter().filter(|height| **height > limit);
        high.copied().collect()
    };
    gpu_accelerated(
        |_: &GpuContext| Err("there is no kernel for it"),
        on_the_host,
    )
}

/// A line about memory.
#[must_use]
pub fn memory_line(memory: &GpuMemoryManager, transfers: &TransferStats) -> String {
    let bytes = memory.total_allocated();
    format!("{bytes} bytes in use, {} copies", transfers.copies)
}

/// Whether trying again later may help.
#[must_use]
pub fn is_for_now(error: &GpuMemoryError) -> bool {
    matches!(error, GpuMemoryError::Capturing)
}

/// The gravest of what was found.
#[must_use]
pub fn gravest(found: &[Bottleneck]) -> Option<&Bottleneck> {
    found.iter().max_by(|a, b| a.weight.total_cmp(&b.weight))
}

/// Bytes that an operation moves.
#[must_use]
pub fn moved(kind: OperationKind) -> u64 {
    match kind {
        OperationKind::Upload { bytes } | OperationKind::Download { bytes } => bytes,
        _ => 0,
    }
}

/// The mean of what was measured, in nanoseconds.
#[must_use]
pub fn mean(metrics: &GpuOperationMetrics) -> u64 {
    metrics.total / metrics.count.max(1)
}
