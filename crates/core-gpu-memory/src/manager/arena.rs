//! Pinned memory of the host, taken once, for what has to leave the device: the way down must not
//! need memory that is not there. Cut into pieces like a segment of the pool.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use core_gpu_driver::{
    DeviceSpan, Driver, DriverError, Event, EventKind, Pinned, PinnedSpan, Stream,
};

use crate::segment::{Heap, NodeId, Order};

/// Pinned memory in pieces. May be used from several threads.
#[derive(Debug)]
pub struct Arena {
    pinned: Option<Pinned>,
    books: Mutex<Books>,
}

#[derive(Debug, Default)]
struct Books {
    heap: Heap,
    /// Pieces that a copy may still read, and the event behind it; none if only waiting for
    /// everything helps.
    retired: Vec<(NodeId, Option<Event>)>,
}

/// A piece of the arena, owned.
#[derive(Debug)]
pub struct HostPiece {
    arena: Arc<Arena>,
    node: Option<NodeId>,
    offset: u64,
    bytes: u64,
}

impl Arena {
    /// Takes `bytes` of pinned memory; none for zero.
    pub fn new(driver: &Arc<dyn Driver>, bytes: u64) -> Result<Arc<Arena>, DriverError> {
        let mut books = Books::default();
        let pinned = match bytes.next_multiple_of(256) {
            0 => None,
            bytes => {
                let asked = usize::try_from(bytes).map_err(|_| DriverError::OutOfMemory)?;
                let pinned = Pinned::allocate(driver, asked)?;
                books.heap.add_segment(bytes);
                Some(pinned)
            }
        };
        Ok(Arc::new(Arena {
            pinned,
            books: Mutex::new(books),
        }))
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

    /// Bytes that there are.
    pub fn bytes(&self) -> u64 {
        self.pinned.as_ref().map_or(0, Pinned::bytes)
    }

    /// A piece; none if there is no room. Waits for copies out of it if that makes room.
    pub fn take(self: &Arc<Arena>, bytes: u64) -> Option<HostPiece> {
        self.pinned.as_ref()?;
        let mut books = self.lock();
        books.drain_reached();
        let length = bytes.max(1).next_multiple_of(256);
        let mut taken = books.heap.take(Order::IDLE, length);
        if taken.is_none() && self.drain(&mut books) {
            taken = books.heap.take(Order::IDLE, length);
        }
        let taken = taken?;
        Some(HostPiece {
            arena: Arc::clone(self),
            node: Some(taken.node),
            offset: taken.offset,
            bytes,
        })
    }

    /// Waits for the copies out of retired pieces. Whether any piece became free.
    fn drain(&self, books: &mut Books) -> bool {
        let before = books.retired.len();
        let settled = match &self.pinned {
            Some(pinned) if before > 0 => pinned.settle().is_ok(),
            _ => false,
        };
        if settled {
            for (node, _) in std::mem::take(&mut books.retired) {
                books.heap.release(node, Order::IDLE, 0);
            }
        }
        settled
    }
}

impl Books {
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
    fn pinned(&self) -> Result<PinnedSpan<'_>, DriverError> {
        let pinned = self.arena.pinned.as_ref();
        Ok(PinnedSpan {
            pinned: pinned.expect("invariant: a piece is cut from pinned memory"),
            offset: self.offset,
        })
    }

    /// Length in bytes, as it was asked for.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Copies a span of the same length here and waits for it.
    pub fn fill(&self, from: DeviceSpan, on: &Stream) -> Result<(), DriverError> {
        let copied = on.download(self.pinned()?, from);
        let waited = on.synchronize();
        copied.and(waited)
    }

    /// Sends it to a span of the same length, without waiting.
    pub fn send(&self, to: DeviceSpan, on: &Stream) -> Result<(), DriverError> {
        on.upload(to, self.pinned()?)
    }

    /// Reads it.
    pub fn read(&self, to: &mut [u8]) -> Result<(), DriverError> {
        let at = self.pinned()?;
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
