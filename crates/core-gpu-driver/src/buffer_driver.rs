//! A driver over an interface of buffers and queues, as Vulkan and Metal are. A stream is a clock: each
//! of its works waits for the one before and for what the stream was told to wait for, and reaches a
//! point of its own. Addresses lead to buffers by a table. What the interfaces differ in is behind
//! [`BufferDevice`].

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{
    address::{DeviceAddress, HostAddress, Place, Way},
    buffers::{BufferMemory, Buffers, Constants, Fill, MemoryKind, Part, Transfer},
    driver::Driver,
    error::{DriverError, Refusal},
    identity::{DeviceInfo, MemoryInfo},
    stream::{EventKind, RawEvent, RawStream, StreamKind, next_handle, not_zero, refused},
};

/// A point in a stream's work.
pub trait WorkPoint: Clone + Send + 'static {
    /// Whether the work has come so far.
    fn is_reached(&self) -> Result<bool, DriverError>;

    /// Waits until it has.
    fn wait(&self) -> Result<(), DriverError>;
}

/// Where a work stands among others.
pub struct Order<P> {
    /// The stream's last work.
    pub(crate) last: P,
    /// What has to be reached first, the last work included.
    pub(crate) waits: Vec<P>,
}

/// What a work does.
pub enum Work<D: BufferDevice> {
    /// It only waits.
    Nothing,
    /// Fills and copies, of different bytes.
    Transfer(Option<Fill<D::Memory>>, Vec<Transfer<D::Memory>>),
    /// The device writes down when it is reached.
    Time(D::Clock),
}

/// An open device of such an interface.
///
/// # Safety
/// What it allocates is as [`BufferMemory`] says. Work begins when all that [`Order`] waits for is reached, touches the
/// bytes alone that it names, and the device keeps their buffers until it is done. A point that [`WorkPoint::is_reached`] or was waited for
/// has all work of its stream up to it behind it, and the host sees what that wrote.
pub unsafe trait BufferDevice: Send + Sync + Sized + 'static {
    /// What its driver is called.
    const NAME: &'static str;
    /// The interface's functions for memory, as errors call them.
    const ALLOCATE: &'static str;
    /// As above.
    const FREE: &'static str;
    /// Its buffers, each with memory of its own.
    type Memory: BufferMemory;
    /// The end of a work.
    type Point: WorkPoint;
    /// What takes work. It is used under the driver's lock.
    type Queue: Send;
    /// What an event with time has.
    type Clock: Clone + Send;
    /// A time as the device tells it.
    type Moment;

    /// A buffer of so many bytes.
    fn allocate(&self, bytes: u64, kind: MemoryKind) -> Result<Self::Memory, DriverError>;

    /// The point where a new stream stands, which is reached.
    fn begin_stream(&self) -> Result<Self::Point, DriverError>;

    /// A clock for one event.
    fn make_clock(&self) -> Result<Self::Clock, DriverError>;

    /// Gives work to the device, which keeps what the work uses until it is done, and tells the point
    /// that it reaches.
    fn submit(
        &self,
        queue: &mut Self::Queue,
        order: Order<Self::Point>,
        work: Work<Self>,
    ) -> Result<Self::Point, DriverError>;

    /// When a point was reached whose work had this clock.
    fn moment(&self, point: &Self::Point, clock: &Self::Clock)
    -> Result<Self::Moment, DriverError>;

    /// The time between two moments; zero where the end was first.
    fn elapsed(&self, start: Self::Moment, end: Self::Moment) -> Duration;
}

/// A device behind an interface of buffers and queues. Any thread; calls take turns.
pub struct BufferDriver<D: BufferDevice> {
    info: DeviceInfo,
    pub(crate) device: D,
    state: Mutex<State<D>>,
}

/// What is under the lock.
pub(crate) struct State<D: BufferDevice> {
    /// Goes first, and with it whatever runs.
    queue: D::Queue,
    pub(crate) buffers: Buffers<D::Memory>,
    streams: BTreeMap<u64, StreamState<D::Point>>,
    events: BTreeMap<u64, EventState<D>>,
    /// Where streams end whose handles are gone.
    ended: Vec<D::Point>,
    constants: Constants<D::Memory>,
    bytes_in_use: u64,
}

struct StreamState<P> {
    kind: StreamKind,
    /// Its last work.
    last: P,
}

struct EventState<D: BufferDevice> {
    /// Of an event with time.
    clock: Option<D::Clock>,
    recorded: Option<D::Point>,
}

impl<D: BufferDevice> fmt::Debug for BufferDriver<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(D::NAME).field(&self.info.name).finish()
    }
}

impl<D: BufferDevice> State<D> {
    fn stream(&self, raw: RawStream) -> Result<&StreamState<D::Point>, DriverError> {
        let found = self.streams.get(&raw.0);
        found.ok_or_else(|| refused("stream", Refusal::UnknownStream))
    }

    fn event(&self, raw: RawEvent) -> Result<&EventState<D>, DriverError> {
        let found = self.events.get(&raw.0);
        found.ok_or_else(|| refused("event", Refusal::UnknownEvent))
    }

    /// What the next work of a stream waits for: the one before, and for blocking streams the legacy
    /// default stream, which waits for all of them.
    fn before(&self, raw: RawStream) -> Result<Vec<D::Point>, DriverError> {
        let stream = self.stream(raw)?;
        let mut waits = vec![stream.last.clone()];
        let default = RawStream::LEGACY_DEFAULT;
        if raw == default {
            let blocking = self.streams.iter().filter(|(other, stream)| {
                **other != default.0 && stream.kind == StreamKind::Blocking
            });
            waits.extend(blocking.map(|(_, stream)| stream.last.clone()));
        } else if stream.kind == StreamKind::Blocking {
            waits.push(self.stream(default)?.last.clone());
        }
        Ok(waits)
    }

    /// Puts work on a stream, behind `also` where there is such a point, and gives the point that it
    /// reaches.
    pub(crate) fn put(
        &mut self,
        on: RawStream,
        also: Option<D::Point>,
        submit: impl FnOnce(&mut D::Queue, Order<D::Point>) -> Result<D::Point, DriverError>,
    ) -> Result<D::Point, DriverError> {
        let mut waits = self.before(on)?;
        waits.extend(also);
        let last = self.stream(on)?.last.clone();
        let reached = submit(&mut self.queue, Order { last, waits })?;
        if let Some(stream) = self.streams.get_mut(&on.0) {
            stream.last = reached.clone();
        }
        Ok(reached)
    }
}

impl<D: BufferDevice> BufferDriver<D> {
    /// A driver of a device that was just opened, with its queue.
    pub(crate) fn new(info: DeviceInfo, device: D, queue: D::Queue) -> Result<Self, DriverError> {
        let constants = device.allocate(Constants::<D::Memory>::BYTES, MemoryKind::Host)?;
        let default = StreamState {
            kind: StreamKind::Blocking,
            last: device.begin_stream()?,
        };
        let state = State {
            queue,
            buffers: Buffers::new(),
            streams: BTreeMap::from([(RawStream::LEGACY_DEFAULT.0, default)]),
            events: BTreeMap::new(),
            ended: Vec::new(),
            constants: Constants::write(constants)?,
            bytes_in_use: 0,
        };
        Ok(Self {
            info,
            device,
            state: Mutex::new(state),
        })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State<D>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(
        &self,
        state: &mut State<D>,
        on: RawStream,
        work: Work<D>,
    ) -> Result<D::Point, DriverError> {
        state.put(on, None, |queue, order| {
            self.device.submit(queue, order, work)
        })
    }

    fn copy_parts(
        &self,
        copy: Transfer<D::Memory>,
        on: RawStream,
    ) -> Result<D::Point, DriverError> {
        self.put(&mut self.lock(), on, Work::Transfer(None, vec![copy]))
    }

    fn device_part(&self, at: DeviceAddress, bytes: usize) -> Result<Part<D::Memory>, DriverError> {
        self.lock().buffers.device_part("copy", at, bytes)
    }

    /// A buffer of the host for one work.
    fn staged(&self, bytes: usize) -> Result<Part<D::Memory>, DriverError> {
        let memory = self.device.allocate(bytes as u64, MemoryKind::Host)?;
        Ok(Part::whole(memory))
    }

    /// # Safety
    /// So many bytes can be read at `from`: until this returns, and of pinned memory until the copy
    /// is done.
    unsafe fn upload(
        &self,
        to: DeviceAddress,
        from: HostAddress,
        bytes: usize,
        on: RawStream,
    ) -> Result<(), DriverError> {
        let to = self.device_part(to, bytes)?;
        let pinned = self.lock().buffers.pinned_part(from, bytes);
        let from = match pinned {
            Some(from) => from,
            None => {
                // Pageable: it is the program's again when this returns.
                let staged = self.staged(bytes)?;
                let room = staged.memory.pointer()?;
                // SAFETY: the caller promises so many readable bytes; the buffer was just made.
                unsafe { from.pointer().copy_to_nonoverlapping(room.as_ptr(), bytes) };
                staged
            }
        };
        let bytes = bytes as u64;
        self.copy_parts(Transfer { to, from, bytes }, on).map(drop)
    }

    /// # Safety
    /// Nobody uses so many bytes at `to`, which can be written: until this returns, and of pinned
    /// memory until the copy is done.
    unsafe fn download(
        &self,
        to: HostAddress,
        from: DeviceAddress,
        bytes: usize,
        on: RawStream,
    ) -> Result<(), DriverError> {
        let length = bytes as u64;
        let from = self.device_part(from, bytes)?;
        let into = |to| Transfer {
            to,
            from,
            bytes: length,
        };
        let pinned = self.lock().buffers.pinned_part(to, bytes);
        if let Some(pinned) = pinned {
            return self.copy_parts(into(pinned), on).map(drop);
        }
        let staged = self.staged(bytes)?;
        self.copy_parts(into(staged.clone()), on)?.wait()?;
        let room = staged.memory.pointer()?;
        // SAFETY: the caller promises so many writable bytes that nobody uses; the copy is done.
        unsafe { to.pointer().copy_from_nonoverlapping(room.as_ptr(), bytes) };
        Ok(())
    }

    /// When an event's last recording was reached.
    fn moment(&self, state: &State<D>, event: RawEvent) -> Result<D::Moment, DriverError> {
        let no_time = || refused("elapsed", Refusal::NoTime);
        let event = state.event(event)?;
        let point = event.recorded.as_ref().ok_or_else(no_time)?;
        let clock = event.clock.as_ref().ok_or_else(no_time)?;
        if !point.is_reached()? {
            return Err(no_time());
        }
        self.device.moment(point, clock)
    }
}

// SAFETY: memory and objects are the interface's, kept in tables under a lock; handles are counted.
unsafe impl<D: BufferDevice> Driver for BufferDriver<D> {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn memory_info(&self) -> Result<MemoryInfo, DriverError> {
        let used = self.lock().bytes_in_use;
        Ok(MemoryInfo::left(self.info.total_bytes, used))
    }

    fn allocate(&self, bytes: usize) -> Result<DeviceAddress, DriverError> {
        not_zero(D::ALLOCATE, bytes)?;
        let mut state = self.lock();
        let after = state.bytes_in_use.saturating_add(bytes as u64);
        // A system that overcommits would say yes, and swap, or fail when the bytes are used.
        if after > self.info.total_bytes {
            return Err(DriverError::OutOfMemory);
        }
        let memory = self.device.allocate(bytes as u64, MemoryKind::Device)?;
        let address = memory.address()?;
        state.bytes_in_use = after;
        state.buffers.device.insert(address.get(), Arc::new(memory));
        Ok(address)
    }

    unsafe fn free(&self, at: DeviceAddress) -> Result<(), DriverError> {
        let mut state = self.lock();
        let memory = state.buffers.device.remove(&at.get());
        let memory = memory.ok_or_else(|| refused(D::FREE, Refusal::UnknownAddress))?;
        state.bytes_in_use = state.bytes_in_use.saturating_sub(memory.bytes());
        Ok(())
    }

    fn allocate_pinned(&self, bytes: usize) -> Result<HostAddress, DriverError> {
        not_zero(D::ALLOCATE, bytes)?;
        let memory = self.device.allocate(bytes as u64, MemoryKind::Host)?;
        let address = HostAddress::of(memory.pointer()?);
        let mut state = self.lock();
        state.buffers.pinned.insert(address.get(), Arc::new(memory));
        Ok(address)
    }

    unsafe fn free_pinned(&self, at: HostAddress) -> Result<(), DriverError> {
        let memory = self.lock().buffers.pinned.remove(&at.get());
        let unknown = || refused(D::FREE, Refusal::UnknownAddress);
        memory.map(drop).ok_or_else(unknown)
    }

    unsafe fn copy(
        &self,
        to: Place,
        from: Place,
        bytes: usize,
        on: RawStream,
    ) -> Result<(), DriverError> {
        if bytes == 0 {
            return Ok(());
        }
        match Way::of(to, from)? {
            Way::OnDevice { to, from } => {
                let copy = Transfer {
                    to: self.device_part(to, bytes)?,
                    from: self.device_part(from, bytes)?,
                    bytes: bytes as u64,
                };
                self.copy_parts(copy, on).map(drop)
            }
            // SAFETY: the caller promises what the host's address needs.
            Way::ToDevice { to, from } => unsafe { self.upload(to, from, bytes, on) },
            // SAFETY: as above.
            Way::ToHost { to, from } => unsafe { self.download(to, from, bytes, on) },
        }
    }

    unsafe fn set(
        &self,
        at: DeviceAddress,
        value: u8,
        bytes: usize,
        on: RawStream,
    ) -> Result<(), DriverError> {
        if bytes == 0 {
            return Ok(());
        }
        let mut state = self.lock();
        let part = state.buffers.device_part("set", at, bytes)?;
        let (fill, copies) = state.constants.set(&part, value, bytes as u64);
        self.put(&mut state, on, Work::Transfer(fill, copies))
            .map(drop)
    }

    fn create_stream(&self, kind: StreamKind) -> Result<RawStream, DriverError> {
        let last = self.device.begin_stream()?;
        let handle = next_handle();
        self.lock()
            .streams
            .insert(handle, StreamState { kind, last });
        Ok(RawStream(handle))
    }

    unsafe fn destroy_stream(&self, stream: RawStream) -> Result<(), DriverError> {
        let mut state = self.lock();
        let removed = state.streams.remove(&stream.0);
        let unknown = || refused("destroy_stream", Refusal::UnknownStream);
        let last = removed.ok_or_else(unknown)?.last;
        // Work goes on, and who waits for the device waits for it: also where the device does not tell, and where it
        // failed.
        let is_done = |point: &D::Point| matches!(point.is_reached(), Ok(true));
        state.ended.retain(|point| !is_done(point));
        state.ended.push(last);
        Ok(())
    }

    unsafe fn synchronize_stream(&self, stream: RawStream) -> Result<(), DriverError> {
        let last = self.lock().stream(stream)?.last.clone();
        last.wait()
    }

    unsafe fn query_stream(&self, stream: RawStream) -> Result<bool, DriverError> {
        let last = self.lock().stream(stream)?.last.clone();
        last.is_reached()
    }

    unsafe fn is_capturing(&self, on: RawStream) -> Result<bool, DriverError> {
        // There are no graphs here. Who asks has promised that the stream is one.
        let _ = on;
        Ok(false)
    }

    fn synchronize(&self) -> Result<(), DriverError> {
        let state = self.lock();
        let live = state.streams.values().map(|stream| stream.last.clone());
        let points: Vec<_> = live.chain(state.ended.iter().cloned()).collect();
        drop(state);
        points.iter().try_for_each(WorkPoint::wait)
    }

    fn create_event(&self, kind: EventKind) -> Result<RawEvent, DriverError> {
        let clock = match kind {
            EventKind::Order => None,
            EventKind::Timed => Some(self.device.make_clock()?),
        };
        let event = EventState {
            clock,
            recorded: None,
        };
        let handle = next_handle();
        self.lock().events.insert(handle, event);
        Ok(RawEvent(handle))
    }

    unsafe fn destroy_event(&self, event: RawEvent) -> Result<(), DriverError> {
        let removed = self.lock().events.remove(&event.0);
        let unknown = || refused("destroy_event", Refusal::UnknownEvent);
        removed.map(drop).ok_or_else(unknown)
    }

    unsafe fn record(&self, event: RawEvent, on: RawStream) -> Result<(), DriverError> {
        let mut state = self.lock();
        let clock = state.event(event)?.clock.clone();
        let point = match clock {
            // The work before is what it stands for.
            None => state.stream(on)?.last.clone(),
            Some(clock) => self.put(&mut state, on, Work::Time(clock))?,
        };
        if let Some(event) = state.events.get_mut(&event.0) {
            event.recorded = Some(point);
        }
        Ok(())
    }

    unsafe fn wait(&self, on: RawStream, event: RawEvent) -> Result<(), DriverError> {
        let mut state = self.lock();
        // Another device's event is not in this table, for no two events of the process have one
        // number; and this device could not wait for it.
        let Some(point) = state.event(event)?.recorded.clone() else {
            return state.stream(on).map(drop);
        };
        let submit = |queue: &mut D::Queue, order| self.device.submit(queue, order, Work::Nothing);
        state.put(on, Some(point), submit).map(drop)
    }

    unsafe fn query_event(&self, event: RawEvent) -> Result<bool, DriverError> {
        let recorded = self.lock().event(event)?.recorded.clone();
        recorded.map_or(Ok(true), |point| point.is_reached())
    }

    unsafe fn synchronize_event(&self, event: RawEvent) -> Result<(), DriverError> {
        let recorded = self.lock().event(event)?.recorded.clone();
        recorded.map_or(Ok(()), |point| point.wait())
    }

    unsafe fn elapsed(&self, start: RawEvent, end: RawEvent) -> Result<Duration, DriverError> {
        let state = self.lock();
        let (start, end) = (self.moment(&state, start)?, self.moment(&state, end)?);
        Ok(self.device.elapsed(start, end))
    }
}
