//! What a strategy is chosen and made from: settings, and the devices that count.

use core_gpu_driver::{DeviceInfo, PlatformKind};

use crate::{
    configuration::{Configuration, ConfigurationError},
    platform::DeviceName,
};

use super::error::StrategyError;

/// What a program wants.
#[derive(Clone, Debug, PartialEq)]
pub struct StrategyConfig {
    /// A strategy's name, or `auto`.
    pub strategy: String,
    /// The devices that may be used; all unless it is said.
    pub devices: Option<Vec<DeviceName>>,
    /// Workers for each device; one unless it is said.
    pub workers_per_gpu: usize,
    /// Several ranks of a group on one device. NCCL refuses that: who brings other collectives may
    /// want it, and is told what to bring by [`super::MultiGpuDdp::collectives`].
    pub ranks_share_devices: bool,
    /// Workers where there is no device; as many as the processor has threads unless it is said.
    pub cpu_workers: Option<usize>,
    /// Least part of a device's memory, of one, that must be free for the device to count. A device
    /// whose free memory cannot be read counts.
    pub memory_threshold: f64,
}

impl Default for StrategyConfig {
    fn default() -> Self {
        Self {
            strategy: AUTO.to_owned(),
            devices: None,
            workers_per_gpu: 1,
            ranks_share_devices: false,
            cpu_workers: None,
            memory_threshold: 0.0,
        }
    }
}

impl StrategyConfig {
    /// What the environment of this process says: `COALESCE_GPU_STRATEGY`, `COALESCE_GPU_DEVICES`,
    /// `COALESCE_GPU_WORKERS_PER_GPU`, `COALESCE_GPU_MEMORY_THRESHOLD` and those of
    /// [`crate::configuration`].
    ///
    /// # Errors
    /// It says something that is no configuration.
    pub fn from_environment() -> Result<Self, ConfigurationError> {
        Ok(Configuration::from_environment()?.strategy)
    }
}

/// The choice that is left to the devices.
pub const AUTO: &str = "auto";

/// A device, and what is known of its memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The device.
    pub info: DeviceInfo,
    /// Bytes that nobody holds; `None` when it cannot be read.
    pub free_bytes: Option<u64>,
}

impl Candidate {
    /// Its name by number.
    #[must_use]
    pub fn name(&self) -> DeviceName {
        DeviceName::of(&self.info)
    }

    /// Part of its memory that is free, of one.
    #[must_use]
    pub fn free_part(&self) -> Option<f64> {
        let total = self.info.total_bytes;
        let free = self.free_bytes?;
        (total > 0).then(|| free as f64 / total as f64)
    }
}

/// What a strategy is made from.
#[derive(Clone, Debug, PartialEq)]
pub struct StrategyContext {
    /// What the program wants.
    pub config: StrategyConfig,
    /// The devices that count, in order.
    pub devices: Vec<Candidate>,
    /// Those that do not, and why.
    pub rejected: Vec<(Candidate, String)>,
}

impl StrategyContext {
    /// Sorts devices out: those of the configuration, with enough free memory, that strategies can
    /// put work on. The processor is none.
    ///
    /// # Errors
    /// [`StrategyError::Setting`] for a threshold that is no part, workers of which there are none,
    /// or a device that is not there.
    pub fn new(
        config: StrategyConfig,
        candidates: impl IntoIterator<Item = Candidate>,
    ) -> Result<Self, StrategyError> {
        let all: Vec<_> = candidates
            .into_iter()
            .filter(|found| found.info.id.platform != PlatformKind::Host)
            .collect();
        config.check()?;
        let mut context = Self {
            devices: Vec::new(),
            rejected: Vec::new(),
            config,
        };
        let wanted = match &context.config.devices {
            None => all,
            Some(names) => named(names, &all)?,
        };
        for candidate in wanted {
            let least = context.config.memory_threshold;
            match candidate.free_part() {
                Some(free) if free < least => {
                    let why = format!(
                        "{:.0}% of its memory is free, {:.0}% is wanted",
                        free * 100.0,
                        least * 100.0
                    );
                    context.rejected.push((candidate, why));
                }
                _ => context.devices.push(candidate),
            }
        }
        Ok(context)
    }

    /// A refusal for a strategy that needs more devices than count.
    pub(super) fn too_few(&self, strategy: &'static str, needed: usize) -> StrategyError {
        let name = |candidate: &Candidate| candidate.name().to_string();
        let rejected = self.rejected.iter();
        StrategyError::TooFewDevices {
            strategy,
            needed,
            found: self.devices.iter().map(name).collect(),
            rejected: rejected
                .map(|(one, why)| (name(one), why.clone()))
                .collect(),
        }
    }
}

/// The devices of these names, each once.
fn named(names: &[DeviceName], all: &[Candidate]) -> Result<Vec<Candidate>, StrategyError> {
    let mut found: Vec<Candidate> = Vec::new();
    for name in names {
        let of_platform: Vec<_> = all
            .iter()
            .filter(|known| known.info.id.platform == name.platform)
            .map(|known| known.info.clone())
            .collect();
        let wrong = || StrategyError::Setting {
            setting: "devices",
            value: name.to_string(),
        };
        let id = name.find(&of_platform).ok_or_else(wrong)?.id;
        let candidate = all.iter().find(|known| known.info.id == id);
        if found.iter().any(|known| known.info.id == id) {
            return Err(wrong());
        }
        found.extend(candidate.cloned());
    }
    Ok(found)
}

impl StrategyConfig {
    fn check(&self) -> Result<(), StrategyError> {
        let wrong = |setting, value: String| Err(StrategyError::Setting { setting, value });
        if !(0.0..=1.0).contains(&self.memory_threshold) {
            return wrong("memory_threshold", self.memory_threshold.to_string());
        }
        if self.workers_per_gpu == 0 {
            return wrong("workers_per_gpu", "0".to_owned());
        }
        if self.cpu_workers == Some(0) {
            return wrong("cpu_workers", "0".to_owned());
        }
        Ok(())
    }
}
