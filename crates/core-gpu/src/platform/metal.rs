//! Metal as a platform: devices of Apple's systems, found and opened. It compiles, and nobody has run
//! it. On other systems it says that it is not there.

use std::sync::Arc;

use core_gpu_driver::{DeviceId, Driver, DriverError, PlatformKind};

use crate::platform::{Found, Platform, Tuning, Unavailable, tuning::METAL_TUNINGS};

/// Apple's devices.
#[derive(Clone, Copy, Debug, Default)]
pub struct MetalPlatform;

#[cfg(feature = "metal")]
fn look() -> Result<Found, Unavailable> {
    let devices = core_gpu_driver::metal::devices()?;
    Ok(Found {
        version: None,
        devices,
    })
}

#[cfg(not(feature = "metal"))]
fn look() -> Result<Found, Unavailable> {
    Err(Unavailable::NotBuilt { feature: "metal" })
}

#[cfg(all(feature = "metal", target_vendor = "apple"))]
fn open(id: &DeviceId) -> Result<Arc<dyn Driver>, DriverError> {
    let driver: Arc<dyn Driver> = core_gpu_driver::metal::MetalDriver::open(id)?;
    Ok(driver)
}

#[cfg(all(feature = "metal", not(target_vendor = "apple")))]
fn open(_id: &DeviceId) -> Result<Arc<dyn Driver>, DriverError> {
    Err(core_gpu_driver::Absent::System { platform: "Metal" }.into())
}

#[cfg(not(feature = "metal"))]
fn open(_id: &DeviceId) -> Result<Arc<dyn Driver>, DriverError> {
    Err(core_gpu_driver::Absent::NotBuilt { feature: "metal" }.into())
}

impl Platform for MetalPlatform {
    fn kind(&self) -> PlatformKind {
        PlatformKind::Metal
    }

    fn probe(&self) -> Result<Found, Unavailable> {
        look()
    }

    fn may_hang(&self) -> bool {
        cfg!(all(feature = "metal", target_vendor = "apple"))
    }

    fn open(&self, id: &DeviceId) -> Result<Arc<dyn Driver>, DriverError> {
        open(id)
    }

    fn tunings(&self) -> &'static [Tuning] {
        METAL_TUNINGS
    }
}
