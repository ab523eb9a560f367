//! Metal as a platform, as far as detection goes. On systems that are not Apple's it says so. Its
//! devices cannot be opened here.

use std::sync::Arc;

use core_gpu_driver::{Absent, DeviceId, Driver, DriverError, PlatformKind};

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

    fn open(&self, _id: &DeviceId) -> Result<Arc<dyn Driver>, DriverError> {
        let absent = Absent::Unsupported {
            platform: "Metal",
            what: "memory, streams and events",
        };
        Err(absent.into())
    }

    fn tunings(&self) -> &'static [Tuning] {
        METAL_TUNINGS
    }
}
