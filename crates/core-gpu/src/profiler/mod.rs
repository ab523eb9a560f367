//! Where the time goes, on the host and on devices.
//!
//! [`profile`] measures the host from a guard's making to its drop, [`profile_on`] what a device
//! does on a stream, [`profile_with_memory`] also what the thread does to device memory. The
//! profiler belongs to the process and is off until it is switched on; off, a span is one relaxed
//! load. It samples nothing and looks into no kernel.
//!
//! Sums by name are exact, whatever was recorded. Single spans are kept in a ring for each thread
//! (the last 4,096) and device (the last 65,536): traces and medians are about those.
//!
//! ```
//! use core_gpu::profiler::{profile, profiler};
//!
//! profiler().enable();
//! for _ in 0..3 {
//!     let _step = profile("step");
//!     let _inner = profile("inner");
//! }
//! let report = profiler().report();
//! assert_eq!(report.host["step"].count, 3);
//! assert!(report.host["step"].own <= report.host["step"].total);
//! println!("{}", report.to_text());
//! ```

mod advice;
#[cfg(feature = "tracing")]
mod bridge;
mod device;
mod memory;
mod name;
mod ranges;
mod report;
mod ring;
mod span;
mod trace;

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use core_gpu_driver::{Absent, ticks::Rate};

pub use advice::{Recommendation, Thresholds};
#[cfg(feature = "tracing")]
pub use bridge::TracingBridge;
pub use device::{StreamSpan, Work, profile_on};
pub use memory::{MemoryActivity, MemoryWatch};
pub use name::SpanName;
pub use report::{DeviceReport, DeviceSpanStatistics, ProfileReport, SpanMemory, SpanStatistics};
pub use span::{MemorySpan, Span, profile, profile_named, profile_with_memory};

/// The process's profiler: switches, and what was recorded. Any thread.
#[derive(Debug)]
pub struct Profiler {
    thresholds: Mutex<Option<Thresholds>>,
}

/// The process's profiler.
#[must_use]
pub fn profiler() -> &'static Profiler {
    static PROFILER: Profiler = Profiler {
        thresholds: Mutex::new(None),
    };
    &PROFILER
}

impl Profiler {
    /// Spans are recorded from now on. What was recorded before stays.
    pub fn enable(&self) {
        span::switch(true);
    }

    /// Spans are not recorded any more; those that are open are not either.
    pub fn disable(&self) {
        span::switch(false);
    }

    /// Lets the host's spans also be ranges of NVIDIA's profilers (NVTX), while they are recorded.
    ///
    /// # Errors
    /// The library (`libnvToolsExt`) is not there, or this program was built without the feature
    /// `cuda`.
    pub fn enable_ranges(&self) -> Result<(), Absent> {
        ranges::load()?;
        span::set_ranges(true);
        Ok(())
    }

    /// Spans are no ranges any more.
    pub fn disable_ranges(&self) {
        span::set_ranges(false);
    }

    /// Whether spans are recorded.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        span::is_on()
    }

    /// Forgets what was recorded; spans that are open are not recorded. Devices that only the
    /// profiler keeps open are closed, when each thread that measured on them has measured again or
    /// ended.
    pub fn reset(&self) {
        span::begin_anew();
        memory::reset();
        device::forget();
    }

    /// When the rules of [`ProfileReport::recommendations`] speak.
    pub fn set_thresholds(&self, thresholds: Thresholds) {
        *self
            .thresholds
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(thresholds);
    }

    /// The host's spans by name. The first call may wait ten milliseconds to learn the clock's rate.
    #[must_use]
    pub fn stats(&self) -> BTreeMap<String, SpanStatistics> {
        report::host_statistics(&Rate::measure()).0
    }

    /// Everything since the last reset. Asks the devices which spans are over, and waits for none:
    /// those that are not are counted as pending. Not while a stream is captured that the profiler
    /// has not met.
    #[must_use]
    pub fn report(&self) -> ProfileReport {
        let thresholds = *self
            .thresholds
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        ProfileReport::make(&thresholds.unwrap_or_default())
    }

    /// The spans that are kept, as the JSON that Perfetto and Chrome's tracing page open. As
    /// [`Profiler::report`] otherwise.
    #[must_use]
    pub fn trace_json(&self) -> String {
        trace::to_json()
    }
}
