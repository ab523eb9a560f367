//! One Metal device as a [`Driver`]. Written by Apple's documents and compiled for Apple's systems;
//! nobody has run it.
//!
//! A stream is a number that grows: each of its works waits for the one before and for what the stream
//! was told to wait for, by shared events. Addresses are the device's own (`gpuAddress`, macOS 13), and
//! lead to buffers by a table.

use std::{
    collections::BTreeMap,
    ffi::c_void,
    fmt,
    ptr::NonNull,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use objc2::{rc::Retained, runtime::ProtocolObject};
use objc2_foundation::NSRange;
use objc2_metal::{
    MTLBlitCommandEncoder as _, MTLBuffer, MTLCommandBuffer, MTLCommandBufferStatus,
    MTLCommandEncoder as _, MTLCommandQueue, MTLCopyAllDevices, MTLDevice, MTLResourceOptions,
    MTLSharedEvent,
};

use crate::{
    address::{DeviceAddress, HostAddress, Place},
    buffers::{BufferCopies, BufferMemory, Buffers, Part, Transfer, no_stream_memory, not_zero},
    driver::Driver,
    error::{Absent, DriverError, Refusal},
    identity::{DeviceId, DeviceInfo, MemoryInfo},
    stream::{EventKind, RawEvent, RawStream, StreamKind, next_handle, refused},
};

/// What addresses are multiples of, in bytes.
const ALIGNMENT: u64 = 256;
/// The unit of fills on macOS, in bytes.
const WORD: u64 = 4;

/// An object of Metal's.
struct Object<T: ?Sized>(Retained<ProtocolObject<T>>);

impl<T: ?Sized> Clone for Object<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

// SAFETY: devices, queues, buffers, shared events and committed command buffers may be used from any
// thread (Metal Programming Guide, "Command Organization and Execution Model"); no other object is
// kept.
unsafe impl<T: ?Sized> Send for Object<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized> Sync for Object<T> {}

/// A buffer, and the part of it that is given out.
pub(crate) struct Memory {
    buffer: Object<dyn MTLBuffer>,
    /// Where the first byte that is given out stands in the buffer.
    offset: u64,
    bytes: u64,
}

/// What one work does.
#[derive(Default)]
struct Blit {
    /// What it waits for.
    waits: Vec<Point>,
    /// Where, how many bytes, and which.
    fill: Option<(Part<Memory>, u64, u8)>,
    copies: Vec<Transfer<Memory>>,
}

/// A point in a stream's work.
#[derive(Clone)]
pub(crate) struct Point {
    clock: Object<dyn MTLSharedEvent>,
    value: u64,
    /// The work that reaches it; none where there was no work yet.
    work: Option<Object<dyn MTLCommandBuffer>>,
}

struct StreamState {
    kind: StreamKind,
    last: Point,
}

struct EventState {
    kind: EventKind,
    recorded: Option<Point>,
}

struct State {
    buffers: Buffers<Memory>,
    streams: BTreeMap<u64, StreamState>,
    events: BTreeMap<u64, EventState>,
    /// Where streams end whose handles are gone.
    ended: Vec<Point>,
    /// Each byte four times, for what a fill cannot reach.
    constants: Arc<Memory>,
    bytes_in_use: u64,
}

/// A Metal device. Any thread; calls take turns.
pub struct MetalDriver {
    info: DeviceInfo,
    device: Object<dyn MTLDevice>,
    queue: Object<dyn MTLCommandQueue>,
    state: Mutex<State>,
}

impl fmt::Debug for MetalDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MetalDriver").field(&self.info.name).finish()
    }
}

/// What Metal answers where it has nothing: it gives no reasons.
fn nothing(function: &'static str) -> DriverError {
    DriverError::Call {
        function,
        code: -1,
        from_earlier_work: false,
    }
}

impl MetalDriver {
    /// Opens a device.
    ///
    /// # Errors
    /// [`Absent::Device`]; as Metal makes no queue or buffer.
    pub fn open(id: &DeviceId) -> Result<Arc<Self>, DriverError> {
        let missing = || Absent::Device {
            wanted: id.to_string(),
        };
        let all = MTLCopyAllDevices();
        let found = (0..)
            .zip(all.iter())
            .map(|(ordinal, device)| (super::describe(ordinal, &device), device))
            .find(|(info, _)| info.id == *id);
        let (info, device) = found.ok_or_else(missing)?;
        let queue = device.newCommandQueue();
        let queue = queue.ok_or_else(|| nothing("newCommandQueue"))?;
        let constants = allocate(&device, 1024, MTLResourceOptions::StorageModeShared)?;
        let pointer = constants.pointer()?;
        for value in 0..=u8::MAX {
            // SAFETY: there is room for four of each byte, and nobody reads it yet.
            unsafe { pointer.add(usize::from(value) * 4).write_bytes(value, 4) };
        }
        let default = StreamState {
            kind: StreamKind::Blocking,
            last: beginning(&device)?,
        };
        Ok(Arc::new(Self {
            info,
            queue: Object(queue),
            state: Mutex::new(State {
                buffers: Buffers::new(),
                streams: BTreeMap::from([(RawStream::LEGACY_DEFAULT.0, default)]),
                events: BTreeMap::new(),
                ended: Vec::new(),
                constants: Arc::new(constants),
                bytes_in_use: 0,
            }),
            device: Object(device),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts work on a stream.
    fn put(&self, state: &mut State, on: RawStream, blit: &Blit) -> Result<Point, DriverError> {
        let last = state.stream(on)?.last.clone();
        let work = self.queue.0.commandBuffer();
        let work = work.ok_or_else(|| nothing("commandBuffer"))?;
        for point in blit.waits.iter().filter(|point| point.value > 0) {
            let event = ProtocolObject::from_ref(&*point.clock.0);
            work.encodeWaitForEvent_value(event, point.value);
        }
        if !blit.copies.is_empty() || blit.fill.is_some() {
            encode(&work, blit)?;
        }
        let value = last.value + 1;
        work.encodeSignalEvent_value(ProtocolObject::from_ref(&*last.clock.0), value);
        work.commit();
        let reached = Point {
            clock: last.clock,
            value,
            work: Some(Object(work)),
        };
        if let Some(stream) = state.streams.get_mut(&on.0) {
            stream.last = reached.clone();
        }
        Ok(reached)
    }
}

impl BufferCopies for MetalDriver {
    type Memory = Memory;
    type Point = Point;

    fn with_buffers<T>(&self, look: impl FnOnce(&Buffers<Memory>) -> T) -> T {
        look(&self.lock().buffers)
    }

    fn copy_parts(&self, copy: Transfer<Memory>, on: RawStream) -> Result<Point, DriverError> {
        let mut state = self.lock();
        let blit = Blit {
            waits: state.before(on)?,
            copies: vec![copy],
            fill: None,
        };
        self.put(&mut state, on, &blit)
    }

    fn staged(&self, bytes: usize) -> Result<Part<Memory>, DriverError> {
        let shared = MTLResourceOptions::StorageModeShared;
        allocate(&self.device.0, bytes as u64, shared).map(Part::whole)
    }

    fn wait(&self, point: &Point) -> Result<(), DriverError> {
        point.wait()
    }
}

/// Puts fills and copies down.
fn encode(work: &ProtocolObject<dyn MTLCommandBuffer>, blit: &Blit) -> Result<(), DriverError> {
    let encoder = work.blitCommandEncoder();
    let encoder = encoder.ok_or_else(|| nothing("blitCommandEncoder"))?;
    if let Some((at, bytes, value)) = &blit.fill {
        let range = NSRange::new(at.offset as usize, *bytes as usize);
        encoder.fillBuffer_range_value(&at.memory.buffer.0, range, *value);
    }
    for Transfer { to, from, bytes } in &blit.copies {
        // SAFETY: both buffers hold these bytes, and the command buffer keeps both until the work is
        // done.
        unsafe {
            encoder.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size(
                &from.memory.buffer.0,
                from.offset as usize,
                &to.memory.buffer.0,
                to.offset as usize,
                *bytes as usize,
            );
        }
    }
    encoder.endEncoding();
    Ok(())
}

/// A stream's clock, with no work yet.
fn beginning(device: &ProtocolObject<dyn MTLDevice>) -> Result<Point, DriverError> {
    let clock = device.newSharedEvent();
    Ok(Point {
        clock: Object(clock.ok_or_else(|| nothing("newSharedEvent"))?),
        value: 0,
        work: None,
    })
}

fn allocate(
    device: &ProtocolObject<dyn MTLDevice>,
    bytes: u64,
    options: MTLResourceOptions,
) -> Result<Memory, DriverError> {
    let room = bytes
        .checked_add(ALIGNMENT - 1)
        .ok_or(DriverError::OutOfMemory)?;
    // Metal says no more than that there is none.
    let buffer = device
        .newBufferWithLength_options(room as usize, options)
        .ok_or(DriverError::OutOfMemory)?;
    let private = options.contains(MTLResourceOptions::StorageModePrivate);
    let begins = if private {
        buffer.gpuAddress()
    } else {
        buffer.contents().as_ptr().addr() as u64
    };
    Ok(Memory {
        offset: begins.next_multiple_of(ALIGNMENT) - begins,
        buffer: Object(buffer),
        bytes,
    })
}

impl BufferMemory for Memory {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn offset(&self) -> u64 {
        self.offset
    }

    fn pointer(&self) -> Result<NonNull<u8>, DriverError> {
        let contents: NonNull<c_void> = self.buffer.0.contents();
        // SAFETY: the buffer is longer than the offset by all its bytes.
        Ok(unsafe { contents.cast::<u8>().add(self.offset as usize) })
    }
}

impl Point {
    fn is_reached(&self) -> Result<bool, DriverError> {
        if let Some(work) = &self.work
            && work.0.status() == MTLCommandBufferStatus::Error
        {
            return Err(DriverError::Call {
                function: "commit",
                code: -1,
                from_earlier_work: true,
            });
        }
        Ok(self.clock.0.signaledValue() >= self.value)
    }

    fn wait(&self) -> Result<(), DriverError> {
        if let Some(work) = &self.work {
            work.0.waitUntilCompleted();
        }
        self.is_reached().map(drop)
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
            let others = self
                .streams
                .iter()
                .filter(|(other, _)| **other != default.0);
            let blocking = others.filter(|(_, stream)| stream.kind == StreamKind::Blocking);
            waits.extend(blocking.map(|(_, stream)| stream.last.clone()));
        } else if stream.kind == StreamKind::Blocking {
            waits.push(self.stream(default)?.last.clone());
        }
        Ok(waits)
    }
}

// SAFETY: memory and objects are the API's, kept in tables under a lock; handles are counted.
unsafe impl Driver for MetalDriver {
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
        not_zero("newBufferWithLength", bytes)?;
        let mut state = self.lock();
        let after = state.bytes_in_use.saturating_add(bytes as u64);
        // The system would swap rather than say no.
        if after > self.info.total_bytes {
            return Err(DriverError::OutOfMemory);
        }
        let private = MTLResourceOptions::StorageModePrivate;
        let memory = allocate(&self.device.0, bytes as u64, private)?;
        let address = DeviceAddress::new(memory.buffer.0.gpuAddress() + memory.offset);
        let unknown = || refused("gpuAddress", Refusal::UnknownAddress);
        let address = address.ok_or_else(unknown)?;
        state.bytes_in_use = after;
        state.buffers.device.insert(address.get(), Arc::new(memory));
        Ok(address)
    }

    unsafe fn free(&self, at: DeviceAddress) -> Result<(), DriverError> {
        let mut state = self.lock();
        let memory = state.buffers.device.remove(&at.get());
        let memory = memory.ok_or_else(|| refused("free", Refusal::UnknownAddress))?;
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
        not_zero("newBufferWithLength", bytes)?;
        let shared = MTLResourceOptions::StorageModeShared;
        let memory = allocate(&self.device.0, bytes as u64, shared)?;
        let address = HostAddress::of(memory.pointer()?);
        self.lock()
            .buffers
            .pinned
            .insert(address.get(), Arc::new(memory));
        Ok(address)
    }

    unsafe fn free_pinned(&self, at: HostAddress) -> Result<(), DriverError> {
        let memory = self.lock().buffers.pinned.remove(&at.get());
        let unknown = || refused("free_pinned", Refusal::UnknownAddress);
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
        let constants = Part {
            offset: state.constants.offset + u64::from(value) * WORD,
            memory: Arc::clone(&state.constants),
        };
        let end = part.offset + bytes as u64;
        // Whole words between; what is left at either end is copied.
        let first = part.offset.next_multiple_of(WORD).min(end);
        let last = (end - end % WORD).max(first);
        let place = |offset| Part {
            memory: Arc::clone(&part.memory),
            offset,
        };
        let edges: Vec<_> = [(part.offset, first), (last, end)]
            .into_iter()
            .filter(|(begin, end)| begin < end)
            .map(|(begin, end)| Transfer {
                to: place(begin),
                from: constants.clone(),
                bytes: end - begin,
            })
            .collect();
        let fill = (first < last).then(|| (place(first), last - first, value));
        let blit = Blit {
            waits: state.before(on)?,
            fill,
            copies: edges,
        };
        self.put(&mut state, on, &blit).map(drop)
    }

    fn create_stream(&self, kind: StreamKind) -> Result<RawStream, DriverError> {
        let last = beginning(&self.device.0)?;
        let mut state = self.lock();
        let handle = next_handle();
        state.streams.insert(handle, StreamState { kind, last });
        Ok(RawStream(handle))
    }

    unsafe fn destroy_stream(&self, stream: RawStream) -> Result<(), DriverError> {
        let mut state = self.lock();
        let removed = state.streams.remove(&stream.0);
        let unknown = || refused("destroy_stream", Refusal::UnknownStream);
        let last = removed.ok_or_else(unknown)?.last;
        // Work goes on; who waits for the device waits for it.
        state
            .ended
            .retain(|point| matches!(point.is_reached(), Ok(false)));
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
        points.iter().try_for_each(Point::wait)
    }

    fn create_event(&self, kind: EventKind) -> Result<RawEvent, DriverError> {
        let mut state = self.lock();
        let handle = next_handle();
        let event = EventState {
            kind,
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
        let point = match state.event(event)?.kind {
            EventKind::Order => state.stream(on)?.last.clone(),
            // Empty work, whose end the device times.
            EventKind::Timed => {
                let waits = state.before(on)?;
                let blit = Blit {
                    waits,
                    ..Blit::default()
                };
                self.put(&mut state, on, &blit)?
            }
        };
        if let Some(event) = state.events.get_mut(&event.0) {
            event.recorded = Some(point);
        }
        Ok(())
    }

    unsafe fn wait(&self, on: RawStream, event: RawEvent) -> Result<(), DriverError> {
        let mut state = self.lock();
        let Some(point) = state.event(event)?.recorded.clone() else {
            return state.stream(on).map(drop);
        };
        let mut waits = state.before(on)?;
        waits.push(point);
        let blit = Blit {
            waits,
            ..Blit::default()
        };
        self.put(&mut state, on, &blit).map(drop)
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
            let timed = event.kind == EventKind::Timed;
            let point = event.recorded.as_ref().filter(|_| timed);
            let point = point.ok_or_else(no_time)?;
            if !point.is_reached()? {
                return Err(no_time());
            }
            let work = point.work.as_ref().ok_or_else(no_time)?;
            Ok(work.0.GPUEndTime())
        };
        let seconds = time(end)? - time(start)?;
        Ok(Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or_default())
    }
}
