//! Modules and kernels. There is no device code: whatever image is loaded has the two kernels that
//! are built in here.
//!
//! - `sim_fill(u64 address, u64 bytes, u8 value)` sets bytes;
//! - `sim_add_f32(u64 to, u64 one, u64 other, u64 count)` adds numbers.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use core_gpu_driver::{DeviceAddress, Region};
use gpu_sim::{Code, Kernel, KernelMemory};

use crate::{on_device, put, streams::raw_stream};

const MODULE: usize = 0x00d0_0000;
const FILL: usize = 0x00f0_0001;
const ADD: usize = 0x00f0_0002;
const NAMES: &[(&CStr, usize)] = &[(c"sim_fill", FILL), (c"sim_add_f32", ADD)];

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadData(module: *mut *mut c_void, image: *const c_void) -> c_int {
    on_device(|machine, _| {
        machine.enter("cuModuleLoadData")?;
        if image.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: the caller's promise.
        unsafe { put(module, std::ptr::without_provenance_mut(MODULE)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleUnload(module: *mut c_void) -> c_int {
    on_device(|machine, _| {
        machine.enter("cuModuleUnload")?;
        if module.addr() == MODULE {
            Ok(())
        } else {
            Err(Code::INVALID_HANDLE)
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetFunction(
    function: *mut *mut c_void,
    module: *mut c_void,
    name: *const c_char,
) -> c_int {
    on_device(|machine, _| {
        machine.enter("cuModuleGetFunction")?;
        if module.addr() != MODULE || name.is_null() {
            return Err(Code::INVALID_HANDLE);
        }
        // SAFETY: the caller's promise: text that ends in a zero byte.
        let name = unsafe { CStr::from_ptr(name) };
        let found = NAMES.iter().find(|(known, _)| *known == name);
        let (_, number) = found.ok_or(Code::NOT_FOUND)?;
        // SAFETY: the caller's promise.
        unsafe { put(function, std::ptr::without_provenance_mut(*number)) }
    })
}

/// The n-th argument of a kernel.
///
/// # Safety
/// `parameters` points to pointers, and the n-th of them to a `T`.
unsafe fn argument<T: Copy>(parameters: *mut *mut c_void, index: usize) -> Result<T, Code> {
    if parameters.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { (*parameters.add(index)).cast::<T>().read_unaligned() })
}

fn region(address: u64, bytes: u64) -> Result<Region, Code> {
    let address = DeviceAddress::new(address).ok_or(Code::INVALID_VALUE)?;
    Ok(Region { address, bytes })
}

fn fill(at: Region, value: u8) -> Kernel {
    let body =
        move |memory: &mut KernelMemory<'_>| memory.write(at, &vec![value; at.bytes as usize]);
    Kernel::new("sim_fill").writing(at).doing(body)
}

fn add(to: Region, one: Region, other: Region) -> Kernel {
    let body = move |memory: &mut KernelMemory<'_>| {
        let (one, other) = (memory.read(one)?, memory.read(other)?);
        let number = |bytes: &[u8]| {
            bytes
                .first_chunk()
                .map_or(0.0, |four| f32::from_le_bytes(*four))
        };
        let pairs = one.chunks_exact(4).zip(other.chunks_exact(4));
        let sums = pairs.flat_map(|(one, other)| (number(one) + number(other)).to_le_bytes());
        memory.write(to, &sums.collect::<Vec<_>>())
    };
    Kernel::new("sim_add_f32")
        .reading(one)
        .reading(other)
        .writing(to)
        .doing(body)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernel(
    function: *mut c_void,
    _grid_x: c_uint,
    _grid_y: c_uint,
    _grid_z: c_uint,
    _block_x: c_uint,
    _block_y: c_uint,
    _block_z: c_uint,
    _shared_bytes: c_uint,
    stream: *mut c_void,
    parameters: *mut *mut c_void,
    _extra: *mut *mut c_void,
) -> c_int {
    on_device(|machine, device| {
        // SAFETY: the caller's promise: arguments of the types that the kernel has.
        let number = |index| unsafe { argument::<u64>(parameters, index) };
        let kernel = match function.addr() {
            FILL => {
                // SAFETY: as above.
                let value = unsafe { argument::<u8>(parameters, 2) }?;
                fill(region(number(0)?, number(1)?)?, value)
            }
            ADD => {
                let bytes = number(3)?.checked_mul(4).ok_or(Code::INVALID_VALUE)?;
                add(
                    region(number(0)?, bytes)?,
                    region(number(1)?, bytes)?,
                    region(number(2)?, bytes)?,
                )
            }
            _ => return Err(Code::INVALID_HANDLE),
        };
        machine.launch(device, &kernel, raw_stream(stream))
    })
}
