//! Asking NVIDIA's management library without waiting for it longer than is bearable: on a thread
//! that can be done without. A library that has not answered once is not asked again by this
//! process.

use std::{
    collections::BTreeMap,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::Duration,
};

use core_gpu_driver::{
    DeviceId, PlatformKind, nvml::DeviceProcess, nvml::Management, nvml::Reading,
};

use crate::platform::MigOfDevice;

/// How long figures are waited for.
const FIGURES: Duration = Duration::from_secs(2);
/// Set when the library did not answer in time.
static HUNG: AtomicBool = AtomicBool::new(false);

/// The library did not answer in time, now or before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the management library does not answer")]
pub struct Hung;

/// Runs a question on a thread of its own, and waits so long at most. A thread that hangs stays: it
/// cannot be ended.
pub fn bounded<T: Send + 'static>(
    limit: Duration,
    ask: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Hung> {
    if HUNG.load(Ordering::Acquire) {
        return Err(Hung);
    }
    let (sender, answer) = mpsc::channel();
    let named = std::thread::Builder::new().name("core-gpu-management".to_owned());
    let started = named.spawn(move || {
        // Who asked may have given up.
        let _ = sender.send(ask());
    });
    // A thread that panicked has dropped its sender, which is no answer either.
    match (started, answer.recv_timeout(limit)) {
        (Ok(thread), Ok(answer)) => {
            // It has answered and ends: nothing is left behind.
            let _ = thread.join();
            Ok(answer)
        }
        _ => {
            HUNG.store(true, Ordering::Release);
            Err(Hung)
        }
    }
}

/// What the library tells of devices. Those of which it tells nothing are not in it; a library that
/// is not there tells nothing of any.
pub fn readings(devices: &[DeviceId]) -> BTreeMap<DeviceId, Reading> {
    let of_cuda: Vec<DeviceId> = devices
        .iter()
        .filter(|id| id.platform == PlatformKind::Cuda)
        .copied()
        .collect();
    if of_cuda.is_empty() {
        return BTreeMap::new();
    }
    let ask = move || {
        let Ok(management) = Management::load() else {
            return BTreeMap::new();
        };
        let read = |id: &DeviceId| {
            let device = management.device(&id.uuid).ok()?;
            Some((*id, device.read().ok()?))
        };
        of_cuda.iter().filter_map(read).collect()
    };
    bounded(FIGURES, ask).unwrap_or_default()
}

/// The identity of a slice by the name that old drivers had for it, where the library knows it.
pub fn slice(old: &MigOfDevice) -> Option<[u8; 16]> {
    let name = old.to_string();
    let ask = move || {
        let management = Management::load().ok()?;
        management.device_named(&name).ok()?.uuid().ok()
    };
    bounded(FIGURES, ask).ok().flatten()
}

/// Bytes that nobody holds, as the library counts.
pub fn free_bytes(reading: &Reading) -> Option<u64> {
    reading.total_bytes?.checked_sub(reading.used_bytes?)
}

/// The processes that compute on devices. Those of which the library tells nothing are not in it.
pub fn processes(devices: &[DeviceId]) -> BTreeMap<DeviceId, Vec<DeviceProcess>> {
    let devices = devices.to_vec();
    let ask = move || {
        let Ok(management) = Management::load() else {
            return BTreeMap::new();
        };
        let read = |id: &DeviceId| {
            let device = management.device(&id.uuid).ok()?;
            Some((*id, device.processes().ok()??))
        };
        devices.iter().filter_map(read).collect()
    };
    bounded(FIGURES, ask).unwrap_or_default()
}
