//! Pinned memory of the host for what has to leave the device, taken once or as it is needed. Cut into
//! pieces like a segment of the pool.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use core_gpu_driver::{
    DeviceSpan, Driver, DriverError, Event, EventKind, Pinned, PinnedSpan, Stream,
};

use crate::segment::{Heap, NodeId, Order, SegmentId};

/// Bytes that are taken at once when memory is taken on demand, at least.
const CHUNK_BYTES: u64 = 64 * 1024 * 1024;

/// Pinned memory in pieces. May be used from several threads.
#[derive(Debug)]
pub struct Arena {
    driver: Arc<dyn Driver>,
    most_bytes: u64,
    books: Mutex<Books>,
}

#[derive(Debug, Default)]
struct Books {
    heap: Heap,
    chunks: Vec<(SegmentId, Arc<Pinned>)>,
    /// Pieces that a copy may still read, and the event behind it; none if only waiting for
    /// everything helps.
    retired: Vec<(NodeId, Option<Event>)>,
}

/// A piece of the arena, owned.
#[derive(Debug)]
pub struct HostPiece {
    arena: Arc<Arena>,
    pinned: Arc<Pinned>,
    node: Option<NodeId>,
    offset: u64,
    bytes: u64,
}

impl Arena {
    /// Takes `bytes` of pinned memory; none for zero.
    pub fn reserved(driver: &Arc<dyn Driver>, bytes: u64) -> Result<Arc<Arena>, DriverError> {
        let rounded = bytes.checked_next_multiple_of(256);
        let arena = Arena::on_demand(driver, rounded.ok_or(DriverError::OutOfMemory)?);
        if arena.most_bytes > 0 {
            arena.add(&mut arena.lock(), arena.most_bytes)?;
        }
        Ok(arena)
    }

    /// Takes nothing yet, and up to `most_bytes` as it is needed.
    pub fn on_demand(driver: &Arc<dyn Driver>, most_bytes: u64) -> Arc<Arena> {
        Arc::new(Arena {
            driver: Arc::clone(driver),
            most_bytes: most_bytes - most_bytes % 256,
            books: Mutex::default(),
        })
    }

    fn add(&self, books: &mut Books, bytes: u64) -> Result<(), DriverError> {
        let asked = usize::try_from(bytes).map_err(|_| DriverError::OutOfMemory)?;
        let pinned = Pinned::allocate(&self.driver, asked)?;
        let id = books.heap.add_segment(bytes);
        books
            .chunks
            .push((id.ok_or(DriverError::OutOfMemory)?, Arc::new(pinned)));
        Ok(())
    }

    /// Takes more memory, for a piece of `length` bytes. Whether there is some.
    fn grow(&self, books: &mut Books, length: u64) -> bool {
        let room = self.most_bytes.saturating_sub(books.heap.reserved_bytes());
        let bytes = length.max(CHUNK_BYTES).min(room);
        bytes >= length && self.add(books, bytes).is_ok()
    }

    fn lock(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that pieces have, those included that a copy may still read.
    pub fn used_bytes(&self) -> u64 {
        let mut books = self.lock();
        books.drain_reached();
        books.heap.reserved_bytes() - books.heap.free_bytes()
    }

    /// Bytes that were taken so far.
    pub fn bytes(&self) -> u64 {
        self.lock().heap.reserved_bytes()
    }

    /// A piece; none if there is no room. Waits for copies out of it if that makes room.
    pub fn take(self: &Arc<Arena>, bytes: u64) -> Option<HostPiece> {
        let length = bytes.max(1).checked_next_multiple_of(256)?;
        let mut books = self.lock();
        books.drain_reached();
        let mut taken = books.heap.take(Order::IDLE, length);
        if taken.is_none() && self.grow(&mut books, length) {
            taken = books.heap.take(Order::IDLE, length);
        }
        if taken.is_none() && books.drain() {
            taken = books.heap.take(Order::IDLE, length);
        }
        let taken = taken?;
        let mut chunks = books.chunks.iter();
        let (_, pinned) = chunks.find(|(id, _)| *id == taken.segment)?;
        Some(HostPiece {
            arena: Arc::clone(self),
            pinned: Arc::clone(pinned),
            node: Some(taken.node),
            offset: taken.offset,
            bytes,
        })
    }
}

impl Books {
    /// Waits for the copies out of retired pieces. Whether any piece became free.
    fn drain(&mut self) -> bool {
        let any = !self.retired.is_empty();
        let settled = any
            && self
                .chunks
                .iter()
                .all(|(_, pinned)| pinned.settle().is_ok());
        if settled {
            for (node, _) in std::mem::take(&mut self.retired) {
                self.heap.release(node, Order::IDLE, 0);
            }
        }
        settled
    }

    fn drain_reached(&mut self) {
        let heap = &mut self.heap;
        self.retired.retain(|(node, event)| {
            let reached = event
                .as_ref()
                .is_some_and(|event| event.query() == Ok(true));
            if reached {
                heap.release(*node, Order::IDLE, 0);
            }
            !reached
        });
    }
}

impl HostPiece {
    fn pinned(&self) -> PinnedSpan<'_> {
        PinnedSpan {
            pinned: &self.pinned,
            offset: self.offset,
        }
    }

    /// Length in bytes, as it was asked for.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Copies a span of the same length here and waits for it.
    pub fn fill(&self, from: DeviceSpan<'_>, on: &Stream) -> Result<(), DriverError> {
        let copied = on.download(self.pinned(), from);
        let waited = on.synchronize();
        copied.and(waited)
    }

    /// Sends it to a span of the same length, without waiting.
    pub fn send(&self, to: DeviceSpan<'_>, on: &Stream) -> Result<(), DriverError> {
        on.upload(to, self.pinned())
    }

    /// Reads it.
    pub fn read(&self, to: &mut [u8]) -> Result<(), DriverError> {
        let at = self.pinned();
        at.pinned.read(at.offset, to)
    }

    /// Gives it back once what is on the stream now is done.
    pub fn retire(mut self, on: &Stream) {
        let Some(node) = self.node.take() else {
            return;
        };
        let recorded = Event::new(on.driver(), EventKind::Order)
            .and_then(|event| on.record(&event).map(|()| event));
        self.arena.lock().retired.push((node, recorded.ok()));
    }
}

impl Drop for HostPiece {
    fn drop(&mut self) {
        if let Some(node) = self.node.take() {
            self.arena.lock().heap.release(node, Order::IDLE, 0);
        }
    }
}
