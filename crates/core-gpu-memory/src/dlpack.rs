//! Device memory for array libraries: tensors as [DLPack] lays them out.
//!
//! Only the exporting side is here. A consumer is given the address of a tensor and calls the
//! tensor's deleter when it needs it no longer; until then this module keeps whatever owns the memory.
//! Nothing here reads through an address: a deleter finds its tensor by the address that it is called
//! with, so that a wrong or a second call is without effect.
//!
//! ```
//! use core_gpu_memory::{DType, dlpack::{self, Device, Tensor}};
//!
//! let bytes = vec![0_u8; 24];
//! let tensor = Tensor { address: bytes.as_ptr() as usize, device: Device::CPU, dtype: DType::Float32, shape: vec![2, 3] };
//! let address = dlpack::export(&tensor, Box::new(bytes))?;
//! // Nobody has taken it: what owns the memory is dropped.
//! assert!(dlpack::withdraw(address));
//! assert!(!dlpack::withdraw(address));
//! # Ok::<(), dlpack::ExtentTooLarge>(())
//! ```
//!
//! [DLPack]: https://dmlc.github.io/dlpack/latest/c_api.html

use std::{
    any::Any,
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::DType;

/// The version of the layout that [`export_versioned`] writes: major and minor.
pub const VERSION: (u32, u32) = (1, 0);

/// Where a tensor's memory is, as DLPack numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Device {
    /// `DLDeviceType`.
    pub kind: i32,
    /// The device's number in this process.
    pub ordinal: i32,
}

impl Device {
    /// The host's memory.
    pub const CPU: Self = Self {
        kind: 1,
        ordinal: 0,
    };

    /// A CUDA device.
    #[must_use]
    pub const fn cuda(ordinal: i32) -> Self {
        Self { kind: 2, ordinal }
    }

    /// A ROCm device.
    #[must_use]
    pub const fn rocm(ordinal: i32) -> Self {
        Self { kind: 10, ordinal }
    }
}

/// What is exported: elements in C order, without gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Where the first element is.
    pub address: usize,
    /// Whose address that is.
    pub device: Device,
    /// The type of an element.
    pub dtype: DType,
    /// Elements in each dimension; none for a single element.
    pub shape: Vec<u64>,
}

/// A shape that the layout has no numbers for: its extents and strides are signed. Only of an array
/// without elements, for no memory has so many.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "an array of shape {shape:?} has an extent or a stride above 2^63 - 1, which DLPack cannot tell"
)]
pub struct ExtentTooLarge {
    /// Elements in each dimension.
    pub shape: Vec<u64>,
}

/// `DLDataType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
struct DataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

impl DataType {
    const fn of(dtype: DType) -> Self {
        let code = match dtype {
            DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64 => 0,
            DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => 1,
            DType::Float16 | DType::Float32 | DType::Float64 => 2,
            DType::BFloat16 => 4,
            DType::Complex64 | DType::Complex128 => 5,
            DType::Bool => 6,
        };
        Self {
            code,
            bits: dtype.bytes() as u8 * 8,
            lanes: 1,
        }
    }
}

/// `DLTensor`. Addresses are numbers here: they are written for others, and never followed.
#[derive(Debug)]
#[repr(C)]
struct RawTensor {
    data: usize,
    device: Device,
    dimensions: i32,
    dtype: DataType,
    shape: usize,
    strides: usize,
    byte_offset: u64,
}

/// `DLManagedTensor`.
#[derive(Debug)]
#[repr(C)]
struct Managed {
    tensor: RawTensor,
    context: usize,
    deleter: extern "C" fn(usize),
}

/// `DLManagedTensorVersioned`.
#[derive(Debug)]
#[repr(C)]
struct ManagedVersioned {
    major: u32,
    minor: u32,
    context: usize,
    deleter: extern "C" fn(usize),
    flags: u64,
    tensor: RawTensor,
}

#[derive(Debug)]
enum Layout {
    Plain(Box<Managed>),
    Versioned(Box<ManagedVersioned>),
}

/// What a consumer may read as long as it has not called the deleter.
struct Exported {
    _layout: Layout,
    /// The tensor says where these are.
    _shape: Box<[i64]>,
    _strides: Box<[i64]>,
    _owner: Box<dyn Any + Send>,
}

/// By the address that the consumer has.
static EXPORTED: Mutex<BTreeMap<usize, Exported>> = Mutex::new(BTreeMap::new());

fn exported() -> MutexGuard<'static, BTreeMap<usize, Exported>> {
    EXPORTED.lock().unwrap_or_else(PoisonError::into_inner)
}

extern "C" fn delete(address: usize) {
    withdraw(address);
}

/// Lays a tensor out as `DLManagedTensor`, for a capsule named `dltensor`. `owner` is dropped when the
/// consumer calls the deleter, on whatever thread that is. Returns the address of the layout.
///
/// # Errors
/// [`ExtentTooLarge`]; `owner` is then dropped.
pub fn export(tensor: &Tensor, owner: Box<dyn Any + Send>) -> Result<usize, ExtentTooLarge> {
    keep(tensor, owner, |tensor| {
        Layout::Plain(Box::new(Managed {
            tensor,
            context: 0,
            deleter: delete,
        }))
    })
}

/// The same as `DLManagedTensorVersioned`, for a capsule named `dltensor_versioned`. `is_copied` tells
/// the consumer that nobody else sees what it writes.
///
/// # Errors
/// As [`export`].
pub fn export_versioned(
    tensor: &Tensor,
    is_copied: bool,
    owner: Box<dyn Any + Send>,
) -> Result<usize, ExtentTooLarge> {
    keep(tensor, owner, |tensor| {
        Layout::Versioned(Box::new(ManagedVersioned {
            major: VERSION.0,
            minor: VERSION.1,
            context: 0,
            deleter: delete,
            flags: if is_copied { 2 } else { 0 },
            tensor,
        }))
    })
}

fn keep(
    tensor: &Tensor,
    owner: Box<dyn Any + Send>,
    layout: impl FnOnce(RawTensor) -> Layout,
) -> Result<usize, ExtentTooLarge> {
    let too_large = || ExtentTooLarge {
        shape: tensor.shape.clone(),
    };
    let extents = tensor.shape.iter().map(|extent| i64::try_from(*extent));
    let shape: Box<[i64]> = extents.collect::<Result<_, _>>().map_err(|_| too_large())?;
    let strides = strides(&shape).ok_or_else(too_large)?;
    let raw = RawTensor {
        data: tensor.address,
        device: tensor.device,
        dimensions: shape.len() as i32,
        dtype: DataType::of(tensor.dtype),
        shape: shape.as_ptr().addr(),
        strides: strides.as_ptr().addr(),
        byte_offset: 0,
    };
    let layout = layout(raw);
    let address = match &layout {
        Layout::Plain(managed) => std::ptr::from_ref(managed.as_ref()).expose_provenance(),
        Layout::Versioned(managed) => std::ptr::from_ref(managed.as_ref()).expose_provenance(),
    };
    let _ = (
        shape.as_ptr().expose_provenance(),
        strides.as_ptr().expose_provenance(),
    );
    let one = Exported {
        _layout: layout,
        _shape: shape,
        _strides: strides,
        _owner: owner,
    };
    exported().insert(address, one);
    Ok(address)
}

/// Elements from one to the next in each dimension, in C order. None where one is no number of the layout's.
fn strides(shape: &[i64]) -> Option<Box<[i64]>> {
    let mut strides = Vec::with_capacity(shape.len());
    let mut elements = Some(1_i64);
    for extent in shape.iter().rev() {
        let stride = elements?;
        strides.push(stride);
        elements = stride.checked_mul(*extent.max(&1));
    }
    strides.reverse();
    Some(strides.into_boxed_slice())
}

/// Drops what owns an exported tensor's memory: as the deleter does, for a tensor that nobody has
/// taken. Returns whether there was one at that address.
pub fn withdraw(address: usize) -> bool {
    // What is dropped may take locks of its own, so that ours is not held then.
    let found = exported().remove(&address);
    found.is_some()
}

/// How many exported tensors their consumers still have.
#[must_use]
pub fn count() -> usize {
    exported().len()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn tensor(shape: &[u64], dtype: DType) -> Tensor {
        Tensor {
            address: 0x1000,
            device: Device::cuda(1),
            dtype,
            shape: shape.to_vec(),
        }
    }

    #[test]
    fn strides_are_in_c_order_and_count_elements() {
        let strides = |shape: &[i64]| strides(shape).map(Vec::from);
        assert_eq!(strides(&[2, 3, 4]), Some(vec![12, 4, 1]));
        assert_eq!(strides(&[]), Some(Vec::new()));
        assert_eq!(strides(&[5, 0]), Some(vec![1, 1]));
        assert_eq!(strides(&[0, 5]), Some(vec![5, 1]));
    }

    #[test]
    fn what_the_layout_has_no_numbers_for_is_refused() {
        for (shape, fits) in [
            (&[0, (1 << 63) - 1][..], true),
            (&[0, 1 << 63], false),
            (&[0, 1 << 62, 2], false),
            (&[0, 1 << 62, 4], false),
            (&[1 << 62, 0, 4], true),
        ] {
            let owner = Arc::new(());
            let held: Box<dyn Any + Send> = Box::new(Arc::clone(&owner));
            let exported = export(&tensor(shape, DType::UInt8), held);
            assert_eq!(exported.is_ok(), fits, "{shape:?}");
            exported.map(withdraw).ok();
            assert_eq!(Arc::strong_count(&owner), 1);
        }
    }

    #[test]
    fn the_owner_goes_when_the_deleter_is_called_and_not_before() {
        for versioned in [false, true] {
            let owner = Arc::new(());
            let held: Box<dyn Any + Send> = Box::new(Arc::clone(&owner));
            let tensor = tensor(&[2, 3], DType::Int16);
            let address = if versioned {
                export_versioned(&tensor, false, held)
            } else {
                export(&tensor, held)
            };
            let address = address.unwrap();
            assert_eq!(Arc::strong_count(&owner), 2);
            delete(address);
            assert_eq!(Arc::strong_count(&owner), 1);
            // A second call finds nothing.
            delete(address);
            assert!(!withdraw(address));
        }
    }

    #[test]
    fn the_layout_is_dlpacks() {
        // Figures of dlpack.h 1.0 on a system of 64 bits.
        assert_eq!(size_of::<RawTensor>(), 48);
        assert_eq!(size_of::<Managed>(), 64);
        assert_eq!(std::mem::offset_of!(Managed, deleter), 56);
        assert_eq!(size_of::<ManagedVersioned>(), 80);
        assert_eq!(std::mem::offset_of!(ManagedVersioned, context), 8);
        assert_eq!(std::mem::offset_of!(ManagedVersioned, deleter), 16);
        assert_eq!(std::mem::offset_of!(ManagedVersioned, flags), 24);
        assert_eq!(std::mem::offset_of!(ManagedVersioned, tensor), 32);
        assert_eq!(DataType::of(DType::Complex128).bits, 128);
        assert_eq!(DataType::of(DType::BFloat16).code, 4);
    }
}
