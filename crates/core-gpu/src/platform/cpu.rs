//! The processor as a platform: one device, whose memory is the host's. It is always there.

use std::{
    fs,
    num::NonZero,
    sync::{Arc, Mutex, PoisonError, Weak},
    thread,
};

use core_gpu_driver::{
    DeviceId, DeviceInfo, Driver, DriverError, HostDriver, MemoryInfo, PlatformKind,
};

use crate::platform::{Found, Platform, Tuning, Unavailable, tuning::CPU_TUNINGS};

/// What the processor's memory is taken for where the system does not say, in bytes: a limit, which
/// takes nothing beforehand.
const UNKNOWN_BYTES: u64 = 1 << 32;

/// The processor.
#[derive(Clone, Copy, Debug, Default)]
pub struct CpuPlatform;

/// The host's memory at one moment, in bytes. What the system does not tell is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct HostMemory {
    /// All there is.
    pub total_bytes: Option<u64>,
    /// What programs can still have without swapping.
    pub available_bytes: Option<u64>,
}

/// The host's memory, from what the kernel says of it.
#[must_use]
pub fn host_memory() -> HostMemory {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    HostMemory {
        total_bytes: kibibytes(&text, "MemTotal:"),
        available_bytes: kibibytes(&text, "MemAvailable:"),
    }
}

/// A line such as `MemTotal:  16384 kB`, in bytes.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    number.checked_mul(1024)
}

/// The processor's name, where the system says it.
fn model() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn info() -> DeviceInfo {
    let total = host_memory().total_bytes.unwrap_or(UNKNOWN_BYTES);
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let model = model().unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    DeviceInfo {
        name: format!("{model}, {threads} threads"),
        ..HostDriver::with_identity(HostDriver::OF_PROCESS, total)
            .info()
            .clone()
    }
}

/// The processor, opened: one driver for the whole process, as long as anybody has it, since its
/// identity is one.
fn open() -> Arc<HostDriver> {
    static OPEN: Mutex<Weak<HostDriver>> = Mutex::new(Weak::new());
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(driver) = open.upgrade() {
        return driver;
    }
    let total = host_memory().total_bytes.unwrap_or(UNKNOWN_BYTES);
    let driver = Arc::new(HostDriver::with_identity(HostDriver::OF_PROCESS, total));
    *open = Arc::downgrade(&driver);
    driver
}

impl Platform for CpuPlatform {
    fn kind(&self) -> PlatformKind {
        PlatformKind::Host
    }

    fn probe(&self) -> Result<Found, Unavailable> {
        Ok(Found {
            version: None,
            devices: vec![info()],
        })
    }

    fn may_hang(&self) -> bool {
        false
    }

    fn open(&self, _id: &DeviceId) -> Result<Arc<dyn Driver>, DriverError> {
        Ok(open())
    }

    fn memory_info(&self, _device: &DeviceInfo) -> Option<MemoryInfo> {
        let memory = host_memory();
        Some(MemoryInfo {
            free_bytes: memory.available_bytes?,
            total_bytes: memory.total_bytes?,
        })
    }

    fn tunings(&self) -> &'static [Tuning] {
        CPU_TUNINGS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel_are_bytes() {
        let text = "MemTotal:       16384 kB\nMemFree: 1 kB\nMemAvailable:\nSwap: 2 pages\n";
        assert_eq!(kibibytes(text, "MemTotal:"), Some(16_777_216));
        assert_eq!(kibibytes(text, "MemAvailable:"), None);
        assert_eq!(kibibytes(text, "Swap:"), None);
        assert_eq!(kibibytes("", "MemTotal:"), None);
    }
}
