//! One Metal device as a [`crate::Driver`]: its buffers, its queue and its shared events, of which
//! [`BufferDriver`] makes streams and events. Written by Apple's documents and compiled for Apple's
//! systems; nobody has run it.
//!
//! A stream's clock is a shared event. Addresses are the device's own (`gpuAddress`, macOS 13).

use std::{ffi::c_void, ptr::NonNull, sync::Arc, time::Duration};

use objc2::{rc::Retained, runtime::ProtocolObject};
use objc2_foundation::NSRange;
use objc2_metal::{
    MTLBlitCommandEncoder as _, MTLBuffer, MTLCommandBuffer, MTLCommandBufferStatus,
    MTLCommandEncoder as _, MTLCommandQueue, MTLCopyAllDevices, MTLDevice, MTLResourceOptions,
    MTLSharedEvent,
};

use crate::{
    address::DeviceAddress,
    buffer_driver::{BufferDevice, BufferDriver, Order, Work, WorkPoint},
    buffers::{BufferMemory, Fill, MemoryKind, Transfer},
    error::{Absent, DriverError, Refusal},
    identity::DeviceId,
    stream::refused,
};

/// What addresses are multiples of, in bytes.
const ALIGNMENT: u64 = 256;

/// An object of Metal's.
pub struct Object<T: ?Sized>(Retained<ProtocolObject<T>>);

impl<T: ?Sized> Clone for Object<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

// SAFETY: devices, queues, buffers, shared events and committed command buffers may be used from any
// thread (Metal Programming Guide, "Command Organization and Execution Model"); no other object is
// kept.
unsafe impl<T: ?Sized> Send for Object<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized> Sync for Object<T> {}

/// A buffer, and the part of it that is given out.
pub struct Memory {
    buffer: Object<dyn MTLBuffer>,
    /// Where the first byte that is given out stands in the buffer.
    offset: u64,
    bytes: u64,
    kind: MemoryKind,
}

/// A point in a stream's work.
#[derive(Clone)]
pub struct Point {
    clock: Object<dyn MTLSharedEvent>,
    value: u64,
    /// The work that reaches it; none where there was no work yet.
    work: Option<Object<dyn MTLCommandBuffer>>,
}

/// A Metal device. Any thread; calls take turns.
pub type MetalDriver = BufferDriver<Metal>;

/// An open Metal device.
pub struct Metal {
    device: Object<dyn MTLDevice>,
}

/// What Metal answers where it has nothing: it gives no reasons.
fn nothing(function: &'static str) -> DriverError {
    DriverError::Call {
        function,
        code: -1,
        from_earlier_work: false,
    }
}

impl MetalDriver {
    /// Opens a device.
    ///
    /// # Errors
    /// [`Absent::Device`]; as Metal makes no queue or buffer.
    pub fn open(id: &DeviceId) -> Result<Arc<Self>, DriverError> {
        let missing = || Absent::Device {
            wanted: id.to_string(),
        };
        let all = MTLCopyAllDevices();
        let found = (0..)
            .zip(all.iter())
            .map(|(ordinal, device)| (super::describe(ordinal, &device), device))
            .find(|(info, _)| info.id == *id);
        let (info, device) = found.ok_or_else(missing)?;
        let queue = device.newCommandQueue();
        let queue = Object(queue.ok_or_else(|| nothing("newCommandQueue"))?);
        let device = Object(device);
        Self::new(info, Metal { device }, queue).map(Arc::new)
    }
}

// SAFETY: each buffer has memory of its own; a command buffer keeps what its commands use until they are
// done, and signals the stream's shared event behind them. Shared memory needs no flush.
unsafe impl BufferDevice for Metal {
    const NAME: &'static str = "MetalDriver";
    const ALLOCATE: &'static str = "newBufferWithLength";
    const FREE: &'static str = "free";
    type Memory = Memory;
    type Point = Point;
    type Queue = Object<dyn MTLCommandQueue>;
    /// The work itself tells.
    type Clock = ();
    /// Seconds.
    type Moment = f64;

    fn allocate(&self, bytes: u64, kind: MemoryKind) -> Result<Memory, DriverError> {
        let room = bytes
            .checked_add(ALIGNMENT - 1)
            .ok_or(DriverError::OutOfMemory)?;
        let options = match kind {
            MemoryKind::Device => MTLResourceOptions::StorageModePrivate,
            MemoryKind::Host => MTLResourceOptions::StorageModeShared,
        };
        // Metal says no more than that there is none.
        let buffer = self
            .device
            .0
            .newBufferWithLength_options(room as usize, options)
            .ok_or(DriverError::OutOfMemory)?;
        // Of the host's memory it is the pointer that is aligned.
        let begins = match kind {
            MemoryKind::Device => buffer.gpuAddress(),
            MemoryKind::Host => buffer.contents().as_ptr().addr() as u64,
        };
        Ok(Memory {
            offset: begins.next_multiple_of(ALIGNMENT) - begins,
            buffer: Object(buffer),
            bytes,
            kind,
        })
    }

    fn begin_stream(&self) -> Result<Point, DriverError> {
        let clock = self.device.0.newSharedEvent();
        Ok(Point {
            clock: Object(clock.ok_or_else(|| nothing("newSharedEvent"))?),
            value: 0,
            work: None,
        })
    }

    fn make_clock(&self) -> Result<(), DriverError> {
        Ok(())
    }

    fn submit(
        &self,
        queue: &mut Object<dyn MTLCommandQueue>,
        order: Order<Point>,
        work: Work<Self>,
    ) -> Result<Point, DriverError> {
        let commands = queue.0.commandBuffer();
        let commands = commands.ok_or_else(|| nothing("commandBuffer"))?;
        for point in order.waits.iter().filter(|point| point.value > 0) {
            let event = ProtocolObject::from_ref(&*point.clock.0);
            commands.encodeWaitForEvent_value(event, point.value);
        }
        match work {
            Work::Transfer(fill, copies) => encode(&commands, fill.as_ref(), &copies)?,
            // Empty work, too, has an end that the device times.
            Work::Nothing | Work::Time(()) => {}
        }
        let Point { clock, value, .. } = order.last;
        let value = value + 1;
        commands.encodeSignalEvent_value(ProtocolObject::from_ref(&*clock.0), value);
        commands.commit();
        Ok(Point {
            clock,
            value,
            work: Some(Object(commands)),
        })
    }

    fn moment(&self, point: &Point, (): &()) -> Result<f64, DriverError> {
        let work = point.work.as_ref();
        let work = work.ok_or_else(|| refused("elapsed", Refusal::NoTime))?;
        Ok(work.0.GPUEndTime())
    }

    fn elapsed(&self, start: f64, end: f64) -> Duration {
        Duration::try_from_secs_f64((end - start).max(0.0)).unwrap_or_default()
    }
}

/// Puts fills and copies down.
fn encode(
    work: &ProtocolObject<dyn MTLCommandBuffer>,
    fill: Option<&Fill<Memory>>,
    copies: &[Transfer<Memory>],
) -> Result<(), DriverError> {
    let encoder = work.blitCommandEncoder();
    let encoder = encoder.ok_or_else(|| nothing("blitCommandEncoder"))?;
    if let Some(Fill { at, bytes, value }) = fill {
        let range = NSRange::new(at.offset as usize, *bytes as usize);
        encoder.fillBuffer_range_value(&at.memory.buffer.0, range, *value);
    }
    for Transfer { to, from, bytes } in copies {
        // SAFETY: both buffers hold these bytes, and the command buffer keeps both until the work is
        // done.
        unsafe {
            encoder.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size(
                &from.memory.buffer.0,
                from.offset as usize,
                &to.memory.buffer.0,
                to.offset as usize,
                *bytes as usize,
            );
        }
    }
    encoder.endEncoding();
    Ok(())
}

// SAFETY: a buffer is longer than its offset by all its bytes, and its contents, which are asked of shared
// memory alone, are the host's to read and write as long as it lives.
unsafe impl BufferMemory for Memory {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn offset(&self) -> u64 {
        self.offset
    }

    fn address(&self) -> Result<DeviceAddress, DriverError> {
        let unknown = || refused("gpuAddress", Refusal::UnknownAddress);
        DeviceAddress::new(self.buffer.0.gpuAddress() + self.offset).ok_or_else(unknown)
    }

    fn pointer(&self) -> Result<NonNull<u8>, DriverError> {
        // Private memory has none.
        if self.kind == MemoryKind::Device {
            return Err(refused("contents", Refusal::UnknownAddress));
        }
        let contents: NonNull<c_void> = self.buffer.0.contents();
        // SAFETY: the buffer is longer than the offset by all its bytes.
        Ok(unsafe { contents.cast::<u8>().add(self.offset as usize) })
    }
}

impl WorkPoint for Point {
    fn is_reached(&self) -> Result<bool, DriverError> {
        if let Some(work) = &self.work
            && work.0.status() == MTLCommandBufferStatus::Error
        {
            return Err(DriverError::Call {
                function: "commit",
                code: -1,
                from_earlier_work: true,
            });
        }
        Ok(self.clock.0.signaledValue() >= self.value)
    }

    fn wait(&self) -> Result<(), DriverError> {
        if let Some(work) = &self.work {
            work.0.waitUntilCompleted();
        }
        self.is_reached().map(drop)
    }
}
