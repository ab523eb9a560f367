//! Which platforms there are, and why the others are not: CUDA, ROCm, Metal and the processor.
//!
//! A platform is looked for when somebody asks, once in a process, without making a context on a
//! device. One that does not answer in time is [`Unavailable::Hung`] from then on: a thread that is
//! stuck in a driver cannot be ended, and the next one would be stuck as well.
//!
//! ```
//! use core_gpu::platform::{Fallback, Platforms, Preference};
//!
//! # fn main() -> Result<(), core_gpu::platform::SelectError> {
//! let chosen = Platforms::system().select(Preference::Auto, Fallback::Cpu)?;
//! println!("{} with {} devices", chosen.kind(), chosen.found().devices.len());
//! # Ok(())
//! # }
//! ```

mod cpu;
mod cuda;
mod deadline;
mod dialect;
mod facade;
mod metal;
mod name;
mod platforms;
mod preference;
mod rocm;
mod support;
mod tuning;
mod unavailable;
mod visible;
#[cfg(feature = "vulkan")]
mod vulkan;

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use core_gpu_driver::{DeviceId, DeviceInfo, Driver, DriverError, MemoryInfo, PlatformKind};

pub use cpu::{CpuPlatform, HostMemory, host_memory};
pub use cuda::{CudaPlatform, OLDEST_DRIVER};
pub use deadline::Deadline;
pub use dialect::{Dialect, DialectError};
pub use facade::{apply_platform_optimizations, detect_available_backends, get_optimal_device};
pub use metal::MetalPlatform;
pub use name::{DEFAULT_DEVICE, DeviceName, NameError};
pub use platforms::{Platforms, SelectError, Selection, Status};
pub(crate) use preference::name_of;
pub use preference::{Fallback, Preference, PreferenceError};
pub use rocm::RocmPlatform;
pub use support::{SUPPORT, Support, support_table};
pub use tuning::{Tuning, TuningValue};
pub use unavailable::Unavailable;
pub use visible::{MigOfDevice, Selector, Visible, VisibleProblem};
#[cfg(feature = "vulkan")]
pub use vulkan::VulkanPlatform;

/// What looking for a platform has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The version as the platform counts it (12080 is CUDA 12.8), where it has one.
    pub version: Option<u32>,
    /// Its devices, one at least, in its own order: the place of each is its ordinal.
    pub devices: Vec<DeviceInfo>,
}

/// A family of devices. Any thread.
pub trait Platform: fmt::Debug + Send + Sync {
    /// Which one.
    fn kind(&self) -> PlatformKind;

    /// Looks for devices, without making a context on any. May never return: [`Platforms`] calls it
    /// on a thread that it can do without.
    ///
    /// # Errors
    /// Why there is none. An empty list of devices is never an answer.
    fn probe(&self) -> Result<Found, Unavailable>;

    /// Whether [`Platform::probe`] could wait for something.
    fn may_hang(&self) -> bool {
        true
    }

    /// Opens a device for memory and streams.
    ///
    /// # Errors
    /// As the driver says. Devices of a platform that is only detected cannot be opened:
    /// [`core_gpu_driver::Absent::Unsupported`].
    fn open(&self, id: &DeviceId) -> Result<Arc<dyn Driver>, DriverError>;

    /// The memory of a device that is not open, where the platform tells it without a context. May
    /// never return, as [`Platform::probe`].
    fn memory_info(&self, device: &DeviceInfo) -> Option<MemoryInfo> {
        let _ = device;
        None
    }

    /// Settings that suit its devices.
    fn tunings(&self) -> &'static [Tuning];
}

/// A file of a device that is there and that this user may not use.
#[cfg_attr(
    not(any(feature = "cuda-any-bindings", feature = "rocm")),
    expect(dead_code, reason = "nothing is asked")
)]
fn closed_file(path: impl AsRef<Path>) -> Option<PathBuf> {
    let path = path.as_ref();
    #[cfg(unix)]
    {
        use rustix::fs::{Access, access};
        let closed = path.exists() && access(path, Access::READ_OK | Access::WRITE_OK).is_err();
        closed.then(|| path.to_owned())
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}
