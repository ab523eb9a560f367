//! Memory as a value: a buffer owns its block, has a fixed address, and gives it back when dropped.

use std::{fmt, marker::PhantomData, ops::RangeBounds, sync::Arc};

use core_gpu_driver::{DeviceAddress, DeviceSpan, DriverError, Stream};

use crate::{
    AllocError, BufferSlice, BufferSliceMut, DeviceType, PinnedSlice, Source,
    resource::{Block, Resource},
};

/// `len` elements in device memory, owned.
///
/// The address never changes while the buffer lives. It belongs to the stream that it was allocated
/// on: work there needs no word, work on another stream comes after what that one was given, and is
/// declared with [`Buffer::used_on`]. It may be sent to other threads and dropped there. Dropping waits for nothing; the memory is used again
/// only after the work that was submitted before.
///
/// Spans and slices of it borrow it:
///
/// ```compile_fail
/// # use std::sync::Arc;
/// # use core_gpu_driver::{Driver, HostDriver, Stream, StreamKind};
/// # use core_gpu_memory::{Pool, Source};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 24));
/// # let stream = Stream::new(&driver, StreamKind::NonBlocking)?;
/// # let pool = Pool::new(&driver);
/// let buffer = pool.allocate::<f32>(3, &stream, Source::UNNAMED)?;
/// let span = buffer.span();
/// drop(buffer);
/// stream.set(span, 1)?; // the memory may be somebody else's
/// # Ok(())
/// # }
/// ```
pub struct Buffer<T: DeviceType> {
    origin: Origin,
    len: usize,
    elements: PhantomData<fn() -> T>,
}

/// A block, and who has to know that it is freed. As short as can be: buffers are moved about.
enum Origin {
    /// Its pool alone.
    Pool(Block),
    Resource(Box<FromResource>),
}

/// A block that somebody around its pool gave out.
struct FromResource {
    block: Option<Block>,
    owner: Arc<dyn Resource>,
}

impl FromResource {
    fn free(&mut self) -> Result<(), DriverError> {
        match self.block.take() {
            Some(block) => self.owner.free_block(block),
            None => Ok(()),
        }
    }
}

impl Drop for FromResource {
    fn drop(&mut self) {
        // The error hook has heard of it.
        let _ = self.free();
    }
}

impl<T: DeviceType> Buffer<T> {
    #[inline]
    pub(crate) fn new(block: Block, len: usize) -> Buffer<T> {
        Buffer {
            origin: Origin::Pool(block),
            len,
            elements: PhantomData,
        }
    }

    /// Memory from any resource, adaptors included.
    ///
    /// # Errors
    /// As the resource refuses.
    pub fn allocate_from(
        resource: &Arc<dyn Resource>,
        len: usize,
        on: &Stream,
        by: Source,
    ) -> Result<Buffer<T>, AllocError> {
        let bytes = (len as u64).checked_mul(size_of::<T>() as u64);
        let block = resource.allocate_block(bytes.ok_or(AllocError::SizeOverflow)?, on, by)?;
        let lent = FromResource {
            block: Some(block),
            owner: Arc::clone(resource),
        };
        Ok(Buffer {
            origin: Origin::Resource(Box::new(lent)),
            len,
            elements: PhantomData,
        })
    }

    pub(crate) fn block(&self) -> &Block {
        let block = match &self.origin {
            Origin::Pool(block) => Some(block),
            Origin::Resource(lent) => lent.block.as_ref(),
        };
        block.expect("invariant: a buffer has its block until it is dropped")
    }

    /// Elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element. It has an address all the same.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of the elements; the block may be longer.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        (self.len * size_of::<T>()) as u64
    }

    /// Where it begins: a multiple of 256 bytes.
    #[must_use]
    pub fn address(&self) -> DeviceAddress {
        self.block().span().address()
    }

    /// The bytes of the elements, for copies.
    #[must_use]
    pub fn span(&self) -> DeviceSpan<'_> {
        let block = self.block().span();
        block
            .part(0, self.bytes())
            .expect("invariant: a block is as long as its request")
    }

    /// Who it is accounted to.
    #[must_use]
    pub fn source(&self) -> Source {
        self.block().source()
    }

    /// Declares that work on another stream uses it: kernels, and copies of its [`Buffer::span`]. Copies
    /// by the buffer's own methods and its slices' declare their stream themselves. Whoever submits that
    /// work has made the stream wait for whatever filled the buffer, and for a new one for the stream that
    /// it was allocated on: its memory may still be at work for whoever had it before.
    pub fn used_on(&self, stream: &Stream) {
        self.block().used_on(stream);
    }

    /// Some of its elements; none when it does not reach that far.
    #[must_use]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Option<BufferSlice<'_, T>> {
        BufferSlice::all(self).part(range)
    }

    /// Some of its elements, to be written; none when it does not reach that far.
    #[must_use]
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Option<BufferSliceMut<'_, T>> {
        let slice = BufferSlice::all(self).part(range)?;
        Some(BufferSliceMut { slice })
    }

    /// Two parts that may be written apart; none when it does not reach that far.
    #[must_use]
    pub fn split_at_mut(
        &mut self,
        middle: usize,
    ) -> Option<(BufferSliceMut<'_, T>, BufferSliceMut<'_, T>)> {
        let all = BufferSlice::all(self);
        let (left, right) = (all.part(..middle)?, all.part(middle..)?);
        Some((
            BufferSliceMut { slice: left },
            BufferSliceMut { slice: right },
        ))
    }

    /// Copies values in and waits for the stream.
    ///
    /// # Errors
    /// As the driver's call fails; refused for another number of elements.
    pub fn upload(&mut self, from: &[T], on: &Stream) -> Result<(), DriverError> {
        BufferSliceMut::all(self).upload(from, on)
    }

    /// Copies values in, in the stream's order and without waiting.
    ///
    /// # Errors
    /// As the driver's call fails; refused for another number of elements.
    pub fn upload_async(
        &mut self,
        from: PinnedSlice<'_, T>,
        on: &Stream,
    ) -> Result<(), DriverError> {
        BufferSliceMut::all(self).upload_async(from, on)
    }

    /// Copies another buffer of this device, in the stream's order and without waiting.
    ///
    /// # Errors
    /// As the driver's call fails; refused for another number of elements.
    pub fn copy_from(&mut self, from: &Buffer<T>, on: &Stream) -> Result<(), DriverError> {
        BufferSliceMut::all(self).copy_from(BufferSlice::all(from), on)
    }

    /// Copies the values out and waits for the stream.
    ///
    /// # Errors
    /// As the driver's call fails.
    pub fn download(&self, on: &Stream) -> Result<Vec<T>, DriverError> {
        BufferSlice::all(self).download(on)
    }

    /// As [`Buffer::download`], into a slice of as many elements.
    ///
    /// # Errors
    /// As the driver's call fails; refused for another number of elements.
    pub fn download_into(&self, to: &mut [T], on: &Stream) -> Result<(), DriverError> {
        BufferSlice::all(self).download_into(to, on)
    }

    /// Copies the values out, in the stream's order and without waiting: they are there when the
    /// stream has come this far, or `to` was settled.
    ///
    /// # Errors
    /// As the driver's call fails; refused for another number of elements.
    pub fn download_async(&self, to: PinnedSlice<'_, T>, on: &Stream) -> Result<(), DriverError> {
        BufferSlice::all(self).download_async(to, on)
    }

    /// Gives the memory back, and says if that did not go well.
    ///
    /// # Errors
    /// The end of its use on another stream could not be marked. The block is in quarantine, the
    /// error hook has heard of it, and shutting the pool down tries again.
    pub fn free(self) -> Result<(), DriverError> {
        match self.origin {
            Origin::Pool(block) => block.free(),
            Origin::Resource(mut lent) => lent.free(),
        }
    }
}

impl<T: DeviceType> fmt::Debug for Buffer<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Buffer")
            .field("address", &self.address())
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}
