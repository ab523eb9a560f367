//! Memory, copies and address space.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use core_gpu_driver::{DeviceAddress, PhysicalMemory, Place, RawStream, Region};
use gpu_sim::{
    Code, Machine,
    pointers::{host_at, raw_stream},
};

use crate::{ANSWERS, on_device};

/// Bytes that address space comes in.
const GRANULARITY: usize = 2 << 20;

fn device_at(address: u64) -> Result<DeviceAddress, Code> {
    DeviceAddress::new(address).ok_or(Code::INVALID_VALUE)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> c_int {
    on_device(|machine, device| {
        let info = machine.memory_info(device)?;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(free, info.free_bytes as usize) }?;
        // SAFETY: as above.
        unsafe { ANSWERS.put(total, info.total_bytes as usize) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAlloc_v2(address: *mut u64, bytes: usize) -> c_int {
    on_device(|machine, device| {
        let at = machine.allocate(device, bytes as u64)?;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(address, at.get()) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocManaged(
    address: *mut u64,
    bytes: usize,
    _flags: c_uint,
) -> c_int {
    on_device(|machine, device| {
        let at = machine.allocate_managed(device, bytes as u64)?;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(address, at.get()) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFree_v2(address: u64) -> c_int {
    on_device(|machine, device| match address {
        0 => Ok(()),
        address => machine.free(device, device_at(address)?),
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocAsync(
    address: *mut u64,
    bytes: usize,
    stream: *mut c_void,
) -> c_int {
    on_device(|machine, device| {
        let at = machine.allocate_on(device, bytes as u64, raw_stream(stream))?;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(address, at.get()) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFreeAsync(address: u64, stream: *mut c_void) -> c_int {
    on_device(|machine, device| machine.free_on(device, device_at(address)?, raw_stream(stream)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostAlloc(
    pointer: *mut *mut c_void,
    bytes: usize,
    _flags: c_uint,
) -> c_int {
    on_device(|machine, device| {
        let at = machine.allocate_pinned(device, bytes as u64)?;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(pointer, at.pointer().cast()) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFreeHost(pointer: *mut c_void) -> c_int {
    // SAFETY: the caller's promise is the machine's.
    on_device(|machine, device| unsafe { machine.free_pinned(device, host_at(pointer)?) })
}

/// A copy on a stream; one on none is waited for.
///
/// # Safety
/// As [`Machine::copy`].
unsafe fn copy(
    to: Result<Place, Code>,
    from: Result<Place, Code>,
    bytes: usize,
    on: Option<RawStream>,
) -> c_int {
    on_device(|machine: &Machine, device| {
        if bytes == 0 {
            return Ok(());
        }
        let stream = on.unwrap_or(RawStream::LEGACY_DEFAULT);
        // SAFETY: the caller's promise.
        unsafe { machine.copy(device, to?, from?, bytes as u64, stream) }?;
        match on {
            Some(_) => Ok(()),
            None => machine.synchronize_stream(device, stream),
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoDAsync_v2(
    to: u64,
    from: *const c_void,
    bytes: usize,
    stream: *mut c_void,
) -> c_int {
    let (to, from) = (
        device_at(to).map(Place::Device),
        host_at(from).map(Place::Host),
    );
    // SAFETY: the caller's promise.
    unsafe { copy(to, from, bytes, Some(raw_stream(stream))) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoHAsync_v2(
    to: *mut c_void,
    from: u64,
    bytes: usize,
    stream: *mut c_void,
) -> c_int {
    let (to, from) = (
        host_at(to).map(Place::Host),
        device_at(from).map(Place::Device),
    );
    // SAFETY: the caller's promise.
    unsafe { copy(to, from, bytes, Some(raw_stream(stream))) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize) -> c_int {
    let (to, from) = (
        device_at(to).map(Place::Device),
        host_at(from).map(Place::Host),
    );
    // SAFETY: the caller's promise.
    unsafe { copy(to, from, bytes, None) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, bytes: usize) -> c_int {
    let (to, from) = (
        host_at(to).map(Place::Host),
        device_at(from).map(Place::Device),
    );
    // SAFETY: the caller's promise.
    unsafe { copy(to, from, bytes, None) }
}

/// # Safety
/// Nothing is promised: both ends are the machine's own.
unsafe fn between(to: u64, from: u64, bytes: usize, stream: *mut c_void) -> c_int {
    let (to, from) = (
        device_at(to).map(Place::Device),
        device_at(from).map(Place::Device),
    );
    // SAFETY: no memory of the host is involved.
    unsafe { copy(to, from, bytes, Some(raw_stream(stream))) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyAsync(
    to: u64,
    from: u64,
    bytes: usize,
    stream: *mut c_void,
) -> c_int {
    // SAFETY: it asks for nothing.
    unsafe { between(to, from, bytes, stream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoDAsync_v2(
    to: u64,
    from: u64,
    bytes: usize,
    stream: *mut c_void,
) -> c_int {
    // SAFETY: it asks for nothing.
    unsafe { between(to, from, bytes, stream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyPeerAsync(
    to: u64,
    _to_context: *mut c_void,
    from: u64,
    _from_context: *mut c_void,
    bytes: usize,
    stream: *mut c_void,
) -> c_int {
    // SAFETY: it asks for nothing.
    unsafe { between(to, from, bytes, stream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD8Async(
    at: u64,
    value: u8,
    bytes: usize,
    stream: *mut c_void,
) -> c_int {
    on_device(|machine, device| {
        let region = Region {
            address: device_at(at)?,
            bytes: bytes as u64,
        };
        machine.set(device, region, value, raw_stream(stream))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAddressReserve(
    address: *mut u64,
    bytes: usize,
    _alignment: usize,
    _wish: u64,
    _flags: c_ulonglong,
) -> c_int {
    on_device(|machine, device| {
        let at = machine.reserve(device, bytes as u64)?;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(address, at.get()) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAddressFree(address: u64, bytes: usize) -> c_int {
    on_device(|machine, device| machine.release(device, device_at(address)?, bytes as u64))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemCreate(
    handle: *mut c_ulonglong,
    bytes: usize,
    _properties: *const c_void,
    _flags: c_ulonglong,
) -> c_int {
    on_device(|machine, device| {
        let memory = machine.create_physical(device, bytes as u64)?;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(handle, memory.handle) }
    })
}

/// Handles carry no size here: the machine knows it.
fn physical(handle: c_ulonglong, bytes: usize) -> PhysicalMemory {
    PhysicalMemory {
        handle,
        bytes: bytes as u64,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemRelease(handle: c_ulonglong) -> c_int {
    on_device(|machine, device| machine.destroy_physical(device, physical(handle, 0)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemMap(
    address: u64,
    bytes: usize,
    _offset: usize,
    handle: c_ulonglong,
    _flags: c_ulonglong,
) -> c_int {
    on_device(|machine, device| machine.map(device, device_at(address)?, physical(handle, bytes)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemSetAccess(
    _address: u64,
    _bytes: usize,
    _description: *const c_void,
    _count: usize,
) -> c_int {
    on_device(|machine, _| machine.enter("cuMemSetAccess"))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemUnmap(address: u64, bytes: usize) -> c_int {
    on_device(|machine, device| machine.unmap(device, device_at(address)?, bytes as u64))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetAllocationGranularity(
    bytes: *mut usize,
    _properties: *const c_void,
    _option: c_uint,
) -> c_int {
    // SAFETY: the caller's promise.
    crate::global("cuMemGetAllocationGranularity", |_| unsafe {
        ANSWERS.put(bytes, GRANULARITY)
    })
}
