//! The simulated HIP library, as far as detection asks: what a program finds when it looks for
//! `libamdhip64`. It has a version, and the devices that `GPU_SIM_HIP_DEVICES` counts (none).
#![expect(unsafe_code, reason = "the library's interface is pointers")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the library's manual documents them"
)]

use std::ffi::{c_int, c_uint};

/// The library's code for an argument that is none.
const INVALID_VALUE: c_int = 1;
/// The library's code for a machine without devices.
const NO_DEVICE: c_int = 100;

fn number(name: &str, usual: c_int) -> c_int {
    let said = std::env::var(name).ok().and_then(|text| text.parse().ok());
    said.unwrap_or(usual)
}

/// # Safety
/// `to` is null or has room for one number.
unsafe fn put(to: *mut c_int, value: c_int) -> c_int {
    if to.is_null() {
        return INVALID_VALUE;
    }
    // SAFETY: it is not null, and the caller promises the room.
    unsafe { to.write(value) };
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn hipInit(_flags: c_uint) -> c_int {
    number("GPU_SIM_HIP_INIT", 0)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipRuntimeGetVersion(version: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { put(version, number("GPU_SIM_HIP_VERSION", 60_300_000)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceCount(count: *mut c_int) -> c_int {
    match number("GPU_SIM_HIP_DEVICES", 0) {
        0 => NO_DEVICE,
        // SAFETY: the caller's promise.
        devices => unsafe { put(count, devices) },
    }
}
