//! A CUDA device's address space apart from memory.

use std::{ffi::c_uint, ptr};

use crate::{
    address::DeviceAddress,
    cuda::{
        driver::CudaDriver,
        table::{AccessDescription, AllocationProperties, Location},
    },
    error::DriverError,
    library_driver::given,
    virtual_memory::{PhysicalMemory, VirtualMemory},
};

/// The driver's documented numbers.
const ALLOCATION_PINNED: c_uint = 1;
const LOCATION_DEVICE: c_uint = 1;
const ACCESS_READ_WRITE: c_uint = 3;
const GRANULARITY_MINIMUM: c_uint = 0;
/// What every device's granularity has been so far, in bytes; used if the driver does not say.
const USUAL_GRANULARITY: u64 = 2 << 20;

impl CudaDriver {
    fn location(&self) -> Location {
        Location {
            kind: LOCATION_DEVICE,
            id: self.library.device,
        }
    }

    fn properties(&self) -> AllocationProperties {
        AllocationProperties {
            kind: ALLOCATION_PINNED,
            requested_handle_types: 0,
            location: self.location(),
            win32_handle_meta_data: ptr::null_mut(),
            flags: [0; 8],
        }
    }

    fn let_use(&self, at: DeviceAddress, bytes: u64) -> Result<(), DriverError> {
        let access = AccessDescription {
            location: self.location(),
            flags: ACCESS_READ_WRITE,
        };
        // SAFETY: it reads one description; the addresses were just mapped.
        let code = unsafe {
            (self.library.table.mem_set_access)(at.get(), bytes as usize, &raw const access, 1)
        };
        self.check("cuMemSetAccess", code)
    }
}

// SAFETY: as for `Driver`.
unsafe impl VirtualMemory for CudaDriver {
    fn granularity_bytes(&self) -> u64 {
        let properties = self.properties();
        let mut bytes = 0;
        // SAFETY: it reads the properties and writes one number.
        let code = unsafe {
            (self.library.table.mem_get_allocation_granularity)(
                &raw mut bytes,
                &raw const properties,
                GRANULARITY_MINIMUM,
            )
        };
        if code == 0 && bytes > 0 {
            bytes as u64
        } else {
            USUAL_GRANULARITY
        }
    }

    fn reserve(&self, bytes: u64) -> Result<DeviceAddress, DriverError> {
        self.bind()?;
        let mut address = 0;
        // SAFETY: it writes one address; alignment, wish and flags may be zero.
        let code = unsafe {
            (self.library.table.mem_address_reserve)(&raw mut address, bytes as usize, 0, 0, 0)
        };
        self.check("cuMemAddressReserve", code)?;
        given("cuMemAddressReserve", address)
    }

    unsafe fn release(&self, at: DeviceAddress, bytes: u64) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = unsafe { (self.library.table.mem_address_free)(at.get(), bytes as usize) };
        self.check("cuMemAddressFree", code)
    }

    fn create(&self, bytes: u64) -> Result<PhysicalMemory, DriverError> {
        self.bind()?;
        let properties = self.properties();
        let mut handle = 0;
        // SAFETY: it reads the properties and writes one handle; the flags must be zero, and are.
        let code = unsafe {
            (self.library.table.mem_create)(
                &raw mut handle,
                bytes as usize,
                &raw const properties,
                0,
            )
        };
        self.check("cuMemCreate", code)?;
        Ok(PhysicalMemory { handle, bytes })
    }

    unsafe fn destroy(&self, memory: PhysicalMemory) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = unsafe { (self.library.table.mem_release)(memory.handle) };
        self.check("cuMemRelease", code)
    }

    unsafe fn map(&self, at: DeviceAddress, memory: PhysicalMemory) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise; offset and flags must be zero, and are.
        let code = unsafe {
            (self.library.table.mem_map)(at.get(), memory.bytes as usize, 0, memory.handle, 0)
        };
        self.check("cuMemMap", code)?;
        let usable = self.let_use(at, memory.bytes);
        if usable.is_err() {
            // SAFETY: it was just mapped and nobody has used it. If it fails as well, the first
            // error is the one to tell.
            unsafe { (self.library.table.mem_unmap)(at.get(), memory.bytes as usize) };
        }
        usable
    }

    unsafe fn unmap(&self, at: DeviceAddress, bytes: u64) -> Result<(), DriverError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        let code = unsafe { (self.library.table.mem_unmap)(at.get(), bytes as usize) };
        self.check("cuMemUnmap", code)
    }
}
