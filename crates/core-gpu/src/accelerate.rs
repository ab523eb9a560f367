//! Work that uses a GPU where there is one: with another way where there is none, within a scope
//! that gives everything back, or not at all without one.
//!
//! ```
//! use core_gpu::accelerate::accelerated;
//!
//! let sum = accelerated(
//!     |_gpu| -> Result<u64, core_gpu::driver::DriverError> { Ok((1..=100).sum()) },
//!     || (1..=100).sum(),
//! );
//! assert_eq!(sum.value, 5050);
//! println!("it ran on {}", sum.ran_on);
//! ```

use std::{fmt::Display, sync::Arc};

use core_gpu_driver::{Driver, DriverError, PlatformKind, Stream, StreamKind};
use core_gpu_memory::{AllocError, Buffer, DeviceType, Pool, Source};

use crate::{
    devices::{DeviceError, DeviceManager, ResolvedDevice},
    platform::{DeviceName, Fallback},
    warning::{Warning, warn},
};

/// Why there is no GPU to work on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoGpu {
    /// The environment says something that is no configuration.
    #[error(transparent)]
    Configuration(#[from] crate::configuration::ConfigurationError),
    /// There is none, or not the one that was asked for.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// Only the processor is there, or wanted.
    #[error("there is no GPU")]
    None,
    /// It cannot be opened.
    #[error("{device} cannot be used: {error}")]
    Driver {
        /// The device.
        device: String,
        /// What its driver said.
        error: DriverError,
    },
}

/// A GPU, opened, with a stream and a pool of its own. What was put on the stream is waited for when
/// it is dropped, and the memory goes back. Any thread.
#[derive(Debug)]
pub struct GpuScope {
    device: ResolvedDevice,
    driver: Arc<dyn Driver>,
    stream: Stream,
    pool: Pool,
}

impl GpuScope {
    /// Opens a device by name: `auto`, `cuda:1`. The processor is none.
    ///
    /// # Errors
    /// See [`NoGpu`].
    pub fn open(manager: &DeviceManager, name: &str) -> Result<Self, NoGpu> {
        let device = manager.resolve_device(name, Fallback::Error)?;
        if device.info.id.platform == PlatformKind::Host {
            return Err(NoGpu::None);
        }
        let failed = |error| NoGpu::Driver {
            device: device.name.to_string(),
            error,
        };
        let driver = manager.open(&device.info.id).map_err(failed)?;
        let stream = Stream::new(&driver, StreamKind::NonBlocking).map_err(failed)?;
        let pool = Pool::new(&driver);
        Ok(Self {
            device,
            driver,
            stream,
            pool,
        })
    }

    /// The device's name by number.
    #[must_use]
    pub fn name(&self) -> &DeviceName {
        &self.device.name
    }

    /// The device.
    #[must_use]
    pub fn driver(&self) -> &Arc<dyn Driver> {
        &self.driver
    }

    /// The scope's stream.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The scope's pool.
    #[must_use]
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Values on the device.
    ///
    /// # Errors
    /// As the pool or the copy fails.
    pub fn to_gpu<T: DeviceType>(&self, values: &[T], by: Source) -> Result<Buffer<T>, AllocError> {
        let mut buffer = self.pool.allocate::<T>(values.len(), &self.stream, by)?;
        buffer.upload(values, &self.stream)?;
        Ok(buffer)
    }

    /// Values of the device on the host.
    ///
    /// # Errors
    /// As the copy fails.
    pub fn to_cpu<T: DeviceType>(&self, buffer: &Buffer<T>) -> Result<Vec<T>, DriverError> {
        buffer.download(&self.stream)
    }

    /// Gives memory that is not in use back to the driver. Returns how many bytes.
    pub fn free_memory(&self) -> u64 {
        self.pool.trim()
    }
}

impl Drop for GpuScope {
    fn drop(&mut self) {
        // What fails here has failed the work, which has its own answer; the pool's memory goes
        // back with its last block.
        let _ = self.stream.synchronize();
        self.pool.trim();
    }
}

/// The recommended GPU, or an error: for work that makes no sense without one.
///
/// # Errors
/// See [`NoGpu`].
pub fn require_gpu() -> Result<GpuScope, NoGpu> {
    GpuScope::open(&DeviceManager::from_environment()?, "auto")
}

/// Whether there is a GPU that this process prefers to the processor. Opens none.
#[must_use]
pub fn is_gpu_available() -> bool {
    let device = DeviceManager::from_environment()
        .ok()
        .and_then(|manager| manager.resolve_device("auto", Fallback::Error).ok());
    device.is_some_and(|device| device.info.id.platform != PlatformKind::Host)
}

/// A result, and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Accelerated<T> {
    /// The result.
    pub value: T,
    /// The device that computed it.
    pub ran_on: DeviceName,
    /// Why it was not a GPU, where it was not.
    pub instead: Option<String>,
}

/// Runs work on the recommended GPU; the other way where there is none, and where the GPU's work
/// fails, with a warning then. The GPU's work may have been done in part: it must leave nothing
/// behind that the other way does not bear.
pub fn accelerated<T, E: Display>(
    gpu: impl FnOnce(&GpuScope) -> Result<T, E>,
    cpu: impl FnOnce() -> T,
) -> Accelerated<T> {
    accelerated_with(require_gpu, gpu, cpu)
}

/// As [`accelerated`], on the device that `open` gives.
pub fn accelerated_with<T, E: Display>(
    open: impl FnOnce() -> Result<GpuScope, NoGpu>,
    gpu: impl FnOnce(&GpuScope) -> Result<T, E>,
    cpu: impl FnOnce() -> T,
) -> Accelerated<T> {
    let why = match open() {
        Err(why) => why.to_string(),
        Ok(scope) => match gpu(&scope) {
            Ok(value) => {
                return Accelerated {
                    value,
                    ran_on: scope.name().clone(),
                    instead: None,
                };
            }
            Err(error) => {
                let why = error.to_string();
                warn(&Warning::Fallback {
                    wanted: scope.name().to_string(),
                    used: PlatformKind::Host,
                    why: why.clone(),
                });
                why
            }
        },
    };
    Accelerated {
        value: cpu(),
        ran_on: DeviceName::numbered(PlatformKind::Host, 0),
        instead: Some(why),
    }
}
