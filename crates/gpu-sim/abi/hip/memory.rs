//! Memory and copies.

use std::ffi::{c_int, c_uint, c_void};

use core_gpu_driver::{DeviceAddress, Place, Region};
use gpu_sim::{
    Code,
    pointers::{host_at, raw_stream},
};

use crate::{ANSWERS, on_current};

fn device_at(address: *const c_void) -> Result<DeviceAddress, Code> {
    DeviceAddress::new(address.addr() as u64).ok_or(Code::INVALID_VALUE)
}

fn pointer(address: DeviceAddress) -> *mut c_void {
    std::ptr::without_provenance_mut(address.get() as usize)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> c_int {
    on_current("hipMemGetInfo", |machine, device| {
        let info = machine.memory_info(device)?;
        // SAFETY: the caller's promise.
        unsafe {
            ANSWERS.put(free, info.free_bytes as usize)?;
            ANSWERS.put(total, info.total_bytes as usize)
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMalloc(to: *mut *mut c_void, bytes: usize) -> c_int {
    on_current("hipMalloc", |machine, device| {
        let at = machine.allocate(device, bytes as u64)?;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, pointer(at)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipFree(at: *mut c_void) -> c_int {
    on_current("hipFree", |machine, device| {
        if at.is_null() {
            return Ok(());
        }
        machine.free(device, device_at(at)?)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMallocAsync(
    to: *mut *mut c_void,
    bytes: usize,
    stream: *mut c_void,
) -> c_int {
    on_current("hipMallocAsync", |machine, device| {
        let at = machine.allocate_on(device, bytes as u64, raw_stream(stream))?;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, pointer(at)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipFreeAsync(at: *mut c_void, stream: *mut c_void) -> c_int {
    on_current("hipFreeAsync", |machine, device| {
        machine.free_on(device, device_at(at)?, raw_stream(stream))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostMalloc(
    to: *mut *mut c_void,
    bytes: usize,
    _flags: c_uint,
) -> c_int {
    on_current("hipHostMalloc", |machine, device| {
        let at = machine.allocate_pinned(device, bytes as u64)?;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, at.pointer().cast()) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostFree(at: *mut c_void) -> c_int {
    // SAFETY: the caller's promise is the machine's.
    on_current("hipHostFree", |machine, device| unsafe {
        machine.free_pinned(device, host_at(at)?)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyAsync(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    way: c_uint,
    stream: *mut c_void,
) -> c_int {
    on_current("hipMemcpyAsync", |machine, device| {
        let (to, from) = match way {
            1 => (Place::Device(device_at(to)?), Place::Host(host_at(from)?)),
            2 => (Place::Host(host_at(to)?), Place::Device(device_at(from)?)),
            3 => (
                Place::Device(device_at(to)?),
                Place::Device(device_at(from)?),
            ),
            // Between two places of the host, and ways that are guessed by the addresses.
            _ => return Err(Code::INVALID_VALUE),
        };
        // SAFETY: the caller's promise.
        unsafe { machine.copy(device, to, from, bytes as u64, raw_stream(stream)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetAsync(
    at: *mut c_void,
    value: c_int,
    bytes: usize,
    stream: *mut c_void,
) -> c_int {
    on_current("hipMemsetAsync", |machine, device| {
        let region = Region {
            address: device_at(at)?,
            bytes: bytes as u64,
        };
        // The function takes the number's last byte.
        machine.set(device, region, value as u8, raw_stream(stream))
    })
}
