//! A device, opened, with everything that work on it needs: the way in for programs that want one
//! device and no types to choose.
//!
//! ```
//! use core_gpu::prelude::*;
//!
//! # fn main() -> core_gpu::Result<()> {
//! let gpu = Gpu::open_best()?;
//! println!("{}: {}", gpu.name(), gpu.reason());
//! let buffer = gpu.upload(&[1.0_f32, 2.0, 3.0])?;
//! assert_eq!(gpu.download(&buffer)?, [1.0, 2.0, 3.0]);
//! # Ok(())
//! # }
//! ```

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use core_gpu_driver::{Driver, DriverError, Event, EventKind, PlatformKind, Stream, StreamKind};
use core_gpu_memory::{Buffer, DeviceType, Pool, Source};

use crate::{
    Result, accelerate,
    configuration::Configuration,
    devices::{DeviceManager, ResolvedDevice},
    platform::{DEFAULT_DEVICE, Deadline, DeviceName, Fallback, Platforms, Preference},
    profiler::{Profiler, profiler},
    slots::{FileSlots, Request, SlotGuard, SlotStore, Wanted},
};

/// A device of this process, the processor where there is no other: its driver, a slot on it, a
/// stream, and a pool. Any thread.
///
/// Dropping it waits for its stream and gives the slot back; buffers that are still there keep their
/// memory.
#[derive(Debug)]
pub struct Gpu {
    device: ResolvedDevice,
    reason: String,
    stream: Stream,
    inner: Option<Inner>,
    source: Source,
    driver: Arc<dyn Driver>,
}

/// What ends with a word.
#[derive(Debug)]
struct Inner {
    pool: Pool,
    slot: Mutex<SlotGuard>,
}

/// How a [`Gpu`] is opened, where the usual does not suit.
///
/// ```
/// use core_gpu::{Gpu, platform::{Deadline, Fallback}};
///
/// # fn main() -> core_gpu::Result<()> {
/// let gpu = Gpu::options()
///     .device("auto")
///     .claim_bytes(1 << 20)
///     .wait(Deadline::now())
///     .open()?;
/// assert_eq!(gpu.claimed_slot().1, gpu.driver().info().id);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct GpuOptions {
    device: String,
    fallback: Option<Fallback>,
    wait: Option<Deadline>,
    bytes: u64,
    slots: Option<u32>,
    source: Source,
    platforms: Option<Arc<Platforms>>,
    configuration: Option<Configuration>,
}

impl GpuOptions {
    /// Which device, by name: `auto`, `cuda:1`, `cpu`; the best unless it is said.
    pub fn device(mut self, name: &str) -> Self {
        name.clone_into(&mut self.device);
        self
    }

    /// What to do where it is not there; as the settings say unless it is said.
    pub fn fallback(mut self, fallback: Fallback) -> Self {
        self.fallback = Some(fallback);
        self
    }

    /// How long a slot is waited for; as the settings say (`gpu.slots.deadline-ms`) unless it is said.
    pub fn wait(mut self, by: Deadline) -> Self {
        self.wait = Some(by);
        self
    }

    /// Bytes of the device's memory that are claimed with the slot: see [`Request::with_bytes`]. The
    /// pool keeps to them.
    pub fn claim_bytes(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
        self
    }

    /// How many slots the device has; the registry's number unless it is said. All who share it say
    /// the same.
    pub fn slots(mut self, slots: u32) -> Self {
        self.slots = Some(slots);
        self
    }

    /// Who its memory is accounted to.
    pub fn source(mut self, source: Source) -> Self {
        self.source = source;
        self
    }

    /// On other platforms than this process's: Vulkan, which is not looked for by itself, or a test's own.
    pub fn platforms(mut self, platforms: &Arc<Platforms>) -> Self {
        self.platforms = Some(Arc::clone(platforms));
        self
    }

    /// With these settings; those of the environment unless it is said.
    pub fn configuration(mut self, configuration: Configuration) -> Self {
        self.configuration = Some(configuration);
        self
    }

    /// Opens it.
    ///
    /// # Errors
    /// Settings that cannot be; the device is not there, or cannot be opened, and there is to be no
    /// fallback; no slot came free in time ([`crate::ErrorKind::Busy`]).
    pub fn open(self) -> Result<Gpu> {
        let configuration = match self.configuration.clone() {
            Some(configuration) => configuration,
            None => Configuration::from_environment()?,
        };
        let platforms = match &self.platforms {
            Some(platforms) => platforms,
            None => Platforms::system(),
        };
        configuration.profiler.start().map_err(DriverError::from)?;
        let manager = DeviceManager::new(platforms, configuration.preference);
        let fallback = self.fallback.unwrap_or(configuration.fallback);
        let (device, driver) = self.find(&manager, fallback)?;
        let slot = self.claim(&configuration, &manager, &device)?;
        let stream = Stream::new(&driver, StreamKind::NonBlocking)?;
        let pool = match self.bytes {
            0 => Pool::new(&driver),
            bytes => Pool::builder(&driver).limit(bytes).build()?,
        };
        Ok(Gpu {
            reason: reason(&manager, &device, self.is_automatic()),
            device,
            stream,
            inner: Some(Inner {
                pool,
                slot: Mutex::new(slot),
            }),
            source: self.source,
            driver,
        })
    }

    fn is_automatic(&self) -> bool {
        self.device.trim().eq_ignore_ascii_case(DEFAULT_DEVICE)
    }

    fn find(
        &self,
        manager: &DeviceManager,
        fallback: Fallback,
    ) -> Result<(ResolvedDevice, Arc<dyn Driver>)> {
        let (device, driver) = manager.open_device(&self.device, fallback)?;
        let wants_one = self.is_automatic() && manager.preference() == Preference::Auto;
        if wants_one && fallback == Fallback::Error && is_host(&device) {
            // Without a fallback nobody wants the processor unless it is named.
            return Err(accelerate::not_there(manager.platforms()).into());
        }
        Ok((device, driver))
    }

    fn claim(
        &self,
        configuration: &Configuration,
        manager: &DeviceManager,
        device: &ResolvedDevice,
    ) -> Result<SlotGuard> {
        let store = FileSlots::new(&configuration.slot_directory);
        let store: Arc<dyn SlotStore> = Arc::new(store);
        // As the registry reckons them: all who share a device must say the same.
        let found = manager.platforms().probe(device.info.id.platform);
        let count = found.map_or(1, |found| found.devices.len().max(1));
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let slots = self.slots.or(configuration.max_pipelines);
        let slots = slots.unwrap_or_else(|| configuration.workers().div_ceil(count));
        let budget = device.info.total_bytes as f64 * configuration.memory.max_fraction;
        let request = Request::default()
            .or_within(Wanted {
                device: device.info.id,
                slots,
                budget_bytes: budget as u64,
            })
            .with_bytes(self.bytes);
        let usual = || {
            let limit = configuration.slot_deadline;
            limit.map_or(Deadline::never(), Deadline::after)
        };
        let by = self.wait.unwrap_or_else(usual);
        Ok(SlotGuard::acquire(&store, &request, by)?)
    }
}

fn is_host(device: &ResolvedDevice) -> bool {
    device.info.id.platform == PlatformKind::Host
}

/// Why this device, in a sentence.
fn reason(manager: &DeviceManager, device: &ResolvedDevice, automatic: bool) -> String {
    if let Some(instead) = &device.instead {
        return format!("in place of another: {instead}");
    }
    if !automatic {
        return "it was asked for by name".to_owned();
    }
    if is_host(device) {
        return match manager.preference() {
            Preference::Auto => accelerate::not_there(manager.platforms()).to_string(),
            _ => "the settings ask for it".to_owned(),
        };
    }
    let platform = device.info.id.platform;
    let found = manager.platforms().probe(platform);
    match found.map_or(1, |found| found.devices.len()) {
        1 => format!("the only device of {platform}"),
        count => format!("the most memory of {count} devices of {platform}"),
    }
}

impl Gpu {
    /// The best device that there is, the processor where there is none or the settings want it:
    /// [`Gpu::reason`] says why it is that one, [`Gpu::is_gpu`] whether it is one.
    ///
    /// # Errors
    /// See [`GpuOptions::open`].
    pub fn open_best() -> Result<Self> {
        Self::options().open()
    }

    /// The device of a name, as [`DeviceManager::resolve_device`] reads it.
    ///
    /// # Errors
    /// See [`GpuOptions::open`].
    pub fn open(name: &str) -> Result<Self> {
        Self::options().device(name).open()
    }

    /// To say more before it is opened.
    pub fn options() -> GpuOptions {
        GpuOptions {
            device: DEFAULT_DEVICE.to_owned(),
            fallback: None,
            wait: None,
            bytes: 0,
            slots: None,
            source: Source::named("gpu"),
            platforms: None,
            configuration: None,
        }
    }

    /// Its name by number.
    #[must_use]
    pub fn name(&self) -> &DeviceName {
        &self.device.name
    }

    /// What it is, and why it is not the one that was asked for where it is not.
    #[must_use]
    pub fn device(&self) -> &ResolvedDevice {
        &self.device
    }

    /// Why it is this device, in a sentence for people.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Whether it is a GPU, and not the host's memory.
    #[must_use]
    pub fn is_gpu(&self) -> bool {
        !is_host(&self.device)
    }

    /// Its driver.
    #[must_use]
    pub fn driver(&self) -> &Arc<dyn Driver> {
        &self.driver
    }

    /// Its own stream.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Another stream, which runs beside its own.
    ///
    /// # Errors
    /// As the driver's call fails.
    pub fn new_stream(&self) -> Result<Stream> {
        Ok(Stream::new(&self.driver, StreamKind::NonBlocking)?)
    }

    /// Its pool.
    #[must_use]
    pub fn pool(&self) -> &Pool {
        &self.inner().pool
    }

    /// The process's profiler: [`Profiler::enable`] starts it.
    #[must_use]
    pub fn profiler(&self) -> &'static Profiler {
        profiler()
    }

    /// The number of its slot, and the device that it is on.
    #[must_use]
    pub fn claimed_slot(&self) -> (u32, core_gpu_driver::DeviceId) {
        let slot = self.slot();
        (slot.slot(), slot.device())
    }

    /// Memory for `len` elements on its stream; what is in it is undefined.
    ///
    /// # Errors
    /// As the pool refuses: [`crate::ErrorKind::OutOfMemory`], among others.
    pub fn allocate<T: DeviceType>(&self, len: usize) -> Result<Buffer<T>> {
        Ok(self.pool().allocate(len, &self.stream, self.source)?)
    }

    /// Values on the device.
    ///
    /// # Errors
    /// As the pool refuses or the copy fails.
    pub fn upload<T: DeviceType>(&self, values: &[T]) -> Result<Buffer<T>> {
        let mut buffer = self.allocate(values.len())?;
        buffer.upload(values, &self.stream)?;
        Ok(buffer)
    }

    /// Values of the device on the host, behind the work on its stream.
    ///
    /// # Errors
    /// As the copy fails.
    pub fn download<T: DeviceType>(&self, buffer: &Buffer<T>) -> Result<Vec<T>> {
        Ok(buffer.download(&self.stream)?)
    }

    /// Puts work on its stream, waits for it, and writes down beside the slot how long the device
    /// worked: `coalesce devices` shows it next to how long the slot is held.
    ///
    /// # Errors
    /// As the work fails, the driver's calls, or writing it down.
    pub fn timed<R>(&self, work: impl FnOnce(&Self) -> Result<R>) -> Result<R> {
        let start = Event::new(&self.driver, EventKind::Timed)?;
        let end = Event::new(&self.driver, EventKind::Timed)?;
        self.stream.record(&start)?;
        let done = work(self);
        self.stream.record(&end)?;
        end.synchronize()?;
        let time = end.elapsed_since(&start)?;
        self.slot().note_use(time)?;
        done
    }

    /// Waits for its stream and gives everything back, for who wants to know whether that worked.
    ///
    /// # Errors
    /// As waiting fails, memory is still in use ([`crate::Error::Leak`]), or the slot cannot be given
    /// back. The slot is given back whatever failed before.
    pub fn close(mut self) -> Result<()> {
        let waited = self.stream.synchronize();
        let inner = self.inner.take();
        let Some(Inner { pool, slot }) = inner else {
            return Ok(());
        };
        let ended = pool.shutdown();
        let slot = slot.into_inner().unwrap_or_else(PoisonError::into_inner);
        let released = slot.release();
        waited?;
        ended?;
        Ok(released?)
    }

    fn inner(&self) -> &Inner {
        self.inner
            .as_ref()
            .expect("invariant: only `close` takes it, and `close` takes the value")
    }

    fn slot(&self) -> MutexGuard<'_, SlotGuard> {
        let slot = self.inner().slot.lock();
        slot.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // What fails here has failed the work, which has its own answer.
        let _: std::result::Result<(), DriverError> = self.stream.synchronize();
    }
}
