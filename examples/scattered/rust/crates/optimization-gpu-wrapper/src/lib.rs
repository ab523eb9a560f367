//! Work that uses a GPU where there is one: with another way where there is none, within a scope, or
//! not at all. The third crate that asks whether there is one.

use std::{error::Error, fmt, fs};

/// A GPU for a while.
#[derive(Debug)]
pub struct GpuContext {
    name: String,
}

impl GpuContext {
    /// Its name by number.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives back what is not in use. Returns how many bytes.
    pub fn free_memory(&self) -> u64 {
        0
    }
}

/// A result, and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuResult<T> {
    /// The result.
    pub value: T,
    /// The device that computed it.
    pub ran_on: String,
    /// Why it was not a GPU, where it was not.
    pub instead: Option<String>,
}

/// Why there is no GPU to work on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GpuRequiredError {
    /// There is none.
    None,
}

impl fmt::Display for GpuRequiredError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no GPU")
    }
}

impl Error for GpuRequiredError {}

/// Whether there is a GPU.
pub fn check_gpu_available() -> bool {
    fs::read_dir("/proc/driver/nvidia/gpus").is_ok_and(|mut entries| entries.next().is_some())
}

/// A GPU, or an error: for work that makes no sense without one.
///
/// # Errors
/// [`GpuRequiredError::None`].
pub fn require_gpu() -> Result<GpuContext, GpuRequiredError> {
    if check_gpu_available() {
        let name = "cuda:0".to_owned();
        Ok(GpuContext { name })
    } else {
        Err(GpuRequiredError::None)
    }
}

/// Runs work on the GPU; the other way where there is none, and where the GPU's work fails.
pub fn gpu_accelerated<T, E: fmt::Display>(
    gpu: impl FnOnce(&GpuContext) -> Result<T, E>,
    cpu: impl FnOnce() -> T,
) -> GpuResult<T> {
    let why = match require_gpu() {
        Err(why) => why.to_string(),
        Ok(context) => match gpu(&context) {
            Ok(value) => {
                return GpuResult {
                    value,
                    ran_on: context.name,
                    instead: None,
                };
            }
            Err(why) => why.to_string(),
        },
    };
    GpuResult {
        value: cpu(),
        ran_on: "cpu:0".to_owned(),
        instead: Some(why),
    }
}
