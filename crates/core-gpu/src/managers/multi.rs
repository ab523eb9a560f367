//! Several devices: what is on each, which has the most room, and how work is spread over them.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use core_gpu_driver::{DeviceId, DeviceInfo, PlatformKind};

use crate::{devices::DeviceManager, platform::DeviceName};

use super::{
    ManagerError,
    split::{Share, SplitBy, split},
};

/// What is on one device. What cannot be read is `None`.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct DeviceUsage {
    /// Its name by number.
    pub name: DeviceName,
    /// Which one.
    pub id: DeviceId,
    /// Bytes that it has.
    pub total_bytes: Option<u64>,
    /// Bytes that nobody holds, in any process.
    pub free_bytes: Option<u64>,
    /// Bytes that this process's pools have given out.
    pub allocated_bytes: Option<u64>,
    /// Bytes that this process's pools have from the driver.
    pub reserved_bytes: Option<u64>,
    /// Percent of the last moments in which it worked.
    pub utilization_percent: Option<u32>,
}

impl DeviceUsage {
    /// Part of its memory that somebody holds, of one.
    #[must_use]
    pub fn used_part(&self) -> Option<f64> {
        let (total, free) = (self.total_bytes?, self.free_bytes?);
        (total > 0).then(|| total.saturating_sub(free) as f64 / total as f64)
    }
}

/// How large a batch may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchRequest {
    /// Bytes of one item, with all that its work needs at once.
    pub bytes_per_item: u64,
    /// Bytes that a batch needs whatever its size: weights, scratch.
    pub fixed_bytes: u64,
    /// Part of the free memory that is left alone, of one: others may want it, and what is free is
    /// in pieces.
    pub margin: f64,
    /// The batch is a multiple of it.
    pub multiple_of: u64,
    /// The largest batch.
    pub at_most: u64,
}

impl BatchRequest {
    /// Items of so many bytes, with a tenth of the free memory left alone.
    #[must_use]
    pub const fn of_bytes(bytes_per_item: u64) -> Self {
        Self {
            bytes_per_item,
            fixed_bytes: 0,
            margin: 0.1,
            multiple_of: 1,
            at_most: u64::MAX,
        }
    }

    fn check(&self) -> Result<(), ManagerError> {
        let wrong = |setting, value: String| Err(ManagerError::Setting { setting, value });
        if self.bytes_per_item == 0 {
            return wrong("bytes_per_item", "0".to_owned());
        }
        if !(0.0..1.0).contains(&self.margin) {
            return wrong("margin", self.margin.to_string());
        }
        if self.multiple_of == 0 {
            return wrong("multiple_of", "0".to_owned());
        }
        Ok(())
    }
}

/// The GPUs of a process. Any thread. It opens none.
#[derive(Debug)]
pub struct MultiGpuManager {
    devices: Arc<DeviceManager>,
}

/// The process's manager of several devices.
///
/// # Errors
/// The environment says something that is no configuration. A machine without a GPU is no error.
pub fn multi_gpu_manager() -> Result<&'static MultiGpuManager, ManagerError> {
    static MANAGER: OnceLock<MultiGpuManager> = OnceLock::new();
    if let Some(manager) = MANAGER.get() {
        return Ok(manager);
    }
    let devices = Arc::new(DeviceManager::from_environment()?);
    Ok(MANAGER.get_or_init(|| MultiGpuManager::new(devices)))
}

impl MultiGpuManager {
    /// Of these devices.
    #[must_use]
    pub fn new(devices: Arc<DeviceManager>) -> Self {
        Self { devices }
    }

    /// The GPUs that there are, in the order of preference.
    #[must_use]
    pub fn available(&self) -> Vec<DeviceInfo> {
        let devices = self.devices.platforms().devices();
        let gpus = devices
            .into_iter()
            .filter(|info| info.id.platform != PlatformKind::Host);
        gpus.cloned().collect()
    }

    /// What is on each of them now.
    #[must_use]
    pub fn usage(&self) -> Vec<DeviceUsage> {
        let report = self.devices.memory_info();
        let ids: Vec<_> = report.devices.iter().map(|device| device.id).collect();
        let utilization = utilization(&ids);
        let told = report.devices.into_iter().map(|device| DeviceUsage {
            name: device.name,
            id: device.id,
            total_bytes: device.total_bytes,
            free_bytes: device.free_bytes,
            allocated_bytes: device.allocated_bytes,
            reserved_bytes: device.reserved_bytes,
            utilization_percent: utilization.get(&device.id).copied(),
        });
        told.collect()
    }

    fn usage_of(&self, id: &DeviceId) -> Result<DeviceUsage, ManagerError> {
        let found = self.usage().into_iter().find(|device| device.id == *id);
        found.ok_or(ManagerError::UnknownDevice(*id))
    }

    /// The device with the least of its memory in use, and of several the one that works least.
    /// Those that do not tell come last. `None` without a GPU.
    #[must_use]
    pub fn least_loaded(&self) -> Option<DeviceUsage> {
        let load = |device: &DeviceUsage| {
            let work = device.utilization_percent.unwrap_or(101);
            (device.used_part().unwrap_or(2.0), work)
        };
        self.usage().into_iter().min_by(|one, other| {
            let (one, other) = (load(one), load(other));
            one.0.total_cmp(&other.0).then(one.1.cmp(&other.1))
        })
    }

    /// The largest batch that fits into what is free on a device now.
    ///
    /// # Errors
    /// [`ManagerError::UnknownDevice`], [`ManagerError::UnknownMemory`]; [`ManagerError::NoRoom`]
    /// when not one fits; [`ManagerError::Setting`].
    pub fn optimal_batch_size(
        &self,
        device: &DeviceId,
        request: &BatchRequest,
    ) -> Result<u64, ManagerError> {
        request.check()?;
        let usage = self.usage_of(device)?;
        let name = usage.name.to_string();
        // What our pools have from the driver and have not given out is free, too.
        let pooled = usage
            .reserved_bytes
            .zip(usage.allocated_bytes)
            .map_or(0, |(reserved, allocated)| {
                reserved.saturating_sub(allocated)
            });
        let free = usage.free_bytes.ok_or(ManagerError::UnknownMemory {
            device: name.clone(),
        })?;
        let usable = (free.saturating_add(pooled) as f64 * (1.0 - request.margin)) as u64;
        let room = usable.saturating_sub(request.fixed_bytes);
        let items = (room / request.bytes_per_item).min(request.at_most);
        let whole = items - items % request.multiple_of;
        if whole == 0 {
            return Err(ManagerError::NoRoom {
                device: name,
                free_bytes: room,
                bytes_per_item: request.bytes_per_item,
            });
        }
        Ok(whole)
    }

    /// Spreads items over the devices: each gets a range of them.
    ///
    /// # Errors
    /// [`ManagerError::NoDevice`]; [`ManagerError::UnknownMemory`] by free memory, where a device
    /// does not tell it.
    pub fn split(&self, items: usize, by: SplitBy) -> Result<Vec<Share>, ManagerError> {
        split(items, &self.usage(), by)
    }

    /// Whether work on one device can read and write another's memory by itself. Opens neither.
    ///
    /// # Errors
    /// [`ManagerError::UnknownDevice`]; as the driver's call fails.
    pub fn peer_access(&self, from: &DeviceId, to: &DeviceId) -> Result<bool, ManagerError> {
        let devices = self.available();
        for id in [from, to] {
            if !devices.iter().any(|known| known.id == *id) {
                return Err(ManagerError::UnknownDevice(*id));
            }
        }
        if from == to {
            return Ok(true);
        }
        peer_access(from, to)
    }
}

/// How busy devices are, where NVIDIA's management library tells it in time.
#[cfg(feature = "cuda-any-bindings")]
fn utilization(devices: &[DeviceId]) -> BTreeMap<DeviceId, u32> {
    let read = crate::management::readings(devices).into_iter();
    read.filter_map(|(id, reading)| Some((id, reading.utilization_percent?)))
        .collect()
}

#[cfg(not(feature = "cuda-any-bindings"))]
fn utilization(_devices: &[DeviceId]) -> BTreeMap<DeviceId, u32> {
    BTreeMap::new()
}

#[cfg(feature = "cuda-any-bindings")]
fn peer_access(from: &DeviceId, to: &DeviceId) -> Result<bool, ManagerError> {
    let both = [from.platform, to.platform];
    if both != [PlatformKind::Cuda; 2] {
        return Ok(false);
    }
    core_gpu_driver::cuda::can_access_peer(from, to).map_err(|error| ManagerError::Driver {
        device: from.to_string(),
        error,
    })
}

#[cfg(not(feature = "cuda-any-bindings"))]
fn peer_access(_from: &DeviceId, _to: &DeviceId) -> Result<bool, ManagerError> {
    Ok(false)
}
