//! Settings, from the places that the runtime's are read from.
//!
//! | key | in the environment | without it |
//! | --- | --- | --- |
//! | `gpu.ast.cache-enabled` | `COALESCE_GPU_AST_CACHE_ENABLED` | true |
//! | `gpu.ast.max-cache-size` (trees) | `COALESCE_GPU_AST_MAX_CACHE_SIZE` | 50 |

use core_gpu_memory::{
    ConfigError,
    settings::{Keys, own_environment, truth, whole},
};

/// What the cache of trees does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AstSettings {
    /// Whether trees are kept at all.
    pub cache_enabled: bool,
    /// How many.
    pub max_cache_size: usize,
}

impl Default for AstSettings {
    fn default() -> Self {
        Self {
            cache_enabled: true,
            max_cache_size: 50,
        }
    }
}

const KEYS: Keys<AstSettings> = Keys(&[
    ("gpu.ast.cache-enabled", |settings, value| {
        settings.cache_enabled = truth(value)?;
        Ok(())
    }),
    ("gpu.ast.max-cache-size", |settings, value| {
        let size = usize::try_from(whole(value)?).map_err(|_| "a number of trees")?;
        settings.max_cache_size = size;
        Ok(())
    }),
]);

impl AstSettings {
    /// As a TOML file says, and the environment over it.
    ///
    /// # Errors
    /// [`ConfigError`]: an unknown key of the group, a value that is none.
    pub fn read(
        toml: &str,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<AstSettings, ConfigError> {
        let mut settings = AstSettings::default();
        KEYS.read_toml(&mut settings, toml)?;
        KEYS.read_environment(&mut settings, environment)?;
        Ok(settings)
    }

    /// As this process's environment says.
    ///
    /// # Errors
    /// As [`AstSettings::read`].
    pub fn from_environment() -> Result<AstSettings, ConfigError> {
        AstSettings::read("", own_environment())
    }
}
