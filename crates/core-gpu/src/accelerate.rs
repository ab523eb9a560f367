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
//!
//! The device is looked for and opened once, and its pool stays from one piece of work to the next:
//! [`release`] gives it back.

use std::{
    fmt::{Display, Write as _},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use core_gpu_driver::{Driver, DriverError, PlatformKind, Stream, StreamKind};
use core_gpu_memory::{AllocError, Buffer, DeviceType, Pool, Source};

use crate::{
    configuration::Configuration,
    devices::{DeviceError, DeviceManager, ResolvedDevice},
    platform::{DEFAULT_DEVICE, DeviceName, Fallback, Platforms, Preference, Unavailable},
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
    /// Only the processor is wanted.
    #[error("there is no GPU")]
    None,
    /// Only the processor is there; why each platform is not, one that was not built among them.
    #[error("there is no GPU{}", list(reasons))]
    NotThere {
        /// The platforms, and why.
        reasons: Vec<(PlatformKind, Unavailable)>,
    },
    /// It cannot be opened.
    #[error("{device} cannot be used: {error}")]
    Driver {
        /// The device.
        device: String,
        /// What its driver said.
        error: DriverError,
    },
}

/// Reasons, each behind a mark.
fn list(reasons: &[(PlatformKind, Unavailable)]) -> String {
    let mut text = String::new();
    for (place, (platform, why)) in reasons.iter().enumerate() {
        let mark = if place == 0 { ": " } else { "; " };
        // Writing into a text cannot fail.
        let _ = write!(text, "{mark}{platform}: {why}");
    }
    text
}

/// Why no platform but the processor is there.
pub(crate) fn not_there(platforms: &Platforms) -> NoGpu {
    let all = platforms.all();
    let others = all
        .iter()
        .filter(|status| status.kind != PlatformKind::Host);
    let reasons = others.filter_map(|status| Some((status.kind, status.answer.err()?.clone())));
    NoGpu::NotThere {
        reasons: reasons.collect(),
    }
}

/// A GPU, opened, with a stream of its own and a pool. What was put on the stream is waited for when
/// it is dropped. Memory goes back to the pool, and to the driver with the last scope on it. Any
/// thread.
#[derive(Debug)]
pub struct GpuScope {
    device: ResolvedDevice,
    driver: Arc<dyn Driver>,
    stream: Stream,
    pool: Arc<Pool>,
}

impl GpuScope {
    /// Opens a device by name: `auto`, `cuda:1`. The processor is none.
    ///
    /// # Errors
    /// See [`NoGpu`].
    pub fn open(manager: &DeviceManager, name: &str) -> Result<Self, NoGpu> {
        let device = manager.resolve_device(name, Fallback::Error)?;
        if device.info.id.platform == PlatformKind::Host {
            let asked_for = !name.trim().eq_ignore_ascii_case(DEFAULT_DEVICE)
                || manager.preference() == Preference::CPU;
            return Err(if asked_for {
                NoGpu::None
            } else {
                not_there(manager.platforms())
            });
        }
        let driver = manager.open(&device.info.id);
        let driver = driver.map_err(|error| failed(&device, error))?;
        let pool = Arc::new(Pool::new(&driver));
        Self::on(device, driver, pool)
    }

    fn on(device: ResolvedDevice, driver: Arc<dyn Driver>, pool: Arc<Pool>) -> Result<Self, NoGpu> {
        let stream = Stream::new(&driver, StreamKind::NonBlocking);
        Ok(Self {
            stream: stream.map_err(|error| failed(&device, error))?,
            device,
            driver,
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

fn failed(device: &ResolvedDevice, error: DriverError) -> NoGpu {
    NoGpu::Driver {
        device: device.name.to_string(),
        error,
    }
}

impl Drop for GpuScope {
    fn drop(&mut self) {
        // What fails here has failed the work, which has its own answer.
        let waited = self.stream.synchronize();
        if waited.is_err_and(|error| error.is_lost()) {
            forget(&self.pool);
        }
        if Arc::strong_count(&self.pool) == 1 {
            self.pool.trim();
        }
    }
}

/// The GPU that scopes of this process share.
struct Shared {
    preference: Preference,
    /// Keeps what was found: names and their devices.
    device: ResolvedDevice,
    driver: Arc<dyn Driver>,
    pool: Arc<Pool>,
}

fn shared() -> MutexGuard<'static, Option<Shared>> {
    static SHARED: Mutex<Option<Shared>> = Mutex::new(None);
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A device that is lost is opened anew by who comes next.
fn forget(pool: &Arc<Pool>) {
    let mut shared = shared();
    let lost = shared.take_if(|shared| Arc::ptr_eq(&shared.pool, pool));
    drop(shared);
    drop(lost);
}

/// Gives back what [`require_gpu`] and [`accelerated`] keep between their calls: the pool's memory and
/// the device. Who works at the moment goes on; the next call opens anew.
pub fn release() {
    let kept = shared().take();
    drop(kept);
}

/// The recommended GPU, or an error: for work that makes no sense without one. The device and its
/// pool are opened by the first call and shared by all until [`release`]; each scope has a stream of
/// its own.
///
/// # Errors
/// See [`NoGpu`].
pub fn require_gpu() -> Result<GpuScope, NoGpu> {
    let preference = Configuration::from_environment()?.preference;
    let mut shared = shared();
    let kept = shared
        .as_ref()
        .filter(|kept| kept.preference == preference)
        .map(|kept| {
            let (driver, pool) = (Arc::clone(&kept.driver), Arc::clone(&kept.pool));
            GpuScope::on(kept.device.clone(), driver, pool)
        });
    match kept {
        Some(Err(NoGpu::Driver { error, .. })) if error.is_lost() => *shared = None,
        Some(answer) => return answer,
        None => {}
    }
    // Under the lock, so that it is opened once.
    let scope = GpuScope::open(&DeviceManager::new(Platforms::system(), preference), "auto")?;
    let before = shared.replace(Shared {
        preference,
        device: scope.device.clone(),
        driver: Arc::clone(&scope.driver),
        pool: Arc::clone(&scope.pool),
    });
    drop(shared);
    drop(before);
    Ok(scope)
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
