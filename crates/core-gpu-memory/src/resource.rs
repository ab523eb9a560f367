//! What blocks come from: a pool, the driver itself, or an adaptor around another resource.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use core_gpu_driver::{
    DeviceSpan, Driver, DriverError, RegionState, Segment, Stream, StreamMemory, drop_error,
};

use crate::{AllocError, Source, pool::lease::Lease, size_class::block_bytes};

/// Gives out blocks and takes them back. May be used from several threads.
///
/// Adaptors are resources around another, and add one thing each. A request that fails changes
/// nothing: an adaptor puts its own numbers back when the one above it refuses.
pub trait Resource: Send + Sync {
    /// The device that the memory is on.
    fn driver(&self) -> &Arc<dyn Driver>;

    /// A block of at least `bytes`, for use on `on`.
    ///
    /// # Errors
    /// See [`AllocError`].
    fn allocate_block(&self, bytes: u64, on: &Stream, by: Source) -> Result<Block, AllocError>;

    /// Takes back a block that this resource gave out. Waits for nothing.
    ///
    /// # Errors
    /// The block is in quarantine, and the error hook has heard of it.
    fn free_block(&self, block: Block) -> Result<(), DriverError> {
        block.free()
    }
}

/// A piece of device memory, owned. Dropping it gives it back to where it was cut from, past any
/// adaptor: hold a [`crate::Buffer`], which does not pass them by. It belongs to the stream that it
/// was allocated on, and may be sent to and dropped on other threads.
pub struct Block(Kind);

enum Kind {
    Pooled(Pooled),
    Direct(Box<Direct>),
}

/// A block of a pool, until it is given back.
struct Pooled(Option<Box<Lease>>);

impl Pooled {
    fn lease(&self) -> &Lease {
        self.0
            .as_ref()
            .expect("invariant: a block has its memory until it is dropped")
    }
}

impl Drop for Pooled {
    #[inline]
    fn drop(&mut self) {
        if let Some(lease) = self.0.take() {
            // An error is in the hook already.
            let _ = lease.give_back();
        }
    }
}

/// A block from the driver.
struct Direct {
    /// Before the memory, which they may be at work on.
    others: OtherDevices,
    memory: Memory,
    by: Source,
    requested: u64,
}

/// Other devices of which a stream was declared: they are waited for as this goes.
#[derive(Default)]
struct OtherDevices(Mutex<Vec<Arc<dyn Driver>>>);

impl OtherDevices {
    fn note(&self, device: &Arc<dyn Driver>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = device.info().id;
        if known.iter().all(|other| other.info().id != id) {
            known.push(Arc::clone(device));
        }
    }
}

impl Drop for OtherDevices {
    fn drop(&mut self) {
        let known = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        for device in known.iter() {
            if let Err(error) = device.synchronize() {
                drop_error::report(drop_error::What::Segment, &error);
            }
        }
    }
}

enum Memory {
    Segment(Segment),
    /// In the order of its stream.
    Ordered(StreamMemory),
}

impl Block {
    #[inline]
    pub(crate) fn pooled(lease: Box<Lease>) -> Block {
        Block(Kind::Pooled(Pooled(Some(lease))))
    }

    /// All of its bytes, at least those asked for.
    #[must_use]
    pub fn span(&self) -> DeviceSpan<'_> {
        match &self.0 {
            Kind::Pooled(pooled) => pooled.lease().span(),
            Kind::Direct(direct) => match &direct.memory {
                Memory::Segment(segment) => segment.whole(),
                Memory::Ordered(memory) => memory.whole(),
            },
        }
    }

    /// Bytes that were asked for.
    #[must_use]
    pub fn requested_bytes(&self) -> u64 {
        match &self.0 {
            Kind::Pooled(pooled) => pooled.lease().requested(),
            Kind::Direct(direct) => direct.requested,
        }
    }

    /// Who asked.
    #[must_use]
    pub fn source(&self) -> Source {
        match &self.0 {
            Kind::Pooled(pooled) => pooled.lease().by,
            Kind::Direct(direct) => direct.by,
        }
    }

    /// Declares that work on another stream uses it.
    pub fn used_on(&self, stream: &Stream) {
        match &self.0 {
            Kind::Pooled(pooled) => {
                let lease = pooled.lease();
                lease.pool.use_on(lease, stream);
            }
            Kind::Direct(direct) => direct.used_on(stream),
        }
    }

    /// As [`Block::used_on`]. Of its own stream, on which most work is, it takes no lock to see that there
    /// is nothing to declare.
    pub(crate) fn declare_use(&self, stream: &Stream) {
        let is_own = match &self.0 {
            Kind::Pooled(pooled) => pooled.lease().stream == stream.id(),
            Kind::Direct(_) => false,
        };
        if !is_own {
            self.used_on(stream);
        }
    }

    /// Gives it back.
    ///
    /// # Errors
    /// The block is in quarantine, and the error hook has heard of it.
    pub fn free(self) -> Result<(), DriverError> {
        match self.0 {
            Kind::Pooled(mut pooled) => {
                let failed = pooled.0.take().and_then(Lease::give_back);
                failed.map_or(Ok(()), Err)
            }
            Kind::Direct(direct) => direct.free(),
        }
    }
}

impl Direct {
    fn used_on(&self, stream: &Stream) {
        let segment = match &self.memory {
            Memory::Ordered(memory) => return memory.used_on(stream),
            Memory::Segment(segment) => segment,
        };
        // It goes when its own device was waited for.
        let (own, other) = (segment.driver(), stream.driver());
        if own.info().id != other.info().id {
            self.others.note(other);
        }
        let region = segment.whole().region();
        own.annotate(region, RegionState::also_used_on(stream));
    }

    fn free(self) -> Result<(), DriverError> {
        drop(self.others);
        if let Memory::Segment(segment) = self.memory {
            segment.driver().synchronize()?;
            segment.free().map_err(|(error, _)| error)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Block").field(&self.span()).finish()
    }
}

/// Every block straight from the driver, and back to it, once the device has been waited for. Slow;
/// for comparison, and for what is allocated once. May be used from several threads.
#[derive(Debug)]
pub struct DirectResource {
    driver: Arc<dyn Driver>,
}

impl DirectResource {
    /// The driver's own memory.
    #[must_use]
    pub fn new(driver: &Arc<dyn Driver>) -> DirectResource {
        DirectResource {
            driver: Arc::clone(driver),
        }
    }
}

impl Resource for DirectResource {
    fn driver(&self) -> &Arc<dyn Driver> {
        &self.driver
    }

    fn allocate_block(&self, bytes: u64, on: &Stream, by: Source) -> Result<Block, AllocError> {
        let length = admitted(&self.driver, bytes, on)?;
        let segment = Segment::allocate(&self.driver, length);
        let segment = segment.map_err(|error| refused(error, bytes))?;
        let region = segment.whole().region();
        self.driver.annotate(region, RegionState::in_use_on(on));
        Ok(direct(Memory::Segment(segment), bytes, by))
    }
}

/// Blocks from the driver's own pool, in the order of streams (`cudaMallocAsync`): for comparison, and
/// for programs whose other libraries take their memory there. May be used from several threads.
#[derive(Debug)]
pub struct StreamOrderedResource {
    driver: Arc<dyn Driver>,
}

impl StreamOrderedResource {
    /// The driver's pool of a device. Where it has none, requests say so.
    #[must_use]
    pub fn new(driver: &Arc<dyn Driver>) -> StreamOrderedResource {
        StreamOrderedResource {
            driver: Arc::clone(driver),
        }
    }
}

impl Resource for StreamOrderedResource {
    fn driver(&self) -> &Arc<dyn Driver> {
        &self.driver
    }

    fn allocate_block(&self, bytes: u64, on: &Stream, by: Source) -> Result<Block, AllocError> {
        let length = admitted(&self.driver, bytes, on)?;
        let memory = StreamMemory::allocate(on, length);
        let memory = memory.map_err(|error| refused(error, bytes))?;
        Ok(direct(Memory::Ordered(memory), bytes, by))
    }
}

fn direct(memory: Memory, requested: u64, by: Source) -> Block {
    Block(Kind::Direct(Box::new(Direct {
        others: OtherDevices::default(),
        memory,
        by,
        requested,
    })))
}

/// The length of a block that the driver may be asked for.
fn admitted(driver: &Arc<dyn Driver>, bytes: u64, on: &Stream) -> Result<usize, AllocError> {
    let device = driver.info().total_bytes;
    let too_large = || AllocError::TooLarge { bytes, device };
    if on.driver().info().id != driver.info().id {
        return Err(AllocError::OtherDevice);
    }
    if on.may_be_capturing() && on.is_capturing()? {
        return Err(AllocError::Capturing);
    }
    let length = block_bytes(bytes).filter(|length| *length <= device);
    usize::try_from(length.ok_or_else(too_large)?).map_err(|_| too_large())
}

fn refused(error: DriverError, bytes: u64) -> AllocError {
    if error != DriverError::OutOfMemory {
        return error.into();
    }
    AllocError::OutOfMemory(Box::new(crate::error::ShortageReport {
        requested_bytes: bytes,
        ..Default::default()
    }))
}
