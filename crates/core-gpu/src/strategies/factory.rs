//! Strategies by name. A program adds its own with [`register_strategy`]; nothing here is changed
//! for it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use core_gpu_driver::{DeviceId, PlatformKind};

use crate::devices::DeviceManager;

use super::{
    GpuStrategy,
    config::{AUTO, Candidate, StrategyConfig, StrategyContext},
    ddp::{DDP, MultiGpuDdp},
    error::StrategyError,
    local::{CPU, CpuOnly, MULTI_GPU, MultiGpuMultiProcess, SINGLE_GPU, SingleGpuMultiProcess},
};

/// Makes a strategy.
pub type Constructor =
    dyn Fn(&StrategyContext) -> Result<Box<dyn GpuStrategy>, StrategyError> + Send + Sync;

/// Strategies by name. Any thread.
#[derive(Clone)]
pub struct StrategyTable(BTreeMap<String, Arc<Constructor>>);

impl std::fmt::Debug for StrategyTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Default for StrategyTable {
    /// The built-in ones.
    fn default() -> Self {
        let built_in: [(&str, Arc<Constructor>); 4] = [
            (CPU, Arc::new(|context| Ok(Box::new(CpuOnly::new(context))))),
            (
                SINGLE_GPU,
                Arc::new(|context| Ok(Box::new(SingleGpuMultiProcess::new(context)?))),
            ),
            (
                MULTI_GPU,
                Arc::new(|context| Ok(Box::new(MultiGpuMultiProcess::new(context)?))),
            ),
            (
                DDP,
                Arc::new(|context| Ok(Box::new(MultiGpuDdp::new(context)?))),
            ),
        ];
        Self(built_in.map(|(name, make)| (name.to_owned(), make)).into())
    }
}

impl StrategyTable {
    /// Adds a strategy.
    ///
    /// # Errors
    /// [`StrategyError::Registered`]; the first one stays. `auto` is no name for one.
    pub fn register(
        &mut self,
        name: &str,
        make: impl Fn(&StrategyContext) -> Result<Box<dyn GpuStrategy>, StrategyError>
        + Send
        + Sync
        + 'static,
    ) -> Result<(), StrategyError> {
        if name == AUTO || self.0.contains_key(name) {
            let name = name.to_owned();
            return Err(StrategyError::Registered { name });
        }
        self.0.insert(name.to_owned(), Arc::new(make));
        Ok(())
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Makes the strategy that the configuration names; for `auto`, by the number of devices that
    /// count: none is the processor, one is processes on it, of more each has one rank, joined by
    /// collectives. Several workers a device are processes without collectives on any number of
    /// devices, unless ranks may share them.
    ///
    /// # Errors
    /// [`StrategyError::Unknown`]; as the strategy refuses.
    pub fn make(&self, context: &StrategyContext) -> Result<Box<dyn GpuStrategy>, StrategyError> {
        let config = &context.config;
        let name = match (config.strategy.as_str(), context.devices.len()) {
            (AUTO, 0) => CPU,
            (AUTO, 1) => SINGLE_GPU,
            // What works on one device works on two: ranks cannot share one.
            (AUTO, _) if config.workers_per_gpu > 1 && !config.ranks_share_devices => MULTI_GPU,
            (AUTO, _) => DDP,
            (name, _) => name,
        };
        let make = self.0.get(name).ok_or_else(|| StrategyError::Unknown {
            name: name.to_owned(),
            known: self.0.keys().cloned().collect(),
        })?;
        make(context)
    }
}

fn table() -> MutexGuard<'static, StrategyTable> {
    static TABLE: OnceLock<Mutex<StrategyTable>> = OnceLock::new();
    let table = TABLE.get_or_init(Mutex::default);
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a strategy for the whole process; see [`StrategyTable::register`].
///
/// # Errors
/// [`StrategyError::Registered`].
pub fn register_strategy(
    name: &str,
    make: impl Fn(&StrategyContext) -> Result<Box<dyn GpuStrategy>, StrategyError>
    + Send
    + Sync
    + 'static,
) -> Result<(), StrategyError> {
    table().register(name, make)
}

/// The strategy for this process's devices; see [`StrategyTable::make`]. It is not initialised yet.
///
/// # Errors
/// See [`StrategyError`].
pub fn auto_select_strategy(config: StrategyConfig) -> Result<Box<dyn GpuStrategy>, StrategyError> {
    let manager = DeviceManager::from_environment().map_err(|error| StrategyError::Setting {
        setting: "environment",
        value: error.to_string(),
    })?;
    let context = StrategyContext::new(config, candidates(&manager))?;
    // The constructor may use the table itself.
    let table = table().clone();
    table.make(&context)
}

/// The devices of a manager, with what can be learned of their memory without opening them.
#[must_use]
pub fn candidates(manager: &DeviceManager) -> Vec<Candidate> {
    let memory = manager.memory_info();
    let free = |id: &DeviceId| {
        let told = memory.devices.iter().find(|known| known.id == *id);
        told.and_then(|told| told.free_bytes)
    };
    manager
        .platforms()
        .devices()
        .into_iter()
        .filter(|info| info.id.platform != PlatformKind::Host)
        .map(|info| Candidate {
            info: info.clone(),
            free_bytes: free(&info.id),
        })
        .collect()
}
