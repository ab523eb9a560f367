//! Who uses a device: the processes that `GPU_SIM_PROCESSES` names, on every device alike, as
//! `NUMBER:BYTES` with commas between, or `NUMBER` where the bytes are not told.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use crate::{INVALID_ARGUMENT, TOO_SMALL, on_device};

/// A process on a device (`nvmlProcessInfo_t`).
#[repr(C)]
pub struct ProcessFigures {
    process: c_uint,
    used: c_ulonglong,
    slice: c_uint,
    part: c_uint,
}

fn processes() -> Vec<ProcessFigures> {
    let said = std::env::var("GPU_SIM_PROCESSES").unwrap_or_default();
    let one = |text: &str| {
        let (process, used) = text.split_once(':').unwrap_or((text, ""));
        Some(ProcessFigures {
            process: process.trim().parse().ok()?,
            used: used.trim().parse().unwrap_or(c_ulonglong::MAX),
            slice: c_uint::MAX,
            part: c_uint::MAX,
        })
    };
    said.split(',').filter_map(one).collect()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetComputeRunningProcesses_v3(
    handle: *mut c_void,
    count: *mut c_uint,
    to: *mut ProcessFigures,
) -> c_int {
    on_device("nvmlDeviceGetComputeRunningProcesses", handle, |_, _| {
        if count.is_null() || to.is_null() {
            return Err(INVALID_ARGUMENT);
        }
        let found = processes();
        let number = c_uint::try_from(found.len()).unwrap_or(c_uint::MAX);
        // SAFETY: it is not null, and the caller promises a number there.
        let room = unsafe { count.replace(number) };
        if room < number {
            return Err(TOO_SMALL);
        }
        for (place, process) in found.into_iter().enumerate() {
            // SAFETY: the caller promises as much room as it says.
            unsafe { to.add(place).write(process) };
        }
        Ok(())
    })
}
