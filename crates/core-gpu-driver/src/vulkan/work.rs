//! Work on the device's queue: commands that wait for points in timelines and reach one themselves.

use std::{any::Any, sync::Arc};

use ash::vk;

use super::device::Open;
use crate::{
    buffer_driver::{Order, WorkPoint},
    error::DriverError,
};

/// A stream's clock: a semaphore whose number grows by one with each work of the stream.
pub struct Timeline {
    open: Arc<Open>,
    semaphore: vk::Semaphore,
}

/// A point in a stream's work.
#[derive(Clone)]
pub struct Point {
    pub(super) timeline: Arc<Timeline>,
    pub(super) value: u64,
}

/// What is kept until work is done.
pub(super) type Kept = Arc<dyn Any + Send + Sync>;

/// Puts commands down.
pub(super) type Record<'r> = &'r dyn Fn(&ash::Device, vk::CommandBuffer);

/// Work that was given to the device.
struct Running {
    point: Point,
    /// None for work that only waits.
    command: Option<vk::CommandBuffer>,
    /// Timelines that it waits for, memory that it uses.
    _kept: Vec<Kept>,
}

/// The queue, and what is under way on it.
pub struct Queue {
    open: Arc<Open>,
    queue: vk::Queue,
    commands: vk::CommandPool,
    running: Vec<Running>,
}

impl Timeline {
    pub(super) fn new(open: &Arc<Open>) -> Result<Arc<Self>, DriverError> {
        let mut kind = vk::SemaphoreTypeCreateInfo::default()
            .semaphore_type(vk::SemaphoreType::TIMELINE)
            .initial_value(0);
        let wanted = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the device has timelines, and the description lives until the call is over.
        let made = unsafe { open.device.create_semaphore(&wanted, None) };
        Ok(Arc::new(Self {
            open: Arc::clone(open),
            semaphore: open.check("vkCreateSemaphore", made)?,
        }))
    }
}

impl Drop for Timeline {
    fn drop(&mut self) {
        // SAFETY: it came from this device, and work that waits for it or reaches it keeps it.
        unsafe { self.open.device.destroy_semaphore(self.semaphore, None) };
    }
}

impl WorkPoint for Point {
    fn is_reached(&self) -> Result<bool, DriverError> {
        let open = &self.timeline.open;
        // SAFETY: the timeline lives.
        let value = unsafe {
            open.device
                .get_semaphore_counter_value(self.timeline.semaphore)
        };
        Ok(open.check("vkGetSemaphoreCounterValue", value)? >= self.value)
    }

    fn wait(&self) -> Result<(), DriverError> {
        let open = &self.timeline.open;
        let (semaphores, values) = ([self.timeline.semaphore], [self.value]);
        let wanted = vk::SemaphoreWaitInfo::default()
            .semaphores(&semaphores)
            .values(&values);
        // SAFETY: the timeline lives.
        let waited = unsafe { open.device.wait_semaphores(&wanted, u64::MAX) };
        open.check("vkWaitSemaphores", waited)
    }
}

impl Queue {
    pub(super) fn of(open: &Arc<Open>) -> Result<Self, DriverError> {
        let wanted = vk::CommandPoolCreateInfo::default()
            .queue_family_index(open.family)
            .flags(vk::CommandPoolCreateFlags::TRANSIENT);
        // SAFETY: here and below everything came from this device, and descriptions live until their
        // call is over.
        let commands = unsafe { open.device.create_command_pool(&wanted, None) };
        Ok(Self {
            // SAFETY: the device was made with one queue of this family.
            queue: unsafe { open.device.get_device_queue(open.family, 0) },
            commands: open.check("vkCreateCommandPool", commands)?,
            open: Arc::clone(open),
            running: Vec::new(),
        })
    }

    /// Gives work to the device, which keeps what it uses until it is done, and tells the point that it
    /// reaches. `record` puts the commands down; none for work that only waits.
    pub(super) fn submit(
        &mut self,
        order: Order<Point>,
        kept: Vec<Kept>,
        record: Option<Record<'_>>,
    ) -> Result<Point, DriverError> {
        self.reap()?;
        let reaches = Point {
            timeline: order.last.timeline,
            value: order.last.value + 1,
        };
        let command = record.map(|record| self.command(record)).transpose()?;
        let submitted = self.give(&order.waits, &reaches, command);
        if let (Err(_), Some(command)) = (&submitted, command) {
            self.free(command);
        }
        submitted?;
        let waits = order.waits.into_iter().map(|point| point.timeline as Kept);
        self.running.push(Running {
            point: reaches.clone(),
            command,
            _kept: waits.chain(kept).collect(),
        });
        Ok(reaches)
    }

    /// Commands, put down.
    fn command(&self, record: Record<'_>) -> Result<vk::CommandBuffer, DriverError> {
        let device = &self.open.device;
        let wanted = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.commands)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        // SAFETY: as in `of`; the pool is used under the driver's lock.
        let made = unsafe { device.allocate_command_buffers(&wanted) };
        let made = self.open.check("vkAllocateCommandBuffers", made)?;
        let command = made.into_iter().next().unwrap_or_default();
        let once = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: as above.
        let begun = unsafe { device.begin_command_buffer(command, &once) };
        let written = self
            .open
            .check("vkBeginCommandBuffer", begun)
            .and_then(|()| {
                record(device, command);
                // What the device has written is seen by the host that has waited for it.
                let seen = [vk::MemoryBarrier::default()
                    .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                    .dst_access_mask(vk::AccessFlags::HOST_READ)];
                // SAFETY: as above; the commands are being put down.
                unsafe {
                    device.cmd_pipeline_barrier(
                        command,
                        vk::PipelineStageFlags::TRANSFER,
                        vk::PipelineStageFlags::HOST,
                        vk::DependencyFlags::empty(),
                        &seen,
                        &[],
                        &[],
                    );
                }
                // SAFETY: as above.
                let ended = unsafe { device.end_command_buffer(command) };
                self.open.check("vkEndCommandBuffer", ended)
            });
        if let Err(error) = written {
            self.free(command);
            return Err(error);
        }
        Ok(command)
    }

    fn give(
        &self,
        behind: &[Point],
        reaches: &Point,
        command: Option<vk::CommandBuffer>,
    ) -> Result<(), DriverError> {
        let waits = behind.iter().map(|point| point.timeline.semaphore);
        let waits: Vec<_> = waits.collect();
        let values: Vec<_> = behind.iter().map(|point| point.value).collect();
        let stages = vec![vk::PipelineStageFlags::ALL_COMMANDS; waits.len()];
        let (reaches, value) = ([reaches.timeline.semaphore], [reaches.value]);
        let commands: Vec<_> = command.into_iter().collect();
        let mut numbers = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&values)
            .signal_semaphore_values(&value);
        let submit = vk::SubmitInfo::default()
            .wait_semaphores(&waits)
            .wait_dst_stage_mask(&stages)
            .command_buffers(&commands)
            .signal_semaphores(&reaches)
            .push_next(&mut numbers);
        // SAFETY: the timelines are kept until the work is done, and so is what the commands use; the
        // queue is used under the driver's lock.
        let given = unsafe {
            self.open
                .device
                .queue_submit(self.queue, &[submit], vk::Fence::null())
        };
        self.open.check("vkQueueSubmit", given)
    }

    /// Lets go of what is done.
    fn reap(&mut self) -> Result<(), DriverError> {
        let mut running = std::mem::take(&mut self.running);
        let mut first = Ok(());
        running.retain(|work| match work.point.is_reached() {
            Ok(false) => true,
            Ok(true) => {
                if let Some(command) = work.command {
                    self.free(command);
                }
                false
            }
            Err(error) => {
                first = Err(error);
                true
            }
        });
        self.running = running;
        first
    }

    fn free(&self, command: vk::CommandBuffer) {
        // SAFETY: it came from this pool, and no work that is not done uses it.
        unsafe {
            self.open
                .device
                .free_command_buffers(self.commands, &[command]);
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: what runs is waited for; a failure means that the device is lost, and nothing runs.
        // The pool's commands go with it.
        unsafe {
            let _ = self.open.device.device_wait_idle();
            self.open.device.destroy_command_pool(self.commands, None);
        }
    }
}

/// Where the device writes a time.
pub struct Clock {
    open: Arc<Open>,
    pub(super) pool: vk::QueryPool,
}

impl Clock {
    pub(super) fn new(open: &Arc<Open>) -> Result<Arc<Self>, DriverError> {
        let wanted = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::TIMESTAMP)
            .query_count(1);
        // SAFETY: the description lives until the call is over.
        let made = unsafe { open.device.create_query_pool(&wanted, None) };
        Ok(Arc::new(Self {
            open: Arc::clone(open),
            pool: open.check("vkCreateQueryPool", made)?,
        }))
    }

    /// What was written; the work that writes it is done.
    pub(super) fn read(&self) -> Result<u64, DriverError> {
        let mut time = [0_u64];
        let flags = vk::QueryResultFlags::TYPE_64;
        // SAFETY: there is room for the one time that is asked for.
        let read = unsafe {
            self.open
                .device
                .get_query_pool_results(self.pool, 0, &mut time, flags)
        };
        self.open.check("vkGetQueryPoolResults", read)?;
        let [time] = time;
        Ok(time)
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        // SAFETY: it came from this device, and work that writes to it keeps it.
        unsafe { self.open.device.destroy_query_pool(self.pool, None) };
    }
}
