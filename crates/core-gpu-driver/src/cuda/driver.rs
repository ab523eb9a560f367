//! One CUDA device as a [`Driver`]. Every call binds the device's primary context first: the one
//! that the CUDA runtime, cudarc and most libraries use, so memory and streams are theirs too.

use std::{
    ffi::{c_int, c_uint, c_void},
    ptr,
    sync::Arc,
    time::Duration,
};

use crate::{
    address::{DeviceAddress, HostAddress, Place},
    codes,
    cuda::{
        probe,
        table::{
            CUcontext, CUdevice, CUdeviceptr, CUevent, CUgraph, CUgraphExec, CUstream, Table, table,
        },
    },
    driver::Driver,
    error::{Absent, DriverError, Refusal},
    graph::{CaptureMode, RawGraph},
    identity::{DeviceId, DeviceInfo, MemoryInfo},
    stream::{EventKind, RawEvent, RawStream, StreamKind, refused},
    virtual_memory::VirtualMemory,
};

/// The driver's documented numbers.
const NOT_READY: c_int = 600;
const STREAM_NON_BLOCKING: c_uint = 1;
const EVENT_DISABLE_TIMING: c_uint = 2;
const NOT_CAPTURING: c_uint = 0;
const CAPTURE_GLOBAL: c_uint = 0;
const CAPTURE_THREAD_LOCAL: c_uint = 1;
const CAPTURE_RELAXED: c_uint = 2;

/// A CUDA device, with its primary context held. Any thread.
#[derive(Debug)]
pub struct CudaDriver {
    pub(super) table: &'static Table,
    pub(super) device: CUdevice,
    context: Context,
    info: DeviceInfo,
    process: u32,
}

/// A context's handle. The driver's contexts may be bound by any thread.
#[derive(Clone, Copy, Debug)]
struct Context(CUcontext);

// SAFETY: a context is a handle that the driver itself keeps threads apart for; it is never read
// through here.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl CudaDriver {
    /// Opens a device: makes its primary context, or shares the one that is there.
    ///
    /// # Errors
    /// [`Absent::Library`], [`Absent::Symbol`], [`Absent::Device`]; as the driver's calls fail.
    pub fn open(id: &DeviceId) -> Result<Arc<Self>, DriverError> {
        let table = table()?;
        let found = probe::one(table, id)?;
        let mut context = ptr::null_mut();
        // SAFETY: it writes one handle; the device's number came from the driver.
        let code = unsafe { (table.primary_ctx_retain)(&raw mut context, found.device) };
        if code != 0 {
            let function = "cuDevicePrimaryCtxRetain";
            return Err(codes::error(function, code, found.info.id, false));
        }
        Ok(Arc::new(Self {
            table,
            device: found.device,
            context: Context(context),
            info: found.info,
            process: std::process::id(),
        }))
    }

    /// A code as a result. Only a failure asks which process this is.
    pub(super) fn check(&self, function: &'static str, code: c_int) -> Result<(), DriverError> {
        if code == 0 {
            return Ok(());
        }
        let forked = self.process != std::process::id();
        Err(codes::error(function, code, self.info.id, forked))
    }

    /// Binds the context to this thread.
    pub(crate) fn bind(&self) -> Result<(), DriverError> {
        // SAFETY: the context is held until this value is dropped. Who resets the device through another
        // library takes it from everybody, which CUDA's documentation forbids beside other users.
        let code = unsafe { (self.table.ctx_set_current)(self.context.0) };
        self.check("cuCtxSetCurrent", code)
    }

    /// A call that breaks no capture of this process: without it, calls that might wait are refused
    /// while a thread captures in global mode, and break that capture.
    fn beside_captures(&self, call: impl FnOnce() -> c_int) -> c_int {
        let mut mode = CAPTURE_RELAXED;
        // SAFETY: it reads one number and writes one.
        let code = unsafe { (self.table.thread_exchange_capture_mode)(&raw mut mode) };
        if code != 0 {
            return code;
        }
        let answer = call();
        // SAFETY: as above. It cannot fail with a mode that the driver has just said itself.
        unsafe { (self.table.thread_exchange_capture_mode)(&raw mut mode) };
        answer
    }

    /// A code that says whether something is done.
    fn done(&self, function: &'static str, code: c_int) -> Result<bool, DriverError> {
        if code == NOT_READY {
            return Ok(false);
        }
        self.check(function, code).map(|()| true)
    }
}

impl Drop for CudaDriver {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            return;
        }
        // SAFETY: it was retained once, by `open`. A failure means that the driver is gone, or the
        // device is: there is nothing left to let go of.
        unsafe { (self.table.primary_ctx_release)(self.device) };
    }
}

fn stream(raw: RawStream) -> CUstream {
    ptr::with_exposed_provenance_mut(raw.0 as usize)
}

fn event(raw: RawEvent) -> CUevent {
    ptr::with_exposed_provenance_mut(raw.0 as usize)
}

fn executable(raw: RawGraph) -> CUgraphExec {
    ptr::with_exposed_provenance_mut(raw.0 as usize)
}

fn not_zero(function: &'static str, bytes: usize) -> Result<(), DriverError> {
    if bytes == 0 {
        return Err(refused(function, Refusal::ZeroBytes));
    }
    Ok(())
}

/// An address that the driver has just given out.
pub(super) fn given(
    function: &'static str,
    address: CUdeviceptr,
) -> Result<DeviceAddress, DriverError> {
    DeviceAddress::new(address).ok_or_else(|| refused(function, Refusal::UnknownAddress))
}

// SAFETY: addresses and handles are those of the vendor's driver, which is believed.
unsafe impl Driver for CudaDriver {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn memory_info(&self) -> Result<MemoryInfo, DriverError> {
        self.bind()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: it writes two numbers.
        let code = unsafe { (self.table.mem_get_info)(&raw mut free, &raw mut total) };
        self.check("cuMemGetInfo", code)?;
        Ok(MemoryInfo {
            free_bytes: free as u64,
            total_bytes: total as u64,
        })
    }

    fn allocate(&self, bytes: usize) -> Result<DeviceAddress, DriverError> {
        not_zero("cuMemAlloc", bytes)?;
        self.bind()?;
        let mut address = 0;
        // SAFETY: it writes one address.
        let code =
            self.beside_captures(|| unsafe { (self.table.mem_alloc)(&raw mut address, bytes) });
        self.check("cuMemAlloc", code)?;
        given("cuMemAlloc", address)
    }

    fn allocate_managed(&self, bytes: usize) -> Result<DeviceAddress, DriverError> {
        /// Usable from every stream of every device.
        const ATTACH_GLOBAL: c_uint = 1;
        not_zero("cuMemAllocManaged", bytes)?;
        self.bind()?;
        let mut address = 0;
        let allocate = self.table.mem_alloc_managed;
        // SAFETY: it writes one address.
        let code =
            self.beside_captures(|| unsafe { allocate(&raw mut address, bytes, ATTACH_GLOBAL) });
        self.check("cuMemAllocManaged", code)?;
        given("cuMemAllocManaged", address)
    }

    unsafe fn free(&self, at: DeviceAddress) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.mem_free)(at.get()) };
        self.check("cuMemFree", code)
    }

    unsafe fn allocate_on(
        &self,
        bytes: usize,
        on: RawStream,
    ) -> Result<DeviceAddress, DriverError> {
        not_zero("cuMemAllocAsync", bytes)?;
        if !self.info.capabilities.stream_ordered_allocation {
            let what = "stream-ordered allocation";
            return Err(Absent::Capability { what }.into());
        }
        self.bind()?;
        let mut address = 0;
        // SAFETY: it writes one address; the stream is the caller's promise.
        let code = unsafe { (self.table.mem_alloc_async)(&raw mut address, bytes, stream(on)) };
        self.check("cuMemAllocAsync", code)?;
        given("cuMemAllocAsync", address)
    }

    unsafe fn free_on(&self, at: DeviceAddress, on: RawStream) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.mem_free_async)(at.get(), stream(on)) };
        self.check("cuMemFreeAsync", code)
    }

    fn allocate_pinned(&self, bytes: usize) -> Result<HostAddress, DriverError> {
        /// Usable from every context.
        const PORTABLE: c_uint = 1;
        not_zero("cuMemHostAlloc", bytes)?;
        self.bind()?;
        let mut pointer: *mut c_void = ptr::null_mut();
        // SAFETY: it writes one pointer.
        let code = self.beside_captures(|| unsafe {
            (self.table.mem_host_alloc)(&raw mut pointer, bytes, PORTABLE)
        });
        self.check("cuMemHostAlloc", code)?;
        let pointer = ptr::NonNull::new(pointer.cast::<u8>());
        let pointer = pointer.ok_or_else(|| refused("cuMemHostAlloc", Refusal::UnknownAddress))?;
        Ok(HostAddress::of(pointer))
    }

    unsafe fn free_pinned(&self, at: HostAddress) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.mem_free_host)(at.pointer().cast()) };
        self.check("cuMemFreeHost", code)
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
        self.bind()?;
        let (table, on) = (self.table, stream(on));
        let (function, code) = match (to, from) {
            (Place::Device(to), Place::Device(from)) => {
                // SAFETY: the caller's promise. Addresses of all devices are of one space, so the
                // driver finds the devices by them.
                let code = unsafe { (table.memcpy)(to.get(), from.get(), bytes, on) };
                ("cuMemcpyAsync", code)
            }
            (Place::Device(to), Place::Host(from)) => {
                let from = from.pointer().cast_const().cast();
                // SAFETY: the caller's promise.
                let code = unsafe { (table.memcpy_to_device)(to.get(), from, bytes, on) };
                ("cuMemcpyHtoDAsync", code)
            }
            (Place::Host(to), Place::Device(from)) => {
                let to = to.pointer().cast();
                // SAFETY: the caller's promise.
                let code = unsafe { (table.memcpy_to_host)(to, from.get(), bytes, on) };
                ("cuMemcpyDtoHAsync", code)
            }
            (Place::Host(_), Place::Host(_)) => {
                return Err(refused("copy", Refusal::OtherDevice));
            }
        };
        self.check(function, code)
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
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.memset)(at.get(), value, bytes, stream(on)) };
        self.check("cuMemsetD8Async", code)
    }

    fn create_stream(&self, kind: StreamKind) -> Result<RawStream, DriverError> {
        self.bind()?;
        let flags = match kind {
            StreamKind::NonBlocking => STREAM_NON_BLOCKING,
            StreamKind::Blocking => 0,
        };
        let mut made: CUstream = ptr::null_mut();
        // SAFETY: it writes one handle.
        let code = unsafe { (self.table.stream_create)(&raw mut made, flags) };
        self.check("cuStreamCreate", code)?;
        Ok(RawStream(made.expose_provenance() as u64))
    }

    unsafe fn destroy_stream(&self, raw: RawStream) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.stream_destroy)(stream(raw)) };
        self.check("cuStreamDestroy", code)
    }

    unsafe fn synchronize_stream(&self, raw: RawStream) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.stream_synchronize)(stream(raw)) };
        self.check("cuStreamSynchronize", code)
    }

    unsafe fn query_stream(&self, raw: RawStream) -> Result<bool, DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.stream_query)(stream(raw)) };
        self.done("cuStreamQuery", code)
    }

    unsafe fn is_capturing(&self, on: RawStream) -> Result<bool, DriverError> {
        self.bind()?;
        let mut status = NOT_CAPTURING;
        // SAFETY: it writes one number; the stream is the caller's promise.
        let code = unsafe { (self.table.stream_is_capturing)(stream(on), &raw mut status) };
        self.check("cuStreamIsCapturing", code)?;
        Ok(status != NOT_CAPTURING)
    }

    fn synchronize(&self) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: it takes nothing, and the context is bound.
        let code = unsafe { (self.table.ctx_synchronize)() };
        self.check("cuCtxSynchronize", code)
    }

    fn create_event(&self, kind: EventKind) -> Result<RawEvent, DriverError> {
        self.bind()?;
        let flags = match kind {
            EventKind::Order => EVENT_DISABLE_TIMING,
            EventKind::Timed => 0,
        };
        let mut made: CUevent = ptr::null_mut();
        // SAFETY: it writes one handle.
        let code = unsafe { (self.table.event_create)(&raw mut made, flags) };
        self.check("cuEventCreate", code)?;
        Ok(RawEvent(made.expose_provenance() as u64))
    }

    unsafe fn destroy_event(&self, raw: RawEvent) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.event_destroy)(event(raw)) };
        self.check("cuEventDestroy", code)
    }

    unsafe fn record(&self, raw: RawEvent, on: RawStream) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.event_record)(event(raw), stream(on)) };
        self.check("cuEventRecord", code)
    }

    unsafe fn wait(&self, on: RawStream, raw: RawEvent) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise; the flags must be zero, and are.
        let code = unsafe { (self.table.stream_wait_event)(stream(on), event(raw), 0) };
        self.check("cuStreamWaitEvent", code)
    }

    unsafe fn query_event(&self, raw: RawEvent) -> Result<bool, DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = self.beside_captures(|| unsafe { (self.table.event_query)(event(raw)) });
        self.done("cuEventQuery", code)
    }

    unsafe fn synchronize_event(&self, raw: RawEvent) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.event_synchronize)(event(raw)) };
        self.check("cuEventSynchronize", code)
    }

    unsafe fn elapsed(&self, start: RawEvent, end: RawEvent) -> Result<Duration, DriverError> {
        self.bind()?;
        let mut milliseconds = 0.0_f32;
        let (start, end) = (event(start), event(end));
        // SAFETY: it writes one number; the events are the caller's promise.
        let code = unsafe { (self.table.event_elapsed_time)(&raw mut milliseconds, start, end) };
        self.check("cuEventElapsedTime", code)?;
        let seconds = f64::from(milliseconds).max(0.0) / 1000.0;
        Ok(Duration::try_from_secs_f64(seconds).unwrap_or_default())
    }

    fn handle_space(&self) -> u64 {
        // Streams belong to the primary context, of which a process has one for each device.
        self.context.0.addr() as u64
    }

    unsafe fn begin_capture(&self, on: RawStream, mode: CaptureMode) -> Result<(), DriverError> {
        self.bind()?;
        let mode = match mode {
            CaptureMode::Global => CAPTURE_GLOBAL,
            CaptureMode::ThreadLocal => CAPTURE_THREAD_LOCAL,
            CaptureMode::Relaxed => CAPTURE_RELAXED,
        };
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.stream_begin_capture)(stream(on), mode) };
        self.check("cuStreamBeginCapture", code)
    }

    unsafe fn end_capture(&self, on: RawStream) -> Result<RawGraph, DriverError> {
        self.bind()?;
        let mut captured: CUgraph = ptr::null_mut();
        // SAFETY: it writes one handle; the stream is the caller's promise.
        let code = unsafe { (self.table.stream_end_capture)(stream(on), &raw mut captured) };
        self.check("cuStreamEndCapture", code)?;
        let mut ready: CUgraphExec = ptr::null_mut();
        // SAFETY: it writes one handle; the graph is the one that was just made.
        let code = unsafe { (self.table.graph_instantiate)(&raw mut ready, captured, 0) };
        let instantiated = self.check("cuGraphInstantiate", code);
        // SAFETY: nobody else has it.
        let code = unsafe { (self.table.graph_destroy)(captured) };
        instantiated.and(self.check("cuGraphDestroy", code))?;
        Ok(RawGraph(ready.expose_provenance() as u64))
    }

    unsafe fn launch_graph(&self, graph: RawGraph, on: RawStream) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.graph_launch)(executable(graph), stream(on)) };
        self.check("cuGraphLaunch", code)
    }

    unsafe fn destroy_graph(&self, graph: RawGraph) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.graph_exec_destroy)(executable(graph)) };
        self.check("cuGraphExecDestroy", code)
    }

    fn virtual_memory(&self) -> Option<&dyn VirtualMemory> {
        let able = self.info.capabilities.virtual_memory;
        able.then_some(self as &dyn VirtualMemory)
    }
}
