//! The driver's calls about address space apart from memory.

use core_gpu_driver::{DeviceAddress, PhysicalMemory};

use crate::{
    code::Code,
    machine::{
        Machine,
        state::{Physical, State, Stop},
    },
    memory::{Allocation, Origin, POISON},
};

/// The unit of reservations, memory and mappings, in bytes.
pub(crate) const GRANULARITY: u64 = 2 << 20;

fn whole_units(bytes: u64) -> Result<(), Code> {
    if bytes == 0 || !bytes.is_multiple_of(GRANULARITY) {
        return Err(Code::INVALID_VALUE);
    }
    Ok(())
}

impl State {
    fn able(&self, device: u32) -> Result<(), Code> {
        let config = self.config.devices.get(device as usize);
        if config.is_some_and(|config| config.virtual_memory) {
            return Ok(());
        }
        Err(Code::NOT_SUPPORTED)
    }

    fn create(&mut self, device: u32, bytes: u64) -> Result<PhysicalMemory, Code> {
        whole_units(bytes)?;
        self.take(device, bytes, false)?;
        let size = usize::try_from(bytes).map_err(|_| Code::OUT_OF_MEMORY)?;
        let handle = self.handle();
        let physical = Physical {
            device,
            bytes,
            data: Some(vec![POISON; size]),
            destroyed: false,
        };
        self.physical.insert(handle, physical);
        Ok(PhysicalMemory { handle, bytes })
    }

    /// Memory whose handle and mapping are gone.
    fn drop_physical(&mut self, handle: u64) -> Result<(), Code> {
        let Some(physical) = self.physical.get(&handle) else {
            return Err(Code::INVALID_VALUE);
        };
        if !physical.destroyed || physical.data.is_none() {
            return Ok(());
        }
        let (number, bytes) = (physical.device, physical.bytes);
        let bytes = self.rounded(number, bytes);
        self.physical.remove(&handle);
        let device = self.device(number)?;
        device.used_bytes = device.used_bytes.saturating_sub(bytes);
        Ok(())
    }

    fn is_reserved(&self, at: u64, bytes: u64) -> bool {
        let found = self.reservations.range(..=at).next_back();
        found.is_some_and(|(start, reserved)| at + bytes <= start + reserved)
    }

    /// Mappings in a range, as their first addresses and sizes.
    fn mappings(&self, at: u64, bytes: u64) -> Vec<(u64, u64)> {
        self.memory
            .all()
            .map(|(start, found)| (start, found.data.len() as u64))
            .filter(|(start, size)| *start < at + bytes && start + size > at)
            .collect()
    }

    fn map(&mut self, device: u32, at: u64, memory: PhysicalMemory) -> Result<(), Code> {
        let aligned = at.is_multiple_of(GRANULARITY);
        if !aligned || !self.is_reserved(at, memory.bytes) {
            return Err(Code::INVALID_VALUE);
        }
        if !self.mappings(at, memory.bytes).is_empty() {
            return Err(Code::INVALID_VALUE);
        }
        let known = self.physical.get_mut(&memory.handle);
        let known = known.filter(|known| known.bytes == memory.bytes && !known.destroyed);
        let data = known.and_then(|known| known.data.take());
        let allocation = Allocation {
            device,
            origin: Origin::Mapped(memory.handle),
            data: data.ok_or(Code::INVALID_VALUE)?,
        };
        self.memory.place(at, allocation);
        Ok(())
    }

    /// The mappings that exactly fill a range.
    fn whole_mappings(&self, at: u64, bytes: u64) -> Result<Vec<(u64, u64)>, Code> {
        let found = self.mappings(at, bytes);
        let size: u64 = found.iter().map(|(_, size)| size).sum();
        let inside = found
            .iter()
            .all(|(start, size)| *start >= at && start + size <= at + bytes);
        let mapped = self.is_reserved(at, bytes) && inside && size == bytes && bytes > 0;
        if mapped {
            Ok(found)
        } else {
            Err(Code::INVALID_VALUE)
        }
    }

    fn unmap(&mut self, device: u32, at: u64, bytes: u64) -> Result<(), Stop> {
        self.wait_for_device(device)?;
        for (start, size) in self.whole_mappings(at, bytes)? {
            let Some(gone) = self.memory.remove(start) else {
                continue;
            };
            self.shadow.forget((start, start + size));
            if let Origin::Mapped(handle) = gone.origin {
                if let Some(physical) = self.physical.get_mut(&handle) {
                    physical.data = Some(gone.data);
                }
                self.drop_physical(handle)?;
            }
        }
        Ok(())
    }
}

/// Address space. Sizes and addresses are in bytes and multiples of 2 MiB. Memory is mapped in one
/// place at a time; a real driver allows more. Any thread.
impl Machine {
    /// Reserves addresses (`cuMemAddressReserve`).
    ///
    /// # Errors
    /// An invalid value for a size that is no multiple; not supported, where the device is made so.
    pub fn reserve(&self, device: u32, bytes: u64) -> Result<DeviceAddress, Code> {
        self.call("cuMemAddressReserve", device, |state| {
            state.able(device)?;
            whole_units(bytes)?;
            let at = state.memory.fresh_addresses(bytes, GRANULARITY)?;
            state.reservations.insert(at, bytes);
            DeviceAddress::new(at).ok_or(Code::OUT_OF_MEMORY)
        })
    }

    /// Gives addresses back (`cuMemAddressFree`).
    ///
    /// # Errors
    /// An invalid value unless it is a whole reservation with nothing mapped in it.
    pub fn release(&self, device: u32, at: DeviceAddress, bytes: u64) -> Result<(), Code> {
        self.call("cuMemAddressFree", device, |state| {
            let whole = state.reservations.get(&at.get()) == Some(&bytes);
            if !whole || !state.mappings(at.get(), bytes).is_empty() {
                return Err(Code::INVALID_VALUE);
            }
            state.reservations.remove(&at.get());
            Ok(())
        })
    }

    /// Makes memory without an address (`cuMemCreate`).
    ///
    /// # Errors
    /// Out of memory; as [`Machine::reserve`].
    pub fn create_physical(&self, device: u32, bytes: u64) -> Result<PhysicalMemory, Code> {
        self.call("cuMemCreate", device, |state| {
            state.able(device)?;
            state.create(device, bytes)
        })
    }

    /// Gives memory back (`cuMemRelease`); it goes when it is no longer mapped.
    ///
    /// # Errors
    /// An invalid value for an unknown handle.
    pub fn destroy_physical(&self, device: u32, memory: PhysicalMemory) -> Result<(), Code> {
        self.call("cuMemRelease", device, |state| {
            let known = state.physical.get_mut(&memory.handle);
            let known = known.filter(|known| !known.destroyed);
            known.ok_or(Code::INVALID_VALUE)?.destroyed = true;
            state.drop_physical(memory.handle)
        })
    }

    /// Maps memory at reserved addresses and lets the device read and write it (`cuMemMap` and
    /// `cuMemSetAccess`).
    ///
    /// # Errors
    /// An invalid value unless the addresses are reserved and free and the memory is whole and not
    /// mapped.
    pub fn map(&self, device: u32, at: DeviceAddress, memory: PhysicalMemory) -> Result<(), Code> {
        self.call("cuMemMap", device, |state| {
            state.able(device)?;
            state.map(device, at.get(), memory)
        })
    }

    /// Takes mappings away (`cuMemUnmap`), after waiting for the device.
    ///
    /// # Errors
    /// An invalid value unless the range is exactly filled by mappings.
    pub fn unmap(&self, device: u32, at: DeviceAddress, bytes: u64) -> Result<(), Code> {
        self.call_and_wait(
            "cuMemUnmap",
            device,
            |state| state.whole_mappings(at.get(), bytes).map(|_| ()),
            |state, ()| state.unmap(device, at.get(), bytes),
        )
    }
}
