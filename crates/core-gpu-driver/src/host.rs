//! Host memory as a real driver: for programs that run where no device is, and for tests. Work is
//! done at the call, so every stream is always idle. Addresses are numbers of its own, so that a
//! wrong one is an error and not a crash. It does not compute: see [`HostDriver::with_bytes`].

use std::{
    alloc::Layout,
    collections::{BTreeMap, BTreeSet},
    ptr::NonNull,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use crate::{
    address::{DeviceAddress, HostAddress, Place},
    driver::Driver,
    error::{DriverError, Refusal},
    identity::{Capabilities, DeviceId, DeviceInfo, MemoryInfo, PlatformKind},
    stream::{EventKind, RawEvent, RawStream, StreamKind, next_handle, not_zero, refused},
};

/// What every address is a multiple of, in bytes.
const ALIGNMENT: usize = 256;
/// Where addresses begin: no pointer of this process looks like it.
const FIRST_ADDRESS: u64 = 0x4d00_0000_0000;

/// Memory of this process, up to a limit, behind [`Driver`]. One lock: threads take turns.
#[derive(Debug)]
pub struct HostDriver {
    info: DeviceInfo,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Allocations by their first address; keys leave a gap between neighbours.
    device: BTreeMap<u64, Box<[u8]>>,
    pinned: BTreeMap<u64, Layout>,
    bytes_in_use: u64,
    streams: BTreeSet<u64>,
    events: BTreeMap<u64, HostEvent>,
}

#[derive(Clone, Copy, Debug)]
struct HostEvent {
    kind: EventKind,
    reached: Option<Instant>,
}

/// Addresses for that many bytes. No other driver of this process has given them out: a span of one is
/// unknown to the others.
fn next_address(bytes: u64) -> Option<u64> {
    static NEXT: AtomicU64 = AtomicU64::new(FIRST_ADDRESS);
    let unit = ALIGNMENT as u64;
    // A gap of one unit, so that running over the end hits nothing.
    let taken = bytes.checked_next_multiple_of(unit)?.checked_add(unit)?;
    NEXT.fetch_update(Relaxed, Relaxed, |next| next.checked_add(taken))
        .ok()
}

/// An identity that no other driver of this machine has while this process runs: addresses and
/// streams of two drivers are apart, and so are the books of their pools.
fn own_identity() -> [u8; 16] {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Relaxed);
    let mut uuid = *b"host\0\0\0\0\0\0\0\0\0\0\0\0";
    let (_, rest) = uuid.split_at_mut(4);
    let (process, counted) = rest.split_at_mut(4);
    process.copy_from_slice(&std::process::id().to_be_bytes());
    counted.copy_from_slice(&number.to_be_bytes());
    uuid
}

impl HostDriver {
    /// What the memory of a machine is called as one device, in all its processes.
    pub const OF_PROCESS: DeviceId = DeviceId {
        platform: PlatformKind::Host,
        uuid: *b"host memory\0\0\0\0\0",
    };

    /// A device of this many bytes, with an identity of its own. They are taken from the process
    /// only as they are allocated.
    #[must_use]
    pub fn new(total_bytes: u64) -> Self {
        let id = DeviceId {
            platform: PlatformKind::Host,
            uuid: own_identity(),
        };
        Self::with_identity(id, total_bytes)
    }

    /// As [`HostDriver::new`], for several owners.
    #[must_use]
    pub fn open(total_bytes: u64) -> Arc<dyn Driver> {
        Arc::new(Self::new(total_bytes))
    }

    /// As [`HostDriver::new`], under a given identity: for who opens the one device that a probe has
    /// found. Two drivers of one identity are taken for one device, though their addresses and streams
    /// are apart: share it.
    #[must_use]
    pub fn with_identity(id: DeviceId, total_bytes: u64) -> Self {
        Self {
            info: DeviceInfo {
                id,
                ordinal: 0,
                name: "host memory".to_owned(),
                total_bytes,
                compute_capability: (0, 0),
                bus_address: None,
                driver_version: 0,
                alignment_bytes: ALIGNMENT,
                capabilities: Capabilities {
                    stream_ordered_allocation: true,
                    virtual_memory: false,
                    integrated: true,
                    slice: false,
                },
            },
            state: Mutex::new(State {
                device: BTreeMap::new(),
                pinned: BTreeMap::new(),
                bytes_in_use: 0,
                streams: BTreeSet::new(),
                events: BTreeMap::new(),
            }),
        }
    }

    /// Gives a function the bytes of a span, to compute with. No other call of this driver runs
    /// meanwhile; the function must not make one.
    ///
    /// # Errors
    /// Refused for bytes that are not allocated.
    pub fn with_bytes<R>(
        &self,
        span: crate::DeviceSpan<'_>,
        function: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<R, DriverError> {
        let mut state = self.lock();
        let bytes = state.bytes("with_bytes", span.address(), span.bytes() as usize)?;
        Ok(function(bytes))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn allocate(&mut self, bytes: usize, total: u64) -> Result<DeviceAddress, DriverError> {
        not_zero("allocate", bytes)?;
        let after = self.bytes_in_use.saturating_add(bytes as u64);
        if after > total {
            return Err(DriverError::OutOfMemory);
        }
        let mut memory = Vec::new();
        memory
            .try_reserve_exact(bytes)
            .map_err(|_| DriverError::OutOfMemory)?;
        memory.resize(bytes, 0xcd);
        let address = next_address(bytes as u64).ok_or(DriverError::OutOfMemory)?;
        self.bytes_in_use = after;
        self.device.insert(address, memory.into_boxed_slice());
        DeviceAddress::new(address).ok_or(DriverError::OutOfMemory)
    }

    fn free(&mut self, at: DeviceAddress) -> Result<(), DriverError> {
        let memory = self
            .device
            .remove(&at.get())
            .ok_or_else(|| refused("free", Refusal::UnknownAddress))?;
        self.bytes_in_use = self.bytes_in_use.saturating_sub(memory.len() as u64);
        Ok(())
    }

    fn bytes(
        &mut self,
        function: &'static str,
        at: DeviceAddress,
        bytes: usize,
    ) -> Result<&mut [u8], DriverError> {
        let found = self.device.range_mut(..=at.get()).next_back();
        let unknown = || refused(function, Refusal::UnknownAddress);
        let (start, memory) = found.ok_or_else(unknown)?;
        let offset = at.get() - start;
        let out_of_range = Refusal::OutOfRange {
            offset,
            bytes: bytes as u64,
            held: memory.len() as u64,
        };
        if offset > memory.len() as u64 {
            return Err(unknown());
        }
        memory
            .get_mut(offset as usize..)
            .and_then(|memory| memory.get_mut(..bytes))
            .ok_or_else(|| refused(function, out_of_range))
    }

    fn copy_within(
        &mut self,
        to: DeviceAddress,
        from: DeviceAddress,
        bytes: usize,
    ) -> Result<(), DriverError> {
        // Through a buffer: the two may be of one allocation, and overlap.
        let copy = self.bytes("copy", from, bytes)?.to_vec();
        self.bytes("copy", to, bytes)?.copy_from_slice(&copy);
        Ok(())
    }

    fn stream(&self, stream: RawStream) -> Result<(), DriverError> {
        let default =
            stream == RawStream::LEGACY_DEFAULT || stream == RawStream::PER_THREAD_DEFAULT;
        if default || self.streams.contains(&stream.0) {
            return Ok(());
        }
        Err(refused("stream", Refusal::UnknownStream))
    }

    fn event(&self, event: RawEvent) -> Result<HostEvent, DriverError> {
        let found = self.events.get(&event.0).copied();
        found.ok_or_else(|| refused("event", Refusal::UnknownEvent))
    }
}

fn pinned_layout(bytes: usize) -> Result<Layout, DriverError> {
    not_zero("allocate_pinned", bytes)?;
    Layout::from_size_align(bytes, 4096).map_err(|_| DriverError::OutOfMemory)
}

// SAFETY: memory is the host allocator's, in tables under a lock; handles are counted.
unsafe impl Driver for HostDriver {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn memory_info(&self) -> Result<MemoryInfo, DriverError> {
        let used = self.lock().bytes_in_use;
        Ok(MemoryInfo::left(self.info.total_bytes, used))
    }

    fn allocate(&self, bytes: usize) -> Result<DeviceAddress, DriverError> {
        self.lock().allocate(bytes, self.info.total_bytes)
    }

    fn allocate_managed(&self, bytes: usize) -> Result<DeviceAddress, DriverError> {
        // It is the host's already.
        self.allocate(bytes)
    }

    unsafe fn free(&self, at: DeviceAddress) -> Result<(), DriverError> {
        self.lock().free(at)
    }

    unsafe fn allocate_on(
        &self,
        bytes: usize,
        on: RawStream,
    ) -> Result<DeviceAddress, DriverError> {
        let mut state = self.lock();
        state.stream(on)?;
        state.allocate(bytes, self.info.total_bytes)
    }

    unsafe fn free_on(&self, at: DeviceAddress, on: RawStream) -> Result<(), DriverError> {
        let mut state = self.lock();
        state.stream(on)?;
        state.free(at)
    }

    fn allocate_pinned(&self, bytes: usize) -> Result<HostAddress, DriverError> {
        let layout = pinned_layout(bytes)?;
        // SAFETY: the layout has a size.
        let pointer = NonNull::new(unsafe { std::alloc::alloc(layout) });
        let address = HostAddress::of(pointer.ok_or(DriverError::OutOfMemory)?);
        self.lock().pinned.insert(address.get(), layout);
        Ok(address)
    }

    unsafe fn free_pinned(&self, at: HostAddress) -> Result<(), DriverError> {
        let layout = self.lock().pinned.remove(&at.get());
        let layout = layout.ok_or_else(|| refused("free_pinned", Refusal::UnknownAddress))?;
        // SAFETY: it was allocated with this layout, was in the table until now, and the caller
        // promises that nobody uses it.
        unsafe { std::alloc::dealloc(at.pointer(), layout) };
        Ok(())
    }

    unsafe fn copy(
        &self,
        to: Place,
        from: Place,
        bytes: usize,
        on: RawStream,
    ) -> Result<(), DriverError> {
        let mut state = self.lock();
        state.stream(on)?;
        match (to, from) {
            _ if bytes == 0 => Ok(()),
            (Place::Device(to), Place::Device(from)) => state.copy_within(to, from, bytes),
            (Place::Device(to), Place::Host(from)) => {
                let memory = state.bytes("copy", to, bytes)?;
                // SAFETY: the caller promises `bytes` readable bytes that nobody else uses meanwhile.
                // So they are none of `memory`, which others may know by `host_pointer`.
                unsafe {
                    from.pointer()
                        .copy_to_nonoverlapping(memory.as_mut_ptr(), bytes)
                };
                Ok(())
            }
            (Place::Host(to), Place::Device(from)) => {
                let memory = state.bytes("copy", from, bytes)?;
                // SAFETY: the caller promises `bytes` writable bytes that nobody uses; else as above.
                unsafe {
                    to.pointer()
                        .copy_from_nonoverlapping(memory.as_ptr(), bytes)
                };
                Ok(())
            }
            (Place::Host(_), Place::Host(_)) => Err(refused("copy", Refusal::OtherDevice)),
        }
    }

    unsafe fn set(
        &self,
        at: DeviceAddress,
        value: u8,
        bytes: usize,
        on: RawStream,
    ) -> Result<(), DriverError> {
        let mut state = self.lock();
        state.stream(on)?;
        if bytes > 0 {
            state.bytes("set", at, bytes)?.fill(value);
        }
        Ok(())
    }

    fn create_stream(&self, _kind: StreamKind) -> Result<RawStream, DriverError> {
        let mut state = self.lock();
        let handle = next_handle();
        state.streams.insert(handle);
        Ok(RawStream(handle))
    }

    unsafe fn destroy_stream(&self, stream: RawStream) -> Result<(), DriverError> {
        if self.lock().streams.remove(&stream.0) {
            return Ok(());
        }
        Err(refused("destroy_stream", Refusal::UnknownStream))
    }

    unsafe fn synchronize_stream(&self, stream: RawStream) -> Result<(), DriverError> {
        self.lock().stream(stream)
    }

    unsafe fn query_stream(&self, stream: RawStream) -> Result<bool, DriverError> {
        self.lock().stream(stream).map(|()| true)
    }

    unsafe fn is_capturing(&self, on: RawStream) -> Result<bool, DriverError> {
        // There are no graphs here. Who asks has promised that the stream is one: no look-up, since a
        // pool asks often.
        let _ = on;
        Ok(false)
    }

    fn synchronize(&self) -> Result<(), DriverError> {
        Ok(())
    }

    fn create_event(&self, kind: EventKind) -> Result<RawEvent, DriverError> {
        let mut state = self.lock();
        let handle = next_handle();
        let event = HostEvent {
            kind,
            reached: None,
        };
        state.events.insert(handle, event);
        Ok(RawEvent(handle))
    }

    unsafe fn destroy_event(&self, event: RawEvent) -> Result<(), DriverError> {
        let removed = self.lock().events.remove(&event.0);
        removed.map_or_else(
            || Err(refused("destroy_event", Refusal::UnknownEvent)),
            |_| Ok(()),
        )
    }

    unsafe fn record(&self, event: RawEvent, on: RawStream) -> Result<(), DriverError> {
        let mut state = self.lock();
        state.stream(on)?;
        let mut recorded = state.event(event)?;
        recorded.reached = Some(Instant::now());
        state.events.insert(event.0, recorded);
        Ok(())
    }

    unsafe fn wait(&self, on: RawStream, _event: RawEvent) -> Result<(), DriverError> {
        // The event may be another driver's; whatever it is, host work is done when it is given.
        self.lock().stream(on)
    }

    unsafe fn query_event(&self, event: RawEvent) -> Result<bool, DriverError> {
        self.lock().event(event).map(|_| true)
    }

    unsafe fn synchronize_event(&self, event: RawEvent) -> Result<(), DriverError> {
        self.lock().event(event).map(|_| ())
    }

    unsafe fn elapsed(&self, start: RawEvent, end: RawEvent) -> Result<Duration, DriverError> {
        let state = self.lock();
        let time = |event: RawEvent| {
            let event = state.event(event)?;
            let timed = event.reached.filter(|_| event.kind == EventKind::Timed);
            timed.ok_or_else(|| refused("elapsed", Refusal::NoTime))
        };
        Ok(time(end)?.saturating_duration_since(time(start)?))
    }

    fn host_pointer(&self, at: DeviceAddress, bytes: usize) -> Option<usize> {
        let mut state = self.lock();
        let found = state.bytes("host_pointer", at, bytes).ok()?;
        // Others make a pointer of it again.
        Some(found.as_mut_ptr().expose_provenance())
    }
}

impl Drop for HostDriver {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        // What was never freed. Nobody can use it any more: every owner keeps the driver alive.
        for (address, layout) in std::mem::take(&mut state.pinned) {
            let pointer: *mut u8 = std::ptr::with_exposed_provenance_mut(address as usize);
            // SAFETY: it was allocated with this layout and was not freed.
            unsafe { std::alloc::dealloc(pointer, layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_drivers_are_two_devices() {
        let (one, other) = (HostDriver::new(1 << 10), HostDriver::new(1 << 10));
        assert_ne!(one.info().id, other.info().id);
        let machine = HostDriver::with_identity(HostDriver::OF_PROCESS, 1 << 10);
        assert_eq!(machine.info().id, HostDriver::OF_PROCESS);
        assert_ne!(one.info().id, machine.info().id);
        let text = one.info().id.to_string();
        assert_eq!(text.parse(), Ok(one.info().id));
    }

    #[test]
    fn an_event_of_another_driver_is_refused_and_not_mistaken() {
        use crate::{Event, Stream};
        use std::sync::Arc;
        let drivers = [0; 2].map(|_| Arc::new(HostDriver::new(1 << 10)) as Arc<dyn Driver>);
        let event = Event::new(&drivers[0], EventKind::Order).unwrap();
        let stream = Stream::new(&drivers[1], StreamKind::NonBlocking).unwrap();
        let refused = stream.record(&event).unwrap_err();
        assert_eq!(
            refused,
            crate::stream::refused("record", Refusal::OtherDevice)
        );
    }
}
