//! What drivers have in common whose memory is reached through buffers: which buffer an address lies
//! in, and copies between buffers in a stream's order.

use std::{collections::BTreeMap, ptr::NonNull, sync::Arc};

use crate::{
    address::{DeviceAddress, HostAddress, Place},
    error::{Absent, DriverError, Refusal},
    stream::{RawStream, refused},
};

/// A buffer with the bytes of one allocation.
pub(crate) trait BufferMemory {
    /// How many bytes are given out.
    fn bytes(&self) -> u64;

    /// Where the first of them stands in the buffer.
    fn offset(&self) -> u64;

    /// The first of them, of memory that the host sees.
    fn pointer(&self) -> Result<NonNull<u8>, DriverError>;
}

/// Bytes of a buffer.
pub(crate) struct Part<M> {
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
pub(crate) struct Transfer<M> {
    pub(crate) to: Part<M>,
    pub(crate) from: Part<M>,
    pub(crate) bytes: u64,
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
    fn pinned_part(&self, at: HostAddress, bytes: usize) -> Option<Part<M>> {
        let (begin, memory) = self.pinned.range(..=at.get()).next_back()?;
        let offset = at.get() - begin;
        let end = offset.checked_add(bytes as u64)?;
        (end <= memory.bytes()).then(|| Part {
            memory: Arc::clone(memory),
            offset: memory.offset() + offset,
        })
    }
}

/// A driver that copies between buffers only: what the program has elsewhere goes through one that
/// is made for it.
pub(crate) trait BufferCopies {
    /// Its buffers.
    type Memory: BufferMemory;
    /// The end of a work.
    type Point;

    /// Looks something up among its allocations.
    fn with_buffers<T>(&self, look: impl FnOnce(&Buffers<Self::Memory>) -> T) -> T;

    /// Copies in a stream's order. Both buffers are kept until that is done.
    fn copy_parts(
        &self,
        copy: Transfer<Self::Memory>,
        on: RawStream,
    ) -> Result<Self::Point, DriverError>;

    /// A buffer of the host for one work.
    fn staged(&self, bytes: usize) -> Result<Part<Self::Memory>, DriverError>;

    /// Waits for the end of a work.
    fn wait(&self, point: &Self::Point) -> Result<(), DriverError>;

    /// [`crate::driver::Driver::copy`].
    ///
    /// # Safety
    /// As there.
    unsafe fn copy_places(
        &self,
        to: Place,
        from: Place,
        bytes: usize,
        on: RawStream,
    ) -> Result<(), DriverError> {
        if bytes == 0 {
            return Ok(());
        }
        match (to, from) {
            (Place::Device(to), Place::Device(from)) => {
                let device = |at| self.with_buffers(|held| held.device_part("copy", at, bytes));
                let copy = Transfer {
                    to: device(to)?,
                    from: device(from)?,
                    bytes: bytes as u64,
                };
                self.copy_parts(copy, on).map(drop)
            }
            // SAFETY: the caller promises what the host's address needs.
            (Place::Device(to), Place::Host(from)) => unsafe { self.upload(to, from, bytes, on) },
            // SAFETY: as above.
            (Place::Host(to), Place::Device(from)) => unsafe { self.download(to, from, bytes, on) },
            (Place::Host(_), Place::Host(_)) => Err(refused("copy", Refusal::OtherDevice)),
        }
    }

    /// # Safety
    /// So many bytes can be read at `from`: until this returns, and of pinned memory until the copy
    /// is done.
    unsafe fn upload(
        &self,
        to: DeviceAddress,
        from: HostAddress,
        bytes: usize,
        on: RawStream,
    ) -> Result<(), DriverError> {
        let to = self.with_buffers(|held| held.device_part("copy", to, bytes))?;
        let pinned = self.with_buffers(|held| held.pinned_part(from, bytes));
        let from = match pinned {
            Some(from) => from,
            None => {
                // Pageable: it is the program's again when this returns.
                let staged = self.staged(bytes)?;
                let room = staged.memory.pointer()?;
                // SAFETY: the caller promises so many readable bytes; the buffer was just made.
                unsafe { from.pointer().copy_to_nonoverlapping(room.as_ptr(), bytes) };
                staged
            }
        };
        let bytes = bytes as u64;
        self.copy_parts(Transfer { to, from, bytes }, on).map(drop)
    }

    /// # Safety
    /// Nobody uses so many bytes at `to`, which can be written: until this returns, and of pinned
    /// memory until the copy is done.
    unsafe fn download(
        &self,
        to: HostAddress,
        from: DeviceAddress,
        bytes: usize,
        on: RawStream,
    ) -> Result<(), DriverError> {
        let length = bytes as u64;
        let from = self.with_buffers(|held| held.device_part("copy", from, bytes))?;
        let into = |to| Transfer {
            to,
            from,
            bytes: length,
        };
        if let Some(pinned) = self.with_buffers(|held| held.pinned_part(to, bytes)) {
            return self.copy_parts(into(pinned), on).map(drop);
        }
        let staged = self.staged(bytes)?;
        let done = self.copy_parts(into(staged.clone()), on)?;
        self.wait(&done)?;
        let room = staged.memory.pointer()?;
        // SAFETY: the caller promises so many writable bytes that nobody uses; the copy is done.
        unsafe { to.pointer().copy_from_nonoverlapping(room.as_ptr(), bytes) };
        Ok(())
    }
}

/// Refuses allocations of nothing.
pub(crate) fn not_zero(function: &'static str, bytes: usize) -> Result<(), DriverError> {
    match bytes {
        0 => Err(refused(function, Refusal::ZeroBytes)),
        _ => Ok(()),
    }
}

/// What a platform without allocation in a stream's order answers.
pub(crate) fn no_stream_memory() -> DriverError {
    let what = "stream-ordered allocation";
    Absent::Capability { what }.into()
}
