//! What most programs name: `use core_gpu::prelude::*;`.

pub use core_gpu_driver::{
    DeviceId, DeviceInfo, Driver, DriverError, Event, EventKind, PlatformKind, Stream, StreamKind,
};
pub use core_gpu_memory::{AllocError, Buffer, DeviceType, Pool, Source};

#[cfg(unix)]
pub use crate::workers::{TaskCall, TaskRegistry, WorkerCommand, WorkerPool, run_if_worker};
pub use crate::{
    Error, ErrorKind, Gpu, GpuOptions,
    accelerate::{accelerated, is_gpu_available, require_gpu},
    configuration::Configuration,
    devices::DeviceManager,
    platform::{Deadline, Fallback, Preference},
    profiler::{profile, profile_on, profiler},
    slots::SlotGuard,
    strategies::{GpuStrategy, StrategyConfig, auto_select_strategy},
};
