//! Modules and kernels. There is no device code: whatever image is loaded has the kernels that are
//! built in here.
//!
//! - `sim_fill(u64 address, u64 bytes, u8 value)` sets bytes;
//! - `core_gpu_spin(u64 nanoseconds)` takes so long on the machine's clock and touches nothing;
//! - `sim_add_f32(u64 to, u64 one, u64 other, u64 count)` adds numbers;
//! - `sim_relu_f32(u64 to, u64 from, u64 count)` makes negative numbers zero;
//! - `sim_matmul_f32(u64 to, u64 one, u64 other, u64 rows, u64 inner, u64 columns)` multiplies matrices
//!   whose rows lie one after another;
//! - `sim_softmax_f32(u64 to, u64 from, u64 rows, u64 columns)` makes each row a distribution.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use core_gpu_driver::{DeviceAddress, Region};
use gpu_sim::{Code, Kernel, KernelMemory, pointers::raw_stream};

use crate::{ANSWERS, on_device};

const MODULE: usize = 0x00d0_0000;
const FILL: usize = 0x00f0_0001;
const ADD: usize = 0x00f0_0002;
const RELU: usize = 0x00f0_0003;
const MATMUL: usize = 0x00f0_0004;
const SOFTMAX: usize = 0x00f0_0005;
const SPIN: usize = 0x00f0_0006;
const NAMES: &[(&CStr, usize)] = &[
    (c"sim_fill", FILL),
    (c"sim_add_f32", ADD),
    (c"sim_relu_f32", RELU),
    (c"sim_matmul_f32", MATMUL),
    (c"sim_softmax_f32", SOFTMAX),
    (c"core_gpu_spin", SPIN),
];

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadData(module: *mut *mut c_void, image: *const c_void) -> c_int {
    on_device(|machine, _| {
        machine.enter("cuModuleLoadData")?;
        if image.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(module, std::ptr::without_provenance_mut(MODULE)) }
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
        unsafe { ANSWERS.put(function, std::ptr::without_provenance_mut(*number)) }
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

/// The numbers that lie in bytes.
fn numbers(bytes: &[u8]) -> Vec<f32> {
    let (each, _) = bytes.as_chunks::<4>();
    each.iter().map(|four| f32::from_le_bytes(*four)).collect()
}

fn bytes(numbers: impl IntoIterator<Item = f32>) -> Vec<u8> {
    numbers.into_iter().flat_map(f32::to_le_bytes).collect()
}

/// A kernel that makes numbers of others.
fn computing(
    name: &'static str,
    to: Region,
    from: Vec<Region>,
    compute: impl Fn(&[Vec<f32>]) -> Vec<f32> + Send + Sync + 'static,
) -> Kernel {
    let kernel = from
        .iter()
        .fold(Kernel::new(name), |kernel, region| kernel.reading(*region));
    let body = move |memory: &mut KernelMemory<'_>| {
        let read = |region: &Region| Ok(numbers(&memory.read(*region)?));
        let read: Vec<_> = from.iter().map(read).collect::<Result<_, Code>>()?;
        memory.write(to, &bytes(compute(&read)))
    };
    kernel.writing(to).doing(body)
}

fn add(to: Region, one: Region, other: Region) -> Kernel {
    computing("sim_add_f32", to, vec![one, other], |read| match read {
        [one, other] => one
            .iter()
            .zip(other)
            .map(|(one, other)| one + other)
            .collect(),
        _ => Vec::new(),
    })
}

fn relu(to: Region, from: Region) -> Kernel {
    computing("sim_relu_f32", to, vec![from], |read| {
        read.iter()
            .flatten()
            .map(|number| number.max(0.0))
            .collect()
    })
}

fn matmul(to: Region, one: Region, other: Region, inner: usize, columns: usize) -> Kernel {
    computing("sim_matmul_f32", to, vec![one, other], move |read| {
        let [one, other] = read else {
            return Vec::new();
        };
        let (inner, columns) = (inner.max(1), columns.max(1));
        let product = |row: &[f32], column: usize| {
            let down = other.iter().skip(column).step_by(columns);
            row.iter().zip(down).map(|(one, other)| one * other).sum()
        };
        let rows = one.chunks(inner);
        rows.flat_map(|row| (0..columns).map(move |column| product(row, column)))
            .collect()
    })
}

fn softmax(to: Region, from: Region, columns: usize) -> Kernel {
    computing("sim_softmax_f32", to, vec![from], move |read| {
        let rows = read.iter().flat_map(|all| all.chunks(columns.max(1)));
        rows.flat_map(|row| {
            let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let powers: Vec<f32> = row.iter().map(|number| (number - most).exp()).collect();
            let sum: f32 = powers.iter().sum();
            powers.into_iter().map(move |power| power / sum)
        })
        .collect()
    })
}

/// Bytes of so many numbers, rows by columns.
fn area(rows: u64, columns: u64) -> Result<u64, Code> {
    let bytes = rows
        .checked_mul(columns)
        .and_then(|count| count.checked_mul(4));
    bytes.ok_or(Code::INVALID_VALUE)
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
                let bytes = area(1, number(3)?)?;
                add(
                    region(number(0)?, bytes)?,
                    region(number(1)?, bytes)?,
                    region(number(2)?, bytes)?,
                )
            }
            RELU => {
                let bytes = area(1, number(2)?)?;
                relu(region(number(0)?, bytes)?, region(number(1)?, bytes)?)
            }
            MATMUL => {
                let (rows, inner, columns) = (number(3)?, number(4)?, number(5)?);
                matmul(
                    region(number(0)?, area(rows, columns)?)?,
                    region(number(1)?, area(rows, inner)?)?,
                    region(number(2)?, area(inner, columns)?)?,
                    inner as usize,
                    columns as usize,
                )
            }
            SOFTMAX => {
                let (rows, columns) = (number(2)?, number(3)?);
                let bytes = area(rows, columns)?;
                softmax(
                    region(number(0)?, bytes)?,
                    region(number(1)?, bytes)?,
                    columns as usize,
                )
            }
            SPIN => Kernel::new("core_gpu_spin").taking(number(0)?),
            _ => return Err(Code::INVALID_HANDLE),
        };
        machine.launch(device, &kernel, raw_stream(stream))
    })
}
