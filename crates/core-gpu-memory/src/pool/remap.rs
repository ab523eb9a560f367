//! Making one block of holes: pieces of memory that nobody uses are taken from under their addresses
//! and put together under new ones. Addresses that were given out keep what is under them.

use std::sync::Arc;

use core_gpu_driver::{DriverError, Piece, Segment};

use crate::{
    pool::{central::Central, inner::PoolInner},
    segment::SegmentId,
};

impl PoolInner {
    /// Puts idle pieces together until there is a block of `bytes`. False where segments have no
    /// pieces, or not enough of them are idle. Waits for the device.
    pub fn remap(self: &Arc<Self>, bytes: u64) -> Result<bool, DriverError> {
        let Some(unit) = self.piece_bytes else {
            return Ok(false);
        };
        if self.is_any_capturing() {
            return Ok(false);
        }
        self.recall_threads();
        self.empty_depot();
        self.wait_for_device()?;
        let wanted = bytes.div_ceil(unit) as usize;
        let mut central = self.lock();
        let (held, pieces) = central.take_idle_pieces(wanted, unit);
        drop(central);
        if pieces.is_empty() {
            return Ok(false);
        }
        let unmapped = self.unmap(pieces);
        let mut central = self.lock();
        held.iter().for_each(|id| central.heap.hold(*id, false));
        drop(central);
        let pieces = unmapped?;
        match Segment::of_pieces(&self.driver()?, pieces) {
            Ok(segment) => self.adopt(segment),
            Err((error, pieces)) => {
                // They go back to the driver: nothing is lost but the way.
                drop(pieces);
                Err(error)
            }
        }
    }

    /// Takes pieces away from where they are. One that stays goes into quarantine; the others go
    /// back to the driver then.
    fn unmap(&self, pieces: Vec<Piece>) -> Result<Vec<Piece>, DriverError> {
        let mut unmapped = Vec::with_capacity(pieces.len());
        let mut failed = None;
        for mut piece in pieces {
            match piece.unmap() {
                Ok(()) => unmapped.push(piece),
                Err(error) => {
                    let bytes = piece.bytes();
                    self.note_loss(&error);
                    self.lock().stuck_pieces.push(piece);
                    self.fail_free(bytes, error.clone());
                    failed = Some(error);
                }
            }
        }
        match failed {
            Some(error) => Err(error),
            None => Ok(unmapped),
        }
    }
}

impl Central {
    /// Takes that many idle pieces out of segments, and holds those; nothing if there are fewer.
    fn take_idle_pieces(&mut self, wanted: usize, unit: u64) -> (Vec<SegmentId>, Vec<Piece>) {
        let ids: Vec<_> = self.heap.segments().map(|(id, _)| id).collect();
        let idle = |id: &SegmentId| (*id, self.heap.idle_pieces(*id, unit));
        let mut found: Vec<_> = ids
            .iter()
            .map(idle)
            .filter(|(_, pieces)| !pieces.is_empty())
            .collect();
        let count: usize = found.iter().map(|(_, pieces)| pieces.len()).sum();
        if count < wanted {
            return Default::default();
        }
        // Segments with few idle pieces first: long runs stay whole for others.
        found.sort_by_key(|(id, pieces)| (pieces.len(), *id));
        let (mut held, mut taken) = (Vec::new(), Vec::new());
        for (id, pieces) in found {
            for piece in pieces {
                if taken.len() == wanted {
                    return (held, taken);
                }
                taken.extend(self.take_piece(id, piece, unit));
                if held.last() != Some(&id) {
                    self.heap.hold(id, true);
                    held.push(id);
                }
            }
        }
        (held, taken)
    }

    fn take_piece(&mut self, id: SegmentId, piece: u64, unit: u64) -> Option<Piece> {
        if !self.heap.punch(id, piece, unit) {
            return None;
        }
        self.segments.get_mut(id)?.take_piece(piece as usize)
    }
}
