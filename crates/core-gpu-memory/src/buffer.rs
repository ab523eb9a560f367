//! Memory as a value: a buffer owns its block, has a fixed address, and gives it back when dropped.

use std::{fmt, marker::PhantomData, sync::Arc};

use core_gpu_driver::{DeviceAddress, DeviceSpan, DriverError, Stream};

use crate::{
    AllocError, DeviceType, Source,
    resource::{Block, Resource},
};

/// `len` elements in device memory, owned.
///
/// The address never changes while the buffer lives. It belongs to the stream that it was allocated
/// on: work there needs no word, work on another stream is declared with [`Buffer::used_on`]. It may
/// be sent to other threads and dropped there. Dropping waits for nothing; the memory is used again
/// only after the work that was submitted before.
pub struct Buffer<T: DeviceType> {
    block: Option<Block>,
    /// Whoever has to know that it is freed, if it is not the pool alone.
    owner: Option<Arc<dyn Resource>>,
    len: usize,
    elements: PhantomData<fn() -> T>,
}

impl<T: DeviceType> Buffer<T> {
    #[inline]
    pub(crate) fn new(block: Block, len: usize) -> Buffer<T> {
        Buffer {
            block: Some(block),
            owner: None,
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
        let owner = Some(Arc::clone(resource));
        Ok(Buffer {
            block: Some(block),
            owner,
            len,
            elements: PhantomData,
        })
    }

    fn block(&self) -> &Block {
        self.block
            .as_ref()
            .expect("invariant: a buffer has its block until it is dropped")
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

    /// The bytes of the elements, for copies. The span keeps nothing alive.
    #[must_use]
    pub fn span(&self) -> DeviceSpan {
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

    /// Declares that work on another stream uses it. Whoever submits that work has made the stream
    /// wait for whatever filled the buffer.
    pub fn used_on(&mut self, stream: &Stream) {
        if let Some(block) = &mut self.block {
            block.used_on(stream);
        }
    }

    /// Copies values in and waits for the stream.
    ///
    /// # Errors
    /// As the driver's call fails; refused for another number of elements.
    pub fn upload(&mut self, from: &[T], on: &Stream) -> Result<(), DriverError> {
        on.upload_and_wait(self.span(), bytemuck::cast_slice(from))
    }

    /// Copies the values out and waits for the stream.
    ///
    /// # Errors
    /// As the driver's call fails.
    pub fn download(&self, on: &Stream) -> Result<Vec<T>, DriverError> {
        let mut values = vec![T::zeroed(); self.len];
        on.download_and_wait(bytemuck::cast_slice_mut(&mut values), self.span())?;
        Ok(values)
    }

    /// Gives the memory back, and says if that did not go well.
    ///
    /// # Errors
    /// The end of its use on another stream could not be marked. The block is in quarantine, the
    /// error hook has heard of it, and shutting the pool down tries again.
    pub fn free(mut self) -> Result<(), DriverError> {
        match (self.block.take(), &self.owner) {
            (Some(block), Some(owner)) => owner.free_block(block),
            (Some(block), None) => block.free(),
            (None, _) => Ok(()),
        }
    }
}

impl<T: DeviceType> Drop for Buffer<T> {
    #[inline]
    fn drop(&mut self) {
        if let Some(owner) = &self.owner
            && let Some(block) = self.block.take()
        {
            // The error hook has heard of it.
            let _ = owner.free_block(block);
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
