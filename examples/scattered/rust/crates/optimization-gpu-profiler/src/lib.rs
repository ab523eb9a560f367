//! Where the time goes: sums by name, and what to do about the longest.

use std::{
    collections::BTreeMap,
    sync::{Mutex, OnceLock, PoisonError},
    time::Instant,
};

/// What was measured of one name, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GpuOperationMetrics {
    /// How often.
    pub count: u64,
    /// All together.
    pub total: u64,
    /// The longest.
    pub longest: u64,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OperationKind {
    /// Kernels.
    #[default]
    Compute,
    /// Bytes from the host to the device.
    Upload {
        /// How many.
        bytes: u64,
    },
    /// Bytes from the device to the host.
    Download {
        /// How many.
        bytes: u64,
    },
}

/// Something that takes too long.
#[derive(Clone, Debug, PartialEq)]
pub struct Bottleneck {
    /// What was measured.
    pub cause: String,
    /// What to do.
    pub advice: &'static str,
    /// Part of the time that it is about, of one.
    pub weight: f64,
}

/// All that was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProfilingStats {
    operations: BTreeMap<String, GpuOperationMetrics>,
}

impl ProfilingStats {
    /// A line a name.
    pub fn to_text(&self) -> String {
        let lines = self.operations.iter();
        let lines =
            lines.map(|(name, one)| format!("{name}: {} times, {} ns\n", one.count, one.total));
        lines.collect()
    }
}

/// The sums of this process.
#[derive(Debug, Default)]
pub struct GpuProfiler {
    state: Mutex<(bool, ProfilingStats)>,
}

impl GpuProfiler {
    /// From now on.
    pub fn enable(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0 = true;
    }

    /// By name.
    pub fn stats(&self) -> BTreeMap<String, GpuOperationMetrics> {
        self.report().operations
    }

    /// As it is now.
    pub fn report(&self) -> ProfilingStats {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.1.clone()
    }

    fn add(&self, name: &str, nanoseconds: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.0 {
            let one = state.1.operations.entry(name.to_owned()).or_default();
            one.count += 1;
            one.total += nanoseconds;
            one.longest = one.longest.max(nanoseconds);
        }
    }
}

/// An operation that is measured until it is dropped.
#[derive(Debug)]
pub struct OperationProfiler {
    name: &'static str,
    start: Instant,
}

impl Drop for OperationProfiler {
    fn drop(&mut self) {
        let nanoseconds = u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        get_profiler().add(self.name, nanoseconds);
    }
}

/// The profiler of this process.
pub fn get_profiler() -> &'static GpuProfiler {
    static PROFILER: OnceLock<GpuProfiler> = OnceLock::new();
    PROFILER.get_or_init(GpuProfiler::default)
}

/// Measures until the result is dropped.
#[must_use = "it measures until it is dropped"]
pub fn profile_operation(name: &'static str) -> OperationProfiler {
    OperationProfiler {
        name,
        start: Instant::now(),
    }
}
