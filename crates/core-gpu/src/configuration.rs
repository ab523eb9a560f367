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
//!
//! `USE_CUDA=0` means the processor where the preference is `auto`, and so does
//! `gpu.backend.enabled = false` whatever the preference is. Files are not read here.

use std::{path::PathBuf, time::Duration};

use core_gpu_memory::{
    ConfigError, MemoryConfig,
    config::MemoryConfigBuilder,
    settings::{Keys, whole},
};

use crate::platform::{Fallback, Preference, PreferenceError};

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
    /// The memory's settings.
    pub memory: MemoryConfig,
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
        Ok(Configuration {
            preference,
            fallback: set.fallback.unwrap_or(usual.fallback),
            probe_deadline: set.probe_deadline.unwrap_or(usual.probe_deadline),
            configured_num_workers: set.configured_num_workers,
            max_pipelines: set.max_pipelines,
            slot_directory: set.slot_directory.unwrap_or(usual.slot_directory),
            slot_deadline: set.slot_deadline,
            memory,
        })
    }
}

#[cfg(test)]
mod tests {
    use core_gpu_driver::PlatformKind;

    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        owned.collect()
    }

    #[test]
    fn the_program_goes_over_the_environment_and_that_over_the_file() {
        let file = "[gpu.platform]\npreference = \"rocm\"\nfallback = \"error\"\n\
                    [gpu.registry]\nmax-pipelines = 3\nconfigured-num-workers = 12\n\
                    [gpu.memory]\ncache-size = 7\n";
        let configuration = Configuration::builder()
            .max_pipelines(5)
            .toml(file)
            .unwrap()
            .environment(variables(&[
                ("GPU_BACKEND", "cuda"),
                ("COALESCE_GPU_REGISTRY_MAX_PIPELINES", "4"),
                ("COALESCE_GPU_SLOTS_DIRECTORY", "/slots"),
                ("COALESCE_GPU_MEMORY_MAX_FRACTION", "0.5"),
                ("HOME", "/"),
            ]))
            .unwrap()
            .build()
            .unwrap();
        let wanted = Configuration {
            preference: Preference::Platform(PlatformKind::Cuda),
            fallback: Fallback::Error,
            configured_num_workers: Some(12),
            max_pipelines: Some(5),
            slot_directory: PathBuf::from("/slots"),
            memory: MemoryConfig {
                cache_size: 7,
                max_fraction: 0.5,
                ..MemoryConfig::default()
            },
            ..Configuration::default()
        };
        assert_eq!(configuration, wanted);
    }

    #[test]
    fn no_cuda_counts_where_the_preference_is_open() {
        // The file, the variables, the preference that comes of them.
        type Variables<'a> = &'a [(&'a str, &'a str)];
        let cases: &[(&str, Variables<'_>, &str)] = &[
            ("", &[], "auto"),
            ("", &[("USE_CUDA", "0")], "cpu"),
            ("", &[("USE_CUDA", "1")], "auto"),
            ("auto", &[("USE_CUDA", "0")], "cpu"),
            ("rocm", &[("USE_CUDA", "0")], "rocm"),
            ("rocm", &[("GPU_BACKEND", "auto"), ("USE_CUDA", "0")], "cpu"),
            ("rocm", &[("GPU_BACKEND", "mps")], "metal"),
            (
                "rocm",
                &[
                    ("GPU_BACKEND", "mps"),
                    ("COALESCE_GPU_PLATFORM_PREFERENCE", "cuda"),
                ],
                "cuda",
            ),
            ("cuda", &[("COALESCE_GPU_BACKEND_ENABLED", "no")], "cpu"),
        ];
        for (file, environment, wanted) in cases {
            let mut builder = Configuration::builder();
            if !file.is_empty() {
                let text = format!("[gpu.platform]\npreference = \"{file}\"\n");
                builder = builder.toml(&text).unwrap();
            }
            let builder = builder.environment(variables(environment)).unwrap();
            let preference = builder.build().unwrap().preference;
            assert_eq!(preference.to_string(), *wanted, "{file} {environment:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let files = [
            (
                "[gpu.platform]\npreferense = \"cuda\"\n",
                "unknown key `gpu.platform.preferense` in the file; did you mean \
                 `gpu.platform.preference`?",
            ),
            (
                "[gpu.platform]\npreference = \"gpu\"\n",
                "`gpu.platform.preference` in the file must be auto, cuda, rocm, metal or cpu, not \
                 \"gpu\"",
            ),
            (
                "[gpu.registry]\nmax-pipelines = 0\n",
                "`gpu.registry.max-pipelines` in the file must be a whole number, 1 or more, not 0",
            ),
            (
                "[gpu.memory]\ncache-sise = 1\n",
                "unknown key `gpu.memory.cache-sise` in the file; did you mean \
                 `gpu.memory.cache-size`?",
            ),
        ];
        for (file, wanted) in files {
            let error = Configuration::builder().toml(file).unwrap_err();
            assert_eq!(error.to_string(), wanted);
        }
        let environment = [
            (
                ("COALESCE_GPU_SLOTS_DIRECTOR", "x"),
                "unknown key `COALESCE_GPU_SLOTS_DIRECTOR` in the environment; did you mean \
                 `COALESCE_GPU_SLOTS_DIRECTORY`?",
            ),
            (
                ("GPU_BACKEND", "tpu"),
                "GPU_BACKEND cannot be `tpu`: known are auto, cuda, rocm (or hip), metal (or mps), \
                 cpu (or host)",
            ),
            (
                ("USE_CUDA", "maybe"),
                "USE_CUDA cannot be `maybe`: known are 0, 1, true, false, yes, no",
            ),
        ];
        for (variable, wanted) in environment {
            let builder = Configuration::builder().environment(variables(&[variable]));
            assert_eq!(builder.unwrap_err().to_string(), wanted);
        }
    }
}
