//! Configuration: what a program sets goes over the environment, which goes over a TOML file.
//!
//! | key | in the environment | without it |
//! | --- | --- | --- |
//! | `gpu.memory.max-fraction` | `COALESCE_GPU_MEMORY_MAX_FRACTION` | 0.9 |
//! | `gpu.memory.cache-size` (entries) | `COALESCE_GPU_MEMORY_CACHE_SIZE` | 100 |
//! | `gpu.memory.keep-in-vram` | `COALESCE_GPU_MEMORY_KEEP_IN_VRAM` | true |
//! | `gpu.backend.enabled` | `COALESCE_GPU_BACKEND_ENABLED` | true |
//! | `gpu.backend.device` (`auto`, `cuda`, `cuda:1`, `host`) | `COALESCE_GPU_BACKEND_DEVICE` | `auto` |
//! | `gpu.backend.host-bytes` (of the host as a device) | `COALESCE_GPU_BACKEND_HOST_BYTES` | 1 GiB |
//!
//! An unknown key of these groups, or of one that is called nearly so, is an error that names the nearest
//! one; so is an unknown variable. Other groups below `gpu` may be somebody else's and are passed over.
//! Files are not read here.

use std::fmt;

pub use crate::settings::ConfigError;
use crate::settings::{Keys, number, own_environment, truth, whole};

/// The keys, each with how its value gets into a layer.
const KEYS: Keys<Layer> = Keys(&[
    ("gpu.memory.max-fraction", |layer, value| {
        layer.max_fraction = Some(number(value)?);
        Ok(())
    }),
    ("gpu.memory.cache-size", |layer, value| {
        layer.cache_size = Some(whole(value)?);
        Ok(())
    }),
    ("gpu.memory.keep-in-vram", |layer, value| {
        layer.keep_in_vram = Some(truth(value)?);
        Ok(())
    }),
    ("gpu.backend.enabled", |layer, value| {
        layer.enabled = Some(truth(value)?);
        Ok(())
    }),
    ("gpu.backend.device", |layer, value| {
        let name = value.as_str().ok_or("a device's name")?;
        layer.device =
            Some(Backend::from_name(name).ok_or("`auto`, `cuda`, `cuda:NUMBER` or `host`")?);
        Ok(())
    }),
    ("gpu.backend.host-bytes", |layer, value| {
        layer.host_bytes = Some(whole(value)?);
        Ok(())
    }),
]);

/// Which device programs use that do not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backend {
    /// The CUDA device with the most memory, the first of several; memory of the host where no CUDA
    /// device is there. A driver that is there and does not work is an error.
    Auto,
    /// A CUDA device, by its number in this process. That one or an error.
    Cuda {
        /// The number.
        ordinal: u32,
    },
    /// Memory of the host as if it were a device's.
    Host,
}

impl Backend {
    fn from_name(name: &str) -> Option<Backend> {
        match name {
            "cuda" => Some(Backend::Cuda { ordinal: 0 }),
            "auto" => Some(Backend::Auto),
            "host" | "cpu" => Some(Backend::Host),
            _ => {
                let ordinal = name.strip_prefix("cuda:")?.parse().ok()?;
                Some(Backend::Cuda { ordinal })
            }
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Backend::Auto => formatter.write_str("auto"),
            Backend::Cuda { ordinal } => write!(formatter, "cuda:{ordinal}"),
            Backend::Host => formatter.write_str("host"),
        }
    }
}

/// The configuration of a process's memory.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryConfig {
    /// `gpu.memory.max-fraction`: share of the device's memory that is used at most.
    pub max_fraction: f64,
    /// `gpu.memory.cache-size`: entries that a cache holds at most.
    pub cache_size: usize,
    /// `gpu.memory.keep-in-vram`: entries stay on the device as long as there is room.
    pub keep_in_vram: bool,
    /// `gpu.backend.enabled`: false uses memory of the host.
    pub enabled: bool,
    /// `gpu.backend.device`: which device.
    pub device: Backend,
    /// `gpu.backend.host-bytes`: how large the host is as a device, in bytes.
    pub host_bytes: u64,
}

impl Default for MemoryConfig {
    fn default() -> MemoryConfig {
        MemoryConfig {
            max_fraction: 0.9,
            cache_size: 100,
            keep_in_vram: true,
            enabled: true,
            device: Backend::Auto,
            host_bytes: 1 << 30,
        }
    }
}

impl MemoryConfig {
    /// To set values and layers.
    #[must_use]
    pub fn builder() -> MemoryConfigBuilder {
        MemoryConfigBuilder::default()
    }

    /// What the environment of this process says, over the usual.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn from_environment() -> Result<MemoryConfig, ConfigError> {
        MemoryConfig::builder()
            .environment(own_environment())?
            .build()
    }
}

#[derive(Debug, Clone, Default)]
struct Layer {
    max_fraction: Option<f64>,
    cache_size: Option<u64>,
    keep_in_vram: Option<bool>,
    enabled: Option<bool>,
    device: Option<Backend>,
    host_bytes: Option<u64>,
}

impl Layer {
    fn over(self, below: Layer) -> Layer {
        Layer {
            max_fraction: self.max_fraction.or(below.max_fraction),
            cache_size: self.cache_size.or(below.cache_size),
            keep_in_vram: self.keep_in_vram.or(below.keep_in_vram),
            enabled: self.enabled.or(below.enabled),
            device: self.device.or(below.device),
            host_bytes: self.host_bytes.or(below.host_bytes),
        }
    }
}

/// Puts a [`MemoryConfig`] together. The order of its calls makes no difference.
#[derive(Debug, Clone, Default)]
pub struct MemoryConfigBuilder {
    file: Layer,
    environment: Layer,
    own: Layer,
}

impl MemoryConfigBuilder {
    /// What a TOML file says, below the environment. Several add up; of two values for one key the
    /// later stays.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn toml(mut self, text: &str) -> Result<MemoryConfigBuilder, ConfigError> {
        KEYS.read_toml(&mut self.file, text)?;
        Ok(self)
    }

    /// What variables say, over the file. Those that do not begin with `COALESCE_GPU_` are none of
    /// ours.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn environment(
        mut self,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<MemoryConfigBuilder, ConfigError> {
        KEYS.read_environment(&mut self.environment, variables)?;
        Ok(self)
    }

    /// Sets `gpu.memory.max-fraction`.
    #[must_use]
    pub fn max_fraction(mut self, fraction: f64) -> MemoryConfigBuilder {
        self.own.max_fraction = Some(fraction);
        self
    }

    /// Sets `gpu.memory.cache-size`, in entries.
    #[must_use]
    pub fn cache_size(mut self, entries: usize) -> MemoryConfigBuilder {
        self.own.cache_size = Some(entries as u64);
        self
    }

    /// Sets `gpu.memory.keep-in-vram`.
    #[must_use]
    pub fn keep_in_vram(mut self, keep: bool) -> MemoryConfigBuilder {
        self.own.keep_in_vram = Some(keep);
        self
    }

    /// Sets `gpu.backend.enabled`.
    #[must_use]
    pub fn enabled(mut self, enabled: bool) -> MemoryConfigBuilder {
        self.own.enabled = Some(enabled);
        self
    }

    /// Sets `gpu.backend.device`.
    #[must_use]
    pub fn device(mut self, device: Backend) -> MemoryConfigBuilder {
        self.own.device = Some(device);
        self
    }

    /// Sets `gpu.backend.host-bytes`.
    #[must_use]
    pub fn host_bytes(mut self, bytes: u64) -> MemoryConfigBuilder {
        self.own.host_bytes = Some(bytes);
        self
    }

    /// The configuration.
    ///
    /// # Errors
    /// A value that is out of range.
    pub fn build(self) -> Result<MemoryConfig, ConfigError> {
        let set = self.own.over(self.environment).over(self.file);
        let usual = MemoryConfig::default();
        let max_fraction = set.max_fraction.unwrap_or(usual.max_fraction);
        if !(max_fraction > 0.0 && max_fraction <= 1.0) {
            return Err(ConfigError::Value {
                key: "gpu.memory.max-fraction".to_owned(),
                place: "the configuration",
                wanted: "more than 0 and at most 1",
                found: max_fraction.to_string(),
            });
        }
        let cache_size = set
            .cache_size
            .map(|size| usize::try_from(size).unwrap_or(usize::MAX));
        Ok(MemoryConfig {
            max_fraction,
            cache_size: cache_size.unwrap_or(usual.cache_size),
            keep_in_vram: set.keep_in_vram.unwrap_or(usual.keep_in_vram),
            enabled: set.enabled.unwrap_or(usual.enabled),
            device: set.device.unwrap_or(usual.device),
            host_bytes: set.host_bytes.unwrap_or(usual.host_bytes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::variables;

    #[test]
    fn the_program_goes_over_the_environment_and_that_over_the_file() {
        let file = "[gpu.memory]\nmax-fraction = 0.5\ncache-size = 7\nkeep-in-vram = false\n\
                    [gpu.backend]\ndevice = \"cuda:3\"\n";
        let config = MemoryConfig::builder()
            .max_fraction(0.25)
            .toml(file)
            .unwrap()
            .environment(variables(&[
                ("COALESCE_GPU_MEMORY_MAX_FRACTION", "0.75"),
                ("COALESCE_GPU_MEMORY_CACHE_SIZE", "9"),
                ("COALESCE_GPU_BACKEND_ENABLED", "no"),
                ("PATH", "x"),
            ]))
            .unwrap()
            .build()
            .unwrap();
        let wanted = MemoryConfig {
            max_fraction: 0.25,
            cache_size: 9,
            keep_in_vram: false,
            enabled: false,
            device: Backend::Cuda { ordinal: 3 },
            ..MemoryConfig::default()
        };
        assert_eq!(config, wanted);
        assert_eq!(
            MemoryConfig::builder().build().unwrap(),
            MemoryConfig::default()
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases = [
            (
                "[gpu.memory]\nmax-fracton = 1\n",
                "unknown key `gpu.memory.max-fracton` in the file; did you mean `gpu.memory.max-fraction`?",
            ),
            (
                "[gpu.memroy]\nmax-fraction = 1\n",
                "unknown key `gpu.memroy.max-fraction` in the file; did you mean `gpu.memory.max-fraction`?",
            ),
            (
                "[network]\nport = 1\n",
                "unknown key `network.port` in the file",
            ),
            (
                "[gpu.memory]\ncache-size = -1\n",
                "`gpu.memory.cache-size` in the file must be a whole number, not negative, not -1",
            ),
            (
                "[gpu.backend]\ndevice = \"tpu\"\n",
                "`gpu.backend.device` in the file must be `auto`, `cuda`, `cuda:NUMBER` or \
                 `host`, not \"tpu\"",
            ),
            (
                "[gpu.memory]\nmax-fraction = 1.5\n",
                "`gpu.memory.max-fraction` in the configuration must be more than 0 and at most 1, not 1.5",
            ),
        ];
        for (file, wanted) in cases {
            let error = MemoryConfig::builder()
                .toml(file)
                .and_then(MemoryConfigBuilder::build);
            assert_eq!(error.unwrap_err().to_string(), wanted);
        }
        // Somebody else's.
        let others = "[gpu.slots]\ndirectory = \"x\"\n";
        MemoryConfig::builder().toml(others).unwrap();
        let others = variables(&[("COALESCE_GPU_SLOTS_DIRECTORY", "x")]);
        MemoryConfig::builder().environment(others).unwrap();
        let wrong = variables(&[("COALESCE_GPU_MEMORY_CACHE_SIZES", "1")]);
        let error = MemoryConfig::builder().environment(wrong).unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown key `COALESCE_GPU_MEMORY_CACHE_SIZES` in the environment; did you mean \
             `COALESCE_GPU_MEMORY_CACHE_SIZE`?"
        );
        assert!(matches!(
            MemoryConfig::builder().toml("= 1").unwrap_err(),
            ConfigError::Toml(_)
        ));
    }
}
