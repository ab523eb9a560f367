//! One device's memory, cache and profiler.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use core_gpu_driver::{Driver, HostDriver, PlatformKind};
use core_gpu_memory::{
    Backend, Cache, CacheLimits, MemoryConfig, MemoryManager, Observer, Source,
    existing_memory_manager, memory_manager, set_memory_manager,
};

use crate::{
    configuration::Configuration,
    devices::{DeviceManager, ResolvedDevice},
    platform::{DeviceName, Fallback},
    profiler::{MemoryWatch, Profiler, profiler},
    warning::{Warning, warn},
};

use super::ManagerError;

/// Memory, cache and profiler of a device. Any thread.
#[derive(Debug)]
pub struct GpuManager {
    memory: Held,
    cache: Cache,
}

/// The memory manager: one's own, or the process's.
#[derive(Debug)]
enum Held {
    Own(Box<MemoryManager>),
    Process(&'static MemoryManager),
}

impl GpuManager {
    /// Manages a device that is open, with settings for its memory. The profiler sees its memory.
    ///
    /// # Errors
    /// [`ManagerError::Memory`].
    pub fn on(driver: &Arc<dyn Driver>, config: &MemoryConfig) -> Result<Self, ManagerError> {
        let memory = watched(driver, config)?;
        let cache = cache(&memory, config);
        Ok(Self {
            memory: Held::Own(Box::new(memory)),
            cache,
        })
    }

    /// Its memory.
    #[must_use]
    pub fn memory(&self) -> &MemoryManager {
        match &self.memory {
            Held::Own(memory) => memory,
            Held::Process(memory) => memory,
        }
    }

    /// Its cache, in its memory.
    #[must_use]
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// The process's profiler.
    #[must_use]
    pub fn profiler(&self) -> &'static Profiler {
        profiler()
    }

    /// The device.
    #[must_use]
    pub fn driver(&self) -> &Arc<dyn Driver> {
        self.memory().driver()
    }

    /// Its name by number.
    #[must_use]
    pub fn device(&self) -> DeviceName {
        DeviceName::of(self.driver().info())
    }

    /// Whether it is a GPU, and not the host's memory.
    #[must_use]
    pub fn is_gpu(&self) -> bool {
        self.driver().info().id.platform != PlatformKind::Host
    }
}

fn watched(driver: &Arc<dyn Driver>, config: &MemoryConfig) -> Result<MemoryManager, ManagerError> {
    let watch: Arc<dyn Observer> = Arc::new(MemoryWatch::new());
    let builder = MemoryManager::builder(driver).configured(config);
    Ok(builder.observer(watch).build()?)
}

fn cache(memory: &MemoryManager, config: &MemoryConfig) -> Cache {
    let limits = CacheLimits::configured(config);
    Cache::new(memory, limits, Source::named("cache"))
}

/// The process's manager, made at the first call on the device that its environment prefers: the
/// recommended one; the host's memory where there is none and the settings allow it. A device that the
/// memory's settings name is that one or an error. Its memory is the process's memory manager, which is
/// the same whoever asks first: this, or `memory_manager`. A failure is not kept: the next call tries
/// again.
///
/// # Errors
/// See [`ManagerError`].
pub fn gpu_manager() -> Result<&'static GpuManager, ManagerError> {
    /// One at a time, so that a device is not opened twice.
    static MAKING: Mutex<()> = Mutex::new(());
    static MANAGER: OnceLock<GpuManager> = OnceLock::new();
    if let Some(manager) = MANAGER.get() {
        return Ok(manager);
    }
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(manager) = MANAGER.get() {
        return Ok(manager);
    }
    let configuration = Configuration::from_environment()?;
    let memory = match existing_memory_manager() {
        Some(memory) => memory,
        None => {
            let driver = open(&configuration)?;
            // Somebody may have set another meanwhile; then that is the process's.
            let _ = set_memory_manager(watched(&driver, &configuration.memory)?);
            memory_manager()?
        }
    };
    let cache = cache(memory, &configuration.memory);
    Ok(MANAGER.get_or_init(|| GpuManager {
        memory: Held::Process(memory),
        cache,
    }))
}

/// The device that the settings prefer, opened.
fn open(configuration: &Configuration) -> Result<Arc<dyn Driver>, ManagerError> {
    let host = || -> Arc<dyn Driver> {
        let bytes = configuration.memory.host_bytes;
        Arc::new(HostDriver::with_identity(HostDriver::OF_PROCESS, bytes))
    };
    if !configuration.memory.enabled || configuration.memory.device == Backend::Host {
        return Ok(host());
    }
    let devices = DeviceManager::from_environment()?;
    let device = preferred(&devices, configuration)?;
    if device.info.id.platform == PlatformKind::Host {
        return Ok(host());
    }
    match devices.open(&device.info.id) {
        Ok(driver) => Ok(driver),
        Err(error) if configuration.fallback == Fallback::Cpu && !is_named(configuration) => {
            warn(&Warning::Fallback {
                wanted: device.name.to_string(),
                used: PlatformKind::Host,
                why: error.to_string(),
            });
            Ok(host())
        }
        Err(error) => Err(ManagerError::Driver {
            device: device.name.to_string(),
            error,
        }),
    }
}

/// Whether the memory's settings name a device.
fn is_named(configuration: &Configuration) -> bool {
    matches!(configuration.memory.device, Backend::Cuda { .. })
}

fn preferred(
    devices: &DeviceManager,
    configuration: &Configuration,
) -> Result<ResolvedDevice, ManagerError> {
    let found = match configuration.memory.device {
        // Named: that one, as the memory's own manager has it.
        named @ Backend::Cuda { .. } => devices.resolve_device(&named.to_string(), Fallback::Error),
        _ => devices.resolve_device("auto", configuration.fallback),
    };
    Ok(found?)
}

/// The memory of the process's manager.
///
/// # Errors
/// As [`gpu_manager`].
pub fn gpu_memory() -> Result<&'static MemoryManager, ManagerError> {
    gpu_manager().map(GpuManager::memory)
}

/// Gives memory of the process's manager that is not in use back to the driver. Returns how many
/// bytes.
///
/// # Errors
/// As [`gpu_manager`].
pub fn cleanup_memory() -> Result<u64, ManagerError> {
    Ok(gpu_manager()?.memory().cleanup())
}

/// Whether so many bytes would fit into the process's manager now.
///
/// # Errors
/// As [`gpu_manager`]; as the driver's call fails.
pub fn check_memory(bytes: u64) -> Result<bool, ManagerError> {
    let manager = gpu_manager()?;
    let checked = manager.memory().check_memory(bytes);
    checked.map_err(|error| ManagerError::Driver {
        device: manager.device().to_string(),
        error,
    })
}
