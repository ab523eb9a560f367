//! Buffers of the pool for programs that use cudarc: they go where a `CudaSlice` goes, without
//! copies.
//!
//! | cudarc's code names | give it |
//! | --- | --- |
//! | `DevicePtr`, `DevicePtrMut`: copies, memset, cuBLAS, cuDNN, NCCL | the [`CudarcBuffer`] itself |
//! | a kernel's argument | `&buffer` on its own stream, [`CudarcBuffer::as_slice`] on any |
//! | `&CudaSlice<T>`, `CudaView<T>` | [`CudarcBuffer::as_slice`], and `slice` of that |
//! | `CudaViewMut<T>` | [`CudarcBuffer::view_mut`] |
//! | `CudaSlice<T>` by value, to be kept | not possible: see `docs/cudarc.md` beside this crate |
#![expect(
    unsafe_code,
    reason = "cudarc's traits about what a kernel may be given are unsafe, and so is a slice over \
              memory of one's own"
)]

use std::{
    fmt,
    mem::ManuallyDrop,
    sync::{Arc, OnceLock},
};

use core_gpu_driver::{DriverError, Refusal, Stream, cuda};
use cudarc::driver::{
    CudaEvent, CudaSlice, CudaStream, CudaViewMut, DevicePtr, DevicePtrMut, DeviceSlice,
    LaunchArgs, PushKernelArg, SyncOnDrop, sys::CUdeviceptr,
};

use crate::{AllocError, Buffer, DeviceType, Pool, Source};

type Theirs<R> = Result<R, cudarc::driver::DriverError>;

/// A buffer of the pool on a stream of cudarc's.
///
/// It can be read and written through cudarc's copies on any stream of the device: they wait for
/// each other as with cudarc's own slices. On its own stream that costs nothing; events are made at
/// the first use on another. A reference to it is a kernel's pointer argument on its own stream; for a
/// kernel on another see [`CudarcBuffer::before_use_on`], or give it [`CudarcBuffer::as_slice`].
///
/// Dropping it lets its stream wait for all of these uses and gives the block back to the pool. May
/// be sent to other threads.
///
/// It is an owner, and not a value that can be copied to a device:
///
/// ```compile_fail
/// # use std::sync::Arc;
/// # use core_gpu_memory::interop::CudarcBuffer;
/// # use cudarc::driver::{CudaStream, DriverError};
/// # fn copies(list: Vec<CudarcBuffer<f32>>, stream: Arc<CudaStream>) -> Result<(), DriverError> {
/// let on_device = stream.clone_htod(&list)?;
/// let twice: Vec<CudarcBuffer<f32>> = stream.clone_dtoh(&on_device)?; // of each owner two
/// # drop(twice);
/// # Ok(())
/// # }
/// ```
pub struct CudarcBuffer<T: DeviceType> {
    address: CUdeviceptr,
    theirs: Arc<CudaStream>,
    elsewhere: Uses,
    /// The same memory as cudarc's own type, once that was asked for. It does not own the memory.
    slice: OnceLock<ManuallyDrop<CudaSlice<T>>>,
    /// Dropped after the waits of `drop`, as all fields are.
    buffer: Buffer<T>,
}

// SAFETY: what is pushed is a reference to the device's address, which is what a kernel reads of a pointer
// argument; it is borrowed as long as the arguments are. Only this and not `DeviceRepr`, by which cudarc
// copies values to a device and back.
unsafe impl<'a, 'b: 'a, T: DeviceType> PushKernelArg<&'b CudarcBuffer<T>> for LaunchArgs<'a> {
    fn arg(&mut self, buffer: &'b CudarcBuffer<T>) -> &mut Self {
        self.arg(&buffer.address)
    }
}

/// Uses on other streams than the buffer's own: for each stream an event behind the last of them. It
/// only grows, so that an event can be borrowed while another thread adds one.
#[derive(Default)]
struct Uses {
    first: OnceLock<Box<Use>>,
}

struct Use {
    stream: StreamKey,
    event: CudaEvent,
    next: OnceLock<Box<Use>>,
}

/// A context and a stream of it. By its handle alone a stream is not known: every context has a default
/// stream, and all of these are null.
type StreamKey = (usize, usize);

fn key_of(stream: &CudaStream) -> StreamKey {
    let context = stream.context().cu_ctx();
    (context.addr(), stream.cu_stream().addr())
}

impl Uses {
    fn iter(&self) -> impl Iterator<Item = &Use> {
        std::iter::successors(self.first.get(), |used| used.next.get()).map(Box::as_ref)
    }

    /// The event of a stream, made if there is none.
    fn event_of(&self, stream: &CudaStream) -> Theirs<&CudaEvent> {
        let key = key_of(stream);
        let mut place = &self.first;
        loop {
            let used = match place.get() {
                Some(used) => used,
                None => {
                    let made = Use {
                        stream: key,
                        event: stream.context().new_event(None)?,
                        next: OnceLock::new(),
                    };
                    // Another thread may have been first, for another stream.
                    place.get_or_init(|| Box::new(made))
                }
            };
            if used.stream == key {
                return Ok(&used.event);
            }
            place = &used.next;
        }
    }

    fn all_before(&self, stream: &CudaStream) -> Theirs<()> {
        self.iter().try_for_each(|used| stream.wait(&used.event))
    }
}

fn lost(function: &'static str, error: cudarc::driver::DriverError) -> AllocError {
    AllocError::Driver(DriverError::Call {
        function,
        code: error.0 as i32,
        from_earlier_work: false,
    })
}

impl Pool {
    /// Memory for `len` elements on a stream of cudarc's. The pool keeps the stream until it finds
    /// that nobody else does; see [`Pool::flush_threads`].
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
        Ok(CudarcBuffer::new(buffer, on))
    }
}

impl<T: DeviceType> CudarcBuffer<T> {
    fn new(buffer: Buffer<T>, on: &Arc<CudaStream>) -> CudarcBuffer<T> {
        CudarcBuffer {
            address: buffer.address().get(),
            theirs: Arc::clone(on),
            elsewhere: Uses::default(),
            slice: OnceLock::new(),
            buffer,
        }
    }

    /// A buffer that was allocated on `stream`, which is [`cuda::stream_of`] of `on`.
    ///
    /// # Errors
    /// Refused when the two are different streams.
    pub fn from_buffer(
        buffer: Buffer<T>,
        stream: &Stream,
        on: &Arc<CudaStream>,
    ) -> Result<CudarcBuffer<T>, AllocError> {
        if cuda::stream_of(stream.driver(), on)? != *stream {
            let (function, why) = ("from_buffer", Refusal::UnknownStream);
            return Err(DriverError::Refused { function, why }.into());
        }
        Ok(CudarcBuffer::new(buffer, on))
    }

    /// The memory as a slice of cudarc's own, with its views and its order between streams: for code
    /// that names that type. It is this buffer's memory, and goes back with it.
    ///
    /// # Panics
    /// As cudarc does, if the driver cannot make events.
    #[must_use]
    pub fn as_slice(&self) -> &CudaSlice<T> {
        self.slice.get_or_init(|| {
            // SAFETY: there are so many elements at that address on the stream's device. The slice is
            // never dropped, which would free them; `leak` takes it apart.
            let slice = unsafe {
                self.theirs
                    .upgrade_device_ptr(self.address, self.buffer.len())
            };
            let context = self.theirs.context();
            context.record_err(self.elsewhere.all_before(&self.theirs));
            let mut slice = ManuallyDrop::new(slice);
            // Whoever uses it elsewhere waits for all that was done with the buffer so far.
            drop(slice.device_ptr_mut(&self.theirs).1);
            slice
        })
    }

    /// The memory as cudarc's mutable view.
    ///
    /// # Panics
    /// As [`CudarcBuffer::as_slice`].
    #[must_use]
    pub fn view_mut(&mut self) -> CudaViewMut<'_, T> {
        let _ = self.as_slice();
        let slice = self.slice.get_mut();
        slice.expect("invariant: it was just made").as_view_mut()
    }

    /// The memory as a mutable slice of cudarc's own.
    ///
    /// # Safety
    /// The slice is not exchanged for another and not moved from: dropping it would free memory that
    /// is the pool's.
    ///
    /// # Panics
    /// As [`CudarcBuffer::as_slice`].
    #[must_use]
    pub unsafe fn as_mut_slice(&mut self) -> &mut CudaSlice<T> {
        let _ = self.as_slice();
        self.slice.get_mut().expect("invariant: it was just made")
    }

    /// Lets a stream wait for whatever used it, before a kernel on that stream is given it.
    ///
    /// # Errors
    /// As the driver's call fails.
    pub fn before_use_on(&self, stream: &CudaStream) -> Result<(), AllocError> {
        self.follow(stream)
            .map_err(|error| lost("cuStreamWaitEvent", error))
    }

    /// Notes that a kernel on that stream has been given it.
    ///
    /// # Errors
    /// As the driver's call fails.
    pub fn after_use_on(&self, stream: &CudaStream) -> Result<(), AllocError> {
        if self.is_own(stream) {
            return Ok(());
        }
        let event = self.elsewhere.event_of(stream);
        event
            .and_then(|event| event.record(stream))
            .map_err(|error| lost("cuEventRecord", error))
    }

    /// The pool's buffer.
    #[must_use]
    pub fn buffer(&self) -> &Buffer<T> {
        &self.buffer
    }

    fn is_own(&self, stream: &CudaStream) -> bool {
        key_of(stream) == key_of(&self.theirs)
    }

    /// Lets a stream wait for all uses so far.
    fn follow(&self, stream: &CudaStream) -> Theirs<()> {
        if !self.is_own(stream) {
            let now = self.theirs.record_event(None)?;
            stream.wait(&now)?;
        }
        self.elsewhere.all_before(stream)
    }

    /// A use begins; it ends when the answer is dropped.
    fn begin<'a>(&'a self, stream: &'a CudaStream) -> SyncOnDrop<'a> {
        let context = stream.context();
        let followed = self.follow(stream);
        let failed = followed.is_err();
        // As cudarc's own slices do: the next call of the context reports it.
        context.record_err(followed);
        if self.is_own(stream) {
            return SyncOnDrop::Record(None);
        }
        let event = self.elsewhere.event_of(stream);
        match event {
            // Where cudarc keeps streams in order.
            Ok(event) if !failed && context.is_managing_stream_synchronization() => {
                SyncOnDrop::Record(Some((event, stream)))
            }
            // Where the program does, it may not know that the memory has another owner afterwards.
            Ok(_) | Err(_) => SyncOnDrop::Sync(Some(stream)),
        }
    }
}

impl<T: DeviceType> Drop for CudarcBuffer<T> {
    fn drop(&mut self) {
        if let Some(slice) = self.slice.take() {
            // Its stream waits for what it knows of; the memory stays.
            ManuallyDrop::into_inner(slice).leak();
        }
        // The block is its stream's again: that waits for the others.
        if self.elsewhere.all_before(&self.theirs).is_err() {
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
        match self.slice.get() {
            // One keeps the books of who uses it.
            Some(slice) => slice.device_ptr(stream),
            None => (self.address, self.begin(stream)),
        }
    }
}

impl<T: DeviceType> DevicePtrMut<T> for CudarcBuffer<T> {
    fn device_ptr_mut<'a>(&'a mut self, stream: &'a CudaStream) -> (CUdeviceptr, SyncOnDrop<'a>) {
        if self.slice.get().is_none() {
            return (self.address, self.begin(stream));
        }
        let slice = self.slice.get_mut();
        slice
            .expect("invariant: it is there")
            .device_ptr_mut(stream)
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
