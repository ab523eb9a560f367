//! NVIDIA's management library as a source of health.

use std::time::Duration;

use core_gpu_driver::{
    DeviceId, PlatformKind,
    nvml::{CriticalErrors, ManagedDevice, Management, ManagementError, Reading},
};

use crate::management::bounded;

use super::{HealthSource, Look, NoSource, Raised, condition::Vital};

/// How long the library may take to start.
const START: Duration = Duration::from_secs(10);

/// The devices that the management library knows. Makes no context.
#[derive(Debug)]
pub struct SystemSource {
    devices: Vec<(DeviceId, ManagedDevice)>,
    errors: Result<CriticalErrors, ManagementError>,
}

impl SystemSource {
    /// Starts the library and listens to all its devices.
    ///
    /// # Errors
    /// The library is not there, or does not work. Without its events, critical errors are not
    /// heard of, which [`SystemSource::hears_errors`] tells; the figures are read all the same.
    pub fn open() -> Result<Self, NoSource> {
        // Starting the library may hang, and the caller is somebody's main thread.
        let opened = bounded(START, Self::open_now);
        opened.unwrap_or_else(|hung| {
            Err(NoSource {
                why: hung.to_string(),
            })
        })
    }

    fn open_now() -> Result<Self, NoSource> {
        let failed = |error: ManagementError| NoSource {
            why: error.to_string(),
        };
        let management = Management::load().map_err(failed)?;
        let managed = management.devices().map_err(failed)?;
        // A slice is looked at beside its device: a program that has it knows no other. One whose
        // identity the library does not tell cannot be told from others, and is left out.
        let all = managed
            .iter()
            .flat_map(|device| [vec![*device], device.slices()].concat());
        let devices = all.filter_map(|device| Some((identity(device.uuid().ok()?), device)));
        Ok(Self {
            devices: devices.collect(),
            errors: CriticalErrors::of(management, &managed),
        })
    }

    /// Whether critical errors are heard of.
    ///
    /// # Errors
    /// Why not.
    pub fn hears_errors(&self) -> Result<(), &ManagementError> {
        self.errors.as_ref().map(|_| ())
    }
}

fn identity(uuid: [u8; 16]) -> DeviceId {
    let platform = PlatformKind::Cuda;
    DeviceId { platform, uuid }
}

fn vital(reading: Reading) -> Vital {
    Vital {
        utilization_percent: reading.utilization_percent,
        used_bytes: reading.used_bytes,
        total_bytes: reading.total_bytes,
        temperature_celsius: reading.temperature_celsius,
        slowdown_celsius: reading.slowdown_celsius,
        power_milliwatts: reading.power_milliwatts,
        power_limit_milliwatts: reading.power_limit_milliwatts,
        throttling: reading.throttling,
        corrected_errors: reading.corrected_errors,
        uncorrected_errors: reading.uncorrected_errors,
        row_remap_pending: reading.remapped_rows.map(|rows| rows.pending),
        row_remap_failed: reading.remapped_rows.map(|rows| rows.failed),
    }
}

impl HealthSource for SystemSource {
    fn look(&mut self) -> Vec<(DeviceId, Look)> {
        let look = |(id, device): &(DeviceId, ManagedDevice)| {
            let look = match device.read() {
                Ok(reading) => Look::Vital(vital(reading)),
                Err(ManagementError::Lost { .. }) => Look::Lost,
                Err(error) => Look::Unknown {
                    why: error.to_string(),
                },
            };
            (*id, look)
        };
        self.devices.iter().map(look).collect()
    }

    fn raised(&mut self, within: Duration) -> Vec<Raised> {
        let mut raised = Vec::new();
        let Ok(errors) = &mut self.errors else {
            return raised;
        };
        let mut wait = within;
        // What was raised together is heard together; a device that raises without end is not
        // listened to without end.
        while raised.len() < 1000 {
            match errors.next(wait) {
                Ok(Some(error)) => raised.push(Raised {
                    device: identity(error.uuid),
                    xid: error.xid,
                }),
                // A library that cannot listen any more shows in the figures.
                Ok(None) | Err(_) => break,
            }
            wait = Duration::ZERO;
        }
        raised
    }
}
