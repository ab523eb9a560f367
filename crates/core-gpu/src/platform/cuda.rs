//! CUDA as a platform: its driver library, looked up at run time. The driver applies
//! `CUDA_VISIBLE_DEVICES` itself; here the variable only explains why there is no device.

use std::sync::Arc;

use core_gpu_driver::{DeviceId, DeviceInfo, Driver, DriverError, MemoryInfo, PlatformKind};

use crate::platform::{Found, Platform, Tuning, Unavailable, tuning::CUDA_TUNINGS};

/// The oldest version of the driver that works, as it counts: 11040 is 11.4, the first whose
/// identities tell the slices of one device apart.
pub const OLDEST_DRIVER: u32 = 11_040;

/// NVIDIA's devices.
#[derive(Clone, Debug, Default)]
pub struct CudaPlatform {
    visible: Option<String>,
}

impl CudaPlatform {
    /// With the variable as the environment has it.
    #[must_use]
    pub fn from_environment() -> Self {
        Self {
            visible: std::env::var("CUDA_VISIBLE_DEVICES").ok(),
        }
    }

    /// Why a driver that works shows nothing.
    #[cfg_attr(
        not(feature = "cuda-any-bindings"),
        expect(dead_code, reason = "nothing is asked")
    )]
    fn nothing(&self) -> Unavailable {
        match &self.visible {
            Some(value) => Unavailable::Hidden {
                variable: "CUDA_VISIBLE_DEVICES",
                value: value.clone(),
                why: "the driver shows none".to_owned(),
            },
            None => Unavailable::NoDevice,
        }
    }
}

#[cfg(feature = "cuda-any-bindings")]
impl CudaPlatform {
    fn look(&self) -> Result<Found, Unavailable> {
        use core_gpu_driver::cuda;

        let version = cuda::driver_version()?;
        if version < OLDEST_DRIVER {
            return Err(Unavailable::DriverTooOld {
                found: version,
                needed: OLDEST_DRIVER,
            });
        }
        let devices = cuda::devices().map_err(|error| without_permission(error.into()))?;
        if devices.is_empty() {
            return Err(without_permission(self.nothing()));
        }
        Ok(Found {
            version: Some(version),
            devices,
        })
    }

    /// From the management library, which knows a device by the same identity and makes no context.
    fn memory(device: &DeviceInfo) -> Option<MemoryInfo> {
        let readings = crate::management::readings(&[device.id]);
        let reading = readings.get(&device.id)?;
        Some(MemoryInfo {
            free_bytes: crate::management::free_bytes(reading)?,
            total_bytes: reading.total_bytes?,
        })
    }

    fn open_device(id: &DeviceId) -> Result<Arc<dyn Driver>, DriverError> {
        let driver: Arc<dyn Driver> = core_gpu_driver::CudaDriver::open(id)?;
        Ok(driver)
    }
}

#[cfg(not(feature = "cuda-any-bindings"))]
impl CudaPlatform {
    fn look(&self) -> Result<Found, Unavailable> {
        Err(Unavailable::NotBuilt { feature: "cuda" })
    }

    fn memory(_device: &DeviceInfo) -> Option<MemoryInfo> {
        None
    }

    fn open_device(_id: &DeviceId) -> Result<Arc<dyn Driver>, DriverError> {
        Err(core_gpu_driver::Absent::NotBuilt { feature: "cuda" }.into())
    }
}

/// A driver whose device files are closed to this user says that there is no device, or fails with
/// a code for anything: the files tell.
#[cfg(feature = "cuda-any-bindings")]
fn without_permission(why: Unavailable) -> Unavailable {
    let may_be = matches!(why, Unavailable::NoDevice | Unavailable::Failed(_));
    match super::closed_file("/dev/nvidiactl").filter(|_| may_be) {
        Some(path) => Unavailable::Permission { path },
        None => why,
    }
}

impl Platform for CudaPlatform {
    fn kind(&self) -> PlatformKind {
        PlatformKind::Cuda
    }

    fn probe(&self) -> Result<Found, Unavailable> {
        self.look()
    }

    fn may_hang(&self) -> bool {
        cfg!(feature = "cuda-any-bindings")
    }

    fn open(&self, id: &DeviceId) -> Result<Arc<dyn Driver>, DriverError> {
        Self::open_device(id)
    }

    fn memory_info(&self, device: &DeviceInfo) -> Option<MemoryInfo> {
        Self::memory(device)
    }

    fn tunings(&self) -> &'static [Tuning] {
        CUDA_TUNINGS
    }
}
