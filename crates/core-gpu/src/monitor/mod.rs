//! How devices are: use, temperature, power, errors. A device that is sick is taken out of use: its
//! slots drain, and nobody gets one; it comes back when it has been well for a while.
//!
//! A [`Monitor`] looks when it is told to, or on a thread of its own ([`Monitor::watch`]). What it
//! looks at is a [`HealthSource`]: `SystemSource` (with `cuda`) is NVIDIA's management library. What it does
//! about a sick device is a [`Quarantine`]: the registry is one.
//!
//! ```
//! use std::{sync::Arc, time::Duration};
//! use core_gpu::{
//!     driver::DeviceId,
//!     monitor::{HealthLimits, HealthSource, Look, Monitor, Raised, Vital},
//!     registry::registry,
//! };
//!
//! /// A source of one's own; `SystemSource::open()` is the system's.
//! struct Thermometer(DeviceId);
//!
//! impl HealthSource for Thermometer {
//!     fn look(&mut self) -> Vec<(DeviceId, Look)> {
//!         let vital = Vital { temperature_celsius: Some(41), ..Vital::default() };
//!         vec![(self.0, Look::Vital(vital))]
//!     }
//!     fn raised(&mut self, _within: Duration) -> Vec<Raised> {
//!         Vec::new()
//!     }
//! }
//!
//! # let device = core_gpu::driver::Driver::info(&core_gpu::driver::HostDriver::new(1)).id;
//! let source = Thermometer(device);
//! let mut monitor = Monitor::new(source, Arc::new(registry()), HealthLimits::default());
//! assert!(monitor.look(Duration::ZERO)[&device].is_well());
//! ```

mod condition;
mod judge;
#[cfg(feature = "cuda-any-bindings")]
mod system;
mod watch;

use std::time::Duration;

use core_gpu_driver::DeviceId;

use crate::registry::{GpuRegistry, RegistryError};

pub use condition::{Condition, HealthLimits, Notice, Vital};
pub use judge::{DeviceHealth, Monitor};
#[cfg(feature = "cuda-any-bindings")]
pub use system::SystemSource;
pub use watch::{MonitorReport, MonitorThread};

/// Why nothing is known of devices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the devices' health is not known: {why}")]
pub struct NoSource {
    /// Why.
    pub why: String,
}

/// What a source says of a device at one look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// How it is.
    Vital(Vital),
    /// It is gone.
    Lost,
    /// It could not be asked, which says nothing about it.
    Unknown {
        /// Why not.
        why: String,
    },
}

/// A critical error that a device has raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raised {
    /// The device.
    pub device: DeviceId,
    /// The driver's number of the error (XID).
    pub xid: u64,
}

/// Where health comes from.
pub trait HealthSource: Send {
    /// How all devices are now.
    fn look(&mut self) -> Vec<(DeviceId, Look)>;

    /// Errors that were raised since the last call; waits for the first so long at most.
    fn raised(&mut self, within: Duration) -> Vec<Raised>;
}

/// Who takes devices out of use and back. Any thread.
pub trait Quarantine: Send + Sync {
    /// Nobody gets the device from now on.
    ///
    /// # Errors
    /// It cannot be taken out of use, in words.
    fn quarantine(&self, device: &DeviceId, why: &str) -> Result<(), String>;

    /// The device may be used again.
    ///
    /// # Errors
    /// It cannot be taken back, in words.
    fn readmit(&self, device: &DeviceId) -> Result<(), String>;
}

impl Quarantine for GpuRegistry {
    fn quarantine(&self, device: &DeviceId, why: &str) -> Result<(), String> {
        of_registry(GpuRegistry::quarantine(self, device, why))
    }

    fn readmit(&self, device: &DeviceId) -> Result<(), String> {
        of_registry(GpuRegistry::readmit(self, device))
    }
}

/// For what lives as long as the process, such as [`crate::registry::registry`].
impl<Q: Quarantine + ?Sized> Quarantine for &'static Q {
    fn quarantine(&self, device: &DeviceId, why: &str) -> Result<(), String> {
        Q::quarantine(self, device, why)
    }

    fn readmit(&self, device: &DeviceId) -> Result<(), String> {
        Q::readmit(self, device)
    }
}

/// The machine may have more devices than this process uses: those are nobody's business here.
fn of_registry(done: Result<(), RegistryError>) -> Result<(), String> {
    match done {
        Ok(()) | Err(RegistryError::UnknownDevice(_)) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}
