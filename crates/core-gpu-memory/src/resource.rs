//! What blocks come from: a pool, the driver itself, or an adaptor around another resource.

use std::{fmt, sync::Arc};

use core_gpu_driver::{DeviceSpan, Driver, DriverError, RegionState, Segment, Stream};

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
pub struct Block(Option<Kind>);

enum Kind {
    Pooled(Box<Lease>),
    Direct(Box<Direct>),
}

struct Direct {
    segment: Segment,
    by: Source,
    requested: u64,
}

impl Block {
    #[inline]
    pub(crate) fn pooled(lease: Box<Lease>) -> Block {
        Block(Some(Kind::Pooled(lease)))
    }

    fn kind(&self) -> &Kind {
        self.0
            .as_ref()
            .expect("invariant: a block has its memory until it is dropped")
    }

    /// All of its bytes, at least those asked for.
    #[must_use]
    pub fn span(&self) -> DeviceSpan {
        match self.kind() {
            Kind::Pooled(lease) => lease.span,
            Kind::Direct(direct) => direct.segment.whole(),
        }
    }

    /// Bytes that were asked for.
    #[must_use]
    pub fn requested_bytes(&self) -> u64 {
        match self.kind() {
            Kind::Pooled(lease) => lease.requested(),
            Kind::Direct(direct) => direct.requested,
        }
    }

    /// Who asked.
    #[must_use]
    pub fn source(&self) -> Source {
        match self.kind() {
            Kind::Pooled(lease) => lease.by,
            Kind::Direct(direct) => direct.by,
        }
    }

    /// Declares that work on another stream uses it.
    pub fn used_on(&mut self, stream: &Stream) {
        if let Some(Kind::Pooled(lease)) = &mut self.0 {
            let pool = Arc::clone(&lease.pool);
            pool.use_on(lease, stream);
        }
    }

    /// Gives it back.
    ///
    /// # Errors
    /// The block is in quarantine, and the error hook has heard of it.
    pub fn free(mut self) -> Result<(), DriverError> {
        match self.0.take() {
            Some(Kind::Pooled(lease)) => {
                lease.end();
                crate::pool::inner::PoolInner::take_back(lease).map_or(Ok(()), Err)
            }
            Some(Kind::Direct(direct)) => direct.free(),
            None => Ok(()),
        }
    }
}

impl Direct {
    fn free(self) -> Result<(), DriverError> {
        self.segment.driver().synchronize()?;
        self.segment.free().map_err(|(error, _)| error)
    }
}

impl Drop for Block {
    #[inline]
    fn drop(&mut self) {
        if let Some(Kind::Pooled(lease)) = self.0.take() {
            lease.give_back();
        }
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
        let device = self.driver.info().total_bytes;
        let too_large = || AllocError::TooLarge { bytes, device };
        if on.driver().info().id != self.driver.info().id {
            return Err(AllocError::OtherDevice);
        }
        if on.is_capturing()? {
            return Err(AllocError::Capturing);
        }
        let length = block_bytes(bytes)
            .filter(|length| *length <= device)
            .ok_or_else(too_large)?;
        let length = usize::try_from(length).map_err(|_| too_large())?;
        let segment = match Segment::allocate(&self.driver, length) {
            Ok(segment) => segment,
            Err(DriverError::OutOfMemory) => {
                let report = crate::error::Report {
                    requested_bytes: bytes,
                    ..Default::default()
                };
                return Err(AllocError::OutOfMemory(Box::new(report)));
            }
            Err(error) => return Err(error.into()),
        };
        self.driver.annotate(
            segment.whole().region(),
            RegionState::InUse { on: on.raw() },
        );
        let direct = Direct {
            segment,
            by,
            requested: bytes,
        };
        Ok(Block(Some(Kind::Direct(Box::new(direct)))))
    }
}
