//! Segments whose addresses and memory are apart: memory can be taken out in pieces from where
//! nobody uses it, and put together under new addresses, so that holes become one block. Addresses
//! that were given out never change what is under them.

use std::{fmt, mem::ManuallyDrop, sync::Arc};

use crate::{
    address::DeviceAddress,
    driver::Driver,
    drop_error,
    error::{Absent, DriverError, Refusal},
    memory::Segment,
    stream::refused,
    virtual_memory::{PhysicalMemory, VirtualMemory},
};

/// What is under a segment's addresses, piece by piece.
#[derive(Debug)]
pub(crate) struct Mapping {
    /// Bytes of a piece.
    unit: u64,
    pieces: Vec<Option<PhysicalMemory>>,
    /// The addresses, until they were given back.
    reservation: Option<Arc<Reservation>>,
}

/// Addresses, owned by the segment and by every piece that is still mapped there: they go back when
/// the last of them does.
#[derive(Debug)]
struct Reservation {
    driver: Arc<dyn Driver>,
    address: DeviceAddress,
    bytes: u64,
}

impl Reservation {
    /// Gives the addresses back if nobody else needs them; if that fails they come back. Without this
    /// they stay reserved: what may still be mapped there must not be given to somebody else.
    fn give_back(self: Arc<Self>) -> Result<(), (DriverError, Arc<Self>)> {
        let last = match Arc::try_unwrap(self) {
            Ok(last) => last,
            // The pieces that are still mapped there do it.
            Err(_) => return Ok(()),
        };
        // SAFETY: they were reserved by `of_pieces`. Whatever is known to be mapped there has a share of this,
        // and this was the last one. A piece whose mapping and unmapping both failed has none: nobody has
        // its memory or these addresses, and where it is there after all the driver refuses.
        let released = virtual_memory(&last.driver)
            .and_then(|memory| unsafe { memory.release(last.address, last.bytes) });
        released.map_err(|error| (error, Arc::new(last)))
    }
}

/// A piece of memory, owned, that is still mapped where its segment was or is not mapped at all.
/// Dropping it gives it back to the driver; an error goes to [`crate::drop_error`].
pub struct Piece {
    driver: Arc<dyn Driver>,
    memory: PhysicalMemory,
    mapped_at: Option<MappedAt>,
}

/// Where a piece is mapped.
#[derive(Debug)]
struct MappedAt {
    address: DeviceAddress,
    reservation: Arc<Reservation>,
}

fn virtual_memory(driver: &Arc<dyn Driver>) -> Result<&dyn VirtualMemory, DriverError> {
    let what = "address space apart from memory";
    driver
        .virtual_memory()
        .ok_or_else(|| Absent::Capability { what }.into())
}

impl Piece {
    fn create(driver: &Arc<dyn Driver>, bytes: u64) -> Result<Self, DriverError> {
        let memory = virtual_memory(driver)?.create(bytes)?;
        Ok(Self {
            driver: Arc::clone(driver),
            memory,
            mapped_at: None,
        })
    }

    /// Its size in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.memory.bytes
    }

    /// Takes it away from where it is mapped. The caller knows that no work uses it any more.
    ///
    /// # Errors
    /// As the driver's call fails. It is then where it was.
    pub fn unmap(&mut self) -> Result<(), DriverError> {
        let Some(at) = self.mapped_at.take() else {
            return Ok(());
        };
        let unmapped = virtual_memory(&self.driver)
            // SAFETY: it is a whole mapping, and the caller knows that nobody uses it.
            .and_then(|memory| unsafe { memory.unmap(at.address, self.memory.bytes) });
        if let Err(error) = unmapped {
            self.mapped_at = Some(at);
            return Err(error);
        }
        if let Err((error, _)) = at.reservation.give_back() {
            // The piece itself is free all the same.
            drop_error::report(drop_error::What::Segment, &error);
        }
        Ok(())
    }

    fn map(
        &mut self,
        at: DeviceAddress,
        reservation: &Arc<Reservation>,
    ) -> Result<(), DriverError> {
        let virtual_memory = virtual_memory(&self.driver)?;
        // SAFETY: the callers have reserved the addresses and map each once; the memory is live.
        if let Err(error) = unsafe { virtual_memory.map(at, self.memory) } {
            // It may be there all the same. If not, the driver only says so.
            // SAFETY: nobody has used what may be there.
            let _ = unsafe { virtual_memory.unmap(at, self.memory.bytes) };
            return Err(error);
        }
        self.mapped_at = Some(MappedAt {
            address: at,
            reservation: Arc::clone(reservation),
        });
        Ok(())
    }

    /// Gives up ownership: a segment has it from now on.
    fn into_memory(self) -> PhysicalMemory {
        let mut this = ManuallyDrop::new(self);
        let memory = this.memory;
        drop(this.mapped_at.take());
        // SAFETY: `this` is not used again, and its own `drop` does not run.
        unsafe { std::ptr::drop_in_place(&raw mut this.driver) };
        memory
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        let unmapped = self.unmap();
        let destroyed = virtual_memory(&self.driver).and_then(|virtual_memory| {
            // SAFETY: it came from `create`, and this is its only owner.
            unsafe { virtual_memory.destroy(self.memory) }
        });
        if let Err(error) = unmapped.and(destroyed) {
            drop_error::report(drop_error::What::Segment, &error);
        }
    }
}

impl fmt::Debug for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Piece")
            .field("bytes", &self.memory.bytes)
            .field("mapped_at", &self.mapped_at.as_ref().map(|at| at.address))
            .finish_non_exhaustive()
    }
}

/// Segments in pieces.
impl Segment {
    /// Bytes of a piece of such segments on a device; none where it cannot have them.
    #[must_use]
    pub fn piece_bytes(driver: &Arc<dyn Driver>) -> Option<u64> {
        let unit = driver.virtual_memory()?.granularity_bytes();
        (unit > 0).then_some(unit)
    }

    /// As [`Segment::allocate`], in pieces. Rounded up to whole pieces.
    ///
    /// # Errors
    /// [`DriverError::OutOfMemory`], or as the driver's calls fail; [`Absent::Capability`] where the
    /// device has no address space apart from memory. Nothing is then held.
    pub fn allocate_in_pieces(driver: &Arc<dyn Driver>, bytes: u64) -> Result<Self, DriverError> {
        let unit = virtual_memory(driver)?.granularity_bytes().max(1);
        if bytes == 0 {
            return Err(refused("allocate", Refusal::ZeroBytes));
        }
        let pieces = (0..bytes.div_ceil(unit)).map(|_| Piece::create(driver, unit));
        let pieces = pieces.collect::<Result<Vec<_>, _>>()?;
        Self::of_pieces(driver, pieces).map_err(|(error, _)| error)
    }

    /// One segment of pieces that are mapped nowhere, under new addresses.
    ///
    /// # Errors
    /// As the driver's calls fail; the pieces come back. Refused for none, and for pieces that are
    /// still mapped.
    pub fn of_pieces(
        driver: &Arc<dyn Driver>,
        mut pieces: Vec<Piece>,
    ) -> Result<Self, (DriverError, Vec<Piece>)> {
        let unit = pieces.first().map_or(0, Piece::bytes);
        let fit = |piece: &Piece| piece.mapped_at.is_none() && piece.bytes() == unit;
        if unit == 0 || !pieces.iter().all(fit) {
            return Err((refused("of_pieces", Refusal::UnknownAddress), pieces));
        }
        let bytes = unit * pieces.len() as u64;
        let reserved = virtual_memory(driver).and_then(|memory| memory.reserve(bytes));
        let address = match reserved {
            Ok(address) => address,
            Err(error) => return Err((error, pieces)),
        };
        let reservation = Arc::new(Reservation {
            driver: Arc::clone(driver),
            address,
            bytes,
        });
        let mut segment = Self {
            driver: Arc::clone(driver),
            address,
            bytes,
            mapping: Some(Mapping {
                unit,
                pieces: Vec::new(),
                reservation: Some(Arc::clone(&reservation)),
            }),
        };
        let mapped = pieces.iter_mut().zip(0..).try_for_each(|(piece, index)| {
            let at = address.checked_add(unit * index);
            piece.map(at.ok_or(DriverError::OutOfMemory)?, &reservation)
        });
        drop(reservation);
        if let Err(error) = mapped {
            // Nobody has used them. What cannot be unmapped says so when it is dropped.
            for piece in &mut pieces {
                let _ = piece.unmap();
            }
            return Err((error, pieces));
        }
        if let Some(mapping) = &mut segment.mapping {
            mapping.pieces = pieces
                .into_iter()
                .map(|piece| Some(piece.into_memory()))
                .collect();
        }
        Ok(segment)
    }

    /// Bytes of a piece, for a segment in pieces.
    #[must_use]
    pub fn unit(&self) -> Option<u64> {
        Some(self.mapping.as_ref()?.unit)
    }

    /// Bytes of memory that it has: less than its addresses where pieces were taken out.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        match &self.mapping {
            None => self.bytes,
            Some(mapping) => mapping.unit * mapping.pieces.iter().flatten().count() as u64,
        }
    }

    /// Takes a piece out; it is mapped until [`Piece::unmap`]. Calls no driver. None where there is
    /// no such piece any more.
    pub fn take_piece(&mut self, index: usize) -> Option<Piece> {
        let mapping = self.mapping.as_mut()?;
        let address = self.address.checked_add(mapping.unit * index as u64)?;
        let mapped_at = MappedAt {
            address,
            reservation: Arc::clone(mapping.reservation.as_ref()?),
        };
        let memory = mapping.pieces.get_mut(index)?.take()?;
        Some(Piece {
            driver: Arc::clone(&self.driver),
            memory,
            mapped_at: Some(mapped_at),
        })
    }

    /// Gives back every piece that is left, and then the addresses. What is done is not done again
    /// by the next try.
    pub(crate) fn unmap_all(&mut self) -> Result<(), DriverError> {
        for index in 0..self
            .mapping
            .as_ref()
            .map_or(0, |mapping| mapping.pieces.len())
        {
            let Some(mut piece) = self.take_piece(index) else {
                continue;
            };
            if let Err(error) = piece.unmap() {
                let memory = piece.into_memory();
                if let Some(slot) = self.slot(index) {
                    *slot = Some(memory);
                }
                return Err(error);
            }
        }
        let Some(mapping) = &mut self.mapping else {
            return Ok(());
        };
        let given_back = mapping.reservation.take().map(Reservation::give_back);
        given_back
            .unwrap_or(Ok(()))
            .map_err(|(error, reservation)| {
                mapping.reservation = Some(reservation);
                error
            })
    }

    fn slot(&mut self, index: usize) -> Option<&mut Option<PhysicalMemory>> {
        self.mapping.as_mut()?.pieces.get_mut(index)
    }
}
