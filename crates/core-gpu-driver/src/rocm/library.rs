//! The HIP library, as far as detection asks it: its version, which needs no device, and what it
//! calls the devices, for programs that may open them.

use std::{
    ffi::{CStr, c_char, c_int, c_uint},
    path::PathBuf,
};

use libloading::Library;

use crate::{
    dynamic,
    error::{Absent, DriverError},
};

/// The names of the library, the newest first.
const LIBRARIES: &[&str] = &[
    "libamdhip64.so.7",
    "libamdhip64.so.6",
    "libamdhip64.so.5",
    "libamdhip64.so",
];
/// Room for a name, in bytes.
const NAME: usize = 256;
/// The library's code for a machine without devices.
const NO_DEVICE: c_int = 100;

/// The functions that are looked for.
pub const SYMBOLS: &[&str] = &[
    "hipInit",
    "hipGetDeviceCount",
    "hipDeviceGetName",
    "hipDeviceTotalMem",
    "hipDeviceGetPCIBusId",
];

type GetNumber = unsafe extern "C" fn(*mut c_int) -> c_int;
type GetText = unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int;
type GetBytes = unsafe extern "C" fn(*mut usize, c_int) -> c_int;

/// A device as the HIP library shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeDevice {
    /// Its name.
    pub name: String,
    /// Bytes of memory.
    pub total_bytes: u64,
    /// Where it is: `domain:bus:device.function`. What tells it apart: the library's order is not the
    /// kernel's, and some devices may be hidden from this process.
    pub bus_address: String,
}

/// The HIP runtime's version.
pub(super) fn runtime_version() -> Result<u32, Absent> {
    let library = load()?;
    let function = symbol::<GetNumber>(library, "hipRuntimeGetVersion")?;
    let mut version = 0;
    // SAFETY: it writes one number, and needs no device.
    let code = unsafe { function(&raw mut version) };
    if code != 0 {
        let wanted = format!("a runtime that tells its version (code {code})");
        return Err(Absent::Device { wanted });
    }
    Ok(version.unsigned_abs())
}

/// The devices that the HIP library shows to this process, `HIP_VISIBLE_DEVICES` heeded. Unlike
/// [`super::detect`] it starts the runtime, which opens the kernel's device and does not let go of
/// it. Blocks as long as the library does.
///
/// # Errors
/// A missing library or function, and what the library refuses. No device is no error.
pub fn runtime_devices() -> Result<Vec<RuntimeDevice>, DriverError> {
    let library = load()?;
    let start = symbol::<unsafe extern "C" fn(c_uint) -> c_int>(library, "hipInit")?;
    let count = symbol::<GetNumber>(library, "hipGetDeviceCount")?;
    let name = symbol::<GetText>(library, "hipDeviceGetName")?;
    let bytes = symbol::<GetBytes>(library, "hipDeviceTotalMem")?;
    let place = symbol::<GetText>(library, "hipDeviceGetPCIBusId")?;
    let mut devices = 0;
    // SAFETY: these are the functions' documented types; the number is written where there is room.
    let (started, counted) = unsafe { (start(0), count(&raw mut devices)) };
    if started == NO_DEVICE || counted == NO_DEVICE {
        return Ok(Vec::new());
    }
    answer("hipInit", started)?;
    answer("hipGetDeviceCount", counted)?;
    let read = |device| {
        let mut total = 0;
        // SAFETY: as above.
        let code = unsafe { bytes(&raw mut total, device) };
        answer("hipDeviceTotalMem", code)?;
        Ok(RuntimeDevice {
            name: text("hipDeviceGetName", name, device)?,
            total_bytes: total as u64,
            bus_address: text("hipDeviceGetPCIBusId", place, device)?.to_ascii_lowercase(),
        })
    };
    (0..devices).map(read).collect()
}

fn answer(function: &'static str, code: c_int) -> Result<(), DriverError> {
    if code == 0 {
        return Ok(());
    }
    Err(DriverError::Call {
        function,
        code,
        from_earlier_work: false,
    })
}

fn text(function: &'static str, get: GetText, device: c_int) -> Result<String, DriverError> {
    let mut room: [c_char; NAME] = [0; NAME];
    // The last byte stays zero whatever the library writes.
    // SAFETY: there is room for one byte more than is said.
    let code = unsafe { get(room.as_mut_ptr(), NAME as c_int - 1, device) };
    answer(function, code)?;
    // SAFETY: it ends in a zero byte.
    let text = unsafe { CStr::from_ptr(room.as_ptr()) };
    Ok(text.to_string_lossy().into_owned())
}

fn symbol<F: Copy>(library: &'static Library, symbol: &'static str) -> Result<F, Absent> {
    // SAFETY: who asks says the function's documented type.
    unsafe { dynamic::find(library, "libamdhip64", symbol) }
}

/// The library, below `ROCM_PATH` or where the loader finds it.
pub(super) fn load() -> Result<&'static Library, Absent> {
    let root = std::env::var_os("ROCM_PATH").map(PathBuf::from);
    dynamic::load("ROCm", LIBRARIES, root.map(|root| root.join("lib")))
}
