//! One CUDA device as a [`crate::Driver`]. Every call binds the device's primary context first: the one
//! that the CUDA runtime, cudarc and most libraries use, so memory and streams are theirs too.

use std::{
    ffi::{c_int, c_uint},
    ptr,
    sync::Arc,
};

use crate::{
    address::{DeviceAddress, Way},
    codes,
    cuda::{
        probe,
        table::{CUcontext, CUdevice, CUdeviceptr, Table, table},
    },
    error::DriverError,
    identity::DeviceId,
    library_driver::{
        Answer, CAPTURE_RELAXED, Calls, CaptureCalls, DeviceLibrary, GraphCalls, Handle,
        LibraryDriver, ManagedCalls, StreamCalls,
    },
    virtual_memory::VirtualMemory,
};

/// A CUDA device, with its primary context held. Any thread.
pub type CudaDriver = LibraryDriver<Cuda>;

/// CUDA's driver library, for one device.
#[derive(Debug)]
pub struct Cuda {
    pub(super) table: &'static Table,
    pub(super) device: CUdevice,
    context: Context,
    /// The process that holds the context.
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
    /// [`crate::Absent::Library`], [`crate::Absent::Symbol`], [`crate::Absent::Device`]; as the driver's
    /// calls fail.
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
        let library = Cuda {
            table,
            device: found.device,
            context: Context(context),
            process: std::process::id(),
        };
        Ok(Arc::new(Self::new(library, found.info)))
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            return;
        }
        // SAFETY: it was retained once, by `open`. A failure means that the driver is gone, or the
        // device is: there is nothing left to let go of.
        unsafe { (self.table.primary_ctx_release)(self.device) };
    }
}

// SAFETY: the calls are the vendor's driver's, which is believed; addresses of all devices are of one
// space, so that it finds the devices by them.
unsafe impl DeviceLibrary for Cuda {
    type Address = CUdeviceptr;

    fn calls(&self) -> &Calls<CUdeviceptr> {
        &self.table.calls
    }

    fn stream_calls(&self) -> Option<StreamCalls<CUdeviceptr>> {
        Some(self.table.stream_calls)
    }

    fn managed_calls(&self) -> Option<ManagedCalls<CUdeviceptr>> {
        Some(self.table.managed_calls)
    }

    fn capture_calls(&self) -> Option<CaptureCalls> {
        Some(self.table.capture_calls)
    }

    fn graph_calls(&self) -> Option<&GraphCalls> {
        Some(&self.table.graph_calls)
    }

    /// Binds the context to this thread.
    fn bind(&self) -> Answer {
        // SAFETY: the context is held until this value is dropped. Who resets the device through another
        // library takes it from everybody, which CUDA's documentation forbids beside other users.
        let code = unsafe { (self.table.ctx_set_current)(self.context.0) };
        ("cuCtxSetCurrent", code)
    }

    /// Without it, calls that might wait are refused while a thread captures in global mode, and break
    /// that capture.
    fn beside_captures(&self, call: impl FnOnce() -> c_int) -> c_int {
        let mut mode: c_uint = CAPTURE_RELAXED;
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

    unsafe fn copy(&self, way: Way, bytes: usize, on: Handle) -> Answer {
        match way {
            Way::ToDevice { to, from } => {
                let from = from.pointer().cast_const().cast();
                // SAFETY: the caller's promise.
                let code = unsafe { (self.table.memcpy_to_device)(to.get(), from, bytes, on) };
                ("cuMemcpyHtoDAsync", code)
            }
            Way::ToHost { to, from } => {
                let to = to.pointer().cast();
                // SAFETY: the caller's promise.
                let code = unsafe { (self.table.memcpy_to_host)(to, from.get(), bytes, on) };
                ("cuMemcpyDtoHAsync", code)
            }
            Way::OnDevice { to, from } => {
                // SAFETY: the caller's promise.
                let code = unsafe { (self.table.memcpy)(to.get(), from.get(), bytes, on) };
                ("cuMemcpyAsync", code)
            }
        }
    }

    unsafe fn set(&self, at: DeviceAddress, value: u8, bytes: usize, on: Handle) -> Answer {
        // SAFETY: the caller's promise.
        let code = unsafe { (self.table.memset)(at.get(), value, bytes, on) };
        ("cuMemsetD8Async", code)
    }

    fn handle_space(&self) -> Option<u64> {
        // Streams belong to the primary context, of which a process has one for each device.
        Some(self.context.0.addr() as u64)
    }

    fn virtual_memory(driver: &CudaDriver) -> Option<&dyn VirtualMemory> {
        Some(driver)
    }
}
