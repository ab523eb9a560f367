//! How a device is: errors of its memory, rows that others stand in for, why it is slow.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use crate::{
    ANSWERS, INVALID_ARGUMENT, Library, NOT_SUPPORTED,
    figures::{self, Figure},
    on_device,
};

/// Reasons for lower clocks that a device can have: all bits of the manual.
const SUPPORTED_REASONS: c_ulonglong = 0x1ff;
/// A device's memory among the places that have counters.
const DEVICE_MEMORY: c_uint = 2;
/// How many places the manual has.
const PLACES: c_uint = 8;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetEccMode(
    handle: *mut c_void,
    current: *mut c_uint,
    pending: *mut c_uint,
) -> c_int {
    on_device("nvmlDeviceGetEccMode", handle, |library, number| {
        let on = c_uint::from(library.figures.get(number, figures::ECC) != 0);
        // SAFETY: the caller's promise.
        unsafe {
            ANSWERS.put(current, on)?;
            ANSWERS.put(pending, on)
        }
    })
}

/// The counter of a kind of error: corrected or not, since the last start or ever.
fn counter(kind: c_uint, since: c_uint) -> Result<Figure, c_int> {
    match (kind, since) {
        (0, 0) => Ok(figures::ECC_CORRECTED),
        (0, 1) => Ok(figures::ECC_CORRECTED_EVER),
        (1, 0) => Ok(figures::ECC_UNCORRECTED),
        (1, 1) => Ok(figures::ECC_UNCORRECTED_EVER),
        _ => Err(INVALID_ARGUMENT),
    }
}

fn count(library: &Library, number: usize, counter: Figure) -> Result<u64, c_int> {
    if library.figures.get(number, figures::ECC) == 0 {
        return Err(NOT_SUPPORTED);
    }
    Ok(library.figures.get(number, counter))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetTotalEccErrors(
    handle: *mut c_void,
    kind: c_uint,
    since: c_uint,
    to: *mut c_ulonglong,
) -> c_int {
    on_device("nvmlDeviceGetTotalEccErrors", handle, |library, number| {
        let errors = count(library, number, counter(kind, since)?)?;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, errors) }
    })
}

/// All errors are of the device's memory: caches have none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMemoryErrorCounter(
    handle: *mut c_void,
    kind: c_uint,
    since: c_uint,
    place: c_uint,
    to: *mut c_ulonglong,
) -> c_int {
    let function = "nvmlDeviceGetMemoryErrorCounter";
    on_device(function, handle, |library, number| {
        if place >= PLACES {
            return Err(INVALID_ARGUMENT);
        }
        let errors = count(library, number, counter(kind, since)?)?;
        let here = if place == DEVICE_MEMORY { errors } else { 0 };
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, here) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetRemappedRows(
    handle: *mut c_void,
    corrected: *mut c_uint,
    uncorrected: *mut c_uint,
    pending: *mut c_uint,
    failed: *mut c_uint,
) -> c_int {
    on_device("nvmlDeviceGetRemappedRows", handle, |library, number| {
        let rows = |figure| library.figures.get(number, figure) as c_uint;
        let is = |figure| c_uint::from(library.figures.get(number, figure) != 0);
        // SAFETY: the caller's promise.
        unsafe {
            ANSWERS.put(corrected, rows(figures::ROWS_CORRECTED))?;
            ANSWERS.put(uncorrected, rows(figures::ROWS_UNCORRECTED))?;
            ANSWERS.put(pending, is(figures::ROWS_PENDING))?;
            ANSWERS.put(failed, is(figures::ROWS_FAILED))
        }
    })
}

/// The newer name of the function below.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCurrentClocksEventReasons(
    handle: *mut c_void,
    to: *mut c_ulonglong,
) -> c_int {
    // SAFETY: the same promise.
    unsafe { nvmlDeviceGetCurrentClocksThrottleReasons(handle, to) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCurrentClocksThrottleReasons(
    handle: *mut c_void,
    to: *mut c_ulonglong,
) -> c_int {
    let function = "nvmlDeviceGetCurrentClocksThrottleReasons";
    on_device(function, handle, |library, number| {
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, library.figures.get(number, figures::THROTTLE)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetSupportedClocksThrottleReasons(
    handle: *mut c_void,
    to: *mut c_ulonglong,
) -> c_int {
    let function = "nvmlDeviceGetSupportedClocksThrottleReasons";
    // SAFETY: the caller's promise.
    on_device(function, handle, |_, _| unsafe {
        ANSWERS.put(to, SUPPORTED_REASONS)
    })
}
