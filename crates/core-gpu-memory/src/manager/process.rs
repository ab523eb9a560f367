//! The process's own manager, for programs that want one and not several.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use core_gpu_driver::{Driver, DriverError, HostDriver};

use crate::{
    AllocError, MemoryManager,
    config::{Backend, ConfigError, MemoryConfig},
};

static MANAGER: OnceLock<MemoryManager> = OnceLock::new();

/// Why there is no manager for the process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessManagerError {
    /// The environment says something that is no configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The device that is configured cannot be opened. Nothing else is taken in its place.
    #[error("the device `{device}` cannot be used: {error}")]
    Device {
        /// Its name in the configuration.
        device: String,
        /// Why not.
        error: DriverError,
    },
    /// The manager could not be made.
    #[error(transparent)]
    Alloc(#[from] AllocError),
    /// The process has one already.
    #[error("the process has a memory manager already")]
    AlreadySet,
}

/// The manager of the process, made at the first call as the environment configures it (see
/// [`MemoryConfig::from_environment`]), unless [`set_memory_manager`] was first. A failure is not
/// kept: the next call tries again. May be called from several threads, of which one makes it; it is
/// the process's until that ends.
///
/// # Errors
/// See [`ProcessManagerError`].
pub fn memory_manager() -> Result<&'static MemoryManager, ProcessManagerError> {
    /// One at a time, so that a device is not opened twice.
    static MAKING: Mutex<()> = Mutex::new(());
    if let Some(manager) = MANAGER.get() {
        return Ok(manager);
    }
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(manager) = MANAGER.get() {
        return Ok(manager);
    }
    let config = MemoryConfig::from_environment()?;
    let driver = open(&config)?;
    let manager = MemoryManager::builder(&driver)
        .configured(&config)
        .build()?;
    Ok(MANAGER.get_or_init(|| manager))
}

/// Makes a manager the process's, before anybody has asked for it; it stays until the process ends.
/// May be called from several threads, of which the first is heard.
///
/// # Errors
/// [`ProcessManagerError::AlreadySet`]: the first one stays.
pub fn set_memory_manager(manager: MemoryManager) -> Result<(), ProcessManagerError> {
    MANAGER
        .set(manager)
        .map_err(|_| ProcessManagerError::AlreadySet)
}

/// Opens the device that a configuration names.
fn open(config: &MemoryConfig) -> Result<Arc<dyn Driver>, ProcessManagerError> {
    let backend = if config.enabled {
        &config.device
    } else {
        &Backend::Host
    };
    match backend {
        Backend::Host => Ok(Arc::new(HostDriver::with_identity(
            HostDriver::OF_PROCESS,
            config.host_bytes,
        ))),
        Backend::Cuda { ordinal } => {
            open_cuda(*ordinal).map_err(|error| ProcessManagerError::Device {
                device: backend.to_string(),
                error,
            })
        }
    }
}

#[cfg(feature = "cuda")]
fn open_cuda(ordinal: u32) -> Result<Arc<dyn Driver>, DriverError> {
    use core_gpu_driver::{Absent, CudaDriver};
    let devices = core_gpu_driver::cuda::devices()?;
    let found = devices
        .get(ordinal as usize)
        .ok_or_else(|| Absent::Device {
            wanted: format!("number {ordinal}"),
        })?;
    let driver = CudaDriver::open(&found.id)?;
    Ok(driver)
}

#[cfg(not(feature = "cuda"))]
fn open_cuda(_ordinal: u32) -> Result<Arc<dyn Driver>, DriverError> {
    Err(core_gpu_driver::Absent::NotBuilt { feature: "cuda" }.into())
}
