//! Which devices CUDA's driver shows, without making a context on any.

use std::ffi::{CStr, c_char, c_int};

use crate::{
    codes,
    cuda::table::{CUdevice, Table, Uuid, table},
    error::{Absent, DriverError},
    identity::{Capabilities, DeviceId, DeviceInfo, PlatformKind},
};

/// No device: the driver's code when there is a library and no card.
const NO_DEVICE: c_int = 100;
/// The documented numbers of the attributes that are asked for.
const COMPUTE_CAPABILITY_MAJOR: c_int = 75;
const COMPUTE_CAPABILITY_MINOR: c_int = 76;
const INTEGRATED: c_int = 18;
const VIRTUAL_MEMORY: c_int = 102;
const MEMORY_POOLS: c_int = 115;

/// What the driver aligns memory to, in bytes, at least.
const ALIGNMENT: usize = 256;

/// A device as the driver numbers it, with what it says of itself.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) device: CUdevice,
    pub(super) info: DeviceInfo,
}

/// All devices that the driver shows to this process, in its order. No context is made.
///
/// # Errors
/// [`Absent::Library`] and [`Absent::Symbol`]; as the driver's calls fail. No device is no error.
pub fn devices() -> Result<Vec<DeviceInfo>, DriverError> {
    let found = find(table()?)?;
    Ok(found.into_iter().map(|found| found.info).collect())
}

/// The version of CUDA that the driver has, as it counts: 12080 is 12.8. Needs no device and starts
/// nothing.
///
/// # Errors
/// As [`devices`].
pub fn driver_version() -> Result<u32, DriverError> {
    let mut version = 0;
    // SAFETY: it writes one number.
    check("cuDriverGetVersion", unsafe {
        (table()?.driver_get_version)(&raw mut version)
    })?;
    Ok(version.unsigned_abs())
}

/// A device's identity before it is known, for errors.
const UNKNOWN: DeviceId = DeviceId {
    platform: PlatformKind::Cuda,
    uuid: [0; 16],
};

fn check(function: &'static str, code: c_int) -> Result<(), DriverError> {
    if code == 0 {
        return Ok(());
    }
    Err(codes::error(function, code, UNKNOWN, false))
}

pub(super) fn find(table: &Table) -> Result<Vec<Found>, DriverError> {
    // SAFETY: the flags must be zero, and are.
    let code = unsafe { (table.init)(0) };
    if code == NO_DEVICE {
        return Ok(Vec::new());
    }
    check("cuInit", code)?;
    let (mut version, mut count) = (0, 0);
    // SAFETY: each writes one number.
    check("cuDriverGetVersion", unsafe {
        (table.driver_get_version)(&raw mut version)
    })?;
    // SAFETY: as above.
    check("cuDeviceGetCount", unsafe {
        (table.device_get_count)(&raw mut count)
    })?;
    (0..count)
        .map(|ordinal| describe(table, ordinal, version))
        .collect()
}

fn describe(table: &Table, ordinal: c_int, version: c_int) -> Result<Found, DriverError> {
    let (mut device, mut uuid, mut total) = (0, Uuid::default(), 0);
    // SAFETY: it writes one number.
    check("cuDeviceGet", unsafe {
        (table.device_get)(&raw mut device, ordinal)
    })?;
    // SAFETY: it writes sixteen bytes.
    check("cuDeviceGetUuid", unsafe {
        (table.device_get_uuid)(&raw mut uuid, device)
    })?;
    // SAFETY: it writes one number.
    check("cuDeviceTotalMem", unsafe {
        (table.device_total_mem)(&raw mut total, device)
    })?;
    let name = text("cuDeviceGetName", |to, length| {
        // SAFETY: it writes `length` bytes at most, a zero byte included.
        unsafe { (table.device_get_name)(to, length, device) }
    })?;
    let bus = text("cuDeviceGetPCIBusId", |to, length| {
        // SAFETY: as above.
        unsafe { (table.device_get_pci_bus_id)(to, length, device) }
    });
    let attribute = |number| attribute(table, device, number);
    let major = attribute(COMPUTE_CAPABILITY_MAJOR)?;
    let minor = attribute(COMPUTE_CAPABILITY_MINOR)?;
    let slice = is_slice(&name);
    let info = DeviceInfo {
        id: DeviceId {
            platform: PlatformKind::Cuda,
            uuid: uuid.0,
        },
        ordinal: ordinal.unsigned_abs(),
        name,
        total_bytes: total as u64,
        compute_capability: (major.unsigned_abs(), minor.unsigned_abs()),
        // A device without a bus is described all the same.
        bus_address: bus.ok(),
        driver_version: version.unsigned_abs(),
        alignment_bytes: ALIGNMENT,
        capabilities: Capabilities {
            stream_ordered_allocation: attribute(MEMORY_POOLS)? != 0,
            virtual_memory: attribute(VIRTUAL_MEMORY)? != 0,
            integrated: attribute(INTEGRATED)? != 0,
            slice,
        },
    };
    Ok(Found { device, info })
}

/// Whether a device of this name is a slice of another: the driver puts the slice's profile behind
/// the device's name, as in `NVIDIA A100-SXM4-40GB MIG 1g.5gb` (NVIDIA's MIG user guide). There is no
/// attribute that tells it.
fn is_slice(name: &str) -> bool {
    let profile = name.rsplit_once(" MIG ").map_or("", |(_, profile)| profile);
    profile.starts_with(|letter: char| letter.is_ascii_digit()) && profile.contains("g.")
}

fn attribute(table: &Table, device: CUdevice, number: c_int) -> Result<c_int, DriverError> {
    let mut value = 0;
    // SAFETY: it writes one number.
    let code = unsafe { (table.device_get_attribute)(&raw mut value, number, device) };
    check("cuDeviceGetAttribute", code)?;
    Ok(value)
}

fn text(
    function: &'static str,
    call: impl FnOnce(*mut c_char, c_int) -> c_int,
) -> Result<String, DriverError> {
    let mut bytes = [0_u8; 256];
    check(
        function,
        call(bytes.as_mut_ptr().cast(), bytes.len() as c_int),
    )?;
    let text = CStr::from_bytes_until_nul(&bytes).unwrap_or_default();
    Ok(text.to_string_lossy().into_owned())
}

/// Whether work on the device `from` can read and write memory of the device `to` by itself. No
/// context is made.
///
/// # Errors
/// [`Absent::Library`], [`Absent::Symbol`], [`Absent::Device`]; as the driver's calls fail.
pub fn can_access_peer(from: &DeviceId, to: &DeviceId) -> Result<bool, DriverError> {
    let table = table()?;
    let (from, to) = (one(table, from)?, one(table, to)?);
    let mut can = 0;
    // SAFETY: it writes one number; both devices came from the driver.
    check("cuDeviceCanAccessPeer", unsafe {
        (table.device_can_access_peer)(&raw mut can, from.device, to.device)
    })?;
    Ok(can != 0)
}

/// The device of an identity.
pub(super) fn one(table: &Table, id: &DeviceId) -> Result<Found, DriverError> {
    let found = find(table)?.into_iter().find(|found| found.info.id == *id);
    found.ok_or_else(|| {
        let wanted = id.to_string();
        Absent::Device { wanted }.into()
    })
}

#[cfg(test)]
mod tests {
    use super::is_slice;

    #[test]
    fn a_slice_is_known_by_its_profile() {
        for (name, wanted) in [
            ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", true),
            ("NVIDIA H100 80GB HBM3 MIG 1c.3g.40gb", true),
            ("NVIDIA A100-SXM4-40GB MIG 1g.5gb+me", true),
            ("NVIDIA A100-SXM4-40GB", false),
            ("MIG 29 by another maker", false),
            ("A card MIG 29", false),
        ] {
            assert_eq!(is_slice(name), wanted, "{name}");
        }
    }
}
