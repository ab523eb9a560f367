//! What a pool does as events of `tracing`, for programs whose logs and spans go that way.

use tracing::{debug, error, trace, warn};

use crate::{MemoryEvent, Observer};

/// Tells `tracing` what a pool does, under the target `core_gpu_memory`: blocks at the level of traces,
/// segments and moves to debug, steps of making room and failed frees to warnings and errors. Where
/// nobody subscribes, an event costs a look at one number.
#[derive(Debug, Default, Clone, Copy)]
pub struct TracingEvents;

const TARGET: &str = "core_gpu_memory";

impl Observer for TracingEvents {
    fn event(&self, event: &MemoryEvent) {
        match event {
            MemoryEvent::Allocated { address, bytes, by } => {
                trace!(target: TARGET, address, bytes, source = %by, "allocated");
            }
            MemoryEvent::Freed { address, bytes, by } => {
                trace!(target: TARGET, address, bytes, source = %by, "freed");
            }
            MemoryEvent::Grown { bytes } => debug!(target: TARGET, bytes, "grown"),
            MemoryEvent::Trimmed { bytes } => debug!(target: TARGET, bytes, "trimmed"),
            MemoryEvent::Spilled { bytes, by } => {
                debug!(target: TARGET, bytes, source = %by, "spilled");
            }
            MemoryEvent::Promoted { bytes, by } => {
                debug!(target: TARGET, bytes, source = %by, "promoted");
            }
            MemoryEvent::Step { step, for_bytes } => {
                warn!(target: TARGET, ?step, for_bytes, "making room");
            }
            MemoryEvent::FailedFree { bytes, error } => {
                error!(target: TARGET, bytes, %error, "a free failed");
            }
        }
    }
}
