//! What a machine is made of: its devices, its schedule, and what things cost on its clock.

use crate::schedule::Schedule;

/// One device of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceConfig {
    /// Its name.
    pub name: String,
    /// Its identity.
    pub uuid: [u8; 16],
    /// Its bus, which tells devices apart that are hidden from some programs.
    pub bus: u8,
    /// Bytes of memory.
    pub total_bytes: u64,
    /// Bytes that a context takes for itself.
    pub context_bytes: u64,
    /// Bytes that other processes hold at the start.
    pub other_processes_bytes: u64,
    /// What the driver rounds an allocation up to in its books, in bytes; a power of two.
    pub granularity_bytes: u64,
    /// How much freed memory its pool for stream-ordered allocation keeps at a synchronisation.
    pub pool_release_threshold_bytes: u64,
    /// Major and minor compute capability.
    pub compute_capability: (u32, u32),
    /// It is a slice of another device (MIG): its identity is written `MIG-…`.
    pub slice: bool,
    /// It has address space apart from memory.
    pub virtual_memory: bool,
    /// It allocates in a stream's order.
    pub stream_ordered_allocation: bool,
}

impl DeviceConfig {
    /// A device with this many bytes, and the rest as usual.
    #[must_use]
    pub fn with_bytes(total_bytes: u64) -> Self {
        Self {
            name: "Simulated GPU".to_owned(),
            uuid: [0; 16],
            bus: 0,
            total_bytes,
            context_bytes: 0,
            other_processes_bytes: 0,
            granularity_bytes: 512,
            pool_release_threshold_bytes: 0,
            compute_capability: (9, 0),
            slice: false,
            virtual_memory: true,
            stream_ordered_allocation: true,
        }
    }
}

/// What things cost on a machine's own clock, in nanoseconds. Nothing waits in earnest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// Every driver call, on the host.
    pub call: u64,
    /// A driver allocation or free, on the host, on top of the call.
    pub allocation: u64,
    /// Starting any work on a device.
    pub launch: u64,
    /// Bytes that a device's link moves in a microsecond, each way: copies of one direction share it.
    pub link_bytes_per_microsecond: u64,
    /// Bytes that a device's memory moves in a microsecond.
    pub memory_bytes_per_microsecond: u64,
}

impl Default for Costs {
    /// Of the order of a card of 2023.
    fn default() -> Self {
        Self {
            call: 500,
            allocation: 50_000,
            launch: 2_000,
            link_bytes_per_microsecond: 50_000,
            memory_bytes_per_microsecond: 3_000_000,
        }
    }
}

/// All of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Its devices; each one's number is its place here.
    pub devices: Vec<DeviceConfig>,
    /// Its schedule.
    pub schedule: Schedule,
    /// What things cost.
    pub costs: Costs,
    /// The driver's version, as the driver counts: 12080 is 12.8.
    pub driver_version: u32,
    /// A call that breaks a rule fails. Otherwise it is only recorded.
    pub violations_fail: bool,
}

impl DeviceConfig {
    /// Its place: `domain:bus:device.function`.
    #[must_use]
    pub fn bus_address(&self) -> String {
        format!("0000:{:02x}:00.0", self.bus)
    }

    /// Its identity as variables and the management library write it: `GPU-…`, `MIG-…` for a slice.
    #[must_use]
    pub fn uuid_text(&self) -> String {
        let mut text = if self.slice { "MIG-" } else { "GPU-" }.to_owned();
        for (index, byte) in self.uuid.iter().enumerate() {
            if matches!(index, 4 | 6 | 8 | 10) {
                text.push('-');
            }
            text.push_str(&format!("{byte:02x}"));
        }
        text
    }

    /// What drivers before 470 called a slice: the device that it is cut from, which is the same for
    /// all simulated ones, and its instance. `None` for a whole device.
    #[must_use]
    pub fn old_slice_name(&self) -> Option<String> {
        const DEVICE: &str = "MIG-GPU-77686f6c-6520-6465-7669-636520202020";
        self.slice.then(|| format!("{DEVICE}/{}/0", self.bus))
    }
}

impl Config {
    /// Devices of these many bytes, with an identity each.
    #[must_use]
    pub fn with_devices(total_bytes: &[u64]) -> Self {
        let device = |(number, bytes): (u8, &u64)| DeviceConfig {
            uuid: uuid(number),
            bus: number,
            ..DeviceConfig::with_bytes(*bytes)
        };
        Self {
            devices: (0..).zip(total_bytes).map(device).collect(),
            schedule: Schedule::default(),
            costs: Costs::default(),
            driver_version: 12_080,
            violations_fail: true,
        }
    }
}

fn uuid(number: u8) -> [u8; 16] {
    let mut uuid = *b"simulated gpu \0\0";
    uuid[15] = number;
    uuid
}
