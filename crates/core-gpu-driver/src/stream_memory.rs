//! Memory that the driver itself gives and takes back in the order of a stream, owned.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    address::DeviceAddress,
    driver::Driver,
    drop_error,
    error::DriverError,
    memory::DeviceSpan,
    stream::{Event, EventKind, Stream},
};

/// Memory from the driver's own pool, for use on a stream at once and without waiting. Sized in bytes;
/// it keeps its stream. Dropping it gives it back in the stream's order, after what streams do that
/// were declared; an error goes to [`crate::drop_error`]. May be sent to other threads.
pub struct StreamMemory {
    stream: Stream,
    address: DeviceAddress,
    bytes: u64,
    others: Mutex<Vec<Stream>>,
}

impl StreamMemory {
    /// Asks the driver for memory, whose contents are undefined.
    ///
    /// # Errors
    /// [`crate::Absent::Capability`] where the device cannot, [`DriverError::OutOfMemory`], or as the
    /// driver's call fails; refused for zero bytes.
    pub fn allocate(on: &Stream, bytes: usize) -> Result<Self, DriverError> {
        // SAFETY: `on` is live and of this driver's device.
        let address = unsafe { on.driver().allocate_on(bytes, on.handle())? };
        Ok(Self {
            stream: on.clone(),
            address,
            bytes: bytes as u64,
            others: Mutex::default(),
        })
    }

    /// All of it.
    #[must_use]
    pub fn whole(&self) -> DeviceSpan<'_> {
        // SAFETY: it is memory until `self` goes, and what is put on its stream with the span comes
        // before it is given back there; for other streams that is what `used_on` is for, without
        // which bytes of the device are wrong and memory of this process is not in danger.
        unsafe { DeviceSpan::adopt(self.address, self.bytes) }
    }

    /// Declares that work on another stream uses it.
    pub fn used_on(&self, stream: &Stream) {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if *stream != self.stream && !others.contains(stream) {
            others.push(stream.clone());
        }
    }

    /// The device that it belongs to.
    #[must_use]
    pub fn driver(&self) -> &Arc<dyn Driver> {
        self.stream.driver()
    }

    /// Its stream waits for the others.
    fn wait_for_others(&mut self) -> Result<(), DriverError> {
        let others = self.others.get_mut();
        for other in others.unwrap_or_else(PoisonError::into_inner) {
            let event = Event::new(other.driver(), EventKind::Order)?;
            other.record(&event)?;
            self.stream.wait(&event)?;
        }
        Ok(())
    }

    /// Waits for all that its devices do.
    fn wait_for_everything(&mut self) -> Result<(), DriverError> {
        let others = self.others.get_mut();
        for other in others.unwrap_or_else(PoisonError::into_inner) {
            other.driver().synchronize()?;
        }
        self.stream.driver().synchronize()
    }
}

impl Drop for StreamMemory {
    fn drop(&mut self) {
        let waited = match self.wait_for_others() {
            Ok(()) => Ok(()),
            // Waiting for everything is as good.
            Err(_) => self.wait_for_everything(),
        };
        // SAFETY: it came from `allocate_on`, `self` is its only owner, and its stream is live and
        // waits for whatever was declared.
        let free = |_| unsafe { self.driver().free_on(self.address, self.stream.handle()) };
        if let Err(error) = waited.and_then(free) {
            drop_error::report(drop_error::What::Segment, &error);
        }
    }
}

impl fmt::Debug for StreamMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamMemory")
            .field("address", &self.address)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}
