//! Starting and ending, versions, and which devices there are.

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    sync::atomic::Ordering::SeqCst,
};

use gpu_sim::{Code, DeviceConfig};

use crate::{
    ANSWERS, INVALID_ARGUMENT, NOT_FOUND, NOT_SUPPORTED, STARTED, TIMEOUT, TOO_SMALL,
    UNINITIALIZED, call, device, handle, library, on_device, put_text,
};

/// What the driver says of a device, with more digits for the domain.
fn bus_text(device: &DeviceConfig) -> String {
    format!("0000{}", device.bus_address().to_ascii_uppercase())
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlInit_v2() -> c_int {
    match library().and_then(|library| {
        let entered = library.machine.enter("nvmlInit");
        entered.map_err(|Code(code)| code)
    }) {
        Ok(()) => {
            STARTED.fetch_add(1, SeqCst);
            0
        }
        Err(code) => code,
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlShutdown() -> c_int {
    call("nvmlShutdown", |_| {
        STARTED.fetch_sub(1, SeqCst);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlErrorString(code: c_int) -> *const c_char {
    let text: &CStr = match code {
        0 => c"Success",
        UNINITIALIZED => c"Uninitialized",
        INVALID_ARGUMENT => c"Invalid Argument",
        NOT_SUPPORTED => c"Not Supported",
        NOT_FOUND => c"Not Found",
        TOO_SMALL => c"Insufficient Size",
        TIMEOUT => c"Timeout",
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
        unsafe { ANSWERS.put(version, number) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCount_v2(count: *mut c_uint) -> c_int {
    call("nvmlDeviceGetCount", |library| {
        let number = c_uint::try_from(library.devices.len()).unwrap_or(c_uint::MAX);
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(count, number) }
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
        unsafe { ANSWERS.put(to, handle(index as usize)) }
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
        let found = library.devices.iter().position(|known| {
            let old = known.old_slice_name();
            known.uuid_text() == wanted || old.as_deref() == Some(wanted)
        });
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, handle(found.ok_or(NOT_FOUND)?)) }
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
        unsafe { put_text(to, length, &found.uuid_text()) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetIndex(handle: *mut c_void, to: *mut c_uint) -> c_int {
    on_device("nvmlDeviceGetIndex", handle, |_, number| {
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, number as c_uint) }
    })
}

/// The number of its device file, which counts as the driver does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMinorNumber(handle: *mut c_void, to: *mut c_uint) -> c_int {
    on_device("nvmlDeviceGetMinorNumber", handle, |library, number| {
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, library.ordinal(number) as c_uint) }
    })
}

/// No simulated device can be cut in slices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMigMode(
    handle: *mut c_void,
    _current: *mut c_uint,
    _pending: *mut c_uint,
) -> c_int {
    on_device("nvmlDeviceGetMigMode", handle, |_, _| Err(NOT_SUPPORTED))
}

/// A place on the bus (`nvmlPciInfo_t`).
#[repr(C)]
pub struct BusPlace {
    short: [u8; 16],
    domain: c_uint,
    bus: c_uint,
    device: c_uint,
    device_id: c_uint,
    subsystem_id: c_uint,
    text: [u8; 32],
}

/// Text in a field with zero bytes behind it, cut off where the field ends.
fn field<const LENGTH: usize>(text: &str) -> [u8; LENGTH] {
    let mut field = [0; LENGTH];
    let room = LENGTH.saturating_sub(1);
    for (to, from) in field.iter_mut().take(room).zip(text.bytes()) {
        *to = from;
    }
    field
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPciInfo_v3(handle: *mut c_void, to: *mut BusPlace) -> c_int {
    on_device("nvmlDeviceGetPciInfo", handle, |library, number| {
        let config = library.devices.get(number).ok_or(INVALID_ARGUMENT)?;
        let text = bus_text(config);
        let place = BusPlace {
            // The old form has four digits for the domain.
            short: field(text.get(4..).unwrap_or_default()),
            domain: 0,
            bus: c_uint::from(config.bus),
            device: 0,
            device_id: 0,
            subsystem_id: 0,
            text: field(&text),
        };
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, place) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleByPciBusId_v2(
    text: *const c_char,
    to: *mut *mut c_void,
) -> c_int {
    call("nvmlDeviceGetHandleByPciBusId", |library| {
        if text.is_null() {
            return Err(INVALID_ARGUMENT);
        }
        // SAFETY: the caller's promise: text that ends in a zero byte.
        let wanted = unsafe { CStr::from_ptr(text) }
            .to_str()
            .map_err(|_| INVALID_ARGUMENT)?;
        let found = library.devices.iter().position(|device| {
            let known = bus_text(device);
            let short = known.get(4..).unwrap_or_default();
            known.eq_ignore_ascii_case(wanted) || short.eq_ignore_ascii_case(wanted)
        });
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, handle(found.ok_or(NOT_FOUND)?)) }
    })
}
