//! Memory that the driver gives and takes in a stream's order (`cudaMallocAsync` and its like), owned.

use std::fmt;

use crate::{
    address::DeviceAddress, annotate::Region, drop_error, error::DriverError, memory::DeviceSpan,
    stream::Stream,
};

/// Memory of a device in the order of one stream, owned: work put on that stream may use it at once,
/// and it goes back when the stream has come as far as it was dropped.
pub struct OrderedSegment {
    stream: Stream,
    address: DeviceAddress,
    bytes: u64,
}

impl OrderedSegment {
    /// Asks the driver for memory on a stream; what is in it is undefined.
    ///
    /// # Errors
    /// [`crate::Absent::Capability`] where the device cannot; [`DriverError::OutOfMemory`], or as the
    /// driver's call fails.
    pub fn allocate(on: &Stream, bytes: usize) -> Result<Self, DriverError> {
        // SAFETY: the stream is live, and of this device.
        let address = unsafe { on.driver().allocate_on(bytes, on.raw()) }?;
        Ok(Self {
            stream: on.clone(),
            address,
            bytes: bytes as u64,
        })
    }

    /// The stream that it is for.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// All of it, to be used on its stream alone.
    #[must_use]
    pub fn whole(&self) -> DeviceSpan {
        // SAFETY: the bytes are memory of the device until this value is dropped; who keeps the span
        // longer breaks the span's own rule.
        unsafe { DeviceSpan::adopt(self.address, self.bytes) }
    }

    /// The same bytes, for [`crate::Driver::annotate`].
    #[must_use]
    pub const fn region(&self) -> Region {
        Region {
            address: self.address,
            bytes: self.bytes,
        }
    }
}

impl Drop for OrderedSegment {
    fn drop(&mut self) {
        let driver = self.stream.driver();
        // SAFETY: it came from `allocate_on`, this is its only owner, and it is used on this stream
        // alone.
        if let Err(error) = unsafe { driver.free_on(self.address, self.stream.raw()) } {
            drop_error::report(drop_error::What::Segment, &error);
        }
    }
}

impl fmt::Debug for OrderedSegment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OrderedSegment")
            .field("address", &self.address)
            .field("bytes", &self.bytes)
            .finish()
    }
}
