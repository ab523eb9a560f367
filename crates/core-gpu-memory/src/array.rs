//! Arrays by shape and type, and the plain functions that older pools offered.

use core_gpu_driver::Stream;

use crate::{
    AllocError, Buffer, DType, MemoryManager, Pool, Source, manager::ProcessManagerError,
    memory_manager,
};

/// An array in device memory, owned. Its elements lie one after another, the last index fastest. As
/// its buffer it belongs to the stream that it was allocated on, and may be sent to other threads.
#[derive(Debug)]
pub struct DeviceArray {
    buffer: Buffer<u8>,
    shape: Vec<u64>,
    dtype: DType,
}

impl DeviceArray {
    /// Its extents.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The type of its elements.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Its memory.
    #[must_use]
    pub fn buffer(&self) -> &Buffer<u8> {
        &self.buffer
    }

    /// Its memory, to be filled, or declared as used on another stream.
    pub fn buffer_mut(&mut self) -> &mut Buffer<u8> {
        &mut self.buffer
    }

    /// Gives up shape and type.
    #[must_use]
    pub fn into_buffer(self) -> Buffer<u8> {
        self.buffer
    }
}

impl Pool {
    /// Memory for an array. With `zero_fill` its elements are zero, in the order of `on`; without,
    /// they are undefined.
    ///
    /// # Errors
    /// See [`AllocError`]; [`AllocError::SizeOverflow`] for a shape whose bytes are no number.
    pub fn allocate_array(
        &self,
        shape: &[u64],
        dtype: DType,
        zero_fill: bool,
        on: &Stream,
        by: Source,
    ) -> Result<DeviceArray, AllocError> {
        let bytes = dtype
            .array_bytes(shape)
            .and_then(|bytes| usize::try_from(bytes).ok());
        let bytes = bytes.ok_or(AllocError::SizeOverflow)?;
        let buffer = match zero_fill {
            true => self.allocate_zeroed(bytes, on, by)?,
            false => self.allocate(bytes, on, by)?,
        };
        Ok(DeviceArray {
            buffer,
            shape: shape.to_vec(),
            dtype,
        })
    }
}

impl MemoryManager {
    /// As [`Pool::allocate_array`], on the manager's stream.
    ///
    /// # Errors
    /// As [`Pool::allocate_array`].
    pub fn allocate_array(
        &self,
        shape: &[u64],
        dtype: DType,
        zero_fill: bool,
    ) -> Result<DeviceArray, AllocError> {
        let by = Source::named("arrays");
        self.pool()
            .allocate_array(shape, dtype, zero_fill, self.stream(), by)
    }
}

/// A pool of its own on the device of the process's manager, with at most `limit` bytes in use. The
/// caller owns it. May be called from several threads.
///
/// # Errors
/// As [`memory_manager`] fails.
pub fn memory_pool(limit: u64) -> Result<Pool, ProcessManagerError> {
    let pool = Pool::builder(memory_manager()?.driver()).limit(limit);
    Ok(pool.build()?)
}

/// An array from the process's manager, on its stream; the caller owns it. May be called from several
/// threads.
///
/// # Errors
/// As [`memory_manager`] and [`Pool::allocate_array`] fail.
pub fn allocate_array(
    shape: &[u64],
    dtype: DType,
    zero_fill: bool,
) -> Result<DeviceArray, ProcessManagerError> {
    Ok(memory_manager()?.allocate_array(shape, dtype, zero_fill)?)
}
