//! Memory that is reached through buffers: which buffer an address lies in, and what is done to
//! buffers in a stream's order.

use std::{collections::BTreeMap, ptr::NonNull, sync::Arc};

use crate::{
    address::{DeviceAddress, HostAddress},
    error::{DriverError, Refusal},
    stream::refused,
};

/// What memory is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// The device's own.
    Device,
    /// The host's, which the device reads and writes by itself.
    Host,
}

/// A buffer with the bytes of one allocation.
///
/// # Safety
/// The bytes of the buffer are its own, from [`BufferMemory::offset`] on as many as
/// [`BufferMemory::bytes`] says; where [`BufferMemory::pointer`] gives an address, the host can read and write as many
/// from there on, as long as the buffer lives.
pub unsafe trait BufferMemory: Send + Sync + 'static {
    /// How many bytes are given out.
    fn bytes(&self) -> u64;

    /// Where the first of them stands in the buffer.
    fn offset(&self) -> u64;

    /// Where the first of them is for the device.
    fn address(&self) -> Result<DeviceAddress, DriverError>;

    /// Where the first of them is for the host; refused of memory that it does not see.
    fn pointer(&self) -> Result<NonNull<u8>, DriverError>;
}

/// Bytes of a buffer.
pub struct Part<M> {
    pub(crate) memory: Arc<M>,
    /// From the buffer's beginning, in bytes.
    pub(crate) offset: u64,
}

// By hand: a derived one asks that the memory itself can be cloned.
impl<M> Clone for Part<M> {
    fn clone(&self) -> Self {
        Self {
            memory: Arc::clone(&self.memory),
            offset: self.offset,
        }
    }
}

impl<M: BufferMemory> Part<M> {
    /// All that is given out of a buffer.
    pub(crate) fn whole(memory: M) -> Self {
        Self {
            offset: memory.offset(),
            memory: Arc::new(memory),
        }
    }
}

/// Bytes that are copied from one buffer to another.
pub struct Transfer<M> {
    pub(crate) to: Part<M>,
    pub(crate) from: Part<M>,
    pub(crate) bytes: u64,
}

/// Bytes of a buffer that are set to one value: whole words.
pub struct Fill<M> {
    pub(crate) at: Part<M>,
    pub(crate) bytes: u64,
    pub(crate) value: u8,
}

/// The unit of fills, in bytes.
pub(crate) const WORD: u64 = 4;

/// Each byte four times, for what a fill cannot reach.
pub(crate) struct Constants<M>(Arc<M>);

impl<M: BufferMemory> Constants<M> {
    /// Bytes that they take.
    pub(crate) const BYTES: u64 = 256 * WORD;

    /// Writes them into memory of the host that has room for them and that nobody else has yet.
    pub(crate) fn write(memory: M) -> Result<Self, DriverError> {
        let words: Vec<u8> = (0..=u8::MAX).flat_map(|value| [value; 4]).collect();
        if memory.bytes() < words.len() as u64 {
            return Err(DriverError::OutOfMemory);
        }
        let pointer = memory.pointer()?;
        // SAFETY: the memory has room for all of them, and nobody else has it yet.
        unsafe {
            pointer
                .as_ptr()
                .copy_from_nonoverlapping(words.as_ptr(), words.len())
        };
        Ok(Self(Arc::new(memory)))
    }

    /// Up to four times one byte.
    fn of(&self, value: u8) -> Part<M> {
        Part {
            memory: Arc::clone(&self.0),
            offset: self.0.offset() + u64::from(value) * WORD,
        }
    }

    /// What sets bytes to one value: a fill of the whole words between, where there are any, and a
    /// copy for what is left at either end. They touch different bytes.
    pub(crate) fn set(
        &self,
        at: &Part<M>,
        value: u8,
        bytes: u64,
    ) -> (Option<Fill<M>>, Vec<Transfer<M>>) {
        let end = at.offset + bytes;
        let first = at.offset.next_multiple_of(WORD).min(end);
        let last = (end - end % WORD).max(first);
        let place = |offset| Part {
            memory: Arc::clone(&at.memory),
            offset,
        };
        let edges = [(at.offset, first), (last, end)].into_iter();
        let copies = edges
            .filter(|(begin, end)| begin < end)
            .map(|(begin, end)| Transfer {
                to: place(begin),
                from: self.of(value),
                bytes: end - begin,
            });
        let fill = (first < last).then(|| Fill {
            at: place(first),
            bytes: last - first,
            value,
        });
        (fill, copies.collect())
    }
}

/// The allocations of a driver, by their first address.
pub(crate) struct Buffers<M> {
    pub(crate) device: BTreeMap<u64, Arc<M>>,
    /// Memory of the host.
    pub(crate) pinned: BTreeMap<u64, Arc<M>>,
}

impl<M: BufferMemory> Buffers<M> {
    pub(crate) const fn new() -> Self {
        Self {
            device: BTreeMap::new(),
            pinned: BTreeMap::new(),
        }
    }

    /// The bytes at an address of the device.
    pub(crate) fn device_part(
        &self,
        function: &'static str,
        at: DeviceAddress,
        bytes: usize,
    ) -> Result<Part<M>, DriverError> {
        let unknown = || refused(function, Refusal::UnknownAddress);
        let found = self.device.range(..=at.get()).next_back();
        let (begin, memory) = found.ok_or_else(unknown)?;
        let (offset, bytes, held) = (at.get() - begin, bytes as u64, memory.bytes());
        if offset >= held {
            return Err(unknown());
        }
        if offset.checked_add(bytes).is_none_or(|end| end > held) {
            let why = Refusal::OutOfRange {
                offset,
                bytes,
                held,
            };
            return Err(refused(function, why));
        }
        Ok(Part {
            memory: Arc::clone(memory),
            offset: memory.offset() + offset,
        })
    }

    /// The bytes at an address of the host, where it is pinned memory of this driver.
    pub(crate) fn pinned_part(&self, at: HostAddress, bytes: usize) -> Option<Part<M>> {
        let (begin, memory) = self.pinned.range(..=at.get()).next_back()?;
        let offset = at.get() - begin;
        let end = offset.checked_add(bytes as u64)?;
        (end <= memory.bytes()).then(|| Part {
            memory: Arc::clone(memory),
            offset: memory.offset() + offset,
        })
    }
}
