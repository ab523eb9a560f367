//! Starting the driver, its devices, and contexts.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::atomic::Ordering::SeqCst;

use gpu_sim::{Code, DeviceConfig, Machine};

use crate::{ANSWERS, CURRENT, INITIALIZED, answer, global, initialized, machine, on_device};

/// Contexts are numbers of their devices, far from zero.
const CONTEXTS: usize = 0x00c0_0000;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuInit(flags: c_uint) -> c_int {
    answer(machine().and_then(|machine| {
        machine.enter("cuInit")?;
        if flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        if machine.config().devices.is_empty() {
            return Err(Code::NO_DEVICE);
        }
        INITIALIZED.store(true, SeqCst);
        Ok(())
    }))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> c_int {
    answer(machine().and_then(|machine| {
        machine.enter("cuDriverGetVersion")?;
        let number = c_int::try_from(machine.config().driver_version);
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(version, number.unwrap_or(c_int::MAX)) }
    }))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> c_int {
    global("cuDeviceGetCount", |machine| {
        let number = c_int::try_from(machine.config().devices.len());
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(count, number.unwrap_or(c_int::MAX)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> c_int {
    global("cuDeviceGet", |machine| {
        find(machine, ordinal)?;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(device, ordinal) }
    })
}

/// A device by its handle, which is its number.
fn find(machine: &Machine, device: c_int) -> Result<(u32, DeviceConfig), Code> {
    let number = u32::try_from(device).map_err(|_| Code::INVALID_DEVICE)?;
    let devices = machine.config().devices;
    let found = devices.into_iter().nth(number as usize);
    Ok((number, found.ok_or(Code::INVALID_DEVICE)?))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetName(to: *mut c_char, length: c_int, device: c_int) -> c_int {
    global("cuDeviceGetName", |machine| {
        let (_, found) = find(machine, device)?;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put_text(to, length, &found.name) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetPCIBusId(
    to: *mut c_char,
    length: c_int,
    device: c_int,
) -> c_int {
    global("cuDeviceGetPCIBusId", |machine| {
        let (_, found) = find(machine, device)?;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put_text(to, length, &found.bus_address()) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetUuid_v2(to: *mut [u8; 16], device: c_int) -> c_int {
    global("cuDeviceGetUuid", |machine| {
        let (_, found) = find(machine, device)?;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, found.uuid) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetUuid(to: *mut [u8; 16], device: c_int) -> c_int {
    // SAFETY: the same promise.
    unsafe { cuDeviceGetUuid_v2(to, device) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int) -> c_int {
    global("cuDeviceTotalMem", |machine| {
        let (_, found) = find(machine, device)?;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(bytes, found.total_bytes as usize) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetAttribute(
    value: *mut c_int,
    attribute: c_int,
    device: c_int,
) -> c_int {
    global("cuDeviceGetAttribute", |machine| {
        let (_, found) = find(machine, device)?;
        let (major, minor) = found.compute_capability;
        let number = match attribute {
            // Threads of a block, of a warp, multiprocessors, threads of a multiprocessor.
            1 => 1024,
            10 => 32,
            16 => 108,
            39 => 2048,
            // Unified addresses.
            41 => 1,
            75 => major.cast_signed(),
            76 => minor.cast_signed(),
            102 => c_int::from(found.virtual_memory),
            115 => c_int::from(found.stream_ordered_allocation),
            _ => 0,
        };
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(value, number) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceCanAccessPeer(can: *mut c_int, one: c_int, other: c_int) -> c_int {
    global("cuDeviceCanAccessPeer", |machine| {
        let ((one, _), (other, _)) = (find(machine, one)?, find(machine, other)?);
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(can, c_int::from(one != other)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRetain(
    context: *mut *mut c_void,
    device: c_int,
) -> c_int {
    answer(initialized().and_then(|machine| {
        let (number, _) = find(machine, device)?;
        machine.retain_context(number)?;
        let handle = std::ptr::without_provenance_mut(CONTEXTS + number as usize);
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(context, handle) }
    }))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRelease_v2(device: c_int) -> c_int {
    answer(initialized().and_then(|machine| machine.release_context(find(machine, device)?.0)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxSetCurrent(context: *mut c_void) -> c_int {
    global("cuCtxSetCurrent", |machine| {
        if context.is_null() {
            CURRENT.set(None);
            return Ok(());
        }
        let number = context
            .addr()
            .checked_sub(CONTEXTS)
            .ok_or(Code::INVALID_CONTEXT)?;
        let number = c_int::try_from(number).map_err(|_| Code::INVALID_CONTEXT)?;
        let (number, _) = find(machine, number).map_err(|_| Code::INVALID_CONTEXT)?;
        if !machine.has_context(number) {
            return Err(Code::INVALID_CONTEXT);
        }
        CURRENT.set(Some(number));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetCurrent(context: *mut *mut c_void) -> c_int {
    global("cuCtxGetCurrent", |_| {
        let number = CURRENT.get().map_or(0, |device| CONTEXTS + device as usize);
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(context, std::ptr::without_provenance_mut(number)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetDevice(device: *mut c_int) -> c_int {
    on_device(|_, number| {
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(device, number.cast_signed()) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxSynchronize() -> c_int {
    on_device(|machine, device| machine.synchronize(device))
}

/// Names and texts of the codes that the machine answers with.
const CODES: &[(i32, &CStr, &CStr)] = &[
    (0, c"CUDA_SUCCESS", c"no error"),
    (1, c"CUDA_ERROR_INVALID_VALUE", c"invalid argument"),
    (2, c"CUDA_ERROR_OUT_OF_MEMORY", c"out of memory"),
    (3, c"CUDA_ERROR_NOT_INITIALIZED", c"initialization error"),
    (4, c"CUDA_ERROR_DEINITIALIZED", c"driver shutting down"),
    (
        100,
        c"CUDA_ERROR_NO_DEVICE",
        c"no CUDA-capable device is detected",
    ),
    (101, c"CUDA_ERROR_INVALID_DEVICE", c"invalid device ordinal"),
    (
        201,
        c"CUDA_ERROR_INVALID_CONTEXT",
        c"invalid device context",
    ),
    (
        400,
        c"CUDA_ERROR_INVALID_HANDLE",
        c"invalid resource handle",
    ),
    (500, c"CUDA_ERROR_NOT_FOUND", c"named symbol not found"),
    (600, c"CUDA_ERROR_NOT_READY", c"device not ready"),
    (
        700,
        c"CUDA_ERROR_ILLEGAL_ADDRESS",
        c"an illegal memory access was encountered",
    ),
    (
        719,
        c"CUDA_ERROR_LAUNCH_FAILED",
        c"unspecified launch failure",
    ),
    (801, c"CUDA_ERROR_NOT_SUPPORTED", c"operation not supported"),
    (999, c"CUDA_ERROR_UNKNOWN", c"unknown error"),
];

/// Writes one of a code's two texts: its name or words about it.
///
/// # Safety
/// `to` is null or has room for one pointer.
unsafe fn put_words(
    code: c_int,
    to: *mut *const c_char,
    which: impl FnOnce(&(c_int, &'static CStr, &'static CStr)) -> &'static CStr,
) -> c_int {
    let found = CODES.iter().find(|(known, ..)| *known == code);
    let Some(words) = found.map(which) else {
        return Code::INVALID_VALUE.0;
    };
    // SAFETY: the caller's promise.
    answer(unsafe { ANSWERS.put(to, words.as_ptr()) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(code: c_int, text: *mut *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { put_words(code, text, |(_, _, words)| words) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(code: c_int, text: *mut *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { put_words(code, text, |(_, name, _)| name) }
}
