//! Which devices a variable such as `CUDA_VISIBLE_DEVICES` lets a process see.
//!
//! CUDA's driver reads its variable itself: what it shows is what is visible, in that order. Where
//! nobody has done so (the kernel's list of ROCm devices, the management library's list), the rules
//! are applied here. Devices are told apart by their identity or bus address, never by the number
//! that another library has for them.

use std::fmt;

use core_gpu_driver::DeviceInfo;

/// One way to name a device of a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selector {
    /// Its place among the devices.
    Index(u32),
    /// How its identity begins, in small hexadecimal digits with dashes left out: `GPU-` before it.
    Uuid(String),
    /// The same for a slice of a device: `MIG-` before it.
    Mig(String),
    /// A slice by its device and two numbers, as drivers before 470 named it: `MIG-GPU-…/1/0`.
    MigOfDevice(MigOfDevice),
    /// Its bus address: `0000:c2:00.0`.
    Bus(String),
}

/// A slice as old drivers named it. Slices are told apart by identities of their own here, so it leads
/// to none by itself: NVIDIA's management library knows which identity it is, and
/// [`crate::devices::DeviceManager`] asks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigOfDevice {
    /// The device's identity, in small hexadecimal digits with dashes left out: `GPU-` before it.
    pub uuid: String,
    /// The number of its GPU instance.
    pub gpu_instance: u32,
    /// The number of the compute instance in that.
    pub compute_instance: u32,
}

impl MigOfDevice {
    /// Reads what follows `MIG-GPU-`.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('/');
        let (uuid, gpu, compute) = (parts.next()?, parts.next()?, parts.next()?);
        let number = |text: &str| {
            let plain = text.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| text.parse().ok()).flatten()
        };
        parts.next().is_none().then_some(Self {
            uuid: digits(uuid)?,
            gpu_instance: number(gpu)?,
            compute_instance: number(compute)?,
        })
    }
}

impl fmt::Display for MigOfDevice {
    /// As old drivers write it: with dashes where the identity is whole.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MIG-GPU-")?;
        for (place, digit) in self.uuid.chars().enumerate() {
            if self.uuid.len() == 32 && matches!(place, 8 | 12 | 16 | 20) {
                f.write_str("-")?;
            }
            write!(f, "{digit}")?;
        }
        write!(f, "/{}/{}", self.gpu_instance, self.compute_instance)
    }
}

/// Why a selector names no device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VisibleProblem {
    /// It is no selector.
    #[error("`{0}` is no number, identity or bus address")]
    Malformed(String),
    /// Nothing has this number or identity.
    #[error("there is no device `{0}`")]
    NoSuchDevice(String),
    /// An identity that several begin with.
    #[error("`{0}` is the beginning of more than one identity")]
    Ambiguous(String),
    /// A device twice: the driver then shows none.
    #[error("`{0}` names a device a second time")]
    Twice(String),
    /// A slice's name of old drivers, which does not lead to an identity.
    #[error("`{0}` is a name of old drivers; say MIG-IDENTITY")]
    OldName(String),
}

impl Selector {
    /// Reads one. `None` for what is none, `-1` among them.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(rest) = without_prefix(text, "MIG-GPU-") {
            return MigOfDevice::parse(rest).map(Self::MigOfDevice);
        }
        if let Some(rest) = without_prefix(text, "MIG-") {
            return Some(Self::Mig(digits(rest)?));
        }
        if let Some(rest) = without_prefix(text, "GPU-") {
            return Some(Self::Uuid(digits(rest)?));
        }
        if is_bus_address(text) {
            return Some(Self::Bus(text.to_ascii_lowercase()));
        }
        let number = text.bytes().all(|byte| byte.is_ascii_digit());
        number.then(|| text.parse().ok()).flatten().map(Self::Index)
    }

    /// The device among these.
    ///
    /// # Errors
    /// None, or more than one.
    pub fn find<'a>(&self, devices: &'a [DeviceInfo]) -> Result<&'a DeviceInfo, VisibleProblem> {
        let missing = || VisibleProblem::NoSuchDevice(self.to_string());
        match self {
            Self::Index(index) => devices.get(*index as usize).ok_or_else(missing),
            Self::Bus(address) => {
                let same = |device: &&DeviceInfo| {
                    let known = device.bus_address.as_deref();
                    known.is_some_and(|known| normal_bus(known) == normal_bus(address))
                };
                devices.iter().find(same).ok_or_else(missing)
            }
            // Drivers tell the two apart: `GPU-` names no slice. What `MIG-` names may be a slice that
            // its platform does not know as one.
            Self::Uuid(prefix) | Self::Mig(prefix) => {
                let whole = matches!(self, Self::Uuid(_));
                let begins = |device: &&DeviceInfo| {
                    hexadecimal(device).starts_with(prefix) && !(whole && device.capabilities.slice)
                };
                let mut found = devices.iter().filter(begins);
                let first = found.next().ok_or_else(missing)?;
                match found.next() {
                    Some(_) => Err(VisibleProblem::Ambiguous(self.to_string())),
                    None => Ok(first),
                }
            }
            Self::MigOfDevice(_) => Err(VisibleProblem::OldName(self.to_string())),
        }
    }
}

fn without_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (begin, rest) = text.split_at_checked(prefix.len())?;
    begin.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// The digits of an identity's beginning.
fn digits(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(|letter| *letter != '-').collect();
    let fine = !digits.is_empty()
        && digits.len() <= 32
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    fine.then(|| digits.to_ascii_lowercase())
}

fn hexadecimal(device: &DeviceInfo) -> String {
    use fmt::Write as _;
    device.id.uuid.iter().fold(String::new(), |mut text, byte| {
        // Writing into a text cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn is_bus_address(text: &str) -> bool {
    let parts: Vec<_> = text.split([':', '.']).collect();
    let hexadecimal =
        |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    parts.len() == 4 && text.contains('.') && parts.iter().all(hexadecimal)
}

/// A bus address without what libraries disagree on: zeros before the domain, and large letters.
fn normal_bus(address: &str) -> String {
    address.trim_start_matches('0').to_ascii_lowercase()
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(f, "{index}"),
            Self::Uuid(digits) => write!(f, "GPU-{digits}"),
            Self::Mig(digits) => write!(f, "MIG-{digits}"),
            Self::MigOfDevice(old) => old.fmt(f),
            Self::Bus(address) => f.write_str(address),
        }
    }
}

/// What a variable says: the devices that are visible, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visible {
    entries: Vec<String>,
}

impl Visible {
    /// Reads a variable's value. Empty text hides everything.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let entries = if text.is_empty() {
            Vec::new()
        } else {
            text.split(',')
                .map(|entry| entry.trim().to_owned())
                .collect()
        };
        Self { entries }
    }

    /// The devices that are visible, numbered anew, and what is wrong with the variable. As drivers
    /// do it: the first entry that names nothing ends the list, and a device named twice empties it.
    #[must_use]
    pub fn apply(&self, devices: &[DeviceInfo]) -> (Vec<DeviceInfo>, Option<VisibleProblem>) {
        let mut visible: Vec<DeviceInfo> = Vec::new();
        for entry in &self.entries {
            let found = match Selector::parse(entry) {
                Some(selector) => selector.find(devices),
                None => Err(VisibleProblem::Malformed(entry.clone())),
            };
            let device = match found {
                Ok(device) => device,
                Err(problem) => return (visible, Some(problem)),
            };
            if visible.iter().any(|known| known.id == device.id) {
                return (Vec::new(), Some(VisibleProblem::Twice(entry.clone())));
            }
            let ordinal = u32::try_from(visible.len()).unwrap_or(u32::MAX);
            visible.push(DeviceInfo {
                ordinal,
                ..device.clone()
            });
        }
        (visible, None)
    }
}

#[cfg(test)]
mod tests {
    use core_gpu_driver::{Driver as _, HostDriver};

    use super::*;

    /// Devices with identities that begin with these bytes.
    fn devices() -> Vec<DeviceInfo> {
        let device = |(ordinal, begin): (u32, [u8; 2])| {
            let mut device = HostDriver::new(1).info().clone();
            device.id.uuid = [0; 16];
            device.id.uuid[..2].copy_from_slice(&begin);
            device.ordinal = ordinal;
            device.bus_address = Some(format!("0000:{:02x}:00.0", 0xc0 + ordinal));
            device
        };
        let begins = [[0xab, 0x01], [0xab, 0x02], [0xcd, 0x03]];
        (0..).zip(begins).map(device).collect()
    }

    #[test]
    fn old_names_of_slices_are_read() {
        let old = |uuid: &str, gpu_instance, compute_instance| {
            let uuid = uuid.to_owned();
            Some(Selector::MigOfDevice(MigOfDevice {
                uuid,
                gpu_instance,
                compute_instance,
            }))
        };
        for (text, read) in [
            (
                "MIG-GPU-5F3A0001-0000-0000-0000-00000000000b/7/0",
                old("5f3a000100000000000000000000000b", 7, 0),
            ),
            ("mig-gpu-5f3a/12/3", old("5f3a", 12, 3)),
            ("MIG-GPU-5f3a", None),
            ("MIG-GPU-5f3a/7", None),
            ("MIG-GPU-5f3a/7/0/1", None),
            ("MIG-GPU-/7/0", None),
            ("MIG-GPU-5f3a//0", None),
            ("MIG-GPU-5f3a/-1/0", None),
        ] {
            assert_eq!(Selector::parse(text), read, "{text}");
        }
    }

    /// What the variable says, the original places that are visible, what is wrong.
    const CHOICES: &[(&str, &[usize], &str)] = &[
        ("0,1,2", &[0, 1, 2], ""),
        ("2,0", &[2, 0], ""),
        (" 1 ", &[1], ""),
        ("", &[], ""),
        ("-1", &[], "`-1` is no number, identity or bus address"),
        ("0,-1,2", &[0], "`-1` is no number, identity or bus address"),
        ("0,7,1", &[0], "there is no device `7`"),
        ("1,1", &[], "`1` names a device a second time"),
        ("GPU-cd", &[2], ""),
        ("GPU-AB02,0", &[1, 0], ""),
        (
            "GPU-ab",
            &[],
            "`GPU-ab` is the beginning of more than one identity",
        ),
        ("GPU-ab-02", &[1], ""),
        ("GPU-cd,2", &[], "`2` names a device a second time"),
        ("GPU-", &[], "`GPU-` is no number, identity or bus address"),
        ("MIG-cd03", &[2], ""),
        ("MIG-ef", &[], "there is no device `MIG-ef`"),
        (
            "MIG-GPU-ab01/1/0",
            &[],
            "`MIG-GPU-ab01/1/0` is a name of old drivers; say MIG-IDENTITY",
        ),
        (
            "0,MIG-GPU-AB01-02/01/0",
            &[0],
            "`MIG-GPU-ab0102/1/0` is a name of old drivers; say MIG-IDENTITY",
        ),
        (
            "MIG-GPU-ab01/1",
            &[],
            "`MIG-GPU-ab01/1` is no number, identity or bus address",
        ),
        (
            "MIG-GPU-ab01/1/x",
            &[],
            "`MIG-GPU-ab01/1/x` is no number, identity or bus address",
        ),
        ("0000:c1:00.0", &[1], ""),
        ("00000000:C1:00.0", &[1], ""),
    ];

    #[test]
    fn variables_choose_and_order() {
        let devices = devices();
        for (text, wanted, problem) in CHOICES {
            let (visible, found) = Visible::parse(text).apply(&devices);
            let places: Vec<_> = visible
                .iter()
                .map(|device| {
                    let same = |known: &DeviceInfo| known.id == device.id;
                    devices.iter().position(same).unwrap()
                })
                .collect();
            assert_eq!(places, *wanted, "{text}");
            let ordinals: Vec<_> = visible.iter().map(|device| device.ordinal).collect();
            let numbers: Vec<_> = (0..).take(wanted.len()).collect();
            assert_eq!(ordinals, numbers, "{text}");
            let found = found.map(|problem| problem.to_string()).unwrap_or_default();
            assert_eq!(found, *problem, "{text}");
        }
    }
}
