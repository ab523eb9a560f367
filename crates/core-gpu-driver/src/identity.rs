//! Which device: identities that survive a change of `CUDA_VISIBLE_DEVICES`, and what a device says
//! of itself. Nothing here asks a driver.

use std::{fmt, str::FromStr};

/// The family of drivers that a device is reached through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum PlatformKind {
    /// NVIDIA's driver library.
    Cuda,
    /// AMD's HIP runtime.
    Rocm,
    /// Apple's Metal.
    Metal,
    /// Any maker's Vulkan driver: memory, order, and kernels in SPIR-V.
    Vulkan,
    /// Host memory used as if it were a device's.
    Host,
    /// A simulated device in this process.
    Simulated,
}

impl PlatformKind {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::Cuda,
        Self::Rocm,
        Self::Metal,
        Self::Vulkan,
        Self::Host,
        Self::Simulated,
    ];

    /// The name used in configuration and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::Rocm => "rocm",
            Self::Metal => "metal",
            Self::Vulkan => "vulkan",
            Self::Host => "host",
            Self::Simulated => "simulated",
        }
    }
}

impl fmt::Display for PlatformKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A device, by what stays the same when devices are hidden or numbered anew.
///
/// Displayed as `cuda:GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`, the driver's own way of writing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId {
    /// The family of drivers.
    pub platform: PlatformKind,
    /// The driver's own identifier. For a device that has none, made from its bus address.
    pub uuid: [u8; 16],
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:GPU-{}", self.platform, Dashed(&self.uuid))
    }
}

impl DeviceInfo {
    /// The identity as variables such as `CUDA_VISIBLE_DEVICES` and the management library write
    /// it: `GPU-…`, or `MIG-…` for a slice of a device.
    #[must_use]
    pub fn uuid_text(&self) -> String {
        let begin = if self.capabilities.slice {
            "MIG"
        } else {
            "GPU"
        };
        format!("{begin}-{}", Dashed(&self.id.uuid))
    }
}

/// Sixteen bytes with dashes where an identity has them.
pub(crate) struct Dashed<'b>(pub(crate) &'b [u8; 16]);

impl fmt::Display for Dashed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            if matches!(index, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

/// As displayed.
#[cfg(feature = "serde")]
impl serde::Serialize for DeviceId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// By name.
#[cfg(feature = "serde")]
impl serde::Serialize for PlatformKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Text that is no identity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no identity of a device")]
pub struct NoIdentity(pub String);

impl FromStr for DeviceId {
    type Err = NoIdentity;

    /// Reads what [`DeviceId`] is displayed as.
    fn from_str(text: &str) -> Result<Self, NoIdentity> {
        let read = || {
            let (platform, digits) = text.split_once(":GPU-")?;
            let platform = PlatformKind::ALL
                .iter()
                .find(|kind| kind.name() == platform)?;
            let digits: Vec<u8> = digits
                .bytes()
                .filter(|byte| *byte != b'-')
                .map(|byte| char::from(byte).to_digit(16).map(|digit| digit as u8))
                .collect::<Option<_>>()?;
            let (pairs, rest) = digits.as_chunks::<2>();
            let bytes: Vec<u8> = pairs.iter().map(|[high, low]| high << 4 | low).collect();
            let uuid = bytes.try_into().ok().filter(|_| rest.is_empty())?;
            Some(Self {
                platform: *platform,
                uuid,
            })
        };
        read().ok_or_else(|| NoIdentity(text.to_owned()))
    }
}

/// What a device says of itself. Read once, when the device is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DeviceInfo {
    /// Its identity.
    pub id: DeviceId,
    /// Its number in this process. For display only: it changes with the environment.
    pub ordinal: u32,
    /// The maker's name for it.
    pub name: String,
    /// Bytes of memory that it has in all.
    pub total_bytes: u64,
    /// Major and minor compute capability, or the nearest the platform has. Zeros when it has none.
    pub compute_capability: (u32, u32),
    /// Its bus address as `domain:bus:device.function`, when it is on a bus.
    pub bus_address: Option<String>,
    /// The driver's version as the driver counts it: 12080 is 12.8 for CUDA.
    pub driver_version: u32,
    /// The alignment, in bytes, of every address that [`crate::Driver::allocate`] returns.
    pub alignment_bytes: usize,
    /// What it can do beyond the necessary.
    pub capabilities: Capabilities,
}

/// What a device can do beyond the necessary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Capabilities {
    /// [`crate::Driver::allocate_on`] works.
    pub stream_ordered_allocation: bool,
    /// [`crate::Driver::virtual_memory`] is present.
    pub virtual_memory: bool,
    /// Its memory is the host's memory: copying to it gains nothing.
    pub integrated: bool,
    /// It is a slice of a device (NVIDIA's MIG), which variables and libraries name `MIG-…` and not
    /// `GPU-…`.
    pub slice: bool,
}

/// Memory of a device at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MemoryInfo {
    /// Bytes that nobody holds, other processes included. An upper bound: a driver rounds up.
    pub free_bytes: u64,
    /// Bytes that there are.
    pub total_bytes: u64,
}

impl MemoryInfo {
    /// What is left of so many bytes when so many are used.
    pub(crate) const fn left(total_bytes: u64, used_bytes: u64) -> Self {
        Self {
            free_bytes: total_bytes.saturating_sub(used_bytes),
            total_bytes,
        }
    }

    /// Bytes that somebody holds, in this process or another.
    #[must_use]
    pub const fn used_bytes(&self) -> u64 {
        self.total_bytes.saturating_sub(self.free_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_are_written_as_the_driver_writes_them() {
        let mut uuid = [0_u8; 16];
        for (index, byte) in (0_u8..).zip(&mut uuid) {
            *byte = index;
        }
        let id = DeviceId {
            platform: PlatformKind::Cuda,
            uuid,
        };
        assert_eq!(
            id.to_string(),
            "cuda:GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"
        );
        for platform in PlatformKind::ALL.iter().copied() {
            let id = DeviceId { platform, uuid };
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        for text in [
            "",
            "cuda:GPU-",
            "cuda:GPU-00",
            "tpu:GPU-00010203-0405-0607-0809-0a0b0c0d0e0f",
        ] {
            assert_eq!(text.parse::<DeviceId>(), Err(NoIdentity(text.to_owned())));
        }
    }
}
