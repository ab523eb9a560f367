//! Parts of buffers, and pinned memory of the host by elements: what copies go between.

use std::{
    fmt,
    marker::PhantomData,
    ops::{Bound, RangeBounds},
    sync::Arc,
};

use core_gpu_driver::{DeviceSpan, Driver, DriverError, Pinned, PinnedSpan, Refusal, Stream};

use crate::{Buffer, DeviceType};

/// Elements of a buffer, borrowed for reading.
///
/// ```
/// use std::sync::Arc;
/// use core_gpu_driver::{Driver, HostDriver, Stream, StreamKind};
/// use core_gpu_memory::{Pool, Source};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 24));
/// let stream = Stream::new(&driver, StreamKind::NonBlocking)?;
/// let mut buffer = Pool::new(&driver).allocate_zeroed::<u32>(6, &stream, Source::UNNAMED)?;
/// let mut middle = buffer.slice_mut(2..4).ok_or("six elements")?;
/// middle.upload(&[7, 8], &stream)?;
/// let tail = buffer.slice(3..).ok_or("six elements")?;
/// assert_eq!(tail.download(&stream)?, [8, 0, 0]);
/// # Ok(())
/// # }
/// ```
pub struct BufferSlice<'b, T: DeviceType> {
    buffer: &'b Buffer<T>,
    first: usize,
    len: usize,
}

/// Elements of a buffer, borrowed for writing.
pub struct BufferSliceMut<'b, T: DeviceType> {
    pub(crate) slice: BufferSlice<'b, T>,
}

impl<T: DeviceType> Clone for BufferSlice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: DeviceType> Copy for BufferSlice<'_, T> {}

/// First element and number of a range within `len` elements.
fn within(range: &impl RangeBounds<usize>, len: usize) -> Option<(usize, usize)> {
    let first = match range.start_bound() {
        Bound::Included(first) => *first,
        Bound::Excluded(before) => before.checked_add(1)?,
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(last) => last.checked_add(1)?,
        Bound::Excluded(end) => *end,
        Bound::Unbounded => len,
    };
    (first <= end && end <= len).then(|| (first, end - first))
}

fn other_length(function: &'static str, wanted: usize, held: usize) -> DriverError {
    let why = Refusal::OutOfRange {
        offset: 0,
        bytes: wanted as u64,
        held: held as u64,
    };
    DriverError::Refused { function, why }
}

impl<'b, T: DeviceType> BufferSlice<'b, T> {
    pub(crate) fn all(buffer: &'b Buffer<T>) -> BufferSlice<'b, T> {
        BufferSlice {
            buffer,
            first: 0,
            len: buffer.len(),
        }
    }

    /// Some of its elements; none when it does not reach that far.
    #[must_use]
    pub fn part(self, range: impl RangeBounds<usize>) -> Option<BufferSlice<'b, T>> {
        let (first, len) = within(&range, self.len)?;
        Some(BufferSlice {
            first: self.first + first,
            len,
            ..self
        })
    }

    /// Elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes of the elements, for copies.
    #[must_use]
    pub fn span(&self) -> DeviceSpan<'b> {
        let size = size_of::<T>();
        let part = self
            .buffer
            .span()
            .part((self.first * size) as u64, (self.len * size) as u64);
        part.expect("invariant: a slice is within its buffer")
    }

    /// Copies the values out and waits for the stream.
    ///
    /// # Errors
    /// As the driver's call fails.
    pub fn download(&self, on: &Stream) -> Result<Vec<T>, DriverError> {
        let mut values = vec![T::zeroed(); self.len];
        self.download_into(&mut values, on)?;
        Ok(values)
    }

    /// Copies the values into a slice of as many elements and waits for the stream.
    ///
    /// # Errors
    /// As the driver's call fails; refused for another number of elements.
    pub fn download_into(&self, to: &mut [T], on: &Stream) -> Result<(), DriverError> {
        self.buffer.block().declare_use(on);
        on.download_and_wait(bytemuck::cast_slice_mut(to), self.span())
    }

    /// Copies the values out, in the stream's order and without waiting.
    ///
    /// # Errors
    /// As the driver's call fails; refused for another number of elements.
    pub fn download_async(&self, to: PinnedSlice<'_, T>, on: &Stream) -> Result<(), DriverError> {
        if to.len != self.len {
            return Err(other_length("download", self.len, to.len));
        }
        self.buffer.block().declare_use(on);
        on.download(to.span(), self.span())
    }
}

impl<'b, T: DeviceType> BufferSliceMut<'b, T> {
    pub(crate) fn all(buffer: &'b mut Buffer<T>) -> BufferSliceMut<'b, T> {
        BufferSliceMut {
            slice: BufferSlice::all(buffer),
        }
    }

    /// The same elements, for reading.
    #[must_use]
    pub fn as_slice(&self) -> BufferSlice<'_, T> {
        self.slice
    }

    /// Elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slice.len
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slice.len == 0
    }

    /// The bytes of the elements, for copies.
    #[must_use]
    pub fn span(&self) -> DeviceSpan<'_> {
        self.slice.span()
    }

    /// Copies values in and waits for the stream.
    ///
    /// # Errors
    /// As the driver's call fails; refused for another number of elements.
    pub fn upload(&mut self, from: &[T], on: &Stream) -> Result<(), DriverError> {
        self.slice.buffer.block().declare_use(on);
        on.upload_and_wait(self.span(), bytemuck::cast_slice(from))
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
        if from.len != self.len() {
            return Err(other_length("upload", from.len, self.len()));
        }
        self.slice.buffer.block().declare_use(on);
        on.upload(self.span(), from.span())
    }

    /// Copies elements of a buffer on the same device in, in the stream's order and without waiting.
    ///
    /// # Errors
    /// As the driver's call fails; refused for another number of elements.
    pub fn copy_from(&mut self, from: BufferSlice<'_, T>, on: &Stream) -> Result<(), DriverError> {
        if from.len() != self.len() {
            return Err(other_length("copy", from.len(), self.len()));
        }
        from.buffer.block().declare_use(on);
        self.slice.buffer.block().declare_use(on);
        on.copy(self.span(), from.span())
    }

    /// Sets every byte.
    ///
    /// # Errors
    /// As the driver's call fails.
    pub fn fill_bytes(&mut self, value: u8, on: &Stream) -> Result<(), DriverError> {
        self.slice.buffer.block().declare_use(on);
        on.set(self.span(), value)
    }
}

impl<T: DeviceType> fmt::Debug for BufferSlice<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("BufferSlice")
            .field(&self.span())
            .finish()
    }
}

impl<T: DeviceType> fmt::Debug for BufferSliceMut<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("BufferSliceMut")
            .field(&self.slice.span())
            .finish()
    }
}

/// Elements in memory of the host that the device reads and writes by itself, owned: for copies that
/// nobody waits for. It is read and written through copies, because the device may be at it; dropping
/// it waits for the streams that are. May be used from several threads.
///
/// ```
/// use std::sync::Arc;
/// use core_gpu_driver::{Driver, HostDriver, Stream, StreamKind};
/// use core_gpu_memory::{PinnedBuffer, Pool, Source};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 24));
/// let stream = Stream::new(&driver, StreamKind::NonBlocking)?;
/// let mut buffer = Pool::new(&driver).allocate::<f32>(2, &stream, Source::UNNAMED)?;
/// let pinned = PinnedBuffer::allocate(&driver, 2)?;
/// pinned.all().write(&[1.0, 2.0])?;
/// buffer.upload_async(pinned.all(), &stream)?; // returns before the bytes are there
/// let mut values = [0.0; 2];
/// buffer.download_into(&mut values, &stream)?;
/// assert_eq!(values, [1.0, 2.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PinnedBuffer<T: DeviceType> {
    pinned: Pinned,
    len: usize,
    elements: PhantomData<fn() -> T>,
}

/// Elements of a [`PinnedBuffer`], as one end of a copy.
#[derive(Debug)]
pub struct PinnedSlice<'p, T: DeviceType> {
    pinned: &'p PinnedBuffer<T>,
    first: usize,
    len: usize,
}

impl<T: DeviceType> PinnedBuffer<T> {
    /// Elements of the host, of undefined value. Slow: milliseconds.
    ///
    /// # Errors
    /// [`DriverError::OutOfMemory`], or as the driver's call fails.
    pub fn allocate(driver: &Arc<dyn Driver>, len: usize) -> Result<PinnedBuffer<T>, DriverError> {
        let bytes = len.checked_mul(size_of::<T>());
        // A driver gives no memory of zero bytes.
        let bytes = bytes.ok_or(DriverError::OutOfMemory)?.max(1);
        Ok(PinnedBuffer {
            pinned: Pinned::allocate(driver, bytes)?,
            len,
            elements: PhantomData,
        })
    }

    /// Elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All of its elements.
    #[must_use]
    pub fn all(&self) -> PinnedSlice<'_, T> {
        PinnedSlice {
            pinned: self,
            first: 0,
            len: self.len,
        }
    }

    /// Some of its elements; none when it does not reach that far.
    #[must_use]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Option<PinnedSlice<'_, T>> {
        let (first, len) = within(&range, self.len)?;
        Some(PinnedSlice {
            pinned: self,
            first,
            len,
        })
    }
}

impl<T: DeviceType> PinnedSlice<'_, T> {
    fn span(&self) -> PinnedSpan<'_> {
        PinnedSpan {
            pinned: &self.pinned.pinned,
            offset: (self.first * size_of::<T>()) as u64,
        }
    }

    /// Elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Writes values. Does not wait for work that reads them: whoever writes before that work is done
    /// sends a mixture.
    ///
    /// # Errors
    /// Refused for another number of elements.
    pub fn write(&self, from: &[T]) -> Result<(), DriverError> {
        if from.len() != self.len {
            return Err(other_length("write", from.len(), self.len));
        }
        let at = self.span();
        at.pinned.write(at.offset, bytemuck::cast_slice(from))
    }

    /// Reads the values, once all work on the memory is done.
    ///
    /// # Errors
    /// As the driver's call fails, and when earlier work failed; refused for another number of
    /// elements.
    pub fn read(&self, to: &mut [T]) -> Result<(), DriverError> {
        if to.len() != self.len {
            return Err(other_length("read", to.len(), self.len));
        }
        let at = self.span();
        at.pinned.settle()?;
        at.pinned.read(at.offset, bytemuck::cast_slice_mut(to))
    }
}
