//! One ROCm device as a [`Driver`], through AMD's HIP library, which is looked up at run time. It was
//! written by HIP's documents and tried on the simulated library; nobody has run it on a card.

use std::{
    ffi::{c_int, c_uint, c_void},
    ptr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use super::library;
use crate::{
    address::{DeviceAddress, HostAddress, Place},
    codes,
    driver::Driver,
    dynamic,
    error::{Absent, DriverError, Refusal},
    identity::{Capabilities, DeviceInfo, MemoryInfo},
    stream::{EventKind, RawEvent, RawStream, StreamKind, refused},
};

/// The library's documented numbers.
const NOT_READY: c_int = 600;
const STREAM_NON_BLOCKING: c_uint = 1;
const EVENT_DISABLE_TIMING: c_uint = 2;
const NOT_CAPTURING: c_uint = 0;
/// Which way a copy goes.
const TO_DEVICE: c_uint = 1;
const TO_HOST: c_uint = 2;
const ON_DEVICE: c_uint = 3;
/// Pinned memory that every device may use.
const PORTABLE: c_uint = 1;

dynamic::table! {
    library: "libamdhip64";
    required {
    set_device = "hipSetDevice": fn(c_int);
    mem_get_info = "hipMemGetInfo": fn(*mut usize, *mut usize);
    malloc = "hipMalloc": fn(*mut *mut c_void, usize);
    free = "hipFree": fn(*mut c_void);
    host_malloc = "hipHostMalloc": fn(*mut *mut c_void, usize, c_uint);
    host_free = "hipHostFree": fn(*mut c_void);
    memcpy = "hipMemcpyAsync": fn(*mut c_void, *const c_void, usize, c_uint, *mut c_void);
    memset = "hipMemsetAsync": fn(*mut c_void, c_int, usize, *mut c_void);
    stream_create = "hipStreamCreateWithFlags": fn(*mut *mut c_void, c_uint);
    stream_destroy = "hipStreamDestroy": fn(*mut c_void);
    stream_synchronize = "hipStreamSynchronize": fn(*mut c_void);
    stream_query = "hipStreamQuery": fn(*mut c_void);
    stream_wait_event = "hipStreamWaitEvent": fn(*mut c_void, *mut c_void, c_uint);
    device_synchronize = "hipDeviceSynchronize": fn();
    event_create = "hipEventCreateWithFlags": fn(*mut *mut c_void, c_uint);
    event_destroy = "hipEventDestroy": fn(*mut c_void);
    event_record = "hipEventRecord": fn(*mut c_void, *mut c_void);
    event_query = "hipEventQuery": fn(*mut c_void);
    event_synchronize = "hipEventSynchronize": fn(*mut c_void);
    event_elapsed_time = "hipEventElapsedTime": fn(*mut f32, *mut c_void, *mut c_void);
    }
    optional {
    malloc_async = "hipMallocAsync": fn(*mut *mut c_void, usize, *mut c_void);
    free_async = "hipFreeAsync": fn(*mut c_void, *mut c_void);
    is_capturing = "hipStreamIsCapturing": fn(*mut c_void, *mut c_uint);
    }
}

fn table() -> Result<&'static Table, Absent> {
    static TABLE: OnceLock<Result<Table, Absent>> = OnceLock::new();
    let found = TABLE.get_or_init(|| Table::find(library::load()?));
    found.as_ref().map_err(Clone::clone)
}

/// A ROCm device. Any thread: each call makes it the thread's current device first.
#[derive(Debug)]
pub struct RocmDriver {
    table: &'static Table,
    /// Its number in this process, as the library counts.
    device: c_int,
    info: DeviceInfo,
    process: u32,
}

impl RocmDriver {
    /// Opens a device that was detected, by its place on the bus: the library's numbers are not the
    /// kernel's, and some devices may be hidden from it. Starts the runtime.
    ///
    /// # Errors
    /// [`Absent::Library`], [`Absent::Symbol`]; [`Absent::Device`] for one that the library does not
    /// show; as its calls fail.
    pub fn open(info: &DeviceInfo) -> Result<Arc<Self>, DriverError> {
        let table = table()?;
        let missing = || Absent::Device {
            wanted: info.id.to_string(),
        };
        let place = info.bus_address.as_deref().ok_or_else(missing)?;
        let shown = library::runtime_devices()?;
        let number = shown
            .iter()
            .position(|device| device.bus_address.eq_ignore_ascii_case(place));
        let number = number.and_then(|number| c_int::try_from(number).ok());
        let mut driver = Self {
            table,
            device: number.ok_or_else(missing)?,
            info: info.clone(),
            process: std::process::id(),
        };
        driver.bind()?;
        driver.info.capabilities = Capabilities {
            stream_ordered_allocation: driver.allocates_on_streams(),
            ..info.capabilities
        };
        Ok(Arc::new(driver))
    }

    /// Whether the device allocates in a stream's order, which it is asked by doing so: the attribute
    /// that tells it has another number in each major version of the library.
    fn allocates_on_streams(&self) -> bool {
        let (Some(allocate), Some(free)) = (self.table.malloc_async, self.table.free_async) else {
            return false;
        };
        let (mut address, on) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: it writes one address; null is the default stream.
        let code = unsafe { allocate(&raw mut address, 256, on) };
        // SAFETY: the address was just given out, and nobody uses it.
        code == 0 && unsafe { free(address, on) } == 0
    }

    fn check(&self, function: &'static str, code: c_int) -> Result<(), DriverError> {
        if code == 0 {
            return Ok(());
        }
        let forked = self.process != std::process::id();
        Err(codes::error(function, code, self.info.id, forked))
    }

    /// Makes it this thread's device.
    fn bind(&self) -> Result<(), DriverError> {
        // SAFETY: it takes a number.
        self.check("hipSetDevice", unsafe {
            (self.table.set_device)(self.device)
        })
    }

    fn done(&self, function: &'static str, code: c_int) -> Result<bool, DriverError> {
        if code == NOT_READY {
            return Ok(false);
        }
        self.check(function, code).map(|()| true)
    }
}

fn handle(number: u64) -> *mut c_void {
    ptr::with_exposed_provenance_mut(number as usize)
}

fn stream(raw: RawStream) -> *mut c_void {
    // The library's default stream is null in all versions; a number for it has the newest alone.
    if raw == RawStream::LEGACY_DEFAULT {
        return ptr::null_mut();
    }
    handle(raw.0)
}

fn not_zero(function: &'static str, bytes: usize) -> Result<(), DriverError> {
    match bytes {
        0 => Err(refused(function, Refusal::ZeroBytes)),
        _ => Ok(()),
    }
}

fn given(function: &'static str, address: *mut c_void) -> Result<DeviceAddress, DriverError> {
    let found = DeviceAddress::new(address.expose_provenance() as u64);
    found.ok_or_else(|| refused(function, Refusal::UnknownAddress))
}

fn no_streams() -> DriverError {
    let what = "stream-ordered allocation";
    Absent::Capability { what }.into()
}

// SAFETY: addresses and handles are those of the vendor's driver, which is believed.
unsafe impl Driver for RocmDriver {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn memory_info(&self) -> Result<MemoryInfo, DriverError> {
        self.bind()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: it writes two numbers.
        let code = unsafe { (self.table.mem_get_info)(&raw mut free, &raw mut total) };
        self.check("hipMemGetInfo", code)?;
        Ok(MemoryInfo {
            free_bytes: free as u64,
            total_bytes: total as u64,
        })
    }

    fn allocate(&self, bytes: usize) -> Result<DeviceAddress, DriverError> {
        not_zero("hipMalloc", bytes)?;
        self.bind()?;
        let mut address = ptr::null_mut();
        // SAFETY: it writes one address.
        let code = unsafe { (self.table.malloc)(&raw mut address, bytes) };
        self.check("hipMalloc", code)?;
        given("hipMalloc", address)
    }

    unsafe fn free(&self, at: DeviceAddress) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.free)(handle(at.get())) };
        self.check("hipFree", code)
    }

    unsafe fn allocate_on(
        &self,
        bytes: usize,
        on: RawStream,
    ) -> Result<DeviceAddress, DriverError> {
        not_zero("hipMallocAsync", bytes)?;
        let able = self.info.capabilities.stream_ordered_allocation;
        let function = self.table.malloc_async.filter(|_| able);
        let function = function.ok_or_else(no_streams)?;
        self.bind()?;
        let mut address = ptr::null_mut();
        // SAFETY: it writes one address; the stream is the caller's promise.
        let code = unsafe { function(&raw mut address, bytes, stream(on)) };
        self.check("hipMallocAsync", code)?;
        given("hipMallocAsync", address)
    }

    unsafe fn free_on(&self, at: DeviceAddress, on: RawStream) -> Result<(), DriverError> {
        let function = self.table.free_async.ok_or_else(no_streams)?;
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = unsafe { function(handle(at.get()), stream(on)) };
        self.check("hipFreeAsync", code)
    }

    fn allocate_pinned(&self, bytes: usize) -> Result<HostAddress, DriverError> {
        not_zero("hipHostMalloc", bytes)?;
        self.bind()?;
        let mut pointer = ptr::null_mut();
        // SAFETY: it writes one pointer.
        let code = unsafe { (self.table.host_malloc)(&raw mut pointer, bytes, PORTABLE) };
        self.check("hipHostMalloc", code)?;
        let pointer = ptr::NonNull::new(pointer.cast::<u8>());
        let unknown = || refused("hipHostMalloc", Refusal::UnknownAddress);
        Ok(HostAddress::of(pointer.ok_or_else(unknown)?))
    }

    unsafe fn free_pinned(&self, at: HostAddress) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.host_free)(at.pointer().cast()) };
        self.check("hipHostFree", code)
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
        let pointer = |place: Place| match place {
            Place::Device(address) => handle(address.get()),
            Place::Host(address) => address.pointer().cast(),
        };
        let way = match (to, from) {
            (Place::Device(_), Place::Host(_)) => TO_DEVICE,
            (Place::Host(_), Place::Device(_)) => TO_HOST,
            (Place::Device(_), Place::Device(_)) => ON_DEVICE,
            (Place::Host(_), Place::Host(_)) => return Err(refused("copy", Refusal::OtherDevice)),
        };
        self.bind()?;
        let (to, from) = (pointer(to), pointer(from));
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.memcpy)(to, from, bytes, way, stream(on)) };
        self.check("hipMemcpyAsync", code)
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
        self.bind()?;
        let at = handle(at.get());
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.memset)(at, c_int::from(value), bytes, stream(on)) };
        self.check("hipMemsetAsync", code)
    }

    fn create_stream(&self, kind: StreamKind) -> Result<RawStream, DriverError> {
        self.bind()?;
        let flags = match kind {
            StreamKind::NonBlocking => STREAM_NON_BLOCKING,
            StreamKind::Blocking => 0,
        };
        let mut made = ptr::null_mut();
        // SAFETY: it writes one handle.
        let code = unsafe { (self.table.stream_create)(&raw mut made, flags) };
        self.check("hipStreamCreate", code)?;
        Ok(RawStream(made.expose_provenance() as u64))
    }

    unsafe fn destroy_stream(&self, raw: RawStream) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.stream_destroy)(stream(raw)) };
        self.check("hipStreamDestroy", code)
    }

    unsafe fn synchronize_stream(&self, raw: RawStream) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.stream_synchronize)(stream(raw)) };
        self.check("hipStreamSynchronize", code)
    }

    unsafe fn query_stream(&self, raw: RawStream) -> Result<bool, DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.stream_query)(stream(raw)) };
        self.done("hipStreamQuery", code)
    }

    unsafe fn is_capturing(&self, on: RawStream) -> Result<bool, DriverError> {
        // A library without the question has no capture either.
        let Some(function) = self.table.is_capturing else {
            return Ok(false);
        };
        self.bind()?;
        let mut status = NOT_CAPTURING;
        // SAFETY: it writes one number; the stream is the caller's promise.
        let code = unsafe { function(stream(on), &raw mut status) };
        self.check("hipStreamIsCapturing", code)?;
        Ok(status != NOT_CAPTURING)
    }

    fn synchronize(&self) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: it takes nothing.
        let code = unsafe { (self.table.device_synchronize)() };
        self.check("hipDeviceSynchronize", code)
    }

    fn create_event(&self, kind: EventKind) -> Result<RawEvent, DriverError> {
        self.bind()?;
        let flags = match kind {
            EventKind::Order => EVENT_DISABLE_TIMING,
            EventKind::Timed => 0,
        };
        let mut made = ptr::null_mut();
        // SAFETY: it writes one handle.
        let code = unsafe { (self.table.event_create)(&raw mut made, flags) };
        self.check("hipEventCreate", code)?;
        Ok(RawEvent(made.expose_provenance() as u64))
    }

    unsafe fn destroy_event(&self, raw: RawEvent) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.event_destroy)(handle(raw.0)) };
        self.check("hipEventDestroy", code)
    }

    unsafe fn record(&self, raw: RawEvent, on: RawStream) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.event_record)(handle(raw.0), stream(on)) };
        self.check("hipEventRecord", code)
    }

    unsafe fn wait(&self, on: RawStream, raw: RawEvent) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise; the flags must be zero, and are.
        let code = unsafe { (self.table.stream_wait_event)(stream(on), handle(raw.0), 0) };
        self.check("hipStreamWaitEvent", code)
    }

    unsafe fn query_event(&self, raw: RawEvent) -> Result<bool, DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.event_query)(handle(raw.0)) };
        self.done("hipEventQuery", code)
    }

    unsafe fn synchronize_event(&self, raw: RawEvent) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.event_synchronize)(handle(raw.0)) };
        self.check("hipEventSynchronize", code)
    }

    unsafe fn elapsed(&self, start: RawEvent, end: RawEvent) -> Result<Duration, DriverError> {
        self.bind()?;
        let mut milliseconds = 0.0_f32;
        let (start, end) = (handle(start.0), handle(end.0));
        // SAFETY: it writes one number; the events are the caller's promise.
        let code = unsafe { (self.table.event_elapsed_time)(&raw mut milliseconds, start, end) };
        self.check("hipEventElapsedTime", code)?;
        let seconds = f64::from(milliseconds).max(0.0) / 1000.0;
        Ok(Duration::try_from_secs_f64(seconds).unwrap_or_default())
    }
}
