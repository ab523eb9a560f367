//! The bytes of all devices, by address. Addresses are unique across devices, leave gaps between
//! allocations and look like no pointer of the process, so that a wrong one is found out.

use std::collections::BTreeMap;

use crate::code::Code;

/// What fresh memory holds: a value that no program takes for its own.
pub const POISON: u8 = 0xcd;
/// Where addresses begin.
const FIRST_ADDRESS: u64 = 0x7d00_0000_0000;
/// What every allocation's address is a multiple of, in bytes.
pub const ALIGNMENT: u64 = 512;
/// The least distance between two allocations, in bytes.
const GAP: u64 = 4096;

/// How an allocation came to be, which says how it must go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `cuMemAlloc`.
    Plain,
    /// `cuMemAllocAsync`; the flag says that its free has been put on a stream.
    Ordered {
        /// Work submitted from now on must not use it.
        freed: bool,
    },
    /// `cuMemMap`, of this physical memory.
    Mapped(u64),
}

/// Memory with an address.
#[derive(Debug)]
pub struct Allocation {
    /// The device's number.
    pub device: u32,
    /// How it came to be.
    pub origin: Origin,
    /// Its contents.
    pub data: Vec<u8>,
}

/// All memory with an address.
#[derive(Debug)]
pub struct Memory {
    allocations: BTreeMap<u64, Allocation>,
    next_address: u64,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            allocations: BTreeMap::new(),
            next_address: FIRST_ADDRESS,
        }
    }
}

impl Memory {
    /// Addresses that were never used before, aligned to `alignment` bytes and to [`ALIGNMENT`].
    pub fn fresh_addresses(&mut self, bytes: u64, alignment: u64) -> Result<u64, Code> {
        let start = self
            .next_address
            .checked_next_multiple_of(alignment.max(ALIGNMENT));
        let start = start.ok_or(Code::OUT_OF_MEMORY)?;
        let end = start
            .checked_add(bytes)
            .and_then(|end| end.checked_add(GAP));
        self.next_address = end.ok_or(Code::OUT_OF_MEMORY)?;
        Ok(start)
    }

    /// Puts poisoned memory at fresh addresses.
    pub fn allocate(&mut self, device: u32, bytes: u64, origin: Origin) -> Result<u64, Code> {
        let mut data = Vec::new();
        let size = usize::try_from(bytes).map_err(|_| Code::OUT_OF_MEMORY)?;
        data.try_reserve_exact(size)
            .map_err(|_| Code::OUT_OF_MEMORY)?;
        data.resize(size, POISON);
        let address = self.fresh_addresses(bytes, ALIGNMENT)?;
        let allocation = Allocation {
            device,
            origin,
            data,
        };
        self.allocations.insert(address, allocation);
        Ok(address)
    }

    /// Puts an allocation at an address of its own choice, where there is none.
    pub fn place(&mut self, address: u64, allocation: Allocation) {
        self.allocations.insert(address, allocation);
    }

    /// The allocation that begins at an address.
    pub fn at(&self, address: u64) -> Option<&Allocation> {
        self.allocations.get(&address)
    }

    /// The allocation that begins at an address, to be changed.
    pub fn at_mut(&mut self, address: u64) -> Option<&mut Allocation> {
        self.allocations.get_mut(&address)
    }

    /// Takes away the allocation that begins at an address.
    pub fn remove(&mut self, address: u64) -> Option<Allocation> {
        self.allocations.remove(&address)
    }

    /// The allocation that an address is in, with its first address.
    pub fn containing(&self, address: u64) -> Option<(u64, &Allocation)> {
        let (start, allocation) = self.allocations.range(..=address).next_back()?;
        let inside = address - start < allocation.data.len() as u64;
        inside.then_some((*start, allocation))
    }

    /// All allocations, by address.
    pub fn all(&self) -> impl Iterator<Item = (u64, &Allocation)> {
        self.allocations
            .iter()
            .map(|(address, allocation)| (*address, allocation))
    }

    /// Whether all of a range is allocated, and not given back in a stream's order. A range may go
    /// over from one mapping to the next.
    pub fn is_valid(&self, address: u64, bytes: u64) -> bool {
        let Some(end) = address.checked_add(bytes) else {
            return false;
        };
        let mut at = address;
        while at < end {
            let Some((start, allocation)) = self.containing(at) else {
                return false;
            };
            if allocation.origin == (Origin::Ordered { freed: true }) {
                return false;
            }
            at = start + allocation.data.len() as u64;
        }
        true
    }

    /// Calls a function with each piece of a range in turn, to be changed, and the piece's place in
    /// the range. Fails at the first byte that does not exist; the pieces before it are done.
    pub fn pieces(
        &mut self,
        address: u64,
        bytes: u64,
        mut function: impl FnMut(usize, &mut [u8]),
    ) -> Result<(), Code> {
        let mut done = 0_u64;
        while done < bytes {
            let at = address.checked_add(done).ok_or(Code::ILLEGAL_ADDRESS)?;
            let (start, allocation) = self
                .allocations
                .range_mut(..=at)
                .next_back()
                .ok_or(Code::ILLEGAL_ADDRESS)?;
            let offset = (at - start) as usize;
            let piece = allocation
                .data
                .get_mut(offset..)
                .filter(|piece| !piece.is_empty())
                .ok_or(Code::ILLEGAL_ADDRESS)?;
            let take = piece.len().min((bytes - done) as usize);
            if let Some(piece) = piece.get_mut(..take) {
                function(done as usize, piece);
            }
            done += take as u64;
        }
        Ok(())
    }

    /// Reads a range.
    pub fn read(&mut self, address: u64, to: &mut [u8]) -> Result<(), Code> {
        self.pieces(address, to.len() as u64, |offset, piece| {
            if let Some(to) = to.get_mut(offset..offset + piece.len()) {
                to.copy_from_slice(piece);
            }
        })
    }

    /// Writes a range.
    pub fn write(&mut self, address: u64, from: &[u8]) -> Result<(), Code> {
        self.pieces(address, from.len() as u64, |offset, piece| {
            if let Some(from) = from.get(offset..offset + piece.len()) {
                piece.copy_from_slice(from);
            }
        })
    }
}
