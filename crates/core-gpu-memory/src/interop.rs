//! Buffers of the pool for programs that use cudarc: they go where a `CudaSlice` goes, without
//! copies. Not through `upgrade_device_ptr`, whose drop would free our block with the driver.
#![expect(
    unsafe_code,
    reason = "cudarc's traits about what a kernel may be given are unsafe"
)]

use std::{fmt, sync::Arc};

use core_gpu_driver::{DriverError, Refusal, Stream, cuda};
use cudarc::driver::{
    CudaEvent, CudaStream, DevicePtr, DevicePtrMut, DeviceRepr, DeviceSlice, SyncOnDrop,
    sys::CUdeviceptr,
};

use crate::{AllocError, Buffer, DeviceType, Pool, Source};

/// A buffer of the pool on a stream of cudarc's.
///
/// It can be read and written through cudarc's copies on any stream of the device: they wait for
/// each other as with cudarc's own slices, event tracking switched on or not. A reference to it is a
/// kernel's pointer argument; for a kernel on another stream than its own, see
/// [`CudarcBuffer::before_use_on`].
///
/// Dropping it lets its stream wait for all of these uses and gives the block back to the pool. May
/// be sent to other threads.
// The address comes first: a kernel is given a pointer to this, and reads eight bytes there.
#[repr(C)]
pub struct CudarcBuffer<T: DeviceType> {
    address: CUdeviceptr,
    theirs: Arc<CudaStream>,
    read: Option<CudaEvent>,
    written: Option<CudaEvent>,
    /// Dropped after the waits of `drop`, as all fields are.
    buffer: Buffer<T>,
}

// SAFETY: the first eight bytes are the device address (`repr(C)`), which is all that a kernel reads
// of a pointer argument.
unsafe impl<T: DeviceType> DeviceRepr for CudarcBuffer<T> {}

fn lost(function: &'static str, error: cudarc::driver::DriverError) -> AllocError {
    AllocError::Driver(DriverError::Call {
        function,
        code: error.0 as i32,
        from_earlier_work: false,
    })
}

impl Pool {
    /// Memory for `len` elements on a stream of cudarc's.
    ///
    /// # Errors
    /// As [`Pool::allocate`]; refused for a stream of another device.
    pub fn allocate_cudarc<T: DeviceType>(
        &self,
        len: usize,
        on: &Arc<CudaStream>,
        by: Source,
    ) -> Result<CudarcBuffer<T>, AllocError> {
        let stream = cuda::stream_of(self.driver(), on)?;
        let buffer = self.allocate(len, &stream, by)?;
        CudarcBuffer::new(buffer, on)
    }
}

impl<T: DeviceType> CudarcBuffer<T> {
    fn new(buffer: Buffer<T>, on: &Arc<CudaStream>) -> Result<CudarcBuffer<T>, AllocError> {
        let event = || {
            on.context()
                .new_event(None)
                .map_err(|error| lost("cuEventCreate", error))
        };
        Ok(CudarcBuffer {
            address: buffer.address().get(),
            theirs: Arc::clone(on),
            read: Some(event()?),
            written: Some(event()?),
            buffer,
        })
    }

    /// A buffer that was allocated on `stream`, which is [`cuda::stream_of`] of `on`.
    ///
    /// # Errors
    /// Refused when the two are different streams; as the driver's calls fail.
    pub fn from_buffer(
        buffer: Buffer<T>,
        stream: &Stream,
        on: &Arc<CudaStream>,
    ) -> Result<CudarcBuffer<T>, AllocError> {
        let same = cuda::stream_of(stream.driver(), on)?.raw() == stream.raw();
        if !same {
            let (function, why) = ("from_buffer", Refusal::UnknownStream);
            return Err(DriverError::Refused { function, why }.into());
        }
        CudarcBuffer::new(buffer, on)
    }

    /// Lets a stream wait for whatever used it, before a kernel on that stream is given it.
    ///
    /// # Errors
    /// As the driver's call fails.
    pub fn before_use_on(&self, stream: &CudaStream) -> Result<(), AllocError> {
        for event in self.read.iter().chain(&self.written) {
            stream
                .wait(event)
                .map_err(|error| lost("cuStreamWaitEvent", error))?;
        }
        Ok(())
    }

    /// Notes that a kernel on that stream has been given it.
    ///
    /// # Errors
    /// As the driver's call fails.
    pub fn after_use_on(&self, stream: &CudaStream) -> Result<(), AllocError> {
        if let Some(event) = &self.written {
            event
                .record(stream)
                .map_err(|error| lost("cuEventRecord", error))?;
        }
        Ok(())
    }

    /// The pool's buffer.
    #[must_use]
    pub fn buffer(&self) -> &Buffer<T> {
        &self.buffer
    }
}

impl<T: DeviceType> Drop for CudarcBuffer<T> {
    fn drop(&mut self) {
        // The block is its stream's again: that waits for the others.
        if self.before_use_on(&self.theirs).is_err() {
            // Waiting for everything is as good. If that fails too, the device does nothing any more.
            let _ = self.theirs.context().synchronize();
        }
    }
}

impl<T: DeviceType> DeviceSlice<T> for CudarcBuffer<T> {
    fn len(&self) -> usize {
        self.buffer.len()
    }

    fn stream(&self) -> &Arc<CudaStream> {
        &self.theirs
    }
}

impl<T: DeviceType> DevicePtr<T> for CudarcBuffer<T> {
    fn device_ptr<'a>(&'a self, stream: &'a CudaStream) -> (CUdeviceptr, SyncOnDrop<'a>) {
        if let Some(event) = &self.written {
            // As cudarc's own slices do: the next call of the context reports it.
            stream.context().record_err(stream.wait(event));
        }
        (self.address, SyncOnDrop::record_event(&self.read, stream))
    }
}

impl<T: DeviceType> DevicePtrMut<T> for CudarcBuffer<T> {
    fn device_ptr_mut<'a>(&'a mut self, stream: &'a CudaStream) -> (CUdeviceptr, SyncOnDrop<'a>) {
        for event in self.read.iter().chain(&self.written) {
            stream.context().record_err(stream.wait(event));
        }
        (
            self.address,
            SyncOnDrop::record_event(&self.written, stream),
        )
    }
}

impl<T: DeviceType> fmt::Debug for CudarcBuffer<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("CudarcBuffer")
            .field(&self.buffer)
            .finish()
    }
}
