//! The simulated driver's library, as this one uses it: the context and device of a thread, and
//! copies on a stream.

use std::{
    ffi::{c_int, c_void},
    sync::OnceLock,
};

use libloading::Library;

use crate::{DEVICE_ERROR, Failure, SYSTEM_ERROR};

/// The names of the driver's library.
const LIBRARIES: &[&str] = &["libcuda.so.1", "libcuda.so"];

type Get<T> = unsafe extern "C" fn(*mut T) -> c_int;

/// The functions.
struct Driver {
    context: Get<usize>,
    set_context: unsafe extern "C" fn(usize) -> c_int,
    device: Get<c_int>,
    uuid: unsafe extern "C" fn(*mut [u8; 16], c_int) -> c_int,
    allocate: unsafe extern "C" fn(*mut u64, usize) -> c_int,
    free: unsafe extern "C" fn(u64) -> c_int,
    to_host: unsafe extern "C" fn(*mut c_void, u64, usize, usize) -> c_int,
    to_device: unsafe extern "C" fn(u64, *const c_void, usize, usize) -> c_int,
    synchronize: unsafe extern "C" fn(usize) -> c_int,
}

fn driver() -> Result<&'static Driver, Failure> {
    static DRIVER: OnceLock<Result<Driver, Failure>> = OnceLock::new();
    DRIVER.get_or_init(load).as_ref().map_err(Clone::clone)
}

fn load() -> Result<Driver, Failure> {
    let missing = |what: &dyn std::fmt::Display| Failure::new(SYSTEM_ERROR, what.to_string());
    let mut library = Err(Failure::new(SYSTEM_ERROR, "there is no driver"));
    for name in LIBRARIES {
        // SAFETY: loading the driver's library runs what it runs in any program.
        let loaded = unsafe { Library::new(*name) };
        library = loaded.map_err(|error| missing(&error));
        if library.is_ok() {
            break;
        }
    }
    let library: &'static Library = Box::leak(Box::new(library?));
    // SAFETY: these are the functions' documented types; pointers to opaque things are numbers here.
    unsafe {
        if library.get::<fn()>(b"gpu_sim_is_simulated").is_err() {
            let why = "the driver is a real one: this library works with the simulated one only";
            return Err(Failure::new(SYSTEM_ERROR, why));
        }
        macro_rules! function {
            ($name:literal) => {
                *library.get($name).map_err(|error| missing(&error))?
            };
        }
        Ok(Driver {
            context: function!(b"cuCtxGetCurrent"),
            set_context: function!(b"cuCtxSetCurrent"),
            device: function!(b"cuCtxGetDevice"),
            uuid: function!(b"cuDeviceGetUuid_v2"),
            allocate: function!(b"cuMemAlloc_v2"),
            free: function!(b"cuMemFree_v2"),
            to_host: function!(b"cuMemcpyDtoHAsync_v2"),
            to_device: function!(b"cuMemcpyHtoDAsync_v2"),
            synchronize: function!(b"cuStreamSynchronize"),
        })
    }
}

fn answer(function: &str, code: c_int) -> Result<(), Failure> {
    match code {
        0 => Ok(()),
        code => Err(Failure::new(
            DEVICE_ERROR,
            format!("{function} answers {code}"),
        )),
    }
}

/// The context and device that a communicator belongs to, and the memory that it takes there.
#[derive(Debug)]
pub struct Device {
    context: usize,
    /// Its number for the driver.
    pub number: c_int,
    /// Its identity.
    pub uuid: [u8; 16],
    memory: u64,
}

impl Device {
    /// The calling thread's, with this many bytes taken of it.
    ///
    /// # Errors
    /// What the driver answers, as without a context.
    pub fn current(bytes: usize) -> Result<Self, Failure> {
        let driver = driver()?;
        let mut device = Self {
            context: 0,
            number: 0,
            uuid: [0; 16],
            memory: 0,
        };
        // SAFETY: there is room for what each function writes.
        unsafe {
            let code = (driver.context)(&raw mut device.context);
            answer("cuCtxGetCurrent", code)?;
            let code = (driver.device)(&raw mut device.number);
            answer("cuCtxGetDevice", code)?;
            let code = (driver.uuid)(&raw mut device.uuid, device.number);
            answer("cuDeviceGetUuid", code)?;
            if bytes > 0 {
                let code = (driver.allocate)(&raw mut device.memory, bytes);
                answer("cuMemAlloc", code)?;
            }
        }
        Ok(device)
    }

    /// With its context as the thread's, which gets back its own.
    fn within<R>(&self, body: impl FnOnce(&Driver) -> Result<R, Failure>) -> Result<R, Failure> {
        let driver = driver()?;
        let mut before = 0;
        // SAFETY: there is room for what the function writes; the contexts are the driver's.
        unsafe {
            let code = (driver.context)(&raw mut before);
            answer("cuCtxGetCurrent", code)?;
            let code = (driver.set_context)(self.context);
            answer("cuCtxSetCurrent", code)?;
        }
        let result = body(driver);
        // The thread's own may have been destroyed since: then there is nothing to get back.
        // SAFETY: as above.
        let _ = unsafe { (driver.set_context)(before) };
        result
    }

    /// Bytes of device memory, after all work on the stream.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn read(&self, from: u64, bytes: usize, stream: usize) -> Result<Vec<u8>, Failure> {
        let mut read = vec![0_u8; bytes];
        if bytes == 0 {
            return Ok(read);
        }
        self.within(|driver| {
            // SAFETY: there is room, and it stays there until the stream has been waited for.
            unsafe {
                let code = (driver.to_host)(read.as_mut_ptr().cast(), from, bytes, stream);
                answer("cuMemcpyDtoHAsync", code)?;
                answer("cuStreamSynchronize", (driver.synchronize)(stream))
            }
        })?;
        Ok(read)
    }

    /// Writes device memory in the stream's order.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn write(&self, to: u64, bytes: &[u8], stream: usize) -> Result<(), Failure> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.within(|driver| {
            // SAFETY: memory of the host that is not pinned is read before the call is back.
            let code =
                unsafe { (driver.to_device)(to, bytes.as_ptr().cast(), bytes.len(), stream) };
            answer("cuMemcpyHtoDAsync", code)
        })
    }

    /// Gives the memory back.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn release(&self) -> Result<(), Failure> {
        if self.memory == 0 {
            return Ok(());
        }
        // SAFETY: the memory is this communicator's, which has ended.
        self.within(|driver| answer("cuMemFree", unsafe { (driver.free)(self.memory) }))
    }
}
