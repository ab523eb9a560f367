//! Settings of the runtime: what a program sets goes over the environment, which goes over a TOML
//! file. The memory's settings ([`core_gpu_memory::config`]) are read from the same places.
//!
//! | key | in the environment | without it |
//! | --- | --- | --- |
//! | `gpu.platform.preference` (`auto`, `cuda`, `rocm`, `metal`, `cpu`) | `COALESCE_GPU_PLATFORM_PREFERENCE`, or `GPU_BACKEND` | `auto` |
//! | `gpu.platform.fallback` (`cpu`, `error`) | `COALESCE_GPU_PLATFORM_FALLBACK` | `cpu` |
//! | `gpu.platform.probe-deadline-ms` | `COALESCE_GPU_PLATFORM_PROBE_DEADLINE_MS` | 10000 |
//! | `gpu.registry.configured-num-workers` | `COALESCE_GPU_REGISTRY_CONFIGURED_NUM_WORKERS` | the processor's threads |
//! | `gpu.registry.max-pipelines` (of a device) | `COALESCE_GPU_REGISTRY_MAX_PIPELINES` | workers ÷ devices, rounded up |
//! | `gpu.slots.directory` | `COALESCE_GPU_SLOTS_DIRECTORY` | `coalesce-gpu-slots` in the temporary folder |
//! | `gpu.slots.deadline-ms` | `COALESCE_GPU_SLOTS_DEADLINE_MS` | no end |
//! | `gpu.strategy`, `gpu.strategy.name` | `COALESCE_GPU_STRATEGY` | `auto` |
//! | `gpu.strategy.ranks-share-devices` | `COALESCE_GPU_STRATEGY_RANKS_SHARE_DEVICES` | false |
//! | `gpu.devices` (a list, or text with commas) | `COALESCE_GPU_DEVICES` | all |
//! | `gpu.workers-per-gpu`, `gpu.workers.per-gpu` | `COALESCE_GPU_WORKERS_PER_GPU` | 1 |
//! | `gpu.memory-threshold` (free part of a device, of one) | `COALESCE_GPU_MEMORY_THRESHOLD` | 0 |
//! | `gpu.workers.cpu` (where there is no device) | `COALESCE_GPU_WORKERS_CPU` | the processor's threads |
//! | `gpu.workers.deadline-ms` (of a task) | `COALESCE_GPU_WORKERS_DEADLINE_MS` | no end |
//! | `gpu.workers.greeting-limit-ms` | `COALESCE_GPU_WORKERS_GREETING_LIMIT_MS` | 30000 |
//! | `gpu.workers.waiting` (tasks) | `COALESCE_GPU_WORKERS_WAITING` | two for each worker |
//! | `gpu.workers.most-bytes` (of a task) | `COALESCE_GPU_WORKERS_MOST_BYTES` | 256 MiB |
//! | `gpu.profiler.enabled` | `COALESCE_GPU_PROFILER_ENABLED` | false |
//! | `gpu.profiler.ranges` (NVTX) | `COALESCE_GPU_PROFILER_RANGES` | false |
//! | `gpu.monitor.interval-ms` | `COALESCE_GPU_MONITOR_INTERVAL_MS` | 5000 |
//! | `gpu.monitor.temperature-celsius` | `COALESCE_GPU_MONITOR_TEMPERATURE_CELSIUS` | where the device slows down |
//! | `gpu.monitor.well-looks` | `COALESCE_GPU_MONITOR_WELL_LOOKS` | 3 |
//! | `gpu.monitor.critical` (XIDs) | `COALESCE_GPU_MONITOR_CRITICAL` | those of lost or broken devices |
//!
//! Keys may be written with `_` for `-`. A strategy is made from [`Configuration::strategy`], a pool of
//! workers from [`Configuration::workers`] (`WorkerPoolBuilder::configured`), a monitor from
//! [`Configuration::monitor`]; the profiler is started by whoever opens a device ([`crate::Gpu`]), or
//! by [`ProfilerSettings::start`].
//!
//! ```
//! use core_gpu::{configuration::Configuration, strategies::auto_select_strategy};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let file = "[gpu]\nstrategy = \"cpu\"\n[gpu.workers]\ncpu = 2\n[gpu.slots]\ndeadline-ms = 100\n";
//! let settings = Configuration::builder().toml(file)?.own_environment()?.build()?;
//! let strategy = auto_select_strategy(settings.strategy)?;
//! println!("{} with {} workers", strategy.backend(), strategy.num_workers());
//! # Ok(())
//! # }
//! ```
//!
//! `USE_CUDA=0` means the processor where the preference is `auto`, and so does
//! `gpu.backend.enabled = false` whatever the preference is. Files are not read here.

use std::{path::PathBuf, time::Duration};

use core_gpu_memory::{
    ConfigError, MemoryConfig,
    config::MemoryConfigBuilder,
    settings::{Keys, number, truth, whole},
};

use crate::{
    monitor::HealthLimits,
    platform::{DeviceName, Fallback, Preference, PreferenceError},
    strategies::StrategyConfig,
};

const KEYS: Keys<Layer> = Keys(&[
    ("gpu.platform.preference", |layer, value| {
        const WANTED: &str = "auto, cuda, rocm, metal or cpu";
        let preference = value.as_str().and_then(|name| name.parse().ok());
        layer.preference = Some(preference.ok_or(WANTED)?);
        Ok(())
    }),
    ("gpu.platform.fallback", |layer, value| {
        layer.fallback = Some(match value.as_str() {
            Some("cpu") => Fallback::Cpu,
            Some("error") => Fallback::Error,
            _ => return Err("`cpu` or `error`"),
        });
        Ok(())
    }),
    ("gpu.platform.probe-deadline-ms", |layer, value| {
        layer.probe_deadline = Some(Duration::from_millis(at_least_one(value)?));
        Ok(())
    }),
    ("gpu.registry.configured-num-workers", |layer, value| {
        layer.configured_num_workers = Some(count(value)?);
        Ok(())
    }),
    ("gpu.registry.max-pipelines", |layer, value| {
        layer.max_pipelines = Some(count(value)?);
        Ok(())
    }),
    ("gpu.strategy", set_strategy),
    ("gpu.strategy.name", set_strategy),
    ("gpu.strategy.ranks-share-devices", |layer, value| {
        layer.ranks_share_devices = Some(truth(value)?);
        Ok(())
    }),
    ("gpu.devices", set_devices),
    ("gpu.strategy.devices", set_devices),
    ("gpu.workers-per-gpu", set_workers_per_gpu),
    ("gpu.workers.per-gpu", set_workers_per_gpu),
    ("gpu.memory-threshold", set_memory_threshold),
    ("gpu.strategy.memory-threshold", set_memory_threshold),
    ("gpu.workers.cpu", |layer, value| {
        layer.cpu_workers = Some(count(value)?);
        Ok(())
    }),
    ("gpu.workers.deadline-ms", |layer, value| {
        layer.worker_deadline = Some(Duration::from_millis(at_least_one(value)?));
        Ok(())
    }),
    ("gpu.workers.greeting-limit-ms", |layer, value| {
        layer.greeting_limit = Some(Duration::from_millis(at_least_one(value)?));
        Ok(())
    }),
    ("gpu.workers.waiting", |layer, value| {
        layer.waiting = Some(count(value)?);
        Ok(())
    }),
    ("gpu.workers.most-bytes", |layer, value| {
        layer.most_bytes = Some(at_least_one(value)?);
        Ok(())
    }),
    ("gpu.profiler.enabled", |layer, value| {
        layer.profiler_enabled = Some(truth(value)?);
        Ok(())
    }),
    ("gpu.profiler.ranges", |layer, value| {
        layer.profiler_ranges = Some(truth(value)?);
        Ok(())
    }),
    ("gpu.monitor.interval-ms", |layer, value| {
        layer.monitor_interval = Some(Duration::from_millis(at_least_one(value)?));
        Ok(())
    }),
    ("gpu.monitor.temperature-celsius", |layer, value| {
        layer.temperature_celsius = Some(count(value)?);
        Ok(())
    }),
    ("gpu.monitor.well-looks", |layer, value| {
        layer.well_looks = Some(count(value)?);
        Ok(())
    }),
    ("gpu.monitor.critical", |layer, value| {
        const WANTED: &str = "a list of error numbers (XIDs)";
        let numbers = list(value).ok_or(WANTED)?;
        let numbers = numbers.iter().map(|text| text.parse().ok());
        layer.critical = Some(numbers.collect::<Option<_>>().ok_or(WANTED)?);
        Ok(())
    }),
    ("gpu.slots.directory", |layer, value| {
        let path = value.as_str().filter(|path| !path.is_empty());
        layer.slot_directory = Some(PathBuf::from(path.ok_or("a path")?));
        Ok(())
    }),
    ("gpu.slots.deadline-ms", |layer, value| {
        layer.slot_deadline = Some(Duration::from_millis(whole(value)?));
        Ok(())
    }),
]);

fn set_strategy(layer: &mut Layer, value: &toml::Value) -> Result<(), &'static str> {
    let name = value
        .as_str()
        .map(str::trim)
        .filter(|name| !name.is_empty());
    layer.strategy = Some(name.ok_or("a strategy's name, or `auto`")?.to_owned());
    Ok(())
}

fn set_devices(layer: &mut Layer, value: &toml::Value) -> Result<(), &'static str> {
    const WANTED: &str = "a list of devices such as `cuda:0`";
    let names = list(value).ok_or(WANTED)?;
    let names = names.iter().map(|name| name.parse().ok());
    let names: Vec<_> = names.collect::<Option<_>>().ok_or(WANTED)?;
    layer.devices = Some(names);
    Ok(())
}

fn set_workers_per_gpu(layer: &mut Layer, value: &toml::Value) -> Result<(), &'static str> {
    layer.workers_per_gpu = Some(count(value)?);
    Ok(())
}

fn set_memory_threshold(layer: &mut Layer, value: &toml::Value) -> Result<(), &'static str> {
    const WANTED: &str = "a part of one, from 0 to 1";
    let part = number(value).map_err(|_| WANTED)?;
    layer.memory_threshold = Some(
        Some(part)
            .filter(|part| (0.0..=1.0).contains(part))
            .ok_or(WANTED)?,
    );
    Ok(())
}

/// A list of texts or numbers, or one text with commas, as a variable has it.
fn list(value: &toml::Value) -> Option<Vec<String>> {
    let text = |value: &toml::Value| match value {
        toml::Value::String(text) => Some(text.trim().to_owned()),
        toml::Value::Integer(number) => Some(number.to_string()),
        _ => None,
    };
    match value {
        toml::Value::Array(values) => values.iter().map(text).collect(),
        value => {
            let text = text(value)?;
            let parts = text.split(',').map(|part| part.trim().to_owned());
            Some(parts.filter(|part| !part.is_empty()).collect())
        }
    }
}

fn at_least_one(value: &toml::Value) -> Result<u64, &'static str> {
    let number = whole(value).ok().filter(|number| *number > 0);
    number.ok_or("a whole number, 1 or more")
}

fn count(value: &toml::Value) -> Result<u32, &'static str> {
    u32::try_from(at_least_one(value)?).map_err(|_| "a whole number below 4294967296")
}

/// Why something is no configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigurationError {
    /// A key or its value.
    #[error(transparent)]
    Setting(#[from] ConfigError),
    /// `GPU_BACKEND` or `USE_CUDA`.
    #[error(transparent)]
    Preference(#[from] PreferenceError),
}

/// The settings of a process.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// Which platform.
    pub preference: Preference,
    /// What to do where it is not there.
    pub fallback: Fallback,
    /// How long a platform may take to answer.
    pub probe_deadline: Duration,
    /// Workers that a program was told to have; `None` is as many as the processor has threads.
    pub configured_num_workers: Option<u32>,
    /// Pipelines that may run on one device; `None` is workers ÷ devices, rounded up.
    pub max_pipelines: Option<u32>,
    /// Where the slots of this machine are kept.
    pub slot_directory: PathBuf,
    /// How long a slot is waited for; `None` has no end.
    pub slot_deadline: Option<Duration>,
    /// How work is spread over devices.
    pub strategy: StrategyConfig,
    /// What pools of workers are made with.
    pub workers: WorkerSettings,
    /// What the profiler is started with.
    pub profiler: ProfilerSettings,
    /// What a monitor of devices is made with.
    pub monitor: MonitorSettings,
    /// The memory's settings.
    pub memory: MemoryConfig,
}

/// What pools of workers are made with; `None` is what the pool has by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerSettings {
    /// `gpu.workers.deadline-ms`: how long a task may run that says nothing itself.
    pub deadline: Option<Duration>,
    /// `gpu.workers.greeting-limit-ms`: how long a worker may take to start.
    pub greeting_limit: Option<Duration>,
    /// `gpu.workers.waiting`: how many tasks may wait.
    pub waiting: Option<usize>,
    /// `gpu.workers.most-bytes`: the largest input or output of a task.
    pub most_bytes: Option<u64>,
}

/// What the profiler is started with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProfilerSettings {
    /// `gpu.profiler.enabled`: spans are recorded.
    pub enabled: bool,
    /// `gpu.profiler.ranges`: and are ranges of NVIDIA's profilers as well.
    pub ranges: bool,
}

impl ProfilerSettings {
    /// Starts the process's profiler where the settings say so; they never stop one that runs.
    ///
    /// # Errors
    /// Ranges are wanted, and their library is not there. Spans are recorded all the same.
    pub fn start(&self) -> Result<(), core_gpu_driver::Absent> {
        let profiler = crate::profiler::profiler();
        if self.enabled {
            profiler.enable();
        }
        match self.ranges {
            true => profiler.enable_ranges(),
            false => Ok(()),
        }
    }
}

/// What a monitor of devices is made with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorSettings {
    /// `gpu.monitor.interval-ms`: how often it looks; see [`crate::monitor::Monitor::watch`].
    pub interval: Duration,
    /// `gpu.monitor.temperature-celsius`, `.critical` and `.well-looks`: what makes a device sick,
    /// and when it is well again.
    pub limits: HealthLimits,
}

impl Default for MonitorSettings {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(5),
            limits: HealthLimits::default(),
        }
    }
}

impl Default for Configuration {
    fn default() -> Self {
        Self {
            preference: Preference::Auto,
            fallback: Fallback::Cpu,
            probe_deadline: Duration::from_secs(10),
            configured_num_workers: None,
            max_pipelines: None,
            slot_directory: std::env::temp_dir().join("coalesce-gpu-slots"),
            slot_deadline: None,
            strategy: StrategyConfig::default(),
            workers: WorkerSettings::default(),
            profiler: ProfilerSettings::default(),
            monitor: MonitorSettings::default(),
            memory: MemoryConfig::default(),
        }
    }
}

impl Configuration {
    /// To set values and layers.
    #[must_use]
    pub fn builder() -> ConfigurationBuilder {
        ConfigurationBuilder::default()
    }

    /// What the environment of this process says, over the usual.
    ///
    /// # Errors
    /// See [`ConfigurationError`].
    pub fn from_environment() -> Result<Self, ConfigurationError> {
        Self::builder().own_environment()?.build()
    }

    /// How many workers there are: as it says, or as many as the processor has threads.
    #[must_use]
    pub fn workers(&self) -> u32 {
        self.configured_num_workers.unwrap_or_else(|| {
            let threads = std::thread::available_parallelism().map_or(1, usize::from);
            u32::try_from(threads).unwrap_or(u32::MAX)
        })
    }
}

#[derive(Clone, Debug, Default)]
struct Layer {
    preference: Option<Preference>,
    fallback: Option<Fallback>,
    probe_deadline: Option<Duration>,
    configured_num_workers: Option<u32>,
    max_pipelines: Option<u32>,
    slot_directory: Option<PathBuf>,
    slot_deadline: Option<Duration>,
    strategy: Option<String>,
    ranks_share_devices: Option<bool>,
    devices: Option<Vec<DeviceName>>,
    workers_per_gpu: Option<u32>,
    memory_threshold: Option<f64>,
    cpu_workers: Option<u32>,
    worker_deadline: Option<Duration>,
    greeting_limit: Option<Duration>,
    waiting: Option<u32>,
    most_bytes: Option<u64>,
    profiler_enabled: Option<bool>,
    profiler_ranges: Option<bool>,
    monitor_interval: Option<Duration>,
    temperature_celsius: Option<u32>,
    well_looks: Option<u32>,
    critical: Option<Vec<u64>>,
}

impl Layer {
    fn over(self, below: Self) -> Self {
        Self {
            preference: self.preference.or(below.preference),
            fallback: self.fallback.or(below.fallback),
            probe_deadline: self.probe_deadline.or(below.probe_deadline),
            configured_num_workers: self.configured_num_workers.or(below.configured_num_workers),
            max_pipelines: self.max_pipelines.or(below.max_pipelines),
            slot_directory: self.slot_directory.or(below.slot_directory),
            slot_deadline: self.slot_deadline.or(below.slot_deadline),
            strategy: self.strategy.or(below.strategy),
            ranks_share_devices: self.ranks_share_devices.or(below.ranks_share_devices),
            devices: self.devices.or(below.devices),
            workers_per_gpu: self.workers_per_gpu.or(below.workers_per_gpu),
            memory_threshold: self.memory_threshold.or(below.memory_threshold),
            cpu_workers: self.cpu_workers.or(below.cpu_workers),
            worker_deadline: self.worker_deadline.or(below.worker_deadline),
            greeting_limit: self.greeting_limit.or(below.greeting_limit),
            waiting: self.waiting.or(below.waiting),
            most_bytes: self.most_bytes.or(below.most_bytes),
            profiler_enabled: self.profiler_enabled.or(below.profiler_enabled),
            profiler_ranges: self.profiler_ranges.or(below.profiler_ranges),
            monitor_interval: self.monitor_interval.or(below.monitor_interval),
            temperature_celsius: self.temperature_celsius.or(below.temperature_celsius),
            well_looks: self.well_looks.or(below.well_looks),
            critical: self.critical.or(below.critical),
        }
    }
}

impl Layer {
    fn strategy(&self) -> StrategyConfig {
        let usual = StrategyConfig::default();
        StrategyConfig {
            strategy: self.strategy.clone().unwrap_or(usual.strategy),
            devices: self.devices.clone(),
            workers_per_gpu: self
                .workers_per_gpu
                .map_or(usual.workers_per_gpu, |workers| workers as usize),
            ranks_share_devices: self
                .ranks_share_devices
                .unwrap_or(usual.ranks_share_devices),
            cpu_workers: self.cpu_workers.map(|workers| workers as usize),
            memory_threshold: self.memory_threshold.unwrap_or(usual.memory_threshold),
        }
    }

    fn monitor(&self) -> MonitorSettings {
        let usual = MonitorSettings::default();
        MonitorSettings {
            interval: self.monitor_interval.unwrap_or(usual.interval),
            limits: HealthLimits {
                temperature_celsius: self.temperature_celsius,
                critical: self.critical.clone().unwrap_or(usual.limits.critical),
                well_looks: self.well_looks.unwrap_or(usual.limits.well_looks),
            },
        }
    }
}

/// Puts a [`Configuration`] together. The order of its calls makes no difference.
#[derive(Clone, Debug, Default)]
pub struct ConfigurationBuilder {
    file: Layer,
    environment: Layer,
    own: Layer,
    /// What `GPU_BACKEND` and `USE_CUDA` say, and whether the latter says no.
    legacy: Option<Preference>,
    no_cuda: bool,
    memory: MemoryConfigBuilder,
}

impl ConfigurationBuilder {
    /// What a TOML file says, below the environment.
    ///
    /// # Errors
    /// See [`ConfigurationError`].
    pub fn toml(mut self, text: &str) -> Result<Self, ConfigurationError> {
        KEYS.read_toml(&mut self.file, text)?;
        self.memory = self.memory.toml(text)?;
        Ok(self)
    }

    /// What variables say, over the file: those that begin with `COALESCE_GPU_`, `GPU_BACKEND` and
    /// `USE_CUDA`; others are none of ours.
    ///
    /// # Errors
    /// See [`ConfigurationError`].
    pub fn environment(
        mut self,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigurationError> {
        let variables: Vec<_> = variables.into_iter().collect();
        let find = |wanted: &str| {
            let found = variables.iter().find(|(name, _)| name == wanted);
            found.map(|(_, value)| value.clone())
        };
        let backend = |name: &str| find(name).filter(|_| name == "GPU_BACKEND");
        let use_cuda = |name: &str| find(name).filter(|_| name == "USE_CUDA");
        self.legacy = Preference::from_variables(backend)?.or(self.legacy);
        self.no_cuda |= Preference::from_variables(use_cuda)?.is_some();
        KEYS.read_environment(&mut self.environment, variables.iter().cloned())?;
        self.memory = self.memory.environment(variables)?;
        Ok(self)
    }

    /// What the variables of this process say.
    ///
    /// # Errors
    /// See [`ConfigurationError`].
    pub fn own_environment(self) -> Result<Self, ConfigurationError> {
        let legacy = ["GPU_BACKEND", "USE_CUDA"];
        let legacy = legacy
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)));
        self.environment(legacy.chain(core_gpu_memory::settings::own_environment()))
    }

    /// Sets `gpu.platform.preference`.
    #[must_use]
    pub fn preference(mut self, preference: Preference) -> Self {
        self.own.preference = Some(preference);
        self
    }

    /// Sets `gpu.platform.fallback`.
    #[must_use]
    pub fn fallback(mut self, fallback: Fallback) -> Self {
        self.own.fallback = Some(fallback);
        self
    }

    /// Sets `gpu.platform.probe-deadline-ms`.
    #[must_use]
    pub fn probe_deadline(mut self, deadline: Duration) -> Self {
        self.own.probe_deadline = Some(deadline);
        self
    }

    /// Sets `gpu.registry.configured-num-workers`.
    #[must_use]
    pub fn configured_num_workers(mut self, workers: u32) -> Self {
        self.own.configured_num_workers = Some(workers);
        self
    }

    /// Sets `gpu.registry.max-pipelines`.
    #[must_use]
    pub fn max_pipelines(mut self, pipelines: u32) -> Self {
        self.own.max_pipelines = Some(pipelines);
        self
    }

    /// Sets `gpu.slots.directory`.
    #[must_use]
    pub fn slot_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.own.slot_directory = Some(directory.into());
        self
    }

    /// Sets `gpu.slots.deadline-ms`.
    #[must_use]
    pub fn slot_deadline(mut self, deadline: Duration) -> Self {
        self.own.slot_deadline = Some(deadline);
        self
    }

    /// Sets `gpu.strategy`.
    #[must_use]
    pub fn strategy(mut self, name: &str) -> Self {
        self.own.strategy = Some(name.to_owned());
        self
    }

    /// Sets `gpu.devices`.
    #[must_use]
    pub fn devices(mut self, devices: impl IntoIterator<Item = DeviceName>) -> Self {
        self.own.devices = Some(devices.into_iter().collect());
        self
    }

    /// Sets `gpu.workers-per-gpu`.
    #[must_use]
    pub fn workers_per_gpu(mut self, workers: u32) -> Self {
        self.own.workers_per_gpu = Some(workers);
        self
    }

    /// Sets `gpu.memory-threshold`.
    #[must_use]
    pub fn memory_threshold(mut self, part: f64) -> Self {
        self.own.memory_threshold = Some(part);
        self
    }

    /// Changes the memory's settings.
    #[must_use]
    pub fn memory(
        mut self,
        change: impl FnOnce(MemoryConfigBuilder) -> MemoryConfigBuilder,
    ) -> Self {
        self.memory = change(self.memory);
        self
    }

    /// The configuration.
    ///
    /// # Errors
    /// A value that is out of range.
    pub fn build(self) -> Result<Configuration, ConfigurationError> {
        let environment = Layer {
            preference: self.environment.preference.or(self.legacy),
            ..self.environment
        };
        let set = self.own.over(environment).over(self.file);
        let usual = Configuration::default();
        let memory = self.memory.build()?;
        let preference = match set.preference.unwrap_or(usual.preference) {
            _ if !memory.enabled => Preference::CPU,
            Preference::Auto if self.no_cuda => Preference::CPU,
            preference => preference,
        };
        let (strategy, monitor) = (set.strategy(), set.monitor());
        Ok(Configuration {
            preference,
            fallback: set.fallback.unwrap_or(usual.fallback),
            probe_deadline: set.probe_deadline.unwrap_or(usual.probe_deadline),
            configured_num_workers: set.configured_num_workers,
            max_pipelines: set.max_pipelines,
            slot_directory: set.slot_directory.unwrap_or(usual.slot_directory),
            slot_deadline: set.slot_deadline,
            strategy,
            workers: WorkerSettings {
                deadline: set.worker_deadline,
                greeting_limit: set.greeting_limit,
                waiting: set.waiting.map(|waiting| waiting as usize),
                most_bytes: set.most_bytes,
            },
            profiler: ProfilerSettings {
                enabled: set.profiler_enabled.unwrap_or(false),
                ranges: set.profiler_ranges.unwrap_or(false),
            },
            monitor,
            memory,
        })
    }
}

#[cfg(test)]
mod tests;
