//! Which devices a process has, how many pipelines may run on each, and a slot on one of them.
//!
//! A registry has the devices of one platform, the preferred one; those of another are a typed error,
//! and a second registry has them ([`crate::platform::Preference`] says which). It is initialised once. Before that it knows nothing, and says so; a second time is an
//! error. On a machine without a GPU it is initialised and lists no device; a slot on any device is
//! then one on the processor, so that a program is the same on both.
//!
//! ```
//! use core_gpu::{configuration::Configuration, platform::Platforms, registry::GpuRegistry};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let registry = GpuRegistry::new();
//! let status = registry.initialize(&Configuration::default(), Platforms::system())?;
//! println!("{} pipelines on each device", status.max_pipelines);
//! assert!(registry.initialize(&Configuration::default(), Platforms::system()).is_err());
//! # Ok(())
//! # }
//! ```

use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use core_gpu_driver::{DeviceId, DeviceInfo, PlatformKind};

use crate::{
    configuration::Configuration,
    platform::{Deadline, DeviceName, Platforms, SelectError},
    slots::{FileSlots, Request, SlotError, SlotGuard, SlotStore, Wanted},
    warning::{Warning, warn},
};

/// How long a store waits before the registry looks again which devices are healthy.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Why the registry does not do what it is asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// It was not initialised.
    #[error("the GPU registry is not initialised")]
    NotInitialized,
    /// It was initialised before.
    #[error("the GPU registry is initialised already")]
    AlreadyInitialized,
    /// The platform that the configuration demands is not there.
    #[error(transparent)]
    Platform(#[from] SelectError),
    /// There is no GPU.
    #[error("there is no GPU")]
    NoDevice,
    /// It has no such device.
    #[error("the GPU registry has no device {0}")]
    UnknownDevice(DeviceId),
    /// It has devices of one platform, and this is one of another: a process that wants both has a
    /// registry for each.
    #[error("the GPU registry has devices of {registry}, and {device} is of another platform")]
    OtherPlatform {
        /// The device.
        device: DeviceId,
        /// The platform of its own devices.
        registry: PlatformKind,
    },
    /// All devices that would do are out of use.
    #[error("{device} is out of use: {why}")]
    Quarantined {
        /// The device, or the first of them.
        device: DeviceId,
        /// Why.
        why: String,
    },
    /// There is no slot.
    #[error(transparent)]
    Slot(#[from] SlotError),
}

/// Whether a device is to be used.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Health {
    /// It is.
    Healthy,
    /// It is not: who holds a slot goes on, and nobody gets one.
    Quarantined {
        /// Why.
        why: String,
    },
}

/// A device of the registry, as it was when the status was made.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct RegisteredDevice {
    /// Its name by number.
    pub name: DeviceName,
    /// What it is.
    pub info: DeviceInfo,
    /// How many pipelines may run on it, of all processes.
    pub max_pipelines: u32,
    /// How many run on it in this process.
    pub active: u32,
    /// Whether it is to be used.
    pub health: Health,
}

/// The registry as it was at one moment. A copy: it does not change with the registry.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct RegistryStatus {
    /// The platform of the devices.
    pub platform: PlatformKind,
    /// The devices; none on a machine without a GPU.
    pub devices: Vec<RegisteredDevice>,
    /// The workers that pipelines were reckoned from.
    pub workers: u32,
    /// How many pipelines may run on one device.
    pub max_pipelines: u32,
}

/// The devices of a process. Any thread.
#[derive(Debug, Default)]
pub struct GpuRegistry {
    /// One initialises at a time, so that of several exactly one succeeds.
    initializing: Mutex<()>,
    state: OnceLock<State>,
}

#[derive(Debug)]
struct State {
    platform: PlatformKind,
    devices: Vec<Device>,
    /// Where there is none: who works on it has a slot all the same.
    processor: Option<Device>,
    max_fraction: f64,
    workers: u32,
    max_pipelines: u32,
    store: Arc<dyn SlotStore>,
    deadline: Option<Duration>,
    next: AtomicUsize,
}

#[derive(Debug)]
struct Device {
    info: DeviceInfo,
    active: Arc<AtomicU32>,
    health: Mutex<Health>,
}

/// The registry of this process.
pub fn registry() -> &'static GpuRegistry {
    static REGISTRY: GpuRegistry = GpuRegistry::new();
    &REGISTRY
}

impl GpuRegistry {
    /// A registry that is not initialised.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            initializing: Mutex::new(()),
            state: OnceLock::new(),
        }
    }

    /// Finds the devices of the preferred platform, and how many pipelines may run on each: as the
    /// configuration says, or its workers ÷ devices, rounded up. Slots are kept in the
    /// configuration's directory.
    ///
    /// # Errors
    /// [`RegistryError::AlreadyInitialized`]; the platform, where there is to be no fallback. After
    /// an error it is as it was before.
    pub fn initialize(
        &self,
        configuration: &Configuration,
        platforms: &Platforms,
    ) -> Result<RegistryStatus, RegistryError> {
        let store = Arc::new(FileSlots::new(&configuration.slot_directory));
        self.initialize_with(configuration, platforms, store)
    }

    /// The same, with slots kept in a store of one's own.
    ///
    /// # Errors
    /// As [`GpuRegistry::initialize`].
    pub fn initialize_with(
        &self,
        configuration: &Configuration,
        platforms: &Platforms,
        store: Arc<dyn SlotStore>,
    ) -> Result<RegistryStatus, RegistryError> {
        let lock = self.initializing.lock();
        let _initializing = lock.unwrap_or_else(PoisonError::into_inner);
        if self.state.get().is_some() {
            return Err(RegistryError::AlreadyInitialized);
        }
        let state = State::find(configuration, platforms, store)?;
        if state.devices.is_empty() {
            warn(&Warning::NoDevice);
        }
        Ok(self.state.get_or_init(|| state).status())
    }

    /// Whether it is initialised.
    #[must_use]
    pub fn is_initialized(&self) -> bool {
        self.state.get().is_some()
    }

    /// How things are, as a copy.
    ///
    /// # Errors
    /// [`RegistryError::NotInitialized`].
    pub fn status(&self) -> Result<RegistryStatus, RegistryError> {
        self.state().map(State::status)
    }

    /// A slot on one of these devices, on any where none is named: those with the fewest pipelines
    /// of this process first, and the processor on a machine without a GPU. Waits until the deadline.
    ///
    /// # Errors
    /// None of these devices is there; they are out of use; no slot came free in time.
    pub fn acquire(&self, on: &[DeviceId], by: Deadline) -> Result<SlotGuard, RegistryError> {
        self.acquire_bytes(on, 0, by)
    }

    /// The same, with a claim on bytes of the device's memory: of the part of it that the
    /// configuration lets programs use (`gpu.memory.max-fraction`), less than others claim is left.
    ///
    /// # Errors
    /// As [`GpuRegistry::acquire`]; [`SlotError::Memory`] says who claims what when there is no room in
    /// time, [`SlotError::OverBudget`] that there never is.
    pub fn acquire_bytes(
        &self,
        on: &[DeviceId],
        bytes: u64,
        by: Deadline,
    ) -> Result<SlotGuard, RegistryError> {
        let state = self.state()?;
        let start = Instant::now();
        loop {
            let order = state.order(on)?;
            let request = state.request(&order).with_bytes(bytes);
            let soon = Deadline::after(by.left().map_or(LOOK_AGAIN, |left| left.min(LOOK_AGAIN)));
            match SlotGuard::acquire(&state.store, &request, soon) {
                Ok(slot) if state.is_healthy(slot.device()) => return Ok(state.count(slot)),
                // It fell ill meanwhile; the slot goes back.
                Ok(_) => (),
                Err(SlotError::Full { devices, .. }) if by.is_over() => {
                    let waited = start.elapsed();
                    return Err(SlotError::Full { devices, waited }.into());
                }
                Err(mut error @ SlotError::Memory { .. }) if by.is_over() => {
                    if let SlotError::Memory { waited, .. } = &mut error {
                        *waited = start.elapsed();
                    }
                    return Err(error.into());
                }
                Err(SlotError::Full { .. } | SlotError::Memory { .. }) => (),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// A slot on any device, waiting as long as the configuration says.
    ///
    /// # Errors
    /// As [`GpuRegistry::acquire`].
    pub fn acquire_any(&self) -> Result<SlotGuard, RegistryError> {
        let deadline = self.state()?.deadline;
        self.acquire(&[], deadline.map_or(Deadline::never(), Deadline::after))
    }

    /// Takes a device out of use: nobody gets a slot of it in this process, and those that are held
    /// drain.
    ///
    /// # Errors
    /// The registry is not initialised, or has no such device.
    pub fn quarantine(&self, device: &DeviceId, why: &str) -> Result<(), RegistryError> {
        let why = why.to_owned();
        self.set_health(device, Health::Quarantined { why })
    }

    /// Takes a device into use again.
    ///
    /// # Errors
    /// As [`GpuRegistry::quarantine`].
    pub fn readmit(&self, device: &DeviceId) -> Result<(), RegistryError> {
        self.set_health(device, Health::Healthy)
    }

    fn set_health(&self, device: &DeviceId, health: Health) -> Result<(), RegistryError> {
        let known = self.state()?.device(device)?;
        let mut before = lock(&known.health);
        if *before != health {
            let name = DeviceName::of(&known.info);
            let what = match &health {
                Health::Healthy => format!("{name} is used again"),
                Health::Quarantined { why } => format!("{name} is out of use: {why}"),
            };
            *before = health;
            drop(before);
            warn(&Warning::Health { what });
        }
        Ok(())
    }

    fn state(&self) -> Result<&State, RegistryError> {
        self.state.get().ok_or(RegistryError::NotInitialized)
    }
}

impl State {
    fn find(
        configuration: &Configuration,
        platforms: &Platforms,
        store: Arc<dyn SlotStore>,
    ) -> Result<Self, RegistryError> {
        let chosen = platforms.select(configuration.preference, configuration.fallback)?;
        let platform = chosen.kind();
        let device = |info: &DeviceInfo| Device {
            info: info.clone(),
            active: Arc::default(),
            health: Mutex::new(Health::Healthy),
        };
        let found = chosen.found().devices.iter().map(device);
        let (processor, devices): (Vec<_>, Vec<_>) =
            found.partition(|_| platform == PlatformKind::Host);
        let workers = configuration.workers();
        let count = u32::try_from(devices.len()).unwrap_or(u32::MAX).max(1);
        let max_pipelines = configuration.max_pipelines;
        Ok(Self {
            platform,
            devices,
            processor: processor.into_iter().next(),
            max_fraction: configuration.memory.max_fraction,
            workers,
            max_pipelines: max_pipelines.unwrap_or(workers.div_ceil(count)),
            store,
            deadline: configuration.slot_deadline,
            next: AtomicUsize::new(0),
        })
    }

    fn status(&self) -> RegistryStatus {
        let device = |device: &Device| RegisteredDevice {
            name: DeviceName::of(&device.info),
            info: device.info.clone(),
            max_pipelines: self.max_pipelines,
            active: device.active.load(Ordering::Relaxed),
            health: lock(&device.health).clone(),
        };
        RegistryStatus {
            platform: self.platform,
            devices: self.devices.iter().map(device).collect(),
            workers: self.workers,
            max_pipelines: self.max_pipelines,
        }
    }

    fn device(&self, id: &DeviceId) -> Result<&Device, RegistryError> {
        let all = self.devices.iter().chain(&self.processor);
        let found = all.into_iter().find(|device| device.info.id == *id);
        found.ok_or(if id.platform == self.platform {
            RegistryError::UnknownDevice(*id)
        } else {
            RegistryError::OtherPlatform {
                device: *id,
                registry: self.platform,
            }
        })
    }

    fn is_healthy(&self, id: DeviceId) -> bool {
        let device = self.device(&id);
        device.is_ok_and(|device| *lock(&device.health) == Health::Healthy)
    }

    /// The devices that would do, the least used first; of equals another one each time.
    fn order(&self, on: &[DeviceId]) -> Result<Vec<&Device>, RegistryError> {
        if self.devices.is_empty() && self.processor.is_none() {
            return Err(RegistryError::NoDevice);
        }
        let mut wanted: Vec<&Device> = match on {
            [] => self.devices.iter().chain(&self.processor).collect(),
            on => on
                .iter()
                .map(|id| self.device(id))
                .collect::<Result<_, _>>()?,
        };
        let healthy = |device: &&Device| *lock(&device.health) == Health::Healthy;
        if !wanted.iter().any(healthy) {
            return Err(quarantined(&wanted));
        }
        wanted.retain(healthy);
        let turn = self.next.fetch_add(1, Ordering::Relaxed) % wanted.len();
        wanted.rotate_left(turn);
        wanted.sort_by_key(|device| device.active.load(Ordering::Relaxed));
        Ok(wanted)
    }

    fn request(&self, order: &[&Device]) -> Request {
        order.iter().fold(Request::default(), |request, device| {
            request.or_within(Wanted {
                device: device.info.id,
                slots: self.max_pipelines,
                budget_bytes: (device.info.total_bytes as f64 * self.max_fraction) as u64,
            })
        })
    }

    fn count(&self, slot: SlotGuard) -> SlotGuard {
        match self.device(&slot.device()) {
            Ok(device) => slot.counted(&device.active),
            Err(_) => slot,
        }
    }
}

fn quarantined(devices: &[&Device]) -> RegistryError {
    for device in devices {
        if let Health::Quarantined { why } = &*lock(&device.health) {
            return RegistryError::Quarantined {
                device: device.info.id,
                why: why.clone(),
            };
        }
    }
    RegistryError::NoDevice
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
