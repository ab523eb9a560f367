//! Which GPUs there are, and how full they are. The oldest of four answers to that question.

use std::{fmt, fs, path::Path, sync::OnceLock};

/// The name of the device that is taken where nothing speaks for another.
pub const DEFAULT_DEVICE: &str = "auto";

/// A family of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GpuBackend {
    /// NVIDIA's.
    Cuda,
    /// AMD's.
    Rocm,
    /// Apple's.
    Metal,
    /// The processor.
    Host,
}

impl fmt::Display for GpuBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cuda => "cuda",
            Self::Rocm => "rocm",
            Self::Metal => "metal",
            Self::Host => "cpu",
        })
    }
}

/// What is on one device.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuUsage {
    /// Its name by number.
    pub name: String,
    /// Bytes that it has.
    pub total_bytes: Option<u64>,
    /// Bytes that nobody holds.
    pub free_bytes: Option<u64>,
}

/// The device of this process.
#[derive(Debug)]
pub struct GpuManager {
    backend: GpuBackend,
}

impl GpuManager {
    /// Its name by number.
    pub fn device(&self) -> String {
        format!("{}:0", self.backend)
    }

    /// Whether it is a GPU, and not the processor.
    pub fn is_gpu(&self) -> bool {
        self.backend != GpuBackend::Host
    }
}

/// All devices of the machine.
#[derive(Debug, Default)]
pub struct MultiGpuManager {
    count: usize,
}

impl MultiGpuManager {
    /// What is on each of them now. Nobody has ever read their memory here.
    pub fn usage(&self) -> Vec<GpuUsage> {
        let one = |number| GpuUsage {
            name: format!("cuda:{number}"),
            total_bytes: None,
            free_bytes: None,
        };
        (0..self.count).map(one).collect()
    }

    /// The device with the most room.
    pub fn least_loaded(&self) -> Option<GpuUsage> {
        self.usage()
            .into_iter()
            .max_by_key(|usage| usage.free_bytes)
    }
}

/// How many devices a driver's directory lists.
fn count_entries(directory: &str) -> usize {
    fs::read_dir(directory).map_or(0, Iterator::count)
}

fn detect() -> GpuBackend {
    if std::env::var("USE_CUDA").is_ok_and(|value| value == "0") {
        return GpuBackend::Host;
    }
    if count_entries("/proc/driver/nvidia/gpus") > 0 {
        return GpuBackend::Cuda;
    }
    if Path::new("/dev/kfd").exists() {
        return GpuBackend::Rocm;
    }
    if cfg!(target_os = "macos") {
        return GpuBackend::Metal;
    }
    GpuBackend::Host
}

/// The manager of this process.
///
/// # Errors
/// None, so far.
pub fn get_gpu_manager() -> Result<&'static GpuManager, String> {
    static MANAGER: OnceLock<GpuManager> = OnceLock::new();
    Ok(MANAGER.get_or_init(|| GpuManager { backend: detect() }))
}

/// The manager of all devices.
///
/// # Errors
/// None, so far.
pub fn get_multi_gpu_manager() -> Result<&'static MultiGpuManager, String> {
    static MANAGER: OnceLock<MultiGpuManager> = OnceLock::new();
    Ok(MANAGER.get_or_init(|| MultiGpuManager {
        count: count_entries("/proc/driver/nvidia/gpus"),
    }))
}

/// Whether there is a GPU.
pub fn check_gpu_available() -> bool {
    detect() != GpuBackend::Host
}

/// The names of what there is, the processor last.
pub fn detect_gpu_backends() -> Vec<&'static str> {
    let mut found = Vec::new();
    if count_entries("/proc/driver/nvidia/gpus") > 0 {
        found.push("cuda");
    }
    if Path::new("/dev/kfd").exists() {
        found.push("rocm");
    }
    if cfg!(target_os = "macos") {
        found.push("metal");
    }
    found.push("cpu");
    found
}
