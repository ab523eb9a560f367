//! A monitor on a thread of its own.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::{Duration, Instant},
};

use core_gpu_driver::DeviceId;

use super::{
    NoSource,
    judge::{DeviceHealth, Monitor},
};

/// How long an end is waited for. A thread that is stuck in a driver's library cannot be ended; it
/// is left alone then, and does nothing any more when it comes back.
const GOODBYE: Duration = Duration::from_secs(2);

/// What the thread last found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MonitorReport {
    /// The devices.
    pub devices: BTreeMap<DeviceId, DeviceHealth>,
    /// How many looks there were.
    pub looks: u64,
    /// How long ago the last one ended; `None` before the first. A library that hangs lets it grow.
    pub age: Option<Duration>,
}

#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    found: Mutex<(BTreeMap<DeviceId, DeviceHealth>, u64, Option<Instant>)>,
}

/// A monitor that looks by itself until this is dropped.
#[derive(Debug)]
pub struct MonitorThread {
    shared: Arc<Shared>,
    ended: mpsc::Receiver<()>,
}

impl Monitor {
    /// Looks every so often on a thread of its own, and at once when a device raises an error.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn watch(mut self, every: Duration) -> Result<MonitorThread, NoSource> {
        let shared = Arc::new(Shared::default());
        let (sender, ended) = mpsc::channel();
        let theirs = Arc::clone(&shared);
        let work = move || {
            // Dropped at the end, which is how the end is known.
            let _ended: mpsc::Sender<()> = sender;
            while !theirs.stop.load(Ordering::Relaxed) {
                let start = Instant::now();
                let devices = self.look(every.min(Duration::from_millis(500))).clone();
                let mut found = theirs.found.lock().unwrap_or_else(PoisonError::into_inner);
                *found = (devices, found.1 + 1, Some(Instant::now()));
                drop(found);
                rest(&theirs, every.saturating_sub(start.elapsed()));
            }
        };
        let named = std::thread::Builder::new().name("core-gpu-monitor".to_owned());
        named.spawn(work).map_err(|error| NoSource {
            why: error.to_string(),
        })?;
        Ok(MonitorThread { shared, ended })
    }
}

/// Waits, and looks up now and then whether it is over.
fn rest(shared: &Shared, time: Duration) {
    let until = Instant::now() + time;
    while Instant::now() < until && !shared.stop.load(Ordering::Relaxed) {
        let left = until.saturating_duration_since(Instant::now());
        std::thread::sleep(left.min(Duration::from_millis(50)));
    }
}

impl MonitorThread {
    /// What the last look found.
    #[must_use]
    pub fn report(&self) -> MonitorReport {
        let found = self.shared.found.lock();
        let (devices, looks, at) = &*found.unwrap_or_else(PoisonError::into_inner);
        MonitorReport {
            devices: devices.clone(),
            looks: *looks,
            age: at.map(|at| at.elapsed()),
        }
    }
}

impl Drop for MonitorThread {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        // Ended or stuck: there is nothing more to be done about it.
        let _ = self.ended.recv_timeout(GOODBYE);
    }
}
