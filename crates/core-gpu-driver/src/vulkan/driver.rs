//! One Vulkan device as a [`Driver`]. A stream is a timeline: each of its works waits for the one
//! before and for what the stream was told to wait for.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use ash::vk;

use super::{
    device::{Open, find, loader},
    memory::{Kind, Memory},
    work::{Clock, Job, Point, Queue, Record, Timeline},
};
use crate::{
    address::{DeviceAddress, HostAddress, Place},
    buffers::{
        BufferCopies, BufferMemory as _, Buffers, Part, Transfer, no_stream_memory, not_zero,
    },
    driver::Driver,
    error::{Absent, DriverError, Refusal},
    identity::{DeviceId, DeviceInfo, MemoryInfo},
    memory::DeviceSpan,
    stream::{EventKind, RawEvent, RawStream, Stream, StreamKind, next_handle, refused},
};

/// A Vulkan device. Any thread; calls take turns.
pub struct VulkanDriver {
    info: DeviceInfo,
    open: Arc<Open>,
    state: Mutex<State>,
}

impl fmt::Debug for VulkanDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VulkanDriver")
            .field(&self.info.name)
            .finish()
    }
}

struct State {
    queue: Queue,
    buffers: Buffers<Memory>,
    streams: BTreeMap<u64, StreamState>,
    events: BTreeMap<u64, EventState>,
    /// Each byte four times, for what a fill cannot reach.
    constants: Arc<Memory>,
    bytes_in_use: u64,
}

struct StreamState {
    kind: StreamKind,
    /// Its last work.
    last: Point,
}

struct EventState {
    clock: Option<Arc<Clock>>,
    recorded: Option<Point>,
}

impl VulkanDriver {
    /// Opens a device.
    ///
    /// # Errors
    /// [`Absent::Library`], [`Absent::Device`]; as the calls fail.
    pub fn open(id: &DeviceId) -> Result<Arc<Self>, DriverError> {
        let loader = loader()?;
        let found = find(loader)?.into_iter().find(|found| found.info.id == *id);
        let found = found.ok_or_else(|| Absent::Device {
            wanted: id.to_string(),
        })?;
        let open = Open::of(loader, &found)?;
        let constants = Memory::allocate(&open, 1024, Kind::Host)?;
        let pointer = constants.pointer()?;
        for value in 0..=u8::MAX {
            // SAFETY: there is room for four of each byte, and nobody reads it yet.
            unsafe { pointer.add(usize::from(value) * 4).write_bytes(value, 4) };
        }
        let mut streams = BTreeMap::new();
        let default = StreamState {
            kind: StreamKind::Blocking,
            last: Point {
                timeline: Timeline::new(&open)?,
                value: 0,
            },
        };
        streams.insert(RawStream::LEGACY_DEFAULT.0, default);
        Ok(Arc::new(Self {
            info: found.info,
            state: Mutex::new(State {
                queue: Queue::of(&open)?,
                buffers: Buffers::new(),
                streams,
                events: BTreeMap::new(),
                constants: Arc::new(constants),
                bytes_in_use: 0,
            }),
            open,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn opened(&self) -> &Arc<Open> {
        &self.open
    }

    /// The buffers that spans lie in, where a kernel may have them.
    pub(super) fn parts(
        &self,
        function: &'static str,
        spans: &[DeviceSpan<'_>],
    ) -> Result<Vec<Part<Memory>>, DriverError> {
        let state = self.lock();
        let part = |span: &DeviceSpan<'_>| {
            let bytes = usize::try_from(span.bytes()).unwrap_or(usize::MAX);
            let part = state.buffers.device_part(function, span.address(), bytes)?;
            match part.offset % self.open.storage_alignment {
                0 if bytes > 0 => Ok(part),
                0 => Err(refused(function, Refusal::ZeroBytes)),
                _ => Err(refused(function, Refusal::Unaligned)),
            }
        };
        spans.iter().map(part).collect()
    }

    /// Puts commands on a stream of this driver.
    pub(super) fn put_work(
        &self,
        on: &Stream,
        kept: Vec<Arc<dyn std::any::Any + Send + Sync>>,
        record: Record<'_>,
    ) -> Result<(), DriverError> {
        self.lock().put(on.raw(), kept, Some(record)).map(drop)
    }
}

impl BufferCopies for VulkanDriver {
    type Memory = Memory;
    type Point = Point;

    fn with_buffers<T>(&self, look: impl FnOnce(&Buffers<Memory>) -> T) -> T {
        look(&self.lock().buffers)
    }

    fn copy_parts(&self, copy: Transfer<Memory>, on: RawStream) -> Result<Point, DriverError> {
        let Transfer { to, from, bytes } = copy;
        let region = [vk::BufferCopy::default()
            .src_offset(from.offset)
            .dst_offset(to.offset)
            .size(bytes)];
        let kept: Vec<Arc<dyn std::any::Any + Send + Sync>> =
            vec![to.memory.clone(), from.memory.clone()];
        let record = |device: &ash::Device, command| {
            // SAFETY: both buffers hold these bytes, and are kept until the work is done.
            unsafe {
                device.cmd_copy_buffer(command, from.memory.buffer, to.memory.buffer, &region);
            }
        };
        self.lock().put(on, kept, Some(&record))
    }

    fn staged(&self, bytes: usize) -> Result<Part<Memory>, DriverError> {
        Memory::allocate(&self.open, bytes as u64, Kind::Host).map(Part::whole)
    }

    fn wait(&self, point: &Point) -> Result<(), DriverError> {
        point.wait()
    }
}

impl State {
    fn stream(&self, raw: RawStream) -> Result<&StreamState, DriverError> {
        let found = self.streams.get(&raw.0);
        found.ok_or_else(|| refused("stream", Refusal::UnknownStream))
    }

    fn event(&self, raw: RawEvent) -> Result<&EventState, DriverError> {
        let found = self.events.get(&raw.0);
        found.ok_or_else(|| refused("event", Refusal::UnknownEvent))
    }

    /// What the next work of a stream waits for: the one before, and for blocking streams the legacy
    /// default stream, which waits for all of them.
    fn before(&self, raw: RawStream) -> Result<Vec<Point>, DriverError> {
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

    /// Puts work on a stream, and gives the point that it reaches.
    fn put(
        &mut self,
        on: RawStream,
        kept: Vec<Arc<dyn std::any::Any + Send + Sync>>,
        record: Option<Record<'_>>,
    ) -> Result<Point, DriverError> {
        let waits = self.before(on)?;
        self.put_behind(on, waits, kept, record)
    }

    fn put_behind(
        &mut self,
        on: RawStream,
        waits: Vec<Point>,
        kept: Vec<Arc<dyn std::any::Any + Send + Sync>>,
        record: Option<Record<'_>>,
    ) -> Result<Point, DriverError> {
        let last = &self.stream(on)?.last;
        let reaches = Point {
            timeline: Arc::clone(&last.timeline),
            value: last.value + 1,
        };
        self.queue.submit(Job {
            reaches: reaches.clone(),
            waits,
            kept,
            record,
        })?;
        if let Some(stream) = self.streams.get_mut(&on.0) {
            stream.last = reaches.clone();
        }
        Ok(reaches)
    }
}

// SAFETY: memory and objects are the API's, kept in tables under a lock; handles are counted.
unsafe impl Driver for VulkanDriver {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn memory_info(&self) -> Result<MemoryInfo, DriverError> {
        let total_bytes = self.info.total_bytes;
        Ok(MemoryInfo {
            free_bytes: total_bytes.saturating_sub(self.lock().bytes_in_use),
            total_bytes,
        })
    }

    fn allocate(&self, bytes: usize) -> Result<DeviceAddress, DriverError> {
        not_zero("vkAllocateMemory", bytes)?;
        let mut state = self.lock();
        let after = state.bytes_in_use.saturating_add(bytes as u64);
        // A driver that overcommits would say yes, and fail when the bytes are used.
        if after > self.info.total_bytes {
            return Err(DriverError::OutOfMemory);
        }
        let memory = Memory::allocate(&self.open, bytes as u64, Kind::Device)?;
        let unknown = || refused("vkGetBufferDeviceAddress", Refusal::UnknownAddress);
        let address = DeviceAddress::new(memory.address).ok_or_else(unknown)?;
        state.bytes_in_use = after;
        state.buffers.device.insert(address.get(), Arc::new(memory));
        Ok(address)
    }

    unsafe fn free(&self, at: DeviceAddress) -> Result<(), DriverError> {
        let mut state = self.lock();
        let memory = state.buffers.device.remove(&at.get());
        let memory = memory.ok_or_else(|| refused("vkFreeMemory", Refusal::UnknownAddress))?;
        state.bytes_in_use = state.bytes_in_use.saturating_sub(memory.bytes);
        Ok(())
    }

    unsafe fn allocate_on(
        &self,
        _bytes: usize,
        _on: RawStream,
    ) -> Result<DeviceAddress, DriverError> {
        Err(no_stream_memory())
    }

    unsafe fn free_on(&self, _at: DeviceAddress, _on: RawStream) -> Result<(), DriverError> {
        Err(no_stream_memory())
    }

    fn allocate_pinned(&self, bytes: usize) -> Result<HostAddress, DriverError> {
        not_zero("vkAllocateMemory", bytes)?;
        let memory = Memory::allocate(&self.open, bytes as u64, Kind::Host)?;
        let address = HostAddress::of(memory.pointer()?);
        self.lock()
            .buffers
            .pinned
            .insert(address.get(), Arc::new(memory));
        Ok(address)
    }

    unsafe fn free_pinned(&self, at: HostAddress) -> Result<(), DriverError> {
        let memory = self.lock().buffers.pinned.remove(&at.get());
        let unknown = || refused("vkFreeMemory", Refusal::UnknownAddress);
        memory.map(drop).ok_or_else(unknown)
    }

    unsafe fn copy(
        &self,
        to: Place,
        from: Place,
        bytes: usize,
        on: RawStream,
    ) -> Result<(), DriverError> {
        // SAFETY: the caller promises the same.
        unsafe { self.copy_places(to, from, bytes, on) }
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
        let constants = Arc::clone(&state.constants);
        let end = part.offset + bytes as u64;
        // Whole words between; what is left at either end is copied.
        let first = part.offset.next_multiple_of(4).min(end);
        let last = (end - end % 4).max(first);
        let word = u32::from_ne_bytes([value; 4]);
        let source = constants.offset + u64::from(value) * 4;
        let buffer = part.memory.buffer;
        let from = constants.buffer;
        let edges: Vec<_> = [(part.offset, first), (last, end)]
            .into_iter()
            .filter(|(begin, end)| begin < end)
            .map(|(begin, end)| {
                vk::BufferCopy::default()
                    .src_offset(source)
                    .dst_offset(begin)
                    .size(end - begin)
            })
            .collect();
        let record = |device: &ash::Device, command| {
            // SAFETY: the buffer holds these bytes, and both are kept until the work is done; the
            // commands touch different bytes, so that no order between them is needed.
            unsafe {
                if first < last {
                    device.cmd_fill_buffer(command, buffer, first, last - first, word);
                }
                if !edges.is_empty() {
                    device.cmd_copy_buffer(command, from, buffer, &edges);
                }
            }
        };
        let kept: Vec<Arc<dyn std::any::Any + Send + Sync>> = vec![part.memory, constants];
        state.put(on, kept, Some(&record)).map(drop)
    }

    fn create_stream(&self, kind: StreamKind) -> Result<RawStream, DriverError> {
        let timeline = Timeline::new(&self.open)?;
        let mut state = self.lock();
        let handle = next_handle();
        let last = Point { timeline, value: 0 };
        state.streams.insert(handle, StreamState { kind, last });
        Ok(RawStream(handle))
    }

    unsafe fn destroy_stream(&self, stream: RawStream) -> Result<(), DriverError> {
        let removed = self.lock().streams.remove(&stream.0);
        let unknown = || refused("destroy_stream", Refusal::UnknownStream);
        removed.map(drop).ok_or_else(unknown)
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
        let points = self.lock().queue.points();
        points.iter().try_for_each(Point::wait)
    }

    fn create_event(&self, kind: EventKind) -> Result<RawEvent, DriverError> {
        let clock = match kind {
            EventKind::Order => None,
            EventKind::Timed => Some(Clock::new(&self.open)?),
        };
        let mut state = self.lock();
        let handle = next_handle();
        let event = EventState {
            clock,
            recorded: None,
        };
        state.events.insert(handle, event);
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
            Some(clock) => {
                let pool = clock.pool;
                let record = |device: &ash::Device, command| {
                    // SAFETY: the pool has this one place, and is kept until the work is done.
                    unsafe {
                        device.cmd_reset_query_pool(command, pool, 0, 1);
                        let end = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
                        device.cmd_write_timestamp(command, end, pool, 0);
                    }
                };
                state.put(on, vec![clock], Some(&record))?
            }
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
        let mut waits = state.before(on)?;
        waits.push(point);
        state.put_behind(on, waits, Vec::new(), None).map(drop)
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
        let time = |event: RawEvent| {
            let no_time = || refused("elapsed", Refusal::NoTime);
            let event = state.event(event)?;
            let point = event.recorded.as_ref().ok_or_else(no_time)?;
            let clock = event.clock.as_ref().ok_or_else(no_time)?;
            if !point.is_reached()? {
                return Err(no_time());
            }
            Ok((clock.read()?, Arc::clone(clock)))
        };
        let ((start, _), (end, clock)) = (time(start)?, time(end)?);
        Ok(clock.duration(end.saturating_sub(start)))
    }
}
