//! ROCm as a platform: the kernel's list of devices, which of them the variables leave visible, and the
//! runtime's version. A device is opened through AMD's HIP library.

use std::{path::PathBuf, sync::Arc};

use core_gpu_driver::{
    Absent, DeviceId, DeviceInfo, Driver, DriverError, MemoryInfo, PlatformKind,
};

use crate::platform::{Found, Platform, Tuning, Unavailable, Visible, tuning::ROCM_TUNINGS};

/// The variables that hide devices: the lower layer's first, which renumbers for the next. HIP takes
/// CUDA's variable where its own is not set.
const LOWER: &str = "ROCR_VISIBLE_DEVICES";
const UPPER: &[&str] = &["HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"];

/// AMD's devices.
#[derive(Clone, Debug)]
pub struct RocmPlatform {
    #[cfg_attr(not(feature = "rocm"), expect(dead_code, reason = "nothing is asked"))]
    root: PathBuf,
    visible: Vec<(&'static str, String)>,
}

impl RocmPlatform {
    /// With the variables as the environment has them.
    #[must_use]
    pub fn from_environment() -> Self {
        Self::new(PathBuf::from("/"), |name| std::env::var(name).ok())
    }

    /// Below another root of the file system, with variables read through a function.
    #[must_use]
    pub fn new(root: PathBuf, variable: impl Fn(&str) -> Option<String>) -> Self {
        let read = |name: &'static str| variable(name).map(|value| (name, value));
        let upper = UPPER.iter().find_map(|name| read(name));
        Self {
            root,
            visible: read(LOWER).into_iter().chain(upper).collect(),
        }
    }

    /// The devices that the variables leave, or which variable leaves none.
    #[cfg_attr(not(feature = "rocm"), expect(dead_code, reason = "nothing is asked"))]
    fn visible(&self, mut devices: Vec<DeviceInfo>) -> Result<Vec<DeviceInfo>, Unavailable> {
        for (variable, value) in &self.visible {
            let (left, problem) = Visible::parse(value).apply(&devices);
            if left.is_empty() {
                let why = problem.map(|problem| problem.to_string());
                return Err(Unavailable::Hidden {
                    variable,
                    value: value.clone(),
                    why: why.unwrap_or_else(|| "it is empty".to_owned()),
                });
            }
            devices = left;
        }
        Ok(devices)
    }
}

#[cfg(feature = "rocm")]
impl RocmPlatform {
    fn look(&self) -> Result<Found, Unavailable> {
        let found = core_gpu_driver::rocm::detect_below(&self.root);
        let version = found.runtime?;
        if found.devices.is_empty() {
            return Err(Unavailable::NoDevice);
        }
        if let Some(path) = super::closed_file(self.root.join("dev/kfd")) {
            return Err(Unavailable::Permission { path });
        }
        Ok(Found {
            version: Some(version),
            devices: self.visible(found.devices)?,
        })
    }

    fn open_device(&self, id: &DeviceId) -> Result<Arc<dyn Driver>, DriverError> {
        // By its place on the bus, which the kernel knows of all devices, hidden ones among them; the
        // library shows those that it may.
        let all = core_gpu_driver::rocm::devices(&self.root);
        let found = all.iter().find(|device| device.id == *id);
        let found = found.ok_or_else(|| Absent::Device {
            wanted: id.to_string(),
        })?;
        let driver: Arc<dyn Driver> = core_gpu_driver::RocmDriver::open(found)?;
        Ok(driver)
    }

    fn memory(&self, device: &DeviceInfo) -> Option<MemoryInfo> {
        let address = device.bus_address.as_deref()?;
        core_gpu_driver::rocm::memory_info(&self.root, address)
    }
}

#[cfg(not(feature = "rocm"))]
impl RocmPlatform {
    fn look(&self) -> Result<Found, Unavailable> {
        Err(Unavailable::NotBuilt { feature: "rocm" })
    }

    fn open_device(&self, _id: &DeviceId) -> Result<Arc<dyn Driver>, DriverError> {
        Err(Absent::NotBuilt { feature: "rocm" }.into())
    }

    fn memory(&self, _device: &DeviceInfo) -> Option<MemoryInfo> {
        None
    }
}

impl Platform for RocmPlatform {
    fn kind(&self) -> PlatformKind {
        PlatformKind::Rocm
    }

    fn probe(&self) -> Result<Found, Unavailable> {
        self.look()
    }

    fn may_hang(&self) -> bool {
        cfg!(feature = "rocm")
    }

    fn open(&self, id: &DeviceId) -> Result<Arc<dyn Driver>, DriverError> {
        self.open_device(id)
    }

    fn memory_info(&self, device: &DeviceInfo) -> Option<MemoryInfo> {
        self.memory(device)
    }

    fn tunings(&self) -> &'static [Tuning] {
        ROCM_TUNINGS
    }
}
