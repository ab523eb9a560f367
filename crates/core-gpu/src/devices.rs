//! Devices by name, and their memory.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use core_gpu_driver::{DeviceId, DeviceInfo, Driver, DriverError, MemoryInfo, PlatformKind};
use core_gpu_memory::pool::{PoolUse, live_pools, trim_all_pools};

use crate::{
    configuration::Configuration,
    platform::{
        DEFAULT_DEVICE, DeviceName, Fallback, HostMemory, MigOfDevice, NameError, Platforms,
        Preference, SelectError, Selector, Unavailable, host_memory,
    },
    warning::{Warning, warn},
};

/// Finds devices and opens them. Any thread.
///
/// ```
/// use core_gpu::{devices::DeviceManager, platform::Fallback};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let manager = DeviceManager::from_environment()?;
/// let device = manager.resolve_device("auto", Fallback::Cpu)?;
/// println!("{} is {}", device.name, device.info.name);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct DeviceManager {
    platforms: Arc<Platforms>,
    preference: Preference,
    open: Mutex<BTreeMap<DeviceId, Weak<dyn Driver>>>,
}

/// What there is.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct AvailableDevices {
    /// All devices, in the order of preference, the processor last.
    pub devices: Vec<ResolvedDevice>,
    /// The one to take where nothing speaks for another.
    pub recommended_device: DeviceName,
    /// The platforms that are not there, and why.
    #[serde(serialize_with = "as_texts")]
    pub unavailable: Vec<(PlatformKind, Unavailable)>,
}

/// A device that a name has led to.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ResolvedDevice {
    /// Its name by number.
    pub name: DeviceName,
    /// What it is.
    pub info: DeviceInfo,
    /// Why it is not the one that was asked for, where it is not.
    #[serde(serialize_with = "as_text")]
    pub instead: Option<DeviceError>,
}

/// An error as its words.
fn as_text<S: serde::Serializer>(
    error: &Option<DeviceError>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match error {
        Some(error) => serializer.collect_str(error),
        None => serializer.serialize_none(),
    }
}

/// Platforms, each with the words why.
fn as_texts<S: serde::Serializer>(
    all: &[(PlatformKind, Unavailable)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(all.iter().map(|(kind, why)| (kind.name(), why.to_string())))
}

/// Why a name leads to no device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// It is no name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Its platform is not there.
    #[error(transparent)]
    Platform(#[from] SelectError),
    /// The platform is there, and has no such device.
    #[error("there is no device {name}: the platform has {count}")]
    NoSuchDevice {
        /// The name.
        name: String,
        /// How many devices the platform has.
        count: usize,
    },
    /// The device is there and cannot be opened: why the processor is used in its place.
    #[error("{name} cannot be opened: {error}")]
    Closed {
        /// The name.
        name: String,
        /// What the driver said.
        error: DriverError,
    },
}

/// Why no device was opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The name leads to none.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// Its driver refuses.
    #[error("{name} cannot be opened: {error}")]
    Driver {
        /// The device's name.
        name: String,
        /// What the driver said.
        error: DriverError,
    },
}

/// Memory of the host and of every device.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct MemoryReport {
    /// The host's.
    pub host: HostMemory,
    /// The devices', in the order of [`AvailableDevices::devices`], without the processor.
    pub devices: Vec<DeviceMemory>,
}

/// Memory of one device, in bytes. What cannot be read is `None`: a device that this process has
/// not opened tells its free memory where that needs no context, through NVIDIA's management library
/// or the kernel's files about AMD's devices.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct DeviceMemory {
    /// Its name.
    pub name: DeviceName,
    /// Which one.
    pub id: DeviceId,
    /// All it has.
    pub total_bytes: Option<u64>,
    /// What nobody holds.
    pub free_bytes: Option<u64>,
    /// What this process's pools have given out.
    pub allocated_bytes: Option<u64>,
    /// What this process's pools have from the driver.
    pub reserved_bytes: Option<u64>,
}

/// A process that computes on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ProcessUse {
    /// Its number. In a container it may be one that the container does not know.
    pub process: u32,
    /// Bytes of the device's memory that it holds; `None` where the driver does not tell.
    pub used_bytes: Option<u64>,
}

impl DeviceMemory {
    /// What others hold: other processes, and libraries and contexts of this one.
    #[must_use]
    pub fn others_bytes(&self) -> Option<u64> {
        let used = self.total_bytes?.checked_sub(self.free_bytes?)?;
        Some(used.saturating_sub(self.reserved_bytes?))
    }
}

impl DeviceManager {
    /// On these platforms, with this preference for `auto`.
    #[must_use]
    pub fn new(platforms: &Arc<Platforms>, preference: Preference) -> Self {
        Self {
            platforms: Arc::clone(platforms),
            preference,
            open: Mutex::default(),
        }
    }

    /// On the platforms of this process, with the preference that its environment states.
    ///
    /// # Errors
    /// The environment says something that is no configuration.
    pub fn from_environment() -> Result<Self, crate::configuration::ConfigurationError> {
        let preference = Configuration::from_environment()?.preference;
        Ok(Self::new(Platforms::system(), preference))
    }

    /// The platforms.
    #[must_use]
    pub fn platforms(&self) -> &Arc<Platforms> {
        &self.platforms
    }

    /// The preference for `auto`.
    #[must_use]
    pub const fn preference(&self) -> Preference {
        self.preference
    }

    /// What there is, and what to take. Makes no context.
    #[must_use]
    pub fn available_devices(&self) -> AvailableDevices {
        let device = |info: &DeviceInfo| ResolvedDevice {
            name: DeviceName::of(info),
            info: info.clone(),
            instead: None,
        };
        let recommended = self.resolve_device("auto", Fallback::Cpu);
        let all = self.platforms.all();
        let unavailable = all
            .iter()
            .filter_map(|status| Some((status.kind, status.answer.err()?.clone())));
        AvailableDevices {
            unavailable: unavailable.collect(),
            devices: self.platforms.devices().into_iter().map(device).collect(),
            recommended_device: recommended.map_or_else(
                |_| DeviceName::numbered(PlatformKind::Host, 0),
                |device| device.name,
            ),
        }
    }

    /// The device of a name: `auto`, `cuda`, `cuda:1`, `rocm:0`, `mps`, `cpu`, `cuda:GPU-5f3a`,
    /// `cuda:0000:c2:00.0`. `auto` takes, of the preferred platform that is there, the device with
    /// the most memory. What is not there is the processor, with a warning, where `fallback` says
    /// so.
    ///
    /// # Errors
    /// Text that is no name, whatever the fallback; otherwise without a fallback only.
    pub fn resolve_device(
        &self,
        name: &str,
        fallback: Fallback,
    ) -> Result<ResolvedDevice, DeviceError> {
        if name.trim().eq_ignore_ascii_case(DEFAULT_DEVICE) {
            return self.automatic(fallback);
        }
        let wanted: DeviceName = name.parse()?;
        match self.named(&wanted) {
            Ok(info) => Ok(resolved(info, None)),
            Err(why) if fallback == Fallback::Error => Err(why),
            Err(why) => self.processor(&wanted.to_string(), why),
        }
    }

    /// A device, opened. One that is open already is shared; it closes when nobody has it any more.
    ///
    /// # Errors
    /// As the driver says.
    pub fn open(&self, id: &DeviceId) -> Result<Arc<dyn Driver>, DriverError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(driver) = open.get(id).and_then(Weak::upgrade) {
            return Ok(driver);
        }
        // Under the lock, so that a device is not opened twice.
        let driver = self.platforms.open(id)?;
        open.insert(*id, Arc::downgrade(&driver));
        Ok(driver)
    }

    /// Opens a device anew that was lost, for who knows that it is back: the driver that is shared is
    /// given up, whoever still has it, and the new one is asked whether it answers. NVIDIA's driver
    /// keeps a device lost for the process that lost it after most faults; then this fails, and only
    /// another process gets the device back, such as a new worker of a [`crate::workers`] pool.
    ///
    /// # Errors
    /// As the driver says; [`DriverError::Lost`] where it still is.
    pub fn reopen(&self, id: &DeviceId) -> Result<Arc<dyn Driver>, DriverError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.remove(id);
        let driver = self.platforms.open(id)?;
        driver.memory_info()?;
        open.insert(*id, Arc::downgrade(&driver));
        Ok(driver)
    }

    /// The device of a name, as [`DeviceManager::resolve_device`] finds it, opened. One that cannot
    /// be opened is the processor, with a warning, where `fallback` says so: a device that is full,
    /// lost, or of a platform that is only detected here.
    ///
    /// # Errors
    /// As [`DeviceManager::resolve_device`]; as the driver says, without a fallback.
    pub fn open_device(
        &self,
        name: &str,
        fallback: Fallback,
    ) -> Result<(ResolvedDevice, Arc<dyn Driver>), OpenError> {
        let device = self.resolve_device(name, fallback)?;
        let failed = |device: &ResolvedDevice, error| OpenError::Driver {
            name: device.name.to_string(),
            error,
        };
        match self.open(&device.info.id) {
            Ok(driver) => Ok((device, driver)),
            Err(error) if fallback == Fallback::Error => Err(failed(&device, error)),
            Err(error) => {
                let name = device.name.to_string();
                let why = DeviceError::Closed { name, error };
                let cpu = self.processor(&device.name.to_string(), why)?;
                let driver = self.open(&cpu.info.id);
                driver
                    .map(|driver| (cpu, driver))
                    .map_err(|error| failed(&device, error))
            }
        }
    }

    /// The host's memory and the devices'. Opens nothing.
    #[must_use]
    pub fn memory_info(&self) -> MemoryReport {
        let pools = live_pools();
        let is_device = |info: &&DeviceInfo| info.id.platform != PlatformKind::Host;
        let devices = self.platforms.devices();
        MemoryReport {
            host: host_memory(),
            devices: devices
                .into_iter()
                .filter(is_device)
                .map(|info| self.memory_of(info, &pools))
                .collect(),
        }
    }

    /// The processes that compute on CUDA devices, whoever's they are, as NVIDIA's management library
    /// tells them in time. Devices of which nothing is told are not in it.
    #[must_use]
    pub fn processes(&self) -> BTreeMap<DeviceId, Vec<ProcessUse>> {
        let devices = self.platforms.devices();
        let cuda = devices
            .iter()
            .map(|info| info.id)
            .filter(|id| id.platform == PlatformKind::Cuda);
        processes(&cuda.collect::<Vec<_>>())
    }

    /// After every `interval`th item that was processed, lets the pools of this process give back what
    /// is not in use, of the host and of devices: others want it. Waits for the work on devices whose
    /// pools have something to give. Returns the bytes given back; `None` when it is not yet time. An
    /// interval of 0 is never.
    pub fn maybe_collect(&self, processed: u64, interval: u64) -> Option<u64> {
        let due = processed > 0 && processed.checked_rem(interval) == Some(0);
        due.then(trim_all_pools)
    }

    fn automatic(&self, fallback: Fallback) -> Result<ResolvedDevice, DeviceError> {
        let chosen = self.platforms.select(self.preference, fallback)?;
        let instead = chosen.instead_of().map(|(platform, why)| SelectError {
            platform,
            why: why.clone(),
        });
        let device = best(&chosen.found().devices).ok_or_else(|| DeviceError::NoSuchDevice {
            name: "auto".to_owned(),
            count: 0,
        })?;
        Ok(resolved(device, instead.map(DeviceError::Platform)))
    }

    fn named(&self, wanted: &DeviceName) -> Result<&DeviceInfo, DeviceError> {
        let found = self.platforms.probe(wanted.platform);
        let found = found.map_err(|why| SelectError {
            platform: wanted.platform,
            why: why.clone(),
        })?;
        let device = match &wanted.selector {
            Some(Selector::MigOfDevice(old)) => slice(old, &found.devices),
            _ => wanted.find(&found.devices),
        };
        device.ok_or_else(|| DeviceError::NoSuchDevice {
            name: wanted.to_string(),
            count: found.devices.len(),
        })
    }

    fn processor(&self, wanted: &str, why: DeviceError) -> Result<ResolvedDevice, DeviceError> {
        warn(&Warning::Fallback {
            wanted: wanted.to_owned(),
            used: PlatformKind::Host,
            why: why.to_string(),
        });
        let cpu = self.named(&DeviceName::numbered(PlatformKind::Host, 0))?;
        Ok(resolved(cpu, Some(why)))
    }

    fn memory_of(&self, info: &DeviceInfo, pools: &[PoolUse]) -> DeviceMemory {
        let driver = {
            let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.get(&info.id).and_then(Weak::upgrade)
        };
        let told: Option<MemoryInfo> = match driver {
            Some(driver) => driver.memory_info().ok(),
            None => self.platforms.memory_info(info),
        };
        let sum = |bytes: fn(&PoolUse) -> u64| {
            let here = pools.iter().filter(|pool| pool.device == info.id);
            Some(here.map(bytes).sum())
        };
        DeviceMemory {
            name: DeviceName::of(info),
            id: info.id,
            total_bytes: told.map(|told| told.total_bytes).or(Some(info.total_bytes)),
            free_bytes: told.map(|told| told.free_bytes),
            allocated_bytes: sum(|pool| pool.bytes_in_use),
            reserved_bytes: sum(|pool| pool.reserved_bytes),
        }
    }
}

/// The slice that had this name with old drivers.
#[cfg(feature = "cuda-any-bindings")]
fn slice<'a>(old: &MigOfDevice, devices: &'a [DeviceInfo]) -> Option<&'a DeviceInfo> {
    let uuid = crate::management::slice(old)?;
    devices.iter().find(|device| device.id.uuid == uuid)
}

#[cfg(not(feature = "cuda-any-bindings"))]
fn slice<'a>(_old: &MigOfDevice, _devices: &'a [DeviceInfo]) -> Option<&'a DeviceInfo> {
    None
}

#[cfg(feature = "cuda-any-bindings")]
fn processes(devices: &[DeviceId]) -> BTreeMap<DeviceId, Vec<ProcessUse>> {
    if devices.is_empty() {
        return BTreeMap::new();
    }
    let told = crate::management::processes(devices).into_iter();
    let own = |process: core_gpu_driver::nvml::DeviceProcess| ProcessUse {
        process: process.process,
        used_bytes: process.used_bytes,
    };
    told.map(|(id, all)| (id, all.into_iter().map(own).collect()))
        .collect()
}

#[cfg(not(feature = "cuda-any-bindings"))]
fn processes(_devices: &[DeviceId]) -> BTreeMap<DeviceId, Vec<ProcessUse>> {
    BTreeMap::new()
}

fn resolved(info: &DeviceInfo, instead: Option<DeviceError>) -> ResolvedDevice {
    ResolvedDevice {
        name: DeviceName::of(info),
        info: info.clone(),
        instead,
    }
}

/// The device with the most memory, the first of several.
pub(crate) fn best(devices: &[DeviceInfo]) -> Option<&DeviceInfo> {
    devices.iter().rev().max_by_key(|device| device.total_bytes)
}
