//! ROCm: which devices there are, which runtime, and a device opened. The devices come from what the
//! kernel says of them, which needs no library; the runtime's version comes from the HIP library,
//! where one can be loaded (`library`), and so does all work on a device (`driver`).

mod driver;
mod library;

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    error::Absent,
    identity::{Capabilities, DeviceId, DeviceInfo, MemoryInfo, PlatformKind},
};

/// Where the kernel's topology stands below the root of the file system.
const TOPOLOGY: &str = "sys/class/kfd/kfd/topology/nodes";
/// The largest file of the topology that is read, in bytes. Real ones have about one thousand.
const LARGEST_FILE: u64 = 1 << 16;

pub use driver::{OPTIONAL_SYMBOLS, REQUIRED_SYMBOLS, RocmDriver};
pub use library::{RuntimeDevice, SYMBOLS, runtime_devices};

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The devices, in the kernel's order.
    pub devices: Vec<DeviceInfo>,
    /// The HIP runtime's version as it counts it, or why there is none.
    pub runtime: Result<u32, Absent>,
}

/// Looks for ROCm on this machine: below `/`, and for libraries also below `ROCM_PATH`.
#[must_use]
pub fn detect() -> Found {
    detect_below(Path::new("/"))
}

/// As [`detect`], with the kernel's files below another folder than `/`.
#[must_use]
pub fn detect_below(root: &Path) -> Found {
    Found {
        devices: devices(root),
        runtime: library::runtime_version(),
    }
}

/// The devices that the kernel's topology below `root` shows. A node that cannot be read is none.
#[must_use]
pub fn devices(root: &Path) -> Vec<DeviceInfo> {
    let Ok(entries) = fs::read_dir(root.join(TOPOLOGY)) else {
        return Vec::new();
    };
    let mut nodes: Vec<(u32, PathBuf)> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let number = entry.file_name().to_str()?.parse().ok()?;
            Some((number, entry.path()))
        })
        .collect();
    nodes.sort();
    let found = nodes.iter().filter_map(|(_, node)| Node::read(node));
    (0..)
        .zip(found)
        .map(|(ordinal, node)| node.describe(root, ordinal))
        .collect()
}

/// A node of the topology that is a device.
struct Node {
    properties: Vec<(String, u64)>,
    total_bytes: u64,
    name: String,
}

impl Node {
    fn read(node: &Path) -> Option<Self> {
        let properties = numbers(&read(&node.join("properties"))?);
        let node_of = Self {
            total_bytes: memory_bytes(node),
            name: read(&node.join("name")).map_or_else(String::new, |name| name.trim().to_owned()),
            properties,
        };
        // Processors are nodes, too; they have no vector units.
        (node_of.number("simd_count") > 0).then_some(node_of)
    }

    fn number(&self, name: &str) -> u64 {
        let found = self.properties.iter().find(|(known, _)| known == name);
        found.map_or(0, |(_, number)| *number)
    }

    /// `domain:bus:device.function`.
    fn bus_address(&self) -> String {
        let (domain, location) = (self.number("domain"), self.number("location_id"));
        let (bus, rest) = (location >> 8, location & 0xff);
        format!("{domain:04x}:{bus:02x}:{:02x}.{:x}", rest >> 3, rest & 7)
    }

    fn describe(&self, root: &Path, ordinal: u32) -> DeviceInfo {
        let bus_address = self.bus_address();
        let mut uuid = [0_u8; 16];
        let (unique, bus) = uuid.split_at_mut(8);
        unique.copy_from_slice(&self.number("unique_id").to_be_bytes());
        let place = (self.number("domain") << 32) | self.number("location_id");
        bus.copy_from_slice(&place.to_be_bytes());
        // Written as major * 10000 + minor * 100 + stepping.
        let version = self.number("gfx_target_version") as u32;
        let total_bytes = card_bytes(root, &bus_address).unwrap_or(self.total_bytes);
        DeviceInfo {
            id: DeviceId {
                platform: PlatformKind::Rocm,
                uuid,
            },
            ordinal,
            name: if self.name.is_empty() {
                format!(
                    "gfx{}{}{:x}",
                    version / 10_000,
                    version / 100 % 100,
                    version % 100
                )
            } else {
                self.name.clone()
            },
            total_bytes,
            compute_capability: (version / 10_000, version / 100 % 100),
            bus_address: Some(bus_address),
            driver_version: 0,
            alignment_bytes: 256,
            capabilities: Capabilities::default(),
        }
    }
}

/// The sum of a node's banks of device memory.
fn memory_bytes(node: &Path) -> u64 {
    let Ok(banks) = fs::read_dir(node.join("mem_banks")) else {
        return 0;
    };
    banks
        .filter_map(Result::ok)
        .filter_map(|bank| read(&bank.path().join("properties")))
        .map(|text| numbers(&text))
        .filter(|bank| {
            // 1 and 2 are the device's memory, visible to the host or not.
            bank.iter()
                .any(|(name, value)| name == "heap_type" && matches!(value, 1 | 2))
        })
        .flatten()
        .filter(|(name, _)| name == "size_in_bytes")
        .fold(0, |sum, (_, bytes)| sum.saturating_add(bytes))
}

/// What the graphics driver says of the memory of the card at a bus address.
fn card_bytes(root: &Path, bus_address: &str) -> Option<u64> {
    let device = root.join("sys/bus/pci/devices").join(bus_address);
    read(&device.join("mem_info_vram_total"))?
        .trim()
        .parse()
        .ok()
}

/// Lines of a name and a number.
fn numbers(text: &str) -> Vec<(String, u64)> {
    text.lines()
        .filter_map(|line| {
            let (name, number) = line.split_once(' ')?;
            Some((name.to_owned(), number.trim().parse().ok()?))
        })
        .collect()
}

fn read(path: &Path) -> Option<String> {
    use std::io::Read as _;
    let mut text = String::new();
    let file = fs::File::open(path).ok()?;
    file.take(LARGEST_FILE).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The memory of a device at this moment, from what the kernel says of the card at its bus address
/// below `root`. Unreadable is `None`.
#[must_use]
pub fn memory_info(root: &Path, bus_address: &str) -> Option<MemoryInfo> {
    let total_bytes = card_bytes(root, bus_address)?;
    let device = root.join("sys/bus/pci/devices").join(bus_address);
    let used: u64 = read(&device.join("mem_info_vram_used"))?
        .trim()
        .parse()
        .ok()?;
    Some(MemoryInfo::left(total_bytes, used))
}
