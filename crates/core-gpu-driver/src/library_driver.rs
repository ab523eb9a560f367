//! A driver over a vendor's library: CUDA's, or HIP's, which has the same calls with the same arguments
//! and codes under names of its own. What the libraries differ in is behind [`DeviceLibrary`].

use std::{
    ffi::{c_int, c_uint, c_ulonglong, c_void},
    fmt, ptr,
    time::Duration,
};

use crate::{
    address::{DeviceAddress, HostAddress, Place, Way},
    codes,
    driver::{Driver, NO_GRAPHS, NO_MANAGED_MEMORY, NO_STREAM_MEMORY, own_handle_space},
    dynamic::Call,
    error::{DriverError, Refusal},
    graph::{CaptureMode, RawGraph},
    identity::{DeviceInfo, MemoryInfo},
    stream::{EventKind, RawEvent, RawStream, StreamKind, not_zero, refused},
    virtual_memory::VirtualMemory,
};

/// The libraries' documented numbers.
const NOT_READY: c_int = 600;
const STREAM_NON_BLOCKING: c_uint = 1;
const EVENT_DISABLE_TIMING: c_uint = 2;
const NOT_CAPTURING: c_uint = 0;
const CAPTURE_GLOBAL: c_uint = 0;
const CAPTURE_THREAD_LOCAL: c_uint = 1;
pub(crate) const CAPTURE_RELAXED: c_uint = 2;
/// Managed memory that every stream of every device may use.
const ATTACH_GLOBAL: c_uint = 1;
/// Pinned memory that every device may use.
const PORTABLE: c_uint = 1;

/// A stream, an event or a graph, as the libraries pass it.
pub type Handle = *mut c_void;

pub(crate) fn handle(number: u64) -> Handle {
    ptr::with_exposed_provenance_mut(number as usize)
}

/// An address of a device, as a library passes it.
pub trait RawAddress: Copy + fmt::Debug + 'static {
    /// No address.
    const NONE: Self;

    /// The library's form of an address.
    fn of(address: DeviceAddress) -> Self;

    /// Its number.
    fn number(self) -> u64;
}

/// Functions that tables of several libraries have.
macro_rules! calls {
    ($(#[$about:meta])* $name:ident $(<$address:ident>)? {
        $($field:ident: fn($($argument:ty),* $(,)?);)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name $(<$address>)? {
            $(pub(crate) $field: Call<unsafe extern "C" fn($($argument),*) -> c_int>,)*
        }
    };
}

calls! {
    /// What works on any device.
    Calls<A> {
        memory_info: fn(*mut usize, *mut usize);
        allocate: fn(*mut A, usize);
        free: fn(A);
        allocate_pinned: fn(*mut *mut c_void, usize, c_uint);
        free_pinned: fn(*mut c_void);
        create_stream: fn(*mut Handle, c_uint);
        destroy_stream: fn(Handle);
        synchronize_stream: fn(Handle);
        query_stream: fn(Handle);
        wait: fn(Handle, Handle, c_uint);
        synchronize: fn();
        create_event: fn(*mut Handle, c_uint);
        destroy_event: fn(Handle);
        record: fn(Handle, Handle);
        query_event: fn(Handle);
        synchronize_event: fn(Handle);
        elapsed: fn(*mut f32, Handle, Handle);
    }
}

calls! {
    /// Memory in the order of streams.
    StreamCalls<A> {
        allocate: fn(*mut A, usize, Handle);
        free: fn(A, Handle);
    }
}

calls! {
    /// Memory that moves as it is touched.
    ManagedCalls<A> {
        allocate: fn(*mut A, usize, c_uint);
    }
}

calls! {
    /// Whether a stream is being captured.
    CaptureCalls {
        is_capturing: fn(Handle, *mut c_uint);
    }
}

calls! {
    /// Graphs.
    GraphCalls {
        begin_capture: fn(Handle, c_uint);
        end_capture: fn(Handle, *mut Handle);
        instantiate: fn(*mut Handle, Handle, c_ulonglong);
        destroy_captured: fn(Handle);
        launch: fn(Handle, Handle);
        destroy: fn(Handle);
    }
}

type MakeHandle = unsafe extern "C" fn(*mut Handle, c_uint) -> c_int;
type UseHandle = unsafe extern "C" fn(Handle) -> c_int;

/// A function's name and the code that it answered with.
pub type Answer = (&'static str, c_int);

/// A vendor's library, for one device.
///
/// # Safety
/// The calls are those of a library that keeps the promises of [`Driver`] when it is called as `Driver`
/// says, from any thread, once [`DeviceLibrary::bind`] has succeeded on it.
pub unsafe trait DeviceLibrary: fmt::Debug + Send + Sync + Sized + 'static {
    /// How it passes addresses of the device.
    type Address: RawAddress;

    /// What every library has.
    fn calls(&self) -> &Calls<Self::Address>;

    /// Memory in the order of streams, where the library has it.
    fn stream_calls(&self) -> Option<StreamCalls<Self::Address>>;

    /// Memory that moves as it is touched.
    fn managed_calls(&self) -> Option<ManagedCalls<Self::Address>> {
        None
    }

    /// Whether streams are captured. A library without the question has no capture either.
    fn capture_calls(&self) -> Option<CaptureCalls>;

    /// Graphs.
    fn graph_calls(&self) -> Option<&GraphCalls> {
        None
    }

    /// Makes the device this thread's.
    fn bind(&self) -> Answer;

    /// A stream as the library passes it.
    fn stream(raw: RawStream) -> Handle {
        handle(raw.0)
    }

    /// Makes a call that breaks no capture of this process.
    fn beside_captures(&self, call: impl FnOnce() -> c_int) -> c_int {
        call()
    }

    /// Copies to, from or within the device.
    ///
    /// # Safety
    /// As [`Driver::copy`].
    unsafe fn copy(&self, way: Way, bytes: usize, on: Handle) -> Answer;

    /// Sets bytes to one value.
    ///
    /// # Safety
    /// As [`Driver::set`].
    unsafe fn set(&self, at: DeviceAddress, value: u8, bytes: usize, on: Handle) -> Answer;

    /// As [`Driver::handle_space`], where it is not the driver's own.
    fn handle_space(&self) -> Option<u64> {
        None
    }

    /// As [`Driver::virtual_memory`].
    fn virtual_memory(driver: &LibraryDriver<Self>) -> Option<&dyn VirtualMemory> {
        let _ = driver;
        None
    }
}

/// A device behind a vendor's library. Any thread: each call makes it the thread's device first.
#[derive(Debug)]
pub struct LibraryDriver<L> {
    pub(crate) library: L,
    pub(crate) info: DeviceInfo,
    /// The process that opened it.
    process: u32,
}

/// An address that the library has just given out.
pub(crate) fn given(
    function: &'static str,
    address: impl RawAddress,
) -> Result<DeviceAddress, DriverError> {
    let found = DeviceAddress::new(address.number());
    found.ok_or_else(|| refused(function, Refusal::UnknownAddress))
}

impl<L: DeviceLibrary> LibraryDriver<L> {
    pub(crate) fn new(library: L, info: DeviceInfo) -> Self {
        Self {
            library,
            info,
            process: std::process::id(),
        }
    }

    /// A code as a result. Only a failure asks which process this is.
    pub(crate) fn check(&self, function: &'static str, code: c_int) -> Result<(), DriverError> {
        if code == 0 {
            return Ok(());
        }
        let forked = self.process != std::process::id();
        Err(codes::error(function, code, self.info.id, forked))
    }

    /// Makes the device this thread's.
    pub(crate) fn bind(&self) -> Result<(), DriverError> {
        let (function, code) = self.library.bind();
        self.check(function, code)
    }

    /// Binds the device, makes a call of the library, and looks at what it answers.
    fn call<F>(&self, call: Call<F>, make: impl FnOnce(F) -> c_int) -> Result<(), DriverError> {
        self.bind()?;
        self.check(call.name, make(call.function))
    }

    /// As [`Self::call`], of a function that says whether something is done.
    fn ask<F>(&self, call: Call<F>, make: impl FnOnce(F) -> c_int) -> Result<bool, DriverError> {
        self.bind()?;
        match make(call.function) {
            NOT_READY => Ok(false),
            code => self.check(call.name, code).map(|()| true),
        }
    }

    /// A new stream or event.
    fn make(&self, call: Call<MakeHandle>, flags: c_uint) -> Result<u64, DriverError> {
        let mut made: Handle = ptr::null_mut();
        // SAFETY: it writes one handle.
        self.call(call, |make| unsafe { make(&raw mut made, flags) })?;
        Ok(made.expose_provenance() as u64)
    }

    /// # Safety
    /// The function may be called with this handle.
    unsafe fn use_handle(&self, call: Call<UseHandle>, used: Handle) -> Result<(), DriverError> {
        // SAFETY: the caller's promise.
        self.call(call, |function| unsafe { function(used) })
    }

    /// Memory by a call that writes where it is. It breaks no capture.
    fn allocate_by<F>(
        &self,
        call: Call<F>,
        bytes: usize,
        make: impl FnOnce(F, *mut L::Address) -> c_int,
    ) -> Result<DeviceAddress, DriverError> {
        let name = call.name;
        not_zero(name, bytes)?;
        let mut address = L::Address::NONE;
        self.call(call, |function| {
            self.library
                .beside_captures(|| make(function, &raw mut address))
        })?;
        given(name, address)
    }

    fn stream_calls(&self) -> Result<StreamCalls<L::Address>, DriverError> {
        Ok(self.library.stream_calls().ok_or(NO_STREAM_MEMORY)?)
    }

    fn graph_calls(&self) -> Result<&GraphCalls, DriverError> {
        Ok(self.library.graph_calls().ok_or(NO_GRAPHS)?)
    }
}

// SAFETY: addresses and handles are those of the vendor's library, which is believed.
unsafe impl<L: DeviceLibrary> Driver for LibraryDriver<L> {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn memory_info(&self) -> Result<MemoryInfo, DriverError> {
        let (mut free, mut total) = (0, 0);
        self.call(self.library.calls().memory_info, |function| {
            // SAFETY: it writes two numbers.
            unsafe { function(&raw mut free, &raw mut total) }
        })?;
        Ok(MemoryInfo {
            free_bytes: free as u64,
            total_bytes: total as u64,
        })
    }

    fn allocate(&self, bytes: usize) -> Result<DeviceAddress, DriverError> {
        self.allocate_by(self.library.calls().allocate, bytes, |function, to| {
            // SAFETY: it writes one address.
            unsafe { function(to, bytes) }
        })
    }

    fn allocate_managed(&self, bytes: usize) -> Result<DeviceAddress, DriverError> {
        let calls = self.library.managed_calls().ok_or(NO_MANAGED_MEMORY)?;
        self.allocate_by(calls.allocate, bytes, |function, to| {
            // SAFETY: it writes one address.
            unsafe { function(to, bytes, ATTACH_GLOBAL) }
        })
    }

    unsafe fn free(&self, at: DeviceAddress) -> Result<(), DriverError> {
        self.call(self.library.calls().free, |function| {
            // SAFETY: the caller's promise.
            unsafe { function(L::Address::of(at)) }
        })
    }

    unsafe fn allocate_on(
        &self,
        bytes: usize,
        on: RawStream,
    ) -> Result<DeviceAddress, DriverError> {
        let call = self.stream_calls()?.allocate;
        not_zero(call.name, bytes)?;
        if !self.info.capabilities.stream_ordered_allocation {
            return Err(NO_STREAM_MEMORY.into());
        }
        let mut address = L::Address::NONE;
        self.call(call, |function| {
            // SAFETY: it writes one address; the stream is the caller's promise.
            unsafe { function(&raw mut address, bytes, L::stream(on)) }
        })?;
        given(call.name, address)
    }

    unsafe fn free_on(&self, at: DeviceAddress, on: RawStream) -> Result<(), DriverError> {
        self.call(self.stream_calls()?.free, |function| {
            // SAFETY: the caller's promise.
            unsafe { function(L::Address::of(at), L::stream(on)) }
        })
    }

    fn allocate_pinned(&self, bytes: usize) -> Result<HostAddress, DriverError> {
        let call = self.library.calls().allocate_pinned;
        not_zero(call.name, bytes)?;
        let mut pointer: *mut c_void = ptr::null_mut();
        self.call(call, |function| {
            self.library.beside_captures(|| {
                // SAFETY: it writes one pointer.
                unsafe { function(&raw mut pointer, bytes, PORTABLE) }
            })
        })?;
        let pointer = ptr::NonNull::new(pointer.cast::<u8>());
        let unknown = || refused(call.name, Refusal::UnknownAddress);
        Ok(HostAddress::of(pointer.ok_or_else(unknown)?))
    }

    unsafe fn free_pinned(&self, at: HostAddress) -> Result<(), DriverError> {
        // SAFETY: the caller's promise.
        unsafe { self.use_handle(self.library.calls().free_pinned, at.pointer().cast()) }
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
        let way = Way::of(to, from)?;
        self.bind()?;
        // SAFETY: the caller's promise.
        let (function, code) = unsafe { self.library.copy(way, bytes, L::stream(on)) };
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
        let (function, code) = unsafe { self.library.set(at, value, bytes, L::stream(on)) };
        self.check(function, code)
    }

    fn create_stream(&self, kind: StreamKind) -> Result<RawStream, DriverError> {
        let flags = match kind {
            StreamKind::NonBlocking => STREAM_NON_BLOCKING,
            StreamKind::Blocking => 0,
        };
        let made = self.make(self.library.calls().create_stream, flags)?;
        Ok(RawStream(made))
    }

    unsafe fn destroy_stream(&self, raw: RawStream) -> Result<(), DriverError> {
        // SAFETY: the caller's promise.
        unsafe { self.use_handle(self.library.calls().destroy_stream, L::stream(raw)) }
    }

    unsafe fn synchronize_stream(&self, raw: RawStream) -> Result<(), DriverError> {
        // SAFETY: the caller's promise.
        unsafe { self.use_handle(self.library.calls().synchronize_stream, L::stream(raw)) }
    }

    unsafe fn query_stream(&self, raw: RawStream) -> Result<bool, DriverError> {
        self.ask(self.library.calls().query_stream, |function| {
            // SAFETY: the caller's promise.
            unsafe { function(L::stream(raw)) }
        })
    }

    unsafe fn is_capturing(&self, on: RawStream) -> Result<bool, DriverError> {
        let Some(calls) = self.library.capture_calls() else {
            return Ok(false);
        };
        let mut status = NOT_CAPTURING;
        self.call(calls.is_capturing, |function| {
            // SAFETY: it writes one number; the stream is the caller's promise.
            unsafe { function(L::stream(on), &raw mut status) }
        })?;
        Ok(status != NOT_CAPTURING)
    }

    fn synchronize(&self) -> Result<(), DriverError> {
        // SAFETY: it takes nothing, and the device is bound.
        self.call(self.library.calls().synchronize, |function| unsafe {
            function()
        })
    }

    fn create_event(&self, kind: EventKind) -> Result<RawEvent, DriverError> {
        let flags = match kind {
            EventKind::Order => EVENT_DISABLE_TIMING,
            EventKind::Timed => 0,
        };
        let made = self.make(self.library.calls().create_event, flags)?;
        Ok(RawEvent(made))
    }

    unsafe fn destroy_event(&self, raw: RawEvent) -> Result<(), DriverError> {
        // SAFETY: the caller's promise.
        unsafe { self.use_handle(self.library.calls().destroy_event, handle(raw.0)) }
    }

    unsafe fn record(&self, raw: RawEvent, on: RawStream) -> Result<(), DriverError> {
        self.call(self.library.calls().record, |function| {
            // SAFETY: the caller's promise.
            unsafe { function(handle(raw.0), L::stream(on)) }
        })
    }

    unsafe fn wait(&self, on: RawStream, raw: RawEvent) -> Result<(), DriverError> {
        self.call(self.library.calls().wait, |function| {
            // SAFETY: the caller's promise; the flags must be zero, and are.
            unsafe { function(L::stream(on), handle(raw.0), 0) }
        })
    }

    unsafe fn query_event(&self, raw: RawEvent) -> Result<bool, DriverError> {
        self.ask(self.library.calls().query_event, |function| {
            // SAFETY: the caller's promise.
            let query = || unsafe { function(handle(raw.0)) };
            self.library.beside_captures(query)
        })
    }

    unsafe fn synchronize_event(&self, raw: RawEvent) -> Result<(), DriverError> {
        // SAFETY: the caller's promise.
        unsafe { self.use_handle(self.library.calls().synchronize_event, handle(raw.0)) }
    }

    unsafe fn elapsed(&self, start: RawEvent, end: RawEvent) -> Result<Duration, DriverError> {
        let mut milliseconds = 0.0_f32;
        let (start, end) = (handle(start.0), handle(end.0));
        self.call(self.library.calls().elapsed, |function| {
            // SAFETY: it writes one number; the events are the caller's promise.
            unsafe { function(&raw mut milliseconds, start, end) }
        })?;
        let seconds = f64::from(milliseconds).max(0.0) / 1000.0;
        Ok(Duration::try_from_secs_f64(seconds).unwrap_or_default())
    }

    fn handle_space(&self) -> u64 {
        let own = || own_handle_space(self);
        self.library.handle_space().unwrap_or_else(own)
    }

    unsafe fn begin_capture(&self, on: RawStream, mode: CaptureMode) -> Result<(), DriverError> {
        let mode = match mode {
            CaptureMode::Global => CAPTURE_GLOBAL,
            CaptureMode::ThreadLocal => CAPTURE_THREAD_LOCAL,
            CaptureMode::Relaxed => CAPTURE_RELAXED,
        };
        self.call(self.graph_calls()?.begin_capture, |function| {
            // SAFETY: the caller's promise.
            unsafe { function(L::stream(on), mode) }
        })
    }

    unsafe fn end_capture(&self, on: RawStream) -> Result<RawGraph, DriverError> {
        let calls = self.graph_calls()?;
        let mut captured: Handle = ptr::null_mut();
        self.call(calls.end_capture, |function| {
            // SAFETY: it writes one handle; the stream is the caller's promise.
            unsafe { function(L::stream(on), &raw mut captured) }
        })?;
        // The device is this thread's by now: nothing that fails keeps the captured graph from being destroyed.
        let mut ready: Handle = ptr::null_mut();
        // SAFETY: it writes one handle; the graph is the one that was just made.
        let code = unsafe { (calls.instantiate.function)(&raw mut ready, captured, 0) };
        let instantiated = self.check(calls.instantiate.name, code);
        // SAFETY: nobody else has it.
        let code = unsafe { (calls.destroy_captured.function)(captured) };
        let destroyed = self.check(calls.destroy_captured.name, code);
        instantiated.and(destroyed)?;
        Ok(RawGraph(ready.expose_provenance() as u64))
    }

    unsafe fn launch_graph(&self, graph: RawGraph, on: RawStream) -> Result<(), DriverError> {
        self.call(self.graph_calls()?.launch, |function| {
            // SAFETY: the caller's promise.
            unsafe { function(handle(graph.0), L::stream(on)) }
        })
    }

    unsafe fn destroy_graph(&self, graph: RawGraph) -> Result<(), DriverError> {
        // SAFETY: the caller's promise.
        unsafe { self.use_handle(self.graph_calls()?.destroy, handle(graph.0)) }
    }

    fn virtual_memory(&self) -> Option<&dyn VirtualMemory> {
        let able = self.info.capabilities.virtual_memory;
        L::virtual_memory(self).filter(|_| able)
    }
}
