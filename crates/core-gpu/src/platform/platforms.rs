//! The platforms of a process: each looked for once, when it is wanted, on a thread that a hanging
//! driver may keep.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use core_gpu_driver::{DeviceId, DeviceInfo, Driver, DriverError, MemoryInfo, PlatformKind};

use crate::{
    configuration::Configuration,
    platform::{
        CpuPlatform, CudaPlatform, Fallback, Found, MetalPlatform, Platform, Preference,
        RocmPlatform, Unavailable, name_of,
    },
    warning::{Warning, warn},
};

/// Platforms in the order of preference, the processor last. Any thread.
#[derive(Debug)]
pub struct Platforms {
    entries: Vec<Entry>,
    deadline: Duration,
}

#[derive(Debug)]
struct Entry {
    platform: Arc<dyn Platform>,
    answer: OnceLock<Result<Found, Unavailable>>,
    warned: AtomicBool,
    /// It did not tell a device's memory in time: it is not asked again.
    silent: AtomicBool,
}

/// A platform and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Status<'a> {
    /// Which one.
    pub kind: PlatformKind,
    /// What was found, or why nothing was.
    pub answer: Result<&'a Found, &'a Unavailable>,
}

/// The platform that was chosen.
#[derive(Clone, Copy, Debug)]
pub struct Selection<'a> {
    entry: &'a Entry,
    found: &'a Found,
    instead_of: Option<(PlatformKind, &'a Unavailable)>,
}

/// A platform that was asked for by name is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} cannot be used: {why}", name_of(*.platform))]
pub struct SelectError {
    /// The platform.
    pub platform: PlatformKind,
    /// Why not.
    pub why: Unavailable,
}

impl Selection<'_> {
    /// Which platform.
    #[must_use]
    pub fn kind(&self) -> PlatformKind {
        self.entry.platform.kind()
    }

    /// The platform itself, to open its devices.
    #[must_use]
    pub fn platform(&self) -> &dyn Platform {
        &*self.entry.platform
    }

    /// Its version and devices.
    #[must_use]
    pub fn found(&self) -> &Found {
        self.found
    }

    /// The platform that was asked for and is not there, and why.
    #[must_use]
    pub fn instead_of(&self) -> Option<(PlatformKind, &Unavailable)> {
        self.instead_of
    }
}

impl Platforms {
    /// The platforms of this process: those that this program was built with. What the environment
    /// says is read at the first call.
    pub fn system() -> &'static Arc<Self> {
        static SYSTEM: OnceLock<Arc<Platforms>> = OnceLock::new();
        SYSTEM.get_or_init(|| {
            // What is wrong with the environment is told to who asks for a configuration.
            let configuration = Configuration::from_environment().unwrap_or_default();
            Arc::new(Self::from_environment(configuration.probe_deadline))
        })
    }

    /// The same, for one who brings a deadline of their own, and remembers the answers themselves.
    #[must_use]
    pub fn from_environment(deadline: Duration) -> Self {
        Self::new(
            vec![
                Arc::new(CudaPlatform::from_environment()),
                Arc::new(RocmPlatform::from_environment()),
                Arc::new(MetalPlatform),
                Arc::new(CpuPlatform),
            ],
            deadline,
        )
    }

    /// These platforms, in the order of preference. The processor is added where it is missing.
    #[must_use]
    pub fn new(mut platforms: Vec<Arc<dyn Platform>>, deadline: Duration) -> Self {
        let is_cpu = |platform: &Arc<dyn Platform>| platform.kind() == PlatformKind::Host;
        if !platforms.iter().any(is_cpu) {
            platforms.push(Arc::new(CpuPlatform));
        }
        let entry = |platform| Entry {
            platform,
            answer: OnceLock::new(),
            warned: AtomicBool::new(false),
            silent: AtomicBool::new(false),
        };
        Self {
            entries: platforms.into_iter().map(entry).collect(),
            deadline,
        }
    }

    /// What is known of a platform; it is looked for at the first call.
    ///
    /// # Errors
    /// Why it is not there.
    pub fn probe(&self, kind: PlatformKind) -> Result<&Found, &Unavailable> {
        match self.entry(kind) {
            Some(entry) => self.answer(entry),
            None => Err(&Unavailable::Unknown),
        }
    }

    /// All platforms, each looked for.
    #[must_use]
    pub fn all(&self) -> Vec<Status<'_>> {
        let status = |entry| Status {
            kind: Entry::kind(entry),
            answer: self.answer(entry),
        };
        self.entries.iter().map(status).collect()
    }

    /// All devices that are there, in the order of preference, the processor last.
    #[must_use]
    pub fn devices(&self) -> Vec<&DeviceInfo> {
        let found = self
            .entries
            .iter()
            .filter_map(|entry| self.answer(entry).ok());
        found.flat_map(|found| &found.devices).collect()
    }

    /// A platform by preference. Those after the chosen one are not looked for. What is passed over
    /// although something of it is there, and a fallback, are each a warning, once.
    ///
    /// # Errors
    /// The platform was asked for by name, is not there, and there is to be no fallback.
    pub fn select(
        &self,
        preference: Preference,
        fallback: Fallback,
    ) -> Result<Selection<'_>, SelectError> {
        let kind = match preference {
            Preference::Auto => return self.first(),
            Preference::Platform(kind) => kind,
        };
        let why = match self.entry(kind).map(|entry| (entry, self.answer(entry))) {
            Some((entry, Ok(found))) => {
                return Ok(Selection {
                    entry,
                    found,
                    instead_of: None,
                });
            }
            Some((_, Err(why))) => why,
            None => &Unavailable::Unknown,
        };
        if fallback == Fallback::Error {
            return Err(SelectError {
                platform: kind,
                why: why.clone(),
            });
        }
        self.warn_fallback(kind, why);
        let chosen = self.select(Preference::CPU, Fallback::Error)?;
        Ok(Selection {
            instead_of: Some((kind, why)),
            ..chosen
        })
    }

    /// Opens a device of one of the platforms.
    ///
    /// # Errors
    /// As the driver says, and [`core_gpu_driver::Absent::Device`] for a platform that is not among
    /// these.
    pub fn open(&self, id: &DeviceId) -> Result<Arc<dyn Driver>, DriverError> {
        let missing = || core_gpu_driver::Absent::Device {
            wanted: id.to_string(),
        };
        let has = |entry: &&Entry| {
            let devices = self.answer(entry).map(|found| &found.devices);
            devices.is_ok_and(|devices| devices.iter().any(|device| device.id == *id))
        };
        let kind = self.entry(id.platform);
        let entry = kind.or_else(|| self.entries.iter().find(has));
        entry.ok_or_else(missing)?.platform.open(id)
    }

    /// The memory of a device that is not open, where its platform tells it, in time.
    pub(crate) fn memory_info(&self, device: &DeviceInfo) -> Option<MemoryInfo> {
        let entry = self.entry(device.id.platform)?;
        if entry.silent.load(Ordering::Relaxed) {
            return None;
        }
        let (platform, asked) = (Arc::clone(&entry.platform), device.clone());
        let told = bounded(&entry.platform, self.deadline, move || {
            platform.memory_info(&asked)
        });
        let hung = matches!(told, Err(Unavailable::Hung { .. }));
        entry.silent.fetch_or(hung, Ordering::Relaxed);
        told.ok().flatten()
    }

    fn entry(&self, kind: PlatformKind) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.kind() == kind)
    }

    fn first(&self) -> Result<Selection<'_>, SelectError> {
        for entry in &self.entries {
            match self.answer(entry) {
                Ok(found) => {
                    return Ok(Selection {
                        entry,
                        found,
                        instead_of: None,
                    });
                }
                Err(why) if why.is_broken() => entry.warn_once(|| Warning::Broken {
                    platform: entry.kind(),
                    why: why.clone(),
                }),
                Err(_) => (),
            }
        }
        // The processor is always there, unless a program brings one that is not.
        Err(SelectError {
            platform: PlatformKind::Host,
            why: Unavailable::NoDevice,
        })
    }

    fn warn_fallback(&self, kind: PlatformKind, why: &Unavailable) {
        let warning = || Warning::Fallback {
            wanted: name_of(kind).to_owned(),
            used: PlatformKind::Host,
            why: why.to_string(),
        };
        match self.entry(kind) {
            Some(entry) => entry.warn_once(warning),
            None => warn(&warning()),
        }
    }

    fn answer<'a>(&'a self, entry: &'a Entry) -> Result<&'a Found, &'a Unavailable> {
        let answer = entry.answer.get_or_init(|| {
            let found = ask(&entry.platform, self.deadline)?;
            // What shows no device is not usable, whatever it says.
            if found.devices.is_empty() {
                return Err(Unavailable::NoDevice);
            }
            Ok(found)
        });
        answer.as_ref()
    }
}

impl Entry {
    fn kind(&self) -> PlatformKind {
        self.platform.kind()
    }

    fn warn_once(&self, warning: impl FnOnce() -> Warning) {
        if !self.warned.swap(true, Ordering::Relaxed) {
            warn(&warning());
        }
    }
}

/// Looks for a platform.
fn ask(platform: &Arc<dyn Platform>, deadline: Duration) -> Result<Found, Unavailable> {
    let asked = Arc::clone(platform);
    bounded(platform, deadline, move || asked.probe())?
}

/// Asks a platform on a thread of its own, which is over when this returns unless it hangs.
fn bounded<T: Send + 'static>(
    platform: &Arc<dyn Platform>,
    deadline: Duration,
    ask: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Unavailable> {
    if !platform.may_hang() {
        return Ok(ask());
    }
    let (sender, receiver) = mpsc::sync_channel(1);
    let thread = thread::Builder::new().name(format!("probe-{}", platform.kind()));
    let spawned = thread.spawn(move || {
        let answer = catch_unwind(AssertUnwindSafe(ask));
        // Nobody hears it when the deadline is over.
        let _ = sender.send(answer.map_err(|_| Unavailable::Panicked));
    });
    let thread = spawned.map_err(|error| Unavailable::Thread(error.to_string()))?;
    let Ok(answer) = receiver.recv_timeout(deadline) else {
        return Err(Unavailable::Hung { after: deadline });
    };
    // It has nothing left to do: this is so that no thread is left behind.
    let _ = thread.join();
    answer
}
