//! Metal: which devices Apple's systems show, and one of them opened. Written by Apple's documents and
//! compiled for its systems; nobody has run it. On other systems the answer is that it is not there.

#[cfg(target_vendor = "apple")]
mod driver;

#[cfg(target_vendor = "apple")]
pub use driver::MetalDriver;

use crate::{error::DriverError, identity::DeviceInfo};

/// The devices that the system shows, without making anything on them.
///
/// # Errors
/// [`crate::Absent::System`] where the system is not Apple's. No device is no error.
#[cfg(not(target_vendor = "apple"))]
pub fn devices() -> Result<Vec<DeviceInfo>, DriverError> {
    Err(crate::error::Absent::System { platform: "Metal" }.into())
}

/// The devices that the system shows, without making anything on them.
///
/// # Errors
/// None on this system. No device is no error.
#[cfg(target_vendor = "apple")]
pub fn devices() -> Result<Vec<DeviceInfo>, DriverError> {
    use objc2_metal::MTLCopyAllDevices;

    let found = MTLCopyAllDevices();
    Ok((0..)
        .zip(found.iter())
        .map(|(ordinal, device)| describe(ordinal, &device))
        .collect())
}

#[cfg(target_vendor = "apple")]
fn describe(
    ordinal: u32,
    device: &objc2::runtime::ProtocolObject<dyn objc2_metal::MTLDevice>,
) -> DeviceInfo {
    use crate::identity::{Capabilities, DeviceId, PlatformKind};
    use objc2_metal::MTLDevice as _;

    // A registry number stays the same until the machine restarts.
    let mut uuid = *b"metal\0\0\0\0\0\0\0\0\0\0\0";
    let (_, number) = uuid.split_at_mut(8);
    number.copy_from_slice(&device.registryID().to_be_bytes());
    DeviceInfo {
        id: DeviceId {
            platform: PlatformKind::Metal,
            uuid,
        },
        ordinal,
        name: device.name().to_string(),
        total_bytes: device.recommendedMaxWorkingSetSize(),
        compute_capability: (0, 0),
        bus_address: None,
        driver_version: 0,
        alignment_bytes: 256,
        capabilities: Capabilities {
            integrated: device.hasUnifiedMemory(),
            ..Capabilities::default()
        },
    }
}
