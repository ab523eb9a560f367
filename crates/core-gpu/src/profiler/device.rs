//! Spans of a device: two events on a stream, read when somebody wants to know or when many have
//! gathered, never where the work is given out. Device times are put on the host's line through an
//! event whose moment on the host is known.

use std::{
    cell::RefCell,
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use core_gpu_driver::{
    DeviceId, Driver, DriverError, Event, EventKind, Stream, StreamId, StreamKind, WeakStream,
    ticks,
};
use serde::Serialize;

use super::{
    name::{Met, SpanName},
    span,
};

/// Spans not read yet that a device keeps before it looks which are over.
const GATHERED: usize = 1024;
/// Spans not read yet, at most. Beyond them spans are counted and not kept.
const MOST_PENDING: usize = 1 << 16;
/// Spans read that are kept with their times; of older ones the sums remain.
const MOST_KEPT: usize = 1 << 16;
/// Events that a thread takes at once.
const TAKEN: usize = 128;
/// Readings of which the best tells when an event was reached on the host's clock.
const READINGS: usize = 3;

/// What a span of a device does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Kernels.
    #[default]
    Compute,
    /// Bytes from the host to the device.
    Upload {
        /// How many.
        bytes: u64,
    },
    /// Bytes from the device to the host.
    Download {
        /// How many.
        bytes: u64,
    },
    /// Bytes within a device or between two.
    Copy {
        /// How many.
        bytes: u64,
    },
}

impl Work {
    /// Whether bytes go over the link.
    #[must_use]
    pub const fn is_transfer(self) -> bool {
        matches!(self, Self::Upload { .. } | Self::Download { .. })
    }

    /// Bytes moved.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Compute => 0,
            Self::Upload { bytes } | Self::Download { bytes } | Self::Copy { bytes } => bytes,
        }
    }
}

/// A span of a device that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    pub name: SpanName,
    pub work: Work,
    pub stream: StreamId,
    /// Nanoseconds since the epoch event of the device was reached.
    pub start: u64,
    pub nanoseconds: u64,
}

struct Pending {
    name: SpanName,
    work: Work,
    stream: StreamId,
    recording: u64,
    start: Event,
    end: Event,
}

/// An event whose moment is known on both clocks.
struct Epoch {
    event: Event,
    host_ticks: u64,
    /// How far the host's moment may be off, in ticks.
    doubt_ticks: u64,
}

#[derive(Default)]
struct Books {
    events: Vec<Event>,
    pending: Vec<Pending>,
    /// The other list of the two, empty.
    spare: Vec<Pending>,
    done: VecDeque<Done>,
    recording: u64,
    streams: Vec<(StreamId, WeakStream)>,
    /// Spans that were not kept: too many were open.
    dropped: u64,
    /// Spans that were not measured because their stream was being captured.
    captured: u64,
    errors: u64,
    last_error: Option<DriverError>,
}

/// What is known of one device's spans.
pub struct DeviceTimes {
    driver: Arc<dyn Driver>,
    epoch: OnceLock<Result<Epoch, DriverError>>,
    books: Mutex<Books>,
}

/// A copy of a device's books.
pub struct DeviceRecord {
    pub id: DeviceId,
    pub device: String,
    pub done: Vec<Done>,
    /// The epoch's moment on the host's clock and its doubt, in ticks; `None` when the device did
    /// not take part.
    pub epoch: Option<(u64, u64)>,
    pub pending: usize,
    pub dropped: u64,
    pub captured: u64,
    pub errors: u64,
    pub last_error: Option<DriverError>,
}

/// Devices that have been measured, which keeps them open until the profiler forgets them.
fn all() -> MutexGuard<'static, Vec<Arc<DeviceTimes>>> {
    static DEVICES: Mutex<Vec<Arc<DeviceTimes>>> = Mutex::new(Vec::new());
    DEVICES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Changes when devices are forgotten: threads then ask anew.
static GENERATION: AtomicU64 = AtomicU64::new(0);

/// A device as one thread knows it.
struct Acquaintance {
    /// The address of the driver, which is kept open here and so is nobody else's.
    address: usize,
    times: Arc<DeviceTimes>,
    /// Events for spans to come.
    events: Vec<Event>,
    /// The stream that the last span was on, which needs no introduction.
    met: Option<StreamId>,
}

#[derive(Default)]
struct Known {
    generation: u64,
    devices: Vec<Acquaintance>,
}

thread_local! {
    static KNOWN: RefCell<Known> = const {
        RefCell::new(Known {
            generation: 0,
            devices: Vec::new(),
        })
    };
    static MET: Met = const { Met::new() };
}

fn address(driver: &Arc<dyn Driver>) -> usize {
    Arc::as_ptr(driver).cast::<()>().addr()
}

impl Known {
    #[inline]
    fn of(&mut self, driver: &Arc<dyn Driver>) -> &mut Acquaintance {
        let generation = GENERATION.load(Ordering::Acquire);
        if self.generation != generation {
            self.devices.clear();
            self.generation = generation;
        }
        let wanted = address(driver);
        let found = self
            .devices
            .iter()
            .position(|known| known.address == wanted);
        let at = found.unwrap_or_else(|| {
            self.devices.push(Acquaintance::with(driver));
            self.devices.len() - 1
        });
        &mut self.devices[at]
    }
}

impl Acquaintance {
    #[cold]
    fn with(driver: &Arc<dyn Driver>) -> Self {
        Self {
            address: address(driver),
            times: DeviceTimes::of(driver),
            events: Vec::new(),
            met: None,
        }
    }

    /// Two events for a span, and the start recorded; `None` on a stream that is being captured.
    #[inline]
    fn begin(&mut self, on: &Stream) -> Result<Option<(Event, Event)>, DriverError> {
        if on.is_capturing()? {
            self.times.lock().captured += 1;
            return Ok(None);
        }
        if self.met != Some(on.id()) || self.events.len() < 2 {
            self.prepare(on)?;
        }
        let (start, end) = (self.event()?, self.event()?);
        on.record(&start)?;
        Ok(Some((start, end)))
    }

    fn event(&mut self) -> Result<Event, DriverError> {
        match self.events.pop() {
            Some(event) => Ok(event),
            None => self.times.timed_event(),
        }
    }

    /// Introduces the stream, and takes events that others have used.
    #[cold]
    fn prepare(&mut self, on: &Stream) -> Result<(), DriverError> {
        let times = &self.times;
        times.epoch.get_or_init(|| times.find_epoch());
        let mut books = times.lock();
        books.meet(on);
        self.met = Some(on.id());
        let left = books.events.len().saturating_sub(TAKEN);
        self.events.extend(books.events.drain(left..));
        Ok(())
    }
}

impl DeviceTimes {
    #[cold]
    fn of(driver: &Arc<dyn Driver>) -> Arc<Self> {
        let mut devices = all();
        let found = devices
            .iter()
            .find(|known| address(&known.driver) == address(driver));
        if let Some(found) = found {
            return Arc::clone(found);
        }
        let made = Arc::new(Self {
            driver: Arc::clone(driver),
            epoch: OnceLock::new(),
            books: Mutex::default(),
        });
        devices.push(Arc::clone(&made));
        made
    }

    fn lock(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn timed_event(&self) -> Result<Event, DriverError> {
        Event::new(&self.driver, EventKind::Timed)
    }

    /// Ties the device's clock to the host's: the event is reached between two readings of the
    /// host's clock, and the closest two of a few tell the most.
    fn find_epoch(&self) -> Result<Epoch, DriverError> {
        let stream = Stream::new(&self.driver, StreamKind::NonBlocking)?;
        let mut best: Option<Epoch> = None;
        for _ in 0..READINGS {
            let event = self.timed_event()?;
            let before = ticks::now();
            stream.record(&event)?;
            event.synchronize()?;
            let after = ticks::now();
            let doubt_ticks = after.saturating_sub(before) / 2;
            if best
                .as_ref()
                .is_none_or(|best| doubt_ticks < best.doubt_ticks)
            {
                best = Some(Epoch {
                    event,
                    host_ticks: before + doubt_ticks,
                    doubt_ticks,
                });
            }
        }
        Ok(best.expect("invariant: there is one reading at least"))
    }

    fn keep(&self, pending: Pending) {
        let gathered = {
            let mut books = self.lock();
            if books.pending.len() >= MOST_PENDING {
                books.dropped += 1;
                return;
            }
            books.pending.push(pending);
            books.pending.len().is_multiple_of(GATHERED)
        };
        if gathered {
            self.settle();
        }
    }

    fn fail(&self, error: DriverError) {
        let mut books = self.lock();
        books.errors += 1;
        books.last_error = Some(error);
    }

    /// Reads the spans that are over. While a stream that the profiler has met is being captured
    /// nothing is asked of the device.
    fn settle(&self) {
        let (mut pending, streams) = {
            let mut books = self.lock();
            books
                .streams
                .retain(|(_, stream)| stream.upgrade().is_some());
            // Two lists in turn, so that neither grows anew each time.
            let spare = std::mem::take(&mut books.spare);
            let pending = std::mem::replace(&mut books.pending, spare);
            (pending, books.streams.clone())
        };
        let capturing = |(_, stream): &(_, WeakStream)| {
            let stream = stream.upgrade();
            // A device that cannot say so is lost, and reading will tell.
            stream.is_some_and(|stream| stream.is_capturing().unwrap_or(false))
        };
        if !streams.iter().any(capturing) {
            self.read_all(&mut pending);
        }
        let mut books = self.lock();
        // What came meanwhile is younger.
        let mut younger = std::mem::replace(&mut books.pending, pending);
        books.pending.append(&mut younger);
        books.spare = younger;
    }

    /// Leaves those that are not over.
    fn read_all(&self, pending: &mut Vec<Pending>) {
        let mut turned_out = Vec::new();
        let over = pending.extract_if(.., |one| match self.read(one) {
            Ok(Some(done)) => {
                turned_out.push(Some(done));
                true
            }
            Ok(None) => false,
            // What became of it will never be known: a lost device, mostly.
            Err(error) => {
                self.fail(error);
                turned_out.push(None);
                true
            }
        });
        let over: Vec<_> = over.collect();
        let mut books = self.lock();
        for (one, done) in over.into_iter().zip(turned_out) {
            books.finish(one, done);
        }
    }

    fn read(&self, pending: &Pending) -> Result<Option<Done>, DriverError> {
        if !pending.end.query()? {
            return Ok(None);
        }
        let lasted = pending.end.elapsed_since(&pending.start)?;
        let start = match self.epoch.get() {
            Some(Ok(epoch)) => pending.start.elapsed_since(&epoch.event)?,
            _ => std::time::Duration::ZERO,
        };
        let nanoseconds =
            |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Ok(Some(Done {
            name: pending.name,
            work: pending.work,
            stream: pending.stream,
            start: nanoseconds(start),
            nanoseconds: nanoseconds(lasted),
        }))
    }

    fn record(&self) -> DeviceRecord {
        self.settle();
        let info = self.driver.info();
        let books = self.lock();
        let of_recording = books.recording == span::epoch();
        let epoch = match self.epoch.get() {
            Some(Ok(epoch)) => Some((epoch.host_ticks, epoch.doubt_ticks)),
            _ => None,
        };
        DeviceRecord {
            id: info.id,
            device: format!("{} {}", info.id.platform, info.name),
            done: if of_recording {
                books.done.iter().copied().collect()
            } else {
                Vec::new()
            },
            epoch,
            pending: books.pending.len(),
            dropped: books.dropped,
            captured: books.captured,
            errors: books.errors,
            last_error: books.last_error.clone(),
        }
    }
}

impl Books {
    /// Remembers a stream, to know later whether it is being captured.
    fn meet(&mut self, stream: &Stream) {
        let id = stream.id();
        if self.streams.last().is_some_and(|(known, _)| *known == id) {
            return;
        }
        match self.streams.iter().position(|(known, _)| *known == id) {
            Some(at) => {
                let last = self.streams.len() - 1;
                self.streams.swap(at, last);
            }
            None => self.streams.push((id, stream.downgrade())),
        }
    }

    fn finish(&mut self, pending: Pending, done: Option<Done>) {
        self.events.push(pending.start);
        self.events.push(pending.end);
        let Some(done) = done else { return };
        if pending.recording != span::epoch() {
            return;
        }
        if self.recording != pending.recording {
            self.done.clear();
            self.recording = pending.recording;
        }
        if self.done.len() >= MOST_KEPT {
            self.done.pop_front();
            self.dropped += 1;
        }
        self.done.push_back(done);
    }
}

/// A span of a device: the work put on the stream from here to the drop.
#[must_use = "the span ends when the guard is dropped"]
pub struct StreamSpan<'s> {
    open: Option<Open<'s>>,
}

struct Open<'s> {
    stream: &'s Stream,
    name: SpanName,
    work: Work,
    recording: u64,
    start: Event,
    end: Event,
}

impl std::fmt::Debug for StreamSpan<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.open.as_ref().map(|open| open.name);
        f.debug_struct("StreamSpan").field("name", &name).finish()
    }
}

/// Measures the work that is put on a stream from here to the guard's drop, by the device's own
/// clock. Nothing waits. On a stream that is being captured, and when the driver fails, nothing is
/// measured; the report counts both. The first span of a process on a device waits for an event on
/// a stream of its own, to tie the two clocks.
#[inline]
pub fn profile_on<'s>(name: &'static str, stream: &'s Stream, work: Work) -> StreamSpan<'s> {
    if !span::is_on() {
        return StreamSpan { open: None };
    }
    StreamSpan {
        open: begin(name, stream, work),
    }
}

fn begin<'s>(name: &'static str, stream: &'s Stream, work: Work) -> Option<Open<'s>> {
    let begun = KNOWN.try_with(|known| {
        let mut known = known.borrow_mut();
        let device = known.of(stream.driver());
        let begun = device.begin(stream);
        begun.unwrap_or_else(|error| {
            device.times.fail(error);
            None
        })
    });
    // A thread that is being taken down has nowhere to record.
    let (start, end) = begun.ok()??;
    Some(Open {
        stream,
        name: MET.try_with(|met| met.name(name)).ok()?,
        work,
        recording: span::epoch(),
        start,
        end,
    })
}

impl Drop for StreamSpan<'_> {
    fn drop(&mut self) {
        let Some(open) = self.open.take() else { return };
        let recorded = open.stream.record(&open.end);
        // As where it began.
        let _ = KNOWN.try_with(|known| {
            let mut known = known.borrow_mut();
            let times = &known.of(open.stream.driver()).times;
            match recorded {
                Ok(()) => times.keep(Pending {
                    name: open.name,
                    work: open.work,
                    stream: open.stream.id(),
                    recording: open.recording,
                    start: open.start,
                    end: open.end,
                }),
                Err(error) => times.fail(error),
            }
        });
    }
}

/// The books of all devices.
pub fn records() -> Vec<DeviceRecord> {
    let devices = all().clone();
    devices.iter().map(|device| device.record()).collect()
}

/// Forgets all devices and what they did. Drivers that only the profiler kept open are closed.
pub fn forget() {
    let devices = std::mem::take(&mut *all());
    GENERATION.fetch_add(1, Ordering::AcqRel);
    drop(devices);
    // This thread's own table at once; others' at their next span.
    let own = KNOWN.try_with(|known| std::mem::take(&mut known.borrow_mut().devices));
    drop(own);
}
