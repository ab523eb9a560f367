//! What managers refuse.

use core_gpu_driver::{DeviceId, DriverError};
use core_gpu_memory::{AllocError, manager::ProcessManagerError};

use crate::{configuration::ConfigurationError, devices::DeviceError};

/// Why a manager is not there, or has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManagerError {
    /// The environment says something that is no configuration.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// There is no such device.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The device's driver failed.
    #[error("{device}: {error}")]
    Driver {
        /// The device.
        device: String,
        /// What the driver said.
        error: DriverError,
    },
    /// The memory manager could not be made.
    #[error(transparent)]
    Memory(#[from] AllocError),
    /// The process's memory manager is not there.
    #[error(transparent)]
    Process(#[from] ProcessManagerError),
    /// There is no device of that identity.
    #[error("there is no device {0}")]
    UnknownDevice(DeviceId),
    /// There is no GPU to spread work over.
    #[error("there is no GPU")]
    NoDevice,
    /// The device does not tell how much of its memory is free.
    #[error("{device} does not tell how much of its memory is free")]
    UnknownMemory {
        /// The device.
        device: String,
    },
    /// Not even one item fits.
    #[error("{device} has {free_bytes} bytes for items, and one has {bytes_per_item}")]
    NoRoom {
        /// The device.
        device: String,
        /// Bytes that are free for items.
        free_bytes: u64,
        /// Bytes of one.
        bytes_per_item: u64,
    },
    /// A request that cannot be.
    #[error("{setting} cannot be {value}")]
    Setting {
        /// What of it.
        setting: &'static str,
        /// What it says.
        value: String,
    },
}
