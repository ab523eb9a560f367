//! The own fields of `devices`: which GPUs this machine has, and who uses them. Amounts are bytes;
//! what could not be read is null.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `devices` found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Devices {
    /// Every platform that is looked for, in the order of preference.
    pub platforms: Vec<PlatformEntry>,
    /// Every device, in the same order, the processor last.
    pub devices: Vec<DeviceEntry>,
    /// The name of the device to take where nothing speaks for another.
    pub recommended: String,
    /// The host's memory.
    pub host: HostEntry,
    /// Devices of several machines, where they were asked for; then nothing is said of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterEntry>,
}

/// Machines that keep their slots in one place, at one revision of that.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterEntry {
    /// The revision.
    pub revision: u64,
    /// The machines. The last one may have no name: devices whose slots are in use, and that no machine
    /// announces.
    pub nodes: Vec<NodeEntry>,
}

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeEntry {
    /// Its name; null where none announces these devices.
    pub name: Option<String>,
    /// Its devices.
    pub devices: Vec<NodeDeviceEntry>,
}

/// A device of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeDeviceEntry {
    /// Its identity, which stays.
    pub id: String,
    /// Its name on that machine; empty where no machine announces it.
    pub name: String,
    /// What its maker calls it.
    pub model: String,
    /// All the memory it has.
    pub total_bytes: Option<u64>,
    /// What nobody held of it when its machine said so last.
    pub free_bytes: Option<u64>,
    /// What is wrong with it; null where nobody tells.
    pub sick: Option<Vec<String>>,
    /// Why it takes no new claims, where it does not: quarantine, or a machine that is drained.
    pub closed: Option<String>,
    /// How many slots it has; null where nobody has asked for one yet.
    pub capacity: Option<u32>,
    /// Bytes of its memory that the holders of slots claim together.
    pub claimed_bytes: u64,
    /// Who holds its slots.
    pub holders: Vec<NodeHolderEntry>,
}

/// A slot that is held.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeHolderEntry {
    /// The machine that holds it.
    pub node: String,
    /// Who holds it there, and how long.
    #[serde(flatten)]
    pub holder: SlotHolderEntry,
}

/// A family of devices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlatformEntry {
    /// Its name.
    pub name: String,
    /// Its version as it counts it: 12080 is CUDA 12.8.
    pub version: Option<u32>,
    /// How many devices it has.
    pub devices: usize,
    /// Why it is not there, where it is not.
    pub unavailable: Option<UnavailableEntry>,
}

/// Why a platform is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnavailableEntry {
    /// One word that programs can rely on.
    pub code: String,
    /// A sentence fragment for people.
    pub why: String,
}

/// One device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceEntry {
    /// Its name by number, which the environment may change.
    pub name: String,
    /// Its identity, which stays.
    pub id: String,
    /// What its maker calls it.
    pub model: String,
    /// Its bus address.
    pub bus_address: Option<String>,
    /// Its compute capability.
    pub compute_capability: Option<String>,
    /// All the memory it has.
    pub total_bytes: Option<u64>,
    /// What nobody holds.
    pub free_bytes: Option<u64>,
    /// What this process's pools hold.
    pub ours_bytes: Option<u64>,
    /// What others hold.
    pub others_bytes: Option<u64>,
    /// Its slots; null for the processor.
    pub slots: Option<SlotsEntry>,
    /// The processes that compute on it, whoever's; null where nobody tells.
    pub processes: Option<Vec<ProcessEntry>>,
    /// How it is; null where nobody tells.
    pub health: Option<HealthEntry>,
}

/// A process that computes on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessEntry {
    /// Its number.
    pub process: u32,
    /// What it holds of the device's memory.
    pub used_bytes: Option<u64>,
}

/// How a device is. What it does not tell is null.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HealthEntry {
    /// What is wrong with it; empty for one that is well.
    pub sick: Vec<String>,
    /// What is worth a word and does not make it sick.
    pub notices: Vec<String>,
    /// Percent of the last moments in which it worked.
    pub utilization_percent: Option<u32>,
    /// Degrees Celsius.
    pub temperature_celsius: Option<u32>,
    /// Power that it draws.
    pub power_milliwatts: Option<u32>,
}

/// Slots of one device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlotsEntry {
    /// How many there are; null where nobody has asked for one yet.
    pub capacity: Option<u32>,
    /// The numbers of those that are held.
    pub held: Vec<u32>,
    /// Bytes of the device's memory that their holders claim together.
    #[serde(default)]
    pub claimed_bytes: u64,
    /// Who holds each of them.
    #[serde(default)]
    pub holders: Vec<SlotHolderEntry>,
    /// Why they could not be looked at, where they could not.
    pub error: Option<String>,
}

/// A slot that is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlotHolderEntry {
    /// Its number.
    pub slot: u32,
    /// The process that took it; null where the system does not tell.
    pub process: Option<u32>,
    /// Bytes of the device's memory that it claims.
    #[serde(default)]
    pub claimed_bytes: u64,
    /// Seconds that it has held the slot; null where it does not say.
    #[serde(default)]
    pub held_seconds: Option<u64>,
    /// Milliseconds of them that the device worked for it, as it says itself.
    #[serde(default)]
    pub used_milliseconds: u64,
}

/// The host's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostEntry {
    /// All there is.
    pub total_bytes: Option<u64>,
    /// What programs can still have.
    pub available_bytes: Option<u64>,
}
