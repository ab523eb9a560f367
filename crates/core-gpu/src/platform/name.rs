//! The name of a device in a program: `cuda:1`, `cuda:GPU-5f3a`, `cpu`. It says how to find one; a
//! [`core_gpu_driver::DeviceId`] says which one it is.

use std::{fmt, str::FromStr};

use core_gpu_driver::{DeviceInfo, PlatformKind};

use crate::platform::{
    preference::{name_of, platform},
    visible::Selector,
};

/// The name of the device that is taken where nothing speaks for another: the best of the preferred
/// platform.
pub const DEFAULT_DEVICE: &str = "auto";

/// A platform, and which of its devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceName {
    /// The platform.
    pub platform: PlatformKind,
    /// Which of its devices: the first unless it is said.
    pub selector: Option<Selector>,
}

/// Text that names no device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` names no device: say cpu, cuda, rocm, metal (or mps) or vulkan, or one of them with `:NUMBER`"
)]
pub struct NameError(pub String);

impl DeviceName {
    /// A device by its number on a platform.
    #[must_use]
    pub const fn numbered(platform: PlatformKind, ordinal: u32) -> Self {
        Self {
            platform,
            selector: Some(Selector::Index(ordinal)),
        }
    }

    /// The name of a device that was found: by its number.
    #[must_use]
    pub const fn of(device: &DeviceInfo) -> Self {
        Self::numbered(device.id.platform, device.ordinal)
    }

    /// The device's number, where the name has one: the first for a name that says none.
    #[must_use]
    pub const fn ordinal(&self) -> Option<u32> {
        match &self.selector {
            None => Some(0),
            Some(Selector::Index(index)) => Some(*index),
            Some(_) => None,
        }
    }

    /// The device of this name among those of its platform.
    #[must_use]
    pub fn find<'a>(&self, devices: &'a [DeviceInfo]) -> Option<&'a DeviceInfo> {
        match &self.selector {
            None => devices.first(),
            Some(selector) => selector.find(devices).ok(),
        }
    }
}

impl FromStr for DeviceName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let text = text.trim();
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        let unknown = || NameError(text.to_owned());
        let platform = platform(&name.to_ascii_lowercase()).ok_or_else(unknown)?;
        let selector = rest
            .map(|rest| Selector::parse(rest).ok_or_else(unknown))
            .transpose()?;
        Ok(Self { platform, selector })
    }
}

/// As displayed.
impl serde::Serialize for DeviceName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name_of(self.platform))?;
        match &self.selector {
            // There is one processor, and it has no number.
            Some(Selector::Index(0)) if self.platform == PlatformKind::Host => Ok(()),
            Some(selector) => write!(f, ":{selector}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        let cases = [
            ("cuda", "cuda"),
            ("cuda:1", "cuda:1"),
            ("CUDA:0", "cuda:0"),
            ("mps", "metal"),
            ("mps:0", "metal:0"),
            ("cpu", "cpu"),
            ("cpu:0", "cpu"),
            ("hip:2", "rocm:2"),
            ("cuda:GPU-5F3A", "cuda:GPU-5f3a"),
            ("cuda:MIG-00ff", "cuda:MIG-00ff"),
            ("cuda:0000:c2:00.0", "cuda:0000:c2:00.0"),
        ];
        for (text, wanted) in cases {
            let name: DeviceName = text.parse().unwrap();
            assert_eq!(name.to_string(), wanted, "{text}");
        }
        for text in ["", "gpu", "cuda:", "cuda:x", "cuda:-1", "tpu:0", "cuda:1:2"] {
            assert_eq!(text.parse::<DeviceName>(), Err(NameError(text.to_owned())));
        }
    }
}
