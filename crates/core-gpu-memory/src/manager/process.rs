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
/// [`MemoryConfig::from_environment`]), unless [`set_memory_manager`] was first. Unless a device is
/// configured it is the CUDA device with the most memory, or memory of the host where there is none:
/// [`MemoryManager::driver`] says which. A failure is not
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

/// The manager of the process, where there is one already. Makes none.
#[must_use]
pub fn existing_memory_manager() -> Option<&'static MemoryManager> {
    MANAGER.get()
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
        Backend::Host => Ok(host(config)),
        Backend::Auto => match automatic() {
            Ok(Some(driver)) => Ok(driver),
            Ok(None) => Ok(host(config)),
            Err(error) => Err(ProcessManagerError::Device {
                device: backend.to_string(),
                error,
            }),
        },
        Backend::Cuda { ordinal } => {
            open_cuda(*ordinal).map_err(|error| ProcessManagerError::Device {
                device: backend.to_string(),
                error,
            })
        }
    }
}

/// Memory of the host, under the identity that it has as the process's device.
fn host(config: &MemoryConfig) -> Arc<dyn Driver> {
    let id = HostDriver::OF_PROCESS;
    Arc::new(HostDriver::with_identity(id, config.host_bytes))
}

/// Whether the environment asks for the processor where nothing names a device: in the words of the
/// whole runtime, so that this manager and others of the process do not differ.
fn wants_processor(variable: impl Fn(&str) -> Option<String>) -> bool {
    let word = |name: &str| {
        let text = variable(name).unwrap_or_default();
        text.trim().to_ascii_lowercase()
    };
    let preference = word("COALESCE_GPU_PLATFORM_PREFERENCE");
    let backend = word("GPU_BACKEND");
    let first = [preference, backend]
        .into_iter()
        .find(|word| !word.is_empty() && word != "auto");
    match first.as_deref() {
        Some(word) => matches!(word, "cpu" | "host"),
        None => matches!(word("USE_CUDA").as_str(), "0" | "false" | "no"),
    }
}

/// The best CUDA device, where there is one. That nothing of CUDA is on the machine is no error; a
/// driver that is there and fails is one.
#[cfg(feature = "cuda")]
fn automatic() -> Result<Option<Arc<dyn Driver>>, DriverError> {
    use core_gpu_driver::{Absent, CudaDriver};
    if wants_processor(|name| std::env::var(name).ok()) {
        return Ok(None);
    }
    let devices = match core_gpu_driver::cuda::devices() {
        Ok(devices) => devices,
        Err(DriverError::Absent(Absent::Library { .. })) => return Ok(None),
        Err(error) => return Err(error),
    };
    let best = devices.iter().rev().max_by_key(|info| info.total_bytes);
    let Some(best) = best else { return Ok(None) };
    let driver = CudaDriver::open(&best.id)?;
    Ok(Some(driver))
}

#[cfg(not(feature = "cuda"))]
fn automatic() -> Result<Option<Arc<dyn Driver>>, DriverError> {
    // Nothing else can be opened here, whatever the environment prefers.
    let _ = wants_processor(|name| std::env::var(name).ok());
    Ok(None)
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

#[cfg(test)]
mod tests {
    use super::wants_processor;

    #[test]
    fn the_words_of_the_runtime_ask_for_the_processor() {
        type Variables<'a> = &'a [(&'a str, &'a str)];
        let cases: &[(Variables<'_>, bool)] = &[
            (&[], false),
            (&[("GPU_BACKEND", "cpu")], true),
            (&[("GPU_BACKEND", " Host ")], true),
            (&[("GPU_BACKEND", "cuda")], false),
            (&[("USE_CUDA", "0")], true),
            (&[("USE_CUDA", "1")], false),
            (&[("GPU_BACKEND", "auto"), ("USE_CUDA", "no")], true),
            (&[("GPU_BACKEND", "cuda"), ("USE_CUDA", "no")], false),
            (&[("COALESCE_GPU_PLATFORM_PREFERENCE", "cpu")], true),
            (
                &[
                    ("COALESCE_GPU_PLATFORM_PREFERENCE", "cuda"),
                    ("GPU_BACKEND", "cpu"),
                ],
                false,
            ),
        ];
        for (variables, wanted) in cases {
            let wants = wants_processor(|name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            });
            assert_eq!(wants, *wanted, "{variables:?}");
        }
    }
}
