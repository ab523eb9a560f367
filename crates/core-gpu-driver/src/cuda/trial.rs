//! What a trial on a card needs beyond the trait: a kernel that keeps a stream busy for as long as it
//! is told. For measuring, and for tests of what a pool does while others work; no part of what programs
//! use.

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void},
    ptr,
    sync::Arc,
    time::Duration,
};

use super::{driver::CudaDriver, table::library};
use crate::{
    driver::Driver,
    dynamic,
    error::{Absent, DriverError},
    identity::DeviceId,
    stream::{Stream, refused},
};

/// Reads the device's clock until so many nanoseconds are over. Version 6.0 and `sm_50` are older than
/// any card and driver that work here.
const SPIN: &CStr = c"
.version 6.0
.target sm_50
.address_size 64
.visible .entry core_gpu_spin(.param .u64 nanoseconds)
{
    .reg .u64 %time<4>;
    .reg .pred %goes_on;
    ld.param.u64 %time1, [nanoseconds];
    mov.u64 %time2, %globaltimer;
AGAIN:
    mov.u64 %time3, %globaltimer;
    sub.u64 %time3, %time3, %time2;
    setp.lt.u64 %goes_on, %time3, %time1;
    @%goes_on bra AGAIN;
    ret;
}
";
/// The kernel's name in it.
const NAME: &CStr = c"core_gpu_spin";

dynamic::table! {
    library: "libcuda";
    required {
    module_load = "cuModuleLoadData": fn(*mut *mut c_void, *const c_char);
    module_unload = "cuModuleUnload": fn(*mut c_void);
    module_function = "cuModuleGetFunction": fn(*mut *mut c_void, *mut c_void, *const c_char);
    launch = "cuLaunchKernel": fn(
        *mut c_void, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, *mut c_void,
        *mut *mut c_void, *mut *mut c_void);
    }
    optional {
    }
}

/// A device, ready for trials.
#[derive(Debug)]
pub struct Trial {
    table: &'static Table,
    driver: Arc<CudaDriver>,
    module: Handle,
    spin: Handle,
}

#[derive(Clone, Copy, Debug)]
struct Handle(*mut c_void);

// SAFETY: modules and functions are handles that any thread may use.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Trial {
    /// Opens a device for trials. It shares the device's primary context with every driver of it.
    ///
    /// # Errors
    /// As opening the device fails; [`Absent::Symbol`]; as the kernel cannot be loaded.
    pub fn open(id: &DeviceId) -> Result<Self, DriverError> {
        let driver = CudaDriver::open(id)?;
        let table = Table::loaded(library)?;
        driver.bind()?;
        let (mut module, mut spin) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the text ends in a zero byte, and one handle is written.
        let code = unsafe { (table.module_load)(&raw mut module, SPIN.as_ptr()) };
        driver.check("cuModuleLoadData", code)?;
        // SAFETY: the module is loaded, the name ends in a zero byte, and one handle is written.
        let code = unsafe { (table.module_function)(&raw mut spin, module, NAME.as_ptr()) };
        driver.check("cuModuleGetFunction", code)?;
        Ok(Self {
            table,
            driver,
            module: Handle(module),
            spin: Handle(spin),
        })
    }

    /// Keeps a stream busy for so long, by the device's clock.
    ///
    /// # Errors
    /// Refused for a stream of another device; as the driver's call fails.
    pub fn spin(&self, on: &Stream, time: Duration) -> Result<(), DriverError> {
        self.check_stream("cuLaunchKernel", on)?;
        let mut nanoseconds = c_ulonglong::try_from(time.as_nanos()).unwrap_or(c_ulonglong::MAX);
        let mut parameters: [*mut c_void; 1] = [(&raw mut nanoseconds).cast()];
        // SAFETY: the kernel takes one number, which is read by this call; one thread of one block is
        // started, on a stream that lives.
        let code = unsafe {
            (self.table.launch)(
                self.spin.0,
                1,
                1,
                1,
                1,
                1,
                1,
                0,
                stream(on),
                parameters.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        self.driver.check("cuLaunchKernel", code)
    }

    fn check_stream(&self, function: &'static str, on: &Stream) -> Result<(), DriverError> {
        if on.driver().info().id != self.driver.info().id {
            return Err(refused(function, crate::error::Refusal::OtherDevice));
        }
        self.driver.bind()
    }
}

fn stream(of: &Stream) -> *mut c_void {
    ptr::with_exposed_provenance_mut(of.handle().0 as usize)
}

impl Drop for Trial {
    fn drop(&mut self) {
        if self.driver.bind().is_ok() {
            // SAFETY: the module was loaded in this context. A failure leaves nothing that could be
            // done: the context has it as long as it lives.
            let _ = unsafe { (self.table.module_unload)(self.module.0) };
        }
    }
}
