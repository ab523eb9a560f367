//! The kernel's files about AMD's devices, below a folder: what detection of ROCm reads where there
//! is no library. A test hands that folder to the detection as the root of the file system.

use std::{fs, io, path::Path};

use crate::config::DeviceConfig;

/// What one device's files say beside its make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Percent of the last moments with work on the device.
    pub busy_percent: u32,
    /// Bytes in use.
    pub used_bytes: u64,
    /// Its kind: 90402 is gfx942, major, minor and stepping.
    pub target_version: u32,
}

impl Default for Shown {
    fn default() -> Self {
        Self {
            busy_percent: 0,
            used_bytes: 0,
            target_version: 90_402,
        }
    }
}

/// Writes the files of a processor and these devices below `root`: the topology, the devices on
/// their buses, and the cards.
///
/// # Errors
/// As writing fails.
pub fn write(root: &Path, devices: &[(DeviceConfig, Shown)]) -> io::Result<()> {
    let nodes = root.join("sys/class/kfd/kfd/topology/nodes");
    file(
        &nodes.join("0"),
        "properties",
        "cpu_cores_count 8\nsimd_count 0\n",
    )?;
    file(&nodes.join("0"), "name", "\n")?;
    for (number, (device, shown)) in devices.iter().enumerate() {
        node(&nodes.join((number + 1).to_string()), device, *shown)?;
        let place = root.join("sys/bus/pci/devices").join(device.bus_address());
        let card = root.join(format!("sys/class/drm/card{number}/device"));
        for folder in [place, card] {
            let total = format!("{}\n", device.total_bytes);
            file(&folder, "mem_info_vram_total", &total)?;
            file(
                &folder,
                "mem_info_vram_used",
                &format!("{}\n", shown.used_bytes),
            )?;
            file(
                &folder,
                "gpu_busy_percent",
                &format!("{}\n", shown.busy_percent),
            )?;
        }
    }
    Ok(())
}

fn node(folder: &Path, device: &DeviceConfig, shown: Shown) -> io::Result<()> {
    let (unique, _) = device.uuid.split_at(8);
    let unique = unique
        .iter()
        .fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
    let location = u32::from(device.bus) << 8;
    let properties = format!(
        "simd_count 304\ngfx_target_version {}\nlocation_id {location}\ndomain 0\nunique_id {}\n",
        shown.target_version,
        unique ^ u64::from(device.bus),
    );
    file(folder, "properties", &properties)?;
    file(folder, "name", &format!("{}\n", device.name))?;
    let bank = format!("heap_type 1\nsize_in_bytes {}\n", device.total_bytes);
    file(&folder.join("mem_banks/0"), "properties", &bank)
}

fn file(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join(name), text)
}
