//! Vulkan as a platform. It is not among those that are looked for by themselves: a program puts it
//! there ([`crate::platform::Platforms::new`]), since its devices run kernels in SPIR-V alone
//! ([`core_gpu_driver::VulkanKernel`]).

use std::sync::Arc;

use core_gpu_driver::{DeviceId, Driver, DriverError, PlatformKind, VulkanDriver, vulkan};

use crate::platform::{Found, Platform, Tuning, Unavailable};

/// Any maker's devices, by Vulkan's loader.
#[derive(Clone, Copy, Debug, Default)]
pub struct VulkanPlatform;

impl Platform for VulkanPlatform {
    fn kind(&self) -> PlatformKind {
        PlatformKind::Vulkan
    }

    fn probe(&self) -> Result<Found, Unavailable> {
        let devices = vulkan::devices()?;
        if devices.is_empty() {
            return Err(Unavailable::NoDevice);
        }
        Ok(Found {
            version: None,
            devices,
        })
    }

    fn open(&self, id: &DeviceId) -> Result<Arc<dyn Driver>, DriverError> {
        let driver: Arc<dyn Driver> = VulkanDriver::open(id)?;
        Ok(driver)
    }

    fn tunings(&self) -> &'static [Tuning] {
        &[]
    }
}
