//! The trait that every device is behind. It is the thinnest layer that can be implemented by a
//! real driver, by host memory and by a simulator; it keeps no books and owns nothing. Owning is
//! the business of [`crate::Segment`], [`crate::Stream`], [`crate::Event`] and [`crate::Pinned`].

use std::{fmt, time::Duration};

use crate::{
    address::{DeviceAddress, HostAddress, Place},
    annotate::{Region, RegionState},
    error::{Absent, DriverError},
    graph::{CaptureMode, RawGraph},
    identity::{DeviceInfo, MemoryInfo},
    stream::{EventKind, RawEvent, RawStream, StreamKind},
    virtual_memory::VirtualMemory,
};

pub(crate) const NO_GRAPHS: Absent = Absent::Capability { what: "graphs" };
/// What a device without allocation in a stream's order answers.
pub(crate) const NO_STREAM_MEMORY: Absent = Absent::Capability {
    what: "stream-ordered allocation",
};
/// What a device without memory that moves by itself answers.
pub(crate) const NO_MANAGED_MEMORY: Absent = Absent::Capability {
    what: "managed memory",
};

/// A number of a driver's own for [`Driver::handle_space`].
pub(crate) fn own_handle_space<T: ?Sized>(driver: &T) -> u64 {
    std::ptr::from_ref(driver).cast::<()>().addr() as u64
}

/// One device, opened.
///
/// **Captures.** [`Driver::allocate`] and its managed and pinned counterparts, and [`Driver::query_event`], break no
/// capture, of whichever mode and thread: a pool may grow while some other part of the program
/// captures. Waiting for the device breaks every capture of it, and so does [`Driver::free`], which
/// waits.
///
/// Every call binds the device's own context first, so that a driver may be used from any thread,
/// whatever context the thread had; it may leave another context bound. All calls may be made from
/// several threads at once.
///
/// **Safety of handles.** The calls that take an address, a stream or an event are `unsafe`,
/// because a real driver does not check them: the caller promises that each was given out by this
/// driver (or belongs to its device) and has not been given back. The owning types keep that
/// promise, and have no unsafe calls.
///
/// # Safety
/// The owning types believe what a driver answers, and write through it:
/// - Memory of [`Driver::allocate_pinned`] is that many bytes, which may be written and read, are aligned as
///   it says, and are nobody else's until they were given back. So are the bytes of
///   [`Driver::host_pointer`] as long as they are allocated.
/// - Device memory that was given out is nobody else's until it was given back, and work touches those
///   bytes alone that its call named; of the host's memory it touches nothing once a call that waits for
///   it has succeeded.
/// - A handle stands for one stream, event or graph of its kind until that is destroyed.
/// - Calls may be made from several threads at once, as the types' `Send` and `Sync` say.
///
/// ```compile_fail
/// # use core_gpu_driver::Driver;
/// #[derive(Debug)]
/// struct Careless;
/// impl Driver for Careless {} // what it answers would be believed
/// ```
pub unsafe trait Driver: fmt::Debug + Send + Sync + 'static {
    /// What the device says of itself.
    fn info(&self) -> &DeviceInfo;

    /// Memory that is free and that there is, in bytes, as the driver says at this moment.
    ///
    /// # Errors
    /// As the driver's call fails.
    fn memory_info(&self) -> Result<MemoryInfo, DriverError>;

    /// Memory of the device, in bytes, aligned to [`DeviceInfo::alignment_bytes`]; what is in it is
    /// undefined. May wait for all work on the device.
    ///
    /// # Errors
    /// [`DriverError::OutOfMemory`], or as the driver's call fails; refused for zero bytes.
    fn allocate(&self, bytes: usize) -> Result<DeviceAddress, DriverError>;

    /// As [`Driver::allocate`], of memory that moves between the device and the host as it is touched:
    /// there may be more of it than the device has. Given back by [`Driver::free`].
    ///
    /// # Errors
    /// [`Absent::Capability`] when the device cannot, else as [`Driver::allocate`].
    fn allocate_managed(&self, bytes: usize) -> Result<DeviceAddress, DriverError> {
        let _ = bytes;
        Err(NO_MANAGED_MEMORY.into())
    }

    /// Gives back what [`Driver::allocate`] returned. May wait for all work on the device.
    ///
    /// # Errors
    /// As the driver's call fails. The memory is then still held, unless the error is from earlier
    /// work, in which case nobody knows.
    ///
    /// # Safety
    /// `at` came from [`Driver::allocate`], was not given back, and no work that is not done uses it.
    unsafe fn free(&self, at: DeviceAddress) -> Result<(), DriverError>;

    /// Memory of the device in the order of a stream: it may be used by work put on that stream
    /// afterwards, at once and without waiting.
    ///
    /// # Errors
    /// [`crate::Absent::Capability`] when the device cannot, else as [`Driver::allocate`].
    ///
    /// # Safety
    /// `on` is a live stream of this device.
    unsafe fn allocate_on(
        &self,
        bytes: usize,
        on: RawStream,
    ) -> Result<DeviceAddress, DriverError> {
        let _ = (bytes, on);
        Err(NO_STREAM_MEMORY.into())
    }

    /// Gives back what [`Driver::allocate_on`] returned, once the stream has come this far.
    ///
    /// # Errors
    /// As the driver's call fails.
    ///
    /// # Safety
    /// `at` came from [`Driver::allocate_on`] and was not given back; its use by other streams comes
    /// before this point of `on`, which is a live stream of this device.
    unsafe fn free_on(&self, at: DeviceAddress, on: RawStream) -> Result<(), DriverError> {
        let _ = (at, on);
        Err(NO_STREAM_MEMORY.into())
    }

    /// Memory of the host, in bytes, that the device can read and write by itself. Aligned to 64
    /// bytes at least; what is in it is undefined.
    ///
    /// # Errors
    /// [`DriverError::OutOfMemory`], or as the driver's call fails; refused for zero bytes.
    fn allocate_pinned(&self, bytes: usize) -> Result<HostAddress, DriverError>;

    /// Gives back what [`Driver::allocate_pinned`] returned.
    ///
    /// # Errors
    /// As the driver's call fails.
    ///
    /// # Safety
    /// `at` came from [`Driver::allocate_pinned`], was not given back, and nobody uses it, on the
    /// host or in work that is not done.
    unsafe fn free_pinned(&self, at: HostAddress) -> Result<(), DriverError>;

    /// Copies `bytes` in the order of a stream. Zero bytes are a success without a call.
    ///
    /// # Errors
    /// As the driver's call fails; refused between two places of the host.
    ///
    /// # Safety
    /// Both places hold `bytes` bytes of memory that stays until the copy is done; nobody uses the
    /// host's side in between; `on` is a live stream of this device.
    unsafe fn copy(
        &self,
        to: Place,
        from: Place,
        bytes: usize,
        on: RawStream,
    ) -> Result<(), DriverError>;

    /// Sets `bytes` bytes to one value in the order of a stream. Zero bytes are a success without a
    /// call.
    ///
    /// # Errors
    /// As the driver's call fails.
    ///
    /// # Safety
    /// There are `bytes` bytes at `at`, which stay until it is done; `on` is a live stream of this
    /// device.
    unsafe fn set(
        &self,
        at: DeviceAddress,
        value: u8,
        bytes: usize,
        on: RawStream,
    ) -> Result<(), DriverError>;

    /// A new stream.
    ///
    /// # Errors
    /// As the driver's call fails.
    fn create_stream(&self, kind: StreamKind) -> Result<RawStream, DriverError>;

    /// Ends a stream. Work on it goes on and nothing waits for it.
    ///
    /// # Errors
    /// As the driver's call fails.
    ///
    /// # Safety
    /// `stream` came from [`Driver::create_stream`], was not destroyed, and nobody uses it again.
    unsafe fn destroy_stream(&self, stream: RawStream) -> Result<(), DriverError>;

    /// Waits until all work on the stream is done.
    ///
    /// # Errors
    /// As the driver's call fails, and when earlier work failed.
    ///
    /// # Safety
    /// `stream` is a live stream of this device.
    unsafe fn synchronize_stream(&self, stream: RawStream) -> Result<(), DriverError>;

    /// Whether all work on the stream is done.
    ///
    /// # Errors
    /// As the driver's call fails, and when earlier work failed.
    ///
    /// # Safety
    /// `stream` is a live stream of this device.
    unsafe fn query_stream(&self, stream: RawStream) -> Result<bool, DriverError>;

    /// Whether work put on the stream is being captured into a graph instead of run. While it is,
    /// nothing may be queried or synchronised.
    ///
    /// # Errors
    /// As the driver's call fails.
    ///
    /// # Safety
    /// `on` is a live stream of this device.
    unsafe fn is_capturing(&self, on: RawStream) -> Result<bool, DriverError>;

    /// Waits until all work on the device is done.
    ///
    /// # Errors
    /// As the driver's call fails, and when earlier work failed.
    fn synchronize(&self) -> Result<(), DriverError>;

    /// A new event, not yet recorded.
    ///
    /// # Errors
    /// As the driver's call fails.
    fn create_event(&self, kind: EventKind) -> Result<RawEvent, DriverError>;

    /// Ends an event. Streams that wait for its last recording go on waiting for it.
    ///
    /// # Errors
    /// As the driver's call fails.
    ///
    /// # Safety
    /// `event` came from [`Driver::create_event`], was not destroyed, and nobody uses it again.
    unsafe fn destroy_event(&self, event: RawEvent) -> Result<(), DriverError>;

    /// Records the event after the work that is on the stream now; an earlier recording is
    /// forgotten.
    ///
    /// # Errors
    /// As the driver's call fails. The event may then stand for its earlier recording.
    ///
    /// # Safety
    /// `event` and `on` are live and of this device.
    unsafe fn record(&self, event: RawEvent, on: RawStream) -> Result<(), DriverError>;

    /// Lets work put on the stream from now on wait for the event's last recording. An event that
    /// was never recorded holds nothing up.
    ///
    /// # Errors
    /// As the driver's call fails.
    ///
    /// # Safety
    /// `on` is a live stream of this device, `event` a live event of any device of the platform.
    unsafe fn wait(&self, on: RawStream, event: RawEvent) -> Result<(), DriverError>;

    /// Whether the event's last recording has been reached. An event that was never recorded has.
    ///
    /// # Errors
    /// As the driver's call fails, and when earlier work failed.
    ///
    /// # Safety
    /// `event` is live and of this device.
    unsafe fn query_event(&self, event: RawEvent) -> Result<bool, DriverError>;

    /// Waits until the event's last recording has been reached.
    ///
    /// # Errors
    /// As the driver's call fails, and when earlier work failed.
    ///
    /// # Safety
    /// `event` is live and of this device.
    unsafe fn synchronize_event(&self, event: RawEvent) -> Result<(), DriverError>;

    /// Time between two recordings that have both been reached, as the device measured it. Zero
    /// when `end` was reached first.
    ///
    /// # Errors
    /// As the driver's call fails: an event without time, or one not reached.
    ///
    /// # Safety
    /// Both events are live and of this device.
    unsafe fn elapsed(&self, start: RawEvent, end: RawEvent) -> Result<Duration, DriverError>;

    /// Drivers for which this is the same number know each other's streams by the same handles. Unless
    /// a device can be opened twice with the same streams, it is the driver's own.
    fn handle_space(&self) -> u64 {
        own_handle_space(self)
    }

    /// Begins to capture a stream: work put on it is kept instead of run.
    ///
    /// # Errors
    /// [`Absent::Capability`] when the device has no graphs; as the driver's call fails.
    ///
    /// # Safety
    /// `on` is a live stream of this device.
    unsafe fn begin_capture(&self, on: RawStream, mode: CaptureMode) -> Result<(), DriverError> {
        let _ = (on, mode);
        Err(NO_GRAPHS.into())
    }

    /// Ends a capture, and makes what was captured ready to be launched.
    ///
    /// # Errors
    /// As [`Driver::begin_capture`]. The capture has ended all the same, unless it began on another
    /// stream.
    ///
    /// # Safety
    /// `on` is a live stream of this device.
    unsafe fn end_capture(&self, on: RawStream) -> Result<RawGraph, DriverError> {
        let _ = on;
        Err(NO_GRAPHS.into())
    }

    /// Puts the work of a graph on a stream.
    ///
    /// # Errors
    /// As the driver's call fails.
    ///
    /// # Safety
    /// `graph` came from [`Driver::end_capture`] and was not destroyed; the memory that its work uses
    /// is there until the launch is done; `on` is a live stream of this device.
    unsafe fn launch_graph(&self, graph: RawGraph, on: RawStream) -> Result<(), DriverError> {
        let _ = (graph, on);
        Err(NO_GRAPHS.into())
    }

    /// Ends a graph. Launches that are underway go on.
    ///
    /// # Errors
    /// As the driver's call fails.
    ///
    /// # Safety
    /// `graph` came from [`Driver::end_capture`], was not destroyed, and nobody uses it again.
    unsafe fn destroy_graph(&self, graph: RawGraph) -> Result<(), DriverError> {
        let _ = graph;
        Err(NO_GRAPHS.into())
    }

    /// Address space apart from memory, where the device has it.
    fn virtual_memory(&self) -> Option<&dyn VirtualMemory> {
        None
    }

    /// Where code of the host finds those bytes, for a driver whose memory is the host's: other libraries
    /// are told this address, and use it as long as the bytes are allocated. `None` for any other
    /// memory, and for bytes that are not allocated.
    fn host_pointer(&self, at: DeviceAddress, bytes: usize) -> Option<usize> {
        let _ = (at, bytes);
        None
    }

    /// Hears what a region has become. Costs nothing where nobody listens.
    fn annotate(&self, region: Region, state: RegionState) {
        let _ = (region, state);
    }

    /// Whether [`Driver::annotate`] does anything: a pool need not prepare words nobody hears.
    fn listens(&self) -> bool {
        false
    }
}
