//! One Vulkan device as a [`crate::Driver`]: its buffers, its queue and its clocks, of which
//! [`BufferDriver`] makes streams and events.

use std::{sync::Arc, time::Duration};

use ash::vk;

use super::{
    device::{Open, find, loader},
    memory::Memory,
    work::{Clock, Kept, Point, Queue, Record, Timeline},
};
use crate::{
    buffer_driver::{BufferDevice, BufferDriver, Order, Work},
    buffers::{Fill, MemoryKind, Part, Transfer},
    error::{Absent, DriverError, Refusal},
    identity::DeviceId,
    memory::DeviceSpan,
    stream::{Stream, refused},
};

/// A Vulkan device. Any thread; calls take turns.
pub type VulkanDriver = BufferDriver<Vulkan>;

/// An open Vulkan device.
pub struct Vulkan {
    open: Arc<Open>,
}

impl VulkanDriver {
    /// Opens a device.
    ///
    /// # Errors
    /// [`Absent::Library`], [`Absent::Device`]; as the calls fail.
    pub fn open(id: &DeviceId) -> Result<Arc<Self>, DriverError> {
        let loader = loader()?;
        let found = find(loader)?.into_iter().find(|found| found.info.id == *id);
        let found = found.ok_or_else(|| Absent::Device {
            wanted: id.to_string(),
        })?;
        let open = Open::of(loader, &found)?;
        let queue = Queue::of(&open)?;
        Self::new(found.info, Vulkan { open }, queue).map(Arc::new)
    }

    pub(super) fn opened(&self) -> &Arc<Open> {
        &self.device.open
    }

    /// The buffers that spans lie in, where a kernel may have them.
    pub(super) fn parts(
        &self,
        function: &'static str,
        spans: &[DeviceSpan<'_>],
    ) -> Result<Vec<Part<Memory>>, DriverError> {
        let state = self.lock();
        let part = |span: &DeviceSpan<'_>| {
            let bytes = usize::try_from(span.bytes()).unwrap_or(usize::MAX);
            let part = state.buffers.device_part(function, span.address(), bytes)?;
            match part.offset % self.opened().storage_alignment {
                0 if bytes > 0 => Ok(part),
                0 => Err(refused(function, Refusal::ZeroBytes)),
                _ => Err(refused(function, Refusal::Unaligned)),
            }
        };
        spans.iter().map(part).collect()
    }

    /// Puts commands on a stream of this driver.
    pub(super) fn put_work(
        &self,
        on: &Stream,
        kept: Vec<Kept>,
        record: Record<'_>,
    ) -> Result<(), DriverError> {
        let submit = |queue: &mut Queue, order| queue.submit(order, kept, Some(record));
        self.lock().put(on.raw(), None, submit).map(drop)
    }
}

// SAFETY: buffers are made with memory of their own; the queue keeps what a work uses until its point is
// reached, and puts a barrier behind its commands so that the host sees what copies and fills wrote.
unsafe impl BufferDevice for Vulkan {
    const NAME: &'static str = "VulkanDriver";
    const ALLOCATE: &'static str = "vkAllocateMemory";
    const FREE: &'static str = "vkFreeMemory";
    type Memory = Memory;
    type Point = Point;
    type Queue = Queue;
    type Clock = Arc<Clock>;
    /// Ticks.
    type Moment = u64;

    fn allocate(&self, bytes: u64, kind: MemoryKind) -> Result<Memory, DriverError> {
        Memory::allocate(&self.open, bytes, kind)
    }

    fn begin_stream(&self) -> Result<Point, DriverError> {
        let timeline = Timeline::new(&self.open)?;
        Ok(Point { timeline, value: 0 })
    }

    fn make_clock(&self) -> Result<Arc<Clock>, DriverError> {
        Clock::new(&self.open)
    }

    fn submit(
        &self,
        queue: &mut Queue,
        order: Order<Point>,
        work: Work<Self>,
    ) -> Result<Point, DriverError> {
        match work {
            Work::Nothing => queue.submit(order, Vec::new(), None),
            Work::Transfer(fill, copies) => {
                let filled = fill.iter().map(|fill| &fill.at);
                let copied = copies.iter().flat_map(|copy| [&copy.to, &copy.from]);
                let kept = filled.chain(copied).map(|part| part.memory.clone() as Kept);
                let kept = kept.collect();
                let record = |device: &ash::Device, command| {
                    put_transfers(device, command, fill.as_ref(), &copies);
                };
                queue.submit(order, kept, Some(&record))
            }
            Work::Time(clock) => {
                let pool = clock.pool;
                let record = |device: &ash::Device, command| {
                    // SAFETY: the pool has this one place, and is kept until the work is done.
                    unsafe {
                        device.cmd_reset_query_pool(command, pool, 0, 1);
                        let end = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
                        device.cmd_write_timestamp(command, end, pool, 0);
                    }
                };
                queue.submit(order, vec![clock as Kept], Some(&record))
            }
        }
    }

    fn moment(&self, _point: &Point, clock: &Arc<Clock>) -> Result<u64, DriverError> {
        clock.read()
    }

    fn elapsed(&self, start: u64, end: u64) -> Duration {
        let ticks = end.saturating_sub(start);
        Duration::from_nanos((ticks as f64 * self.open.nanoseconds_per_tick) as u64)
    }
}

/// Puts fills and copies down, of buffers that are kept until the work is done.
fn put_transfers(
    device: &ash::Device,
    command: vk::CommandBuffer,
    fill: Option<&Fill<Memory>>,
    copies: &[Transfer<Memory>],
) {
    if let Some(Fill { at, bytes, value }) = fill {
        let word = u32::from_ne_bytes([*value; 4]);
        // SAFETY: the buffer holds these bytes, which are whole words, and is kept until the work is
        // done.
        unsafe { device.cmd_fill_buffer(command, at.memory.buffer, at.offset, *bytes, word) };
    }
    for Transfer { to, from, bytes } in copies {
        let region = [vk::BufferCopy::default()
            .src_offset(from.offset)
            .dst_offset(to.offset)
            .size(*bytes)];
        let (to, from) = (to.memory.buffer, from.memory.buffer);
        // SAFETY: both buffers hold these bytes, and are kept until the work is done; what one work
        // touches are different bytes, so that no order between its commands is needed.
        unsafe { device.cmd_copy_buffer(command, from, to, &region) };
    }
}
