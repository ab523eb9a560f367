//! One ROCm device as a [`crate::Driver`], through AMD's HIP library, which is looked up at run time. It
//! was written by HIP's documents and tried on the simulated library; nobody has run it on a card.

use std::{
    ffi::{c_int, c_uint, c_void},
    ptr,
    sync::Arc,
};

use super::library;
use crate::{
    address::{DeviceAddress, Way},
    dynamic::{self, Call},
    error::{Absent, DriverError},
    identity::{Capabilities, DeviceInfo},
    library_driver::{
        Answer, Calls, CaptureCalls, DeviceLibrary, Handle, LibraryDriver, RawAddress, StreamCalls,
        handle,
    },
    stream::RawStream,
};

/// Which way a copy goes, by the library's documented numbers.
const TO_DEVICE: c_uint = 1;
const TO_HOST: c_uint = 2;
const ON_DEVICE: c_uint = 3;

dynamic::table! {
    pub(super) library: "libamdhip64";
    shared calls: Calls<*mut c_void> {
        memory_info = "hipMemGetInfo";
        allocate = "hipMalloc";
        free = "hipFree";
        allocate_pinned = "hipHostMalloc";
        free_pinned = "hipHostFree";
        create_stream = "hipStreamCreateWithFlags";
        destroy_stream = "hipStreamDestroy";
        synchronize_stream = "hipStreamSynchronize";
        query_stream = "hipStreamQuery";
        wait = "hipStreamWaitEvent";
        synchronize = "hipDeviceSynchronize";
        create_event = "hipEventCreateWithFlags";
        destroy_event = "hipEventDestroy";
        record = "hipEventRecord";
        query_event = "hipEventQuery";
        synchronize_event = "hipEventSynchronize";
        elapsed = "hipEventElapsedTime";
    }
    required {
    set_device = "hipSetDevice": fn(c_int);
    memcpy = "hipMemcpyAsync": fn(*mut c_void, *const c_void, usize, c_uint, Handle);
    memset = "hipMemsetAsync": fn(*mut c_void, c_int, usize, Handle);
    }
    optional {
    malloc_async = "hipMallocAsync": fn(*mut *mut c_void, usize, Handle);
    free_async = "hipFreeAsync": fn(*mut c_void, Handle);
    is_capturing = "hipStreamIsCapturing": fn(Handle, *mut c_uint);
    }
}

impl RawAddress for *mut c_void {
    const NONE: Self = ptr::null_mut();

    fn of(address: DeviceAddress) -> Self {
        handle(address.get())
    }

    fn number(self) -> u64 {
        self.expose_provenance() as u64
    }
}

/// A ROCm device. Any thread: each call makes it the thread's current device first.
pub type RocmDriver = LibraryDriver<Rocm>;

/// HIP's library, for one device.
#[derive(Debug)]
pub struct Rocm {
    table: &'static Table,
    /// Its number in this process, as the library counts.
    device: c_int,
}

impl RocmDriver {
    /// Opens a device that was detected, by its place on the bus: the library's numbers are not the
    /// kernel's, and some devices may be hidden from it. Starts the runtime.
    ///
    /// # Errors
    /// [`Absent::Library`], [`Absent::Symbol`]; [`Absent::Device`] for one that the library does not
    /// show; as its calls fail.
    pub fn open(info: &DeviceInfo) -> Result<Arc<Self>, DriverError> {
        let table = Table::loaded(library::load)?;
        let missing = || Absent::Device {
            wanted: info.id.to_string(),
        };
        let place = info.bus_address.as_deref().ok_or_else(missing)?;
        let shown = library::runtime_devices()?;
        let number = shown
            .iter()
            .position(|device| device.bus_address.eq_ignore_ascii_case(place));
        let number = number.and_then(|number| c_int::try_from(number).ok());
        let library = Rocm {
            table,
            device: number.ok_or_else(missing)?,
        };
        let mut driver = Self::new(library, info.clone());
        driver.bind()?;
        driver.info.capabilities = Capabilities {
            stream_ordered_allocation: driver.library.allocates_on_streams(),
            ..info.capabilities
        };
        Ok(Arc::new(driver))
    }
}

impl Rocm {
    /// Whether the device allocates in a stream's order, which it is asked by doing so: the attribute
    /// that tells it has another number in each major version of the library.
    fn allocates_on_streams(&self) -> bool {
        let Some(calls) = self.stream_calls() else {
            return false;
        };
        let (mut address, on) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: it writes one address; null is the default stream.
        let code = unsafe { (calls.allocate.function)(&raw mut address, 256, on) };
        // SAFETY: the address was just given out, and nobody uses it.
        code == 0 && unsafe { (calls.free.function)(address, on) } == 0
    }
}

// SAFETY: the calls are the vendor's library's, which is believed.
unsafe impl DeviceLibrary for Rocm {
    type Address = *mut c_void;

    fn calls(&self) -> &Calls<*mut c_void> {
        &self.table.calls
    }

    fn stream_calls(&self) -> Option<StreamCalls<*mut c_void>> {
        Some(StreamCalls {
            allocate: Call {
                name: "hipMallocAsync",
                function: self.table.malloc_async?,
            },
            free: Call {
                name: "hipFreeAsync",
                function: self.table.free_async?,
            },
        })
    }

    fn capture_calls(&self) -> Option<CaptureCalls> {
        Some(CaptureCalls {
            is_capturing: Call {
                name: "hipStreamIsCapturing",
                function: self.table.is_capturing?,
            },
        })
    }

    fn bind(&self) -> Answer {
        // SAFETY: it takes a number.
        let code = unsafe { (self.table.set_device)(self.device) };
        ("hipSetDevice", code)
    }

    fn stream(raw: RawStream) -> Handle {
        // The library's default stream is null in all versions; a number for it has the newest alone.
        if raw == RawStream::LEGACY_DEFAULT {
            return ptr::null_mut();
        }
        handle(raw.0)
    }

    unsafe fn copy(&self, way: Way, bytes: usize, on: Handle) -> Answer {
        let (to, from, way) = match way {
            Way::ToDevice { to, from } => (handle(to.get()), from.pointer().cast(), TO_DEVICE),
            Way::ToHost { to, from } => (to.pointer().cast(), handle(from.get()), TO_HOST),
            Way::OnDevice { to, from } => (handle(to.get()), handle(from.get()), ON_DEVICE),
        };
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.memcpy)(to, from, bytes, way, on) };
        ("hipMemcpyAsync", code)
    }

    unsafe fn set(&self, at: DeviceAddress, value: u8, bytes: usize, on: Handle) -> Answer {
        let at = handle(at.get());
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.memset)(at, c_int::from(value), bytes, on) };
        ("hipMemsetAsync", code)
    }
}
