//! The ring: pinned memory in slots, each of which is written again only after the copies out of it
//! are done. Not for several threads at once; whoever owns it has the lock.

use std::sync::Arc;

use core_gpu_driver::{Driver, DriverError, Event, EventKind, Pinned, PinnedSpan, Stream};

use crate::staging::counter::TransferCounter;

/// Pieces in a slot start at multiples of this many bytes.
const ALIGNMENT: u64 = 256;

/// When a slot may be written again.
#[derive(Debug)]
enum Busy {
    No,
    /// After this event.
    Until(Event),
    /// Its end could not be marked: after all that uses the pinned memory.
    Unmarked,
}

/// A piece of the ring that may be written now.
#[derive(Debug, Clone, Copy)]
pub struct Piece {
    pub offset: u64,
    pub bytes: u64,
}

#[derive(Debug)]
pub struct Ring {
    pinned: Pinned,
    slot_bytes: u64,
    slots: Vec<Busy>,
    /// The slot that is being filled, and how far.
    current: usize,
    filled: u64,
}

impl Ring {
    pub fn new(
        driver: &Arc<dyn Driver>,
        slot_bytes: u64,
        slots: usize,
    ) -> Result<Ring, DriverError> {
        let slots = slots.max(2);
        let slot_bytes = slot_bytes
            .max(ALIGNMENT)
            .checked_next_multiple_of(ALIGNMENT);
        let slot_bytes = slot_bytes.ok_or(DriverError::OutOfMemory)?;
        let bytes = slot_bytes.checked_mul(slots as u64);
        let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok());
        let pinned = Pinned::allocate(driver, bytes.ok_or(DriverError::OutOfMemory)?)?;
        Ok(Ring {
            pinned,
            slot_bytes,
            slots: (0..slots).map(|_| Busy::No).collect(),
            current: 0,
            filled: 0,
        })
    }

    /// Bytes of all slots.
    pub fn bytes(&self) -> u64 {
        self.slot_bytes * self.slots.len() as u64
    }

    pub fn span(&self, piece: Piece) -> PinnedSpan<'_> {
        PinnedSpan {
            pinned: &self.pinned,
            offset: piece.offset,
        }
    }

    pub fn write(&self, piece: Piece, from: &[u8]) -> Result<(), DriverError> {
        self.pinned.write(piece.offset, from)
    }

    pub fn read(&self, piece: Piece, to: &mut [u8]) -> Result<(), DriverError> {
        self.pinned.read(piece.offset, to)
    }

    /// Room for up to `wanted` bytes in the slot that is being filled. When it is full it is closed
    /// behind what `on` has to do, and the next one is waited for.
    pub fn room(
        &mut self,
        wanted: u64,
        on: &Stream,
        counter: &TransferCounter,
    ) -> Result<Piece, DriverError> {
        if self.filled >= self.slot_bytes {
            self.close(on, counter)?;
        }
        if self.filled == 0 {
            self.wait_for(self.current, counter)?;
        }
        let bytes = wanted.min(self.slot_bytes - self.filled);
        let offset = self.current as u64 * self.slot_bytes + self.filled;
        self.filled += bytes.next_multiple_of(ALIGNMENT);
        Ok(Piece { offset, bytes })
    }

    /// Ends the slot that is being filled: it is free again once `on` has come this far.
    pub fn close(&mut self, on: &Stream, counter: &TransferCounter) -> Result<(), DriverError> {
        if self.filled == 0 {
            return Ok(());
        }
        let slot = self.current;
        self.current = (slot + 1) % self.slots.len();
        self.filled = 0;
        let recorded = Event::new(on.driver(), EventKind::Order)
            .and_then(|event| on.record(&event).map(|()| event));
        let (busy, answer) = match recorded {
            Ok(event) => (Busy::Until(event), Ok(())),
            Err(error) => {
                counter.waited();
                match on.synchronize() {
                    Ok(()) => (Busy::No, Ok(())),
                    Err(_) => (Busy::Unmarked, Err(error)),
                }
            }
        };
        if let Some(at) = self.slots.get_mut(slot) {
            *at = busy;
        }
        answer
    }

    /// Everything in the ring was waited for by the caller.
    pub fn settled(&mut self) {
        self.current = 0;
        self.filled = 0;
    }

    fn wait_for(&mut self, slot: usize, counter: &TransferCounter) -> Result<(), DriverError> {
        let Some(busy) = self.slots.get_mut(slot) else {
            return Ok(());
        };
        match busy {
            Busy::No => return Ok(()),
            Busy::Until(event) => {
                if !event.query()? {
                    counter.waited();
                    event.synchronize()?;
                }
            }
            Busy::Unmarked => {
                counter.waited();
                self.pinned.settle()?;
            }
        }
        *busy = Busy::No;
        Ok(())
    }

    /// Empties the ring, for a round in which all of it is used before the next wait.
    pub fn begin_round(&mut self, counter: &TransferCounter) -> Result<(), DriverError> {
        for slot in 0..self.slots.len() {
            self.wait_for(slot, counter)?;
        }
        self.settled();
        Ok(())
    }

    /// The next piece of a round, of which `room` bytes are left.
    pub fn next_in_round(&mut self, wanted: u64, room: &mut u64) -> Piece {
        let offset = self.bytes() - *room;
        let bytes = wanted.min(*room);
        *room -= bytes.next_multiple_of(ALIGNMENT).min(*room);
        Piece { offset, bytes }
    }

    /// Nobody knows what of a round is still on its way.
    pub fn abandon_round(&mut self) {
        self.settled();
        for slot in &mut self.slots {
            *slot = Busy::Unmarked;
        }
    }
}
