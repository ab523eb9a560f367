//! The simulated machine's management library: what a program finds when it looks for
//! `libnvidia-ml`. Its devices are those that the environment names, in the opposite order to the
//! driver's, since the two orders need not agree; a program has to tell devices by their identity.
//!
//! The figures are the environment's: `GPU_SIM_TEMPERATURE`, `GPU_SIM_POWER` (milliwatts),
//! `GPU_SIM_UTILIZATION` (percent), `GPU_SIM_USED` (bytes), one for all devices.
#![expect(unsafe_code, reason = "the library's interface is pointers")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the library's manual documents them"
)]

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void},
    sync::OnceLock,
};

use gpu_sim::{Code, DeviceConfig, Machine, environment::Setup};

/// The library's own codes.
const INVALID_ARGUMENT: c_int = 2;
const UNINITIALIZED: c_int = 1;
const NOT_FOUND: c_int = 6;
const TOO_SMALL: c_int = 7;
const UNKNOWN: c_int = 999;

/// Handles are numbers far from zero.
const HANDLES: usize = 0x00e0_0000;

struct Library {
    machine: Machine,
    devices: Vec<DeviceConfig>,
}

static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
static STARTED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

fn library() -> Result<&'static Library, c_int> {
    let made = LIBRARY.get_or_init(|| {
        let setup = Setup::from_environment().map_err(|error| eprintln!("gpu-sim: {error}"));
        let setup = setup.ok()?;
        let mut devices = setup.config.devices.clone();
        devices.reverse();
        let machine = Machine::new(setup.config);
        setup
            .faults
            .into_iter()
            .for_each(|fault| machine.plan(fault));
        Some(Library { machine, devices })
    });
    made.as_ref().ok_or(UNKNOWN)
}

/// A call: counted, failing by plan, and only between start and end.
fn call(function: &'static str, body: impl FnOnce(&Library) -> Result<(), c_int>) -> c_int {
    use std::sync::atomic::Ordering::SeqCst;
    let done = library().and_then(|library| {
        if STARTED.load(SeqCst) == 0 {
            return Err(UNINITIALIZED);
        }
        library.machine.enter(function).map_err(|Code(code)| code)?;
        body(library)
    });
    done.err().unwrap_or(0)
}

fn device(library: &Library, handle: *mut c_void) -> Result<(usize, &DeviceConfig), c_int> {
    let number = handle.addr().checked_sub(HANDLES).ok_or(INVALID_ARGUMENT)?;
    let found = library.devices.get(number).ok_or(INVALID_ARGUMENT)?;
    Ok((number, found))
}

fn figure(name: &str, usual: u64) -> u64 {
    let said = std::env::var(name).ok().and_then(|text| text.parse().ok());
    said.unwrap_or(usual)
}

/// # Safety
/// `to` is null or has room for one value.
unsafe fn put<T>(to: *mut T, value: T) -> Result<(), c_int> {
    if to.is_null() {
        return Err(INVALID_ARGUMENT);
    }
    // SAFETY: it is not null, and the caller promises the room.
    unsafe { to.write(value) };
    Ok(())
}

/// # Safety
/// `to` has room for `length` bytes.
unsafe fn put_text(to: *mut c_char, length: c_uint, text: &str) -> Result<(), c_int> {
    if to.is_null() {
        return Err(INVALID_ARGUMENT);
    }
    if text.len() >= length as usize {
        return Err(TOO_SMALL);
    }
    for (offset, byte) in text.bytes().chain([0]).enumerate() {
        // SAFETY: there is room for the text and its zero byte.
        unsafe { to.add(offset).write(byte.cast_signed() as c_char) };
    }
    Ok(())
}

fn uuid_text(uuid: [u8; 16]) -> String {
    let mut text = "GPU-".to_owned();
    for (index, byte) in uuid.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlInit_v2() -> c_int {
    match library().and_then(|library| {
        let entered = library.machine.enter("nvmlInit");
        entered.map_err(|Code(code)| code)
    }) {
        Ok(()) => {
            STARTED.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            0
        }
        Err(code) => code,
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlShutdown() -> c_int {
    call("nvmlShutdown", |_| {
        STARTED.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlErrorString(code: c_int) -> *const c_char {
    let text: &CStr = match code {
        0 => c"Success",
        UNINITIALIZED => c"Uninitialized",
        INVALID_ARGUMENT => c"Invalid Argument",
        3 => c"Not Supported",
        NOT_FOUND => c"Not Found",
        TOO_SMALL => c"Insufficient Size",
        15 => c"GPU is lost",
        _ => c"Unknown Error",
    };
    text.as_ptr()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetDriverVersion(to: *mut c_char, length: c_uint) -> c_int {
    call("nvmlSystemGetDriverVersion", |library| {
        let version = library.machine.config().driver_version;
        // SAFETY: the caller's promise.
        unsafe {
            put_text(
                to,
                length,
                &format!("{}.{:02}", version / 1000 + 538, version % 1000 / 10),
            )
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetCudaDriverVersion_v2(version: *mut c_int) -> c_int {
    call("nvmlSystemGetCudaDriverVersion", |library| {
        let number = library.machine.config().driver_version.cast_signed();
        // SAFETY: the caller's promise.
        unsafe { put(version, number) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCount_v2(count: *mut c_uint) -> c_int {
    call("nvmlDeviceGetCount", |library| {
        let number = c_uint::try_from(library.devices.len()).unwrap_or(c_uint::MAX);
        // SAFETY: the caller's promise.
        unsafe { put(count, number) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleByIndex_v2(
    index: c_uint,
    to: *mut *mut c_void,
) -> c_int {
    call("nvmlDeviceGetHandleByIndex", |library| {
        library
            .devices
            .get(index as usize)
            .ok_or(INVALID_ARGUMENT)?;
        // SAFETY: the caller's promise.
        unsafe {
            put(
                to,
                std::ptr::without_provenance_mut(HANDLES + index as usize),
            )
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleByUUID(
    uuid: *const c_char,
    to: *mut *mut c_void,
) -> c_int {
    call("nvmlDeviceGetHandleByUUID", |library| {
        if uuid.is_null() {
            return Err(INVALID_ARGUMENT);
        }
        // SAFETY: the caller's promise: text that ends in a zero byte.
        let wanted = unsafe { CStr::from_ptr(uuid) }
            .to_str()
            .map_err(|_| INVALID_ARGUMENT)?;
        let found = library
            .devices
            .iter()
            .position(|known| uuid_text(known.uuid) == wanted);
        let number = HANDLES + found.ok_or(NOT_FOUND)?;
        // SAFETY: the caller's promise.
        unsafe { put(to, std::ptr::without_provenance_mut(number)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetName(
    handle: *mut c_void,
    to: *mut c_char,
    length: c_uint,
) -> c_int {
    call("nvmlDeviceGetName", |library| {
        let (_, found) = device(library, handle)?;
        // SAFETY: the caller's promise.
        unsafe { put_text(to, length, &found.name) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetUUID(
    handle: *mut c_void,
    to: *mut c_char,
    length: c_uint,
) -> c_int {
    call("nvmlDeviceGetUUID", |library| {
        let (_, found) = device(library, handle)?;
        // SAFETY: the caller's promise.
        unsafe { put_text(to, length, &uuid_text(found.uuid)) }
    })
}

/// Bytes of a device (`nvmlMemory_t`).
#[repr(C)]
pub struct MemoryFigures {
    total: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMemoryInfo(
    handle: *mut c_void,
    to: *mut MemoryFigures,
) -> c_int {
    call("nvmlDeviceGetMemoryInfo", |library| {
        let (_, found) = device(library, handle)?;
        let used = figure("GPU_SIM_USED", found.other_processes_bytes).min(found.total_bytes);
        let figures = MemoryFigures {
            total: found.total_bytes,
            free: found.total_bytes - used,
            used,
        };
        // SAFETY: the caller's promise.
        unsafe { put(to, figures) }
    })
}

/// Percent of the last moments (`nvmlUtilization_t`).
#[repr(C)]
pub struct UtilizationFigures {
    gpu: c_uint,
    memory: c_uint,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetUtilizationRates(
    handle: *mut c_void,
    to: *mut UtilizationFigures,
) -> c_int {
    call("nvmlDeviceGetUtilizationRates", |library| {
        device(library, handle)?;
        let percent = figure("GPU_SIM_UTILIZATION", 0).min(100) as c_uint;
        let figures = UtilizationFigures {
            gpu: percent,
            memory: percent / 2,
        };
        // SAFETY: the caller's promise.
        unsafe { put(to, figures) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetTemperature(
    handle: *mut c_void,
    _sensor: c_uint,
    to: *mut c_uint,
) -> c_int {
    call("nvmlDeviceGetTemperature", |library| {
        device(library, handle)?;
        // SAFETY: the caller's promise.
        unsafe { put(to, figure("GPU_SIM_TEMPERATURE", 35) as c_uint) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPowerUsage(handle: *mut c_void, to: *mut c_uint) -> c_int {
    call("nvmlDeviceGetPowerUsage", |library| {
        device(library, handle)?;
        // SAFETY: the caller's promise.
        unsafe { put(to, figure("GPU_SIM_POWER", 60_000) as c_uint) }
    })
}
