//! Compute kernels: SPIR-V over storage buffers, in a stream's order.

use std::{ffi::CStr, fmt, sync::Arc};

use ash::vk;

use super::{device::Open, driver::VulkanDriver, memory::Memory, work::Kept};
use crate::{
    buffers::Part,
    error::{DriverError, Refusal},
    memory::DeviceSpan,
    stream::{Stream, refused},
};

/// The most storage buffers that every device binds to one kernel.
const MOST_BUFFERS: u32 = 4;

/// A kernel of a Vulkan device: one entry of a SPIR-V module, over storage buffers. Any thread.
///
/// A kernel reads zero and writes nothing outside of the bytes that it was launched with: the device is
/// opened with robust access to buffers.
pub struct VulkanKernel {
    driver: Arc<VulkanDriver>,
    entry: String,
    made: Arc<Made>,
}

/// What goes with the kernel; null before it is made.
struct Made {
    open: Arc<Open>,
    buffers: u32,
    module: vk::ShaderModule,
    bindings: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
}

impl Drop for Made {
    fn drop(&mut self) {
        let device = &self.open.device;
        // SAFETY: all came from this device, or are null, and work that uses them keeps this value.
        unsafe {
            device.destroy_pipeline(self.pipeline, None);
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_set_layout(self.bindings, None);
            device.destroy_shader_module(self.module, None);
        }
    }
}

/// The buffers of one launch, until it is done.
struct Bound {
    made: Arc<Made>,
    pool: vk::DescriptorPool,
}

impl Drop for Bound {
    fn drop(&mut self) {
        // SAFETY: it came from this device, and the work that uses it is done.
        unsafe {
            let device = &self.made.open.device;
            device.destroy_descriptor_pool(self.pool, None);
        }
    }
}

impl VulkanKernel {
    /// Makes a kernel of a module's entry, over so many storage buffers.
    ///
    /// # Errors
    /// Refused for more buffers than every device binds; as the driver's calls fail.
    ///
    /// # Safety
    /// `code` is valid SPIR-V for Vulkan 1.2 with that entry, which ends, and its only resources are
    /// storage buffers in set 0, numbered from 0 and fewer than `buffers`.
    pub unsafe fn new(
        driver: &Arc<VulkanDriver>,
        code: &[u32],
        entry: &CStr,
        buffers: u32,
    ) -> Result<Self, DriverError> {
        if buffers == 0 || buffers > MOST_BUFFERS {
            let why = Refusal::OutOfRange {
                offset: 0,
                bytes: u64::from(buffers),
                held: u64::from(MOST_BUFFERS),
            };
            return Err(refused("vkCreateComputePipelines", why));
        }
        let mut made = Made {
            open: Arc::clone(driver.opened()),
            buffers,
            module: vk::ShaderModule::null(),
            bindings: vk::DescriptorSetLayout::null(),
            layout: vk::PipelineLayout::null(),
            pipeline: vk::Pipeline::null(),
        };
        // SAFETY: the caller's promise.
        unsafe { made.make(code, entry)? };
        Ok(Self {
            driver: Arc::clone(driver),
            entry: entry.to_string_lossy().into_owned(),
            made: Arc::new(made),
        })
    }

    /// Puts `groups` groups of the kernel on a stream, with these bytes as its buffers, in order.
    ///
    /// # Errors
    /// Refused for a stream of another device, another number of buffers, addresses that this driver did
    /// not give out or that are not aligned as the device wants (256 bytes always are); as the
    /// driver's calls fail.
    pub fn launch(
        &self,
        spans: &[DeviceSpan<'_>],
        groups: u32,
        on: &Stream,
    ) -> Result<(), DriverError> {
        const FUNCTION: &str = "vkCmdDispatch";
        if !std::ptr::addr_eq(Arc::as_ptr(on.driver()), Arc::as_ptr(&self.driver)) {
            return Err(refused(FUNCTION, Refusal::OtherDevice));
        }
        if spans.len() != self.made.buffers as usize {
            let why = Refusal::OutOfRange {
                offset: 0,
                bytes: spans.len() as u64,
                held: u64::from(self.made.buffers),
            };
            return Err(refused(FUNCTION, why));
        }
        let parts = self.driver.parts(FUNCTION, spans)?;
        let (bound, set) = self.made.bind(&parts, spans)?;
        let mut kept: Vec<Kept> = vec![Arc::new(bound)];
        kept.extend(parts.into_iter().map(|part| part.memory as Kept));
        let made = &self.made;
        let record = |device: &ash::Device, command| {
            // SAFETY: pipeline, set and buffers are kept until the work is done; what the kernel may touch
            // is what was bound.
            unsafe {
                let point = vk::PipelineBindPoint::COMPUTE;
                device.cmd_bind_pipeline(command, point, made.pipeline);
                device.cmd_bind_descriptor_sets(command, point, made.layout, 0, &[set], &[]);
                device.cmd_dispatch(command, groups, 1, 1);
            }
        };
        self.driver.put_work(on, kept, &record)
    }
}

impl Made {
    /// # Safety
    /// As [`VulkanKernel::new`].
    unsafe fn make(&mut self, code: &[u32], entry: &CStr) -> Result<(), DriverError> {
        let (open, device) = (&self.open, &self.open.device);
        let wanted = vk::ShaderModuleCreateInfo::default().code(code);
        // SAFETY: here and below everything came from this device, descriptions live until their call is
        // over, and the code is the caller's promise.
        let module = unsafe { device.create_shader_module(&wanted, None) };
        self.module = open.check("vkCreateShaderModule", module)?;
        let places: Vec<_> = (0..self.buffers)
            .map(|number| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(number)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        let wanted = vk::DescriptorSetLayoutCreateInfo::default().bindings(&places);
        // SAFETY: as above.
        let bindings = unsafe { device.create_descriptor_set_layout(&wanted, None) };
        self.bindings = open.check("vkCreateDescriptorSetLayout", bindings)?;
        let sets = [self.bindings];
        let wanted = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
        // SAFETY: as above.
        let layout = unsafe { device.create_pipeline_layout(&wanted, None) };
        self.layout = open.check("vkCreatePipelineLayout", layout)?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(self.module)
            .name(entry);
        let wanted = [vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(self.layout)];
        // SAFETY: as above.
        let made =
            unsafe { device.create_compute_pipelines(vk::PipelineCache::null(), &wanted, None) };
        let made = made.map_err(|(_, code)| code);
        let made = open.check("vkCreateComputePipelines", made)?;
        self.pipeline = made.into_iter().next().unwrap_or_default();
        Ok(())
    }

    /// A set with these buffers.
    fn bind(
        self: &Arc<Self>,
        parts: &[Part<Memory>],
        spans: &[DeviceSpan<'_>],
    ) -> Result<(Bound, vk::DescriptorSet), DriverError> {
        let (open, device) = (&self.open, &self.open.device);
        let sizes = [vk::DescriptorPoolSize::default()
            .ty(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(self.buffers)];
        let wanted = vk::DescriptorPoolCreateInfo::default()
            .max_sets(1)
            .pool_sizes(&sizes);
        // SAFETY: here and below everything came from this device, and descriptions live until their call
        // is over.
        let pool = unsafe { device.create_descriptor_pool(&wanted, None) };
        let bound = Bound {
            made: Arc::clone(self),
            pool: open.check("vkCreateDescriptorPool", pool)?,
        };
        let layouts = [self.bindings];
        let wanted = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(bound.pool)
            .set_layouts(&layouts);
        // SAFETY: as above.
        let sets = unsafe { device.allocate_descriptor_sets(&wanted) };
        let sets = open.check("vkAllocateDescriptorSets", sets)?;
        let set = sets.into_iter().next().unwrap_or_default();
        let buffers: Vec<_> = parts
            .iter()
            .zip(spans)
            .map(|(part, span)| {
                [vk::DescriptorBufferInfo::default()
                    .buffer(part.memory.buffer)
                    .offset(part.offset)
                    .range(span.bytes())]
            })
            .collect();
        let writes: Vec<_> = (0_u32..)
            .zip(&buffers)
            .map(|(number, buffer)| {
                vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(number)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .buffer_info(buffer)
            })
            .collect();
        // SAFETY: as above; nobody uses the set yet.
        unsafe { device.update_descriptor_sets(&writes, &[]) };
        Ok((bound, set))
    }
}

impl fmt::Debug for VulkanKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VulkanKernel").field(&self.entry).finish()
    }
}
