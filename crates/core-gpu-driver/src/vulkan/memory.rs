//! Buffers with memory of their own: of the device by address, of the host by pointer.

use std::{ptr::NonNull, sync::Arc};

use ash::vk;

use super::device::{ALIGNMENT, Open};
use crate::{
    address::DeviceAddress,
    buffers::{BufferMemory, MemoryKind},
    error::{DriverError, Refusal},
    stream::refused,
};

/// A buffer and its memory, gone with it.
pub struct Memory {
    open: Arc<Open>,
    pub(super) buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    /// Where it is mapped, for memory of the host.
    mapped: Option<NonNull<u8>>,
    /// Where the first byte that is given out stands in the buffer.
    offset: u64,
    /// Where that byte is for the device.
    address: u64,
    /// How many bytes are given out.
    bytes: u64,
}

// SAFETY: the pointer is to memory that the device maps for the whole process; who reads or writes it
// is under the driver's rules.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// Destroys what was made before a later call failed.
struct Unmade<'o> {
    open: &'o Open,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
}

impl Drop for Unmade<'_> {
    fn drop(&mut self) {
        // SAFETY: both came from this device, or are null, and nobody has been given them.
        unsafe {
            self.open.device.destroy_buffer(self.buffer, None);
            self.open.device.free_memory(self.memory, None);
        }
    }
}

impl Memory {
    pub(super) fn allocate(
        open: &Arc<Open>,
        bytes: u64,
        kind: MemoryKind,
    ) -> Result<Self, DriverError> {
        let room = bytes
            .checked_add(ALIGNMENT - 1)
            .ok_or(DriverError::OutOfMemory)?;
        let device = &open.device;
        let mut made = Unmade {
            open,
            buffer: vk::Buffer::null(),
            memory: vk::DeviceMemory::null(),
        };
        let wanted = vk::BufferCreateInfo::default()
            .size(room)
            .usage(
                vk::BufferUsageFlags::TRANSFER_SRC
                    | vk::BufferUsageFlags::TRANSFER_DST
                    | vk::BufferUsageFlags::STORAGE_BUFFER
                    | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS,
            )
            .sharing_mode(vk::SharingMode::EXCLUSIVE);
        // SAFETY: here and below everything came from this device, and descriptions live until their
        // call is over.
        made.buffer = open.check("vkCreateBuffer", unsafe {
            device.create_buffer(&wanted, None)
        })?;
        // SAFETY: as above.
        let needs = unsafe { device.get_buffer_memory_requirements(made.buffer) };
        let mut by_address =
            vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let wanted = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(memory_type(open, needs.memory_type_bits, kind)?)
            .push_next(&mut by_address);
        // SAFETY: as above.
        made.memory = open.check("vkAllocateMemory", unsafe {
            device.allocate_memory(&wanted, None)
        })?;
        // SAFETY: as above; the memory is as long as the buffer needs.
        open.check("vkBindBufferMemory", unsafe {
            device.bind_buffer_memory(made.buffer, made.memory, 0)
        })?;
        Self::place(open, made, bytes, kind)
    }

    /// Finds where a bound buffer is.
    fn place(
        open: &Arc<Open>,
        made: Unmade<'_>,
        bytes: u64,
        kind: MemoryKind,
    ) -> Result<Self, DriverError> {
        let device = &open.device;
        let of_buffer = vk::BufferDeviceAddressInfo::default().buffer(made.buffer);
        // SAFETY: the buffer was made to have an address, and is bound.
        let base = unsafe { device.get_buffer_device_address(&of_buffer) };
        let mapped = match kind {
            MemoryKind::Device => None,
            MemoryKind::Host => {
                let all = vk::WHOLE_SIZE;
                // SAFETY: memory of this kind can be mapped, and is mapped once.
                let pointer = open.check("vkMapMemory", unsafe {
                    device.map_memory(made.memory, 0, all, vk::MemoryMapFlags::empty())
                })?;
                NonNull::new(pointer.cast::<u8>())
            }
        };
        // Of the host's memory it is the pointer that is aligned.
        let begins = mapped.map_or(base, |pointer| pointer.as_ptr().addr() as u64);
        let offset = begins.next_multiple_of(ALIGNMENT) - begins;
        let made = std::mem::ManuallyDrop::new(made);
        Ok(Self {
            open: Arc::clone(open),
            buffer: made.buffer,
            memory: made.memory,
            mapped,
            offset,
            address: base + offset,
            bytes,
        })
    }
}

// SAFETY: the buffer has room for what is given out behind the offset, and its memory is its own; what
// is mapped stays mapped until the memory is freed with the buffer.
unsafe impl BufferMemory for Memory {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn offset(&self) -> u64 {
        self.offset
    }

    fn address(&self) -> Result<DeviceAddress, DriverError> {
        let unknown = || refused("vkGetBufferDeviceAddress", Refusal::UnknownAddress);
        DeviceAddress::new(self.address).ok_or_else(unknown)
    }

    fn pointer(&self) -> Result<NonNull<u8>, DriverError> {
        let unknown = || refused("vkMapMemory", Refusal::UnknownAddress);
        let mapped = self.mapped.ok_or_else(unknown)?;
        // SAFETY: the buffer is longer than the offset by all its bytes.
        Ok(unsafe { mapped.add(self.offset as usize) })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: both came from this device. Whoever drops it knows that no work uses it; memory that
        // is mapped is unmapped with it.
        unsafe {
            self.open.device.destroy_buffer(self.buffer, None);
            self.open.device.free_memory(self.memory, None);
        }
    }
}

/// The first kind of memory that will do: the device orders them by what is best.
fn memory_type(open: &Open, bits: u32, kind: MemoryKind) -> Result<u32, DriverError> {
    let wanted = match kind {
        MemoryKind::Device => vk::MemoryPropertyFlags::DEVICE_LOCAL,
        // Coherent: nothing has to be flushed.
        MemoryKind::Host => {
            vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT
        }
    };
    let types = open.memory.memory_types_as_slice().iter();
    let found = types
        .zip(0_u32..)
        .find(|(kind, place)| bits & (1 << place) != 0 && kind.property_flags.contains(wanted));
    let what = "memory of this kind";
    let missing = crate::error::Absent::Capability { what };
    Ok(found.ok_or(missing)?.1)
}
