//! Address space apart from memory: reserve addresses, make memory, put one under the other. What a
//! pool needs to close holes without moving what was given out.

use crate::{address::DeviceAddress, error::DriverError};

/// Memory of a device that has no address yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PhysicalMemory {
    /// The driver's handle.
    pub handle: u64,
    /// Its size in bytes, a multiple of [`VirtualMemory::granularity_bytes`].
    pub bytes: u64,
}

/// Reserving addresses and mapping memory under them. All sizes and offsets are in bytes and
/// multiples of [`VirtualMemory::granularity_bytes`]. May be called from several threads at once.
///
/// # Safety
/// The owning types believe what it answers: the granularity is not zero and stays; addresses of
/// [`VirtualMemory::reserve`] are that many bytes and nobody else's until they were released; memory of
/// [`VirtualMemory::create`] is that much and nobody else's until it was destroyed; and what is mapped is
/// mapped where it was asked for.
pub unsafe trait VirtualMemory: Send + Sync {
    /// The unit of everything here, in bytes.
    fn granularity_bytes(&self) -> u64;

    /// Reserves addresses, with nothing under them.
    ///
    /// # Errors
    /// As the driver's call fails.
    fn reserve(&self, bytes: u64) -> Result<DeviceAddress, DriverError>;

    /// Gives reserved addresses back.
    ///
    /// # Errors
    /// As the driver's call fails.
    ///
    /// # Safety
    /// Exactly what [`VirtualMemory::reserve`] returned, with nothing mapped in it.
    unsafe fn release(&self, at: DeviceAddress, bytes: u64) -> Result<(), DriverError>;

    /// Makes memory without an address.
    ///
    /// # Errors
    /// [`DriverError::OutOfMemory`], or as the driver's call fails.
    fn create(&self, bytes: u64) -> Result<PhysicalMemory, DriverError>;

    /// Gives memory back; it goes once nothing maps it.
    ///
    /// # Errors
    /// As the driver's call fails.
    ///
    /// # Safety
    /// It came from [`VirtualMemory::create`] and was not given back.
    unsafe fn destroy(&self, memory: PhysicalMemory) -> Result<(), DriverError>;

    /// Puts all of `memory` under the addresses from `at` on, to be read and written by this device.
    ///
    /// # Errors
    /// As the driver's call fails; nothing is then mapped.
    ///
    /// # Safety
    /// The addresses are reserved, nothing is mapped there, and `memory` is live.
    unsafe fn map(&self, at: DeviceAddress, memory: PhysicalMemory) -> Result<(), DriverError>;

    /// Takes away what is mapped from `at` on.
    ///
    /// # Errors
    /// As the driver's call fails.
    ///
    /// # Safety
    /// Whole mappings, and no work that is not done uses them.
    unsafe fn unmap(&self, at: DeviceAddress, bytes: u64) -> Result<(), DriverError>;
}
