//! Memory for graphs. What a captured stream is given belongs to the capture: it comes from a pool of
//! its own, which is kept as long as the graph that may write there whenever it is launched.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use core_gpu_driver::{CaptureMode, DriverError, Graph, Stream, StreamId};

use crate::{
    AllocError, Pool,
    pool::{PoolBuilder, Settings},
};

/// Streams that are being captured with a pool, and the pools that they are given memory from. Handles of
/// these: whoever is being served from one keeps it from ending.
#[derive(Debug, Default)]
pub struct Captures {
    underway: Mutex<Vec<(StreamId, Pool)>>,
}

impl Captures {
    fn lock(&self) -> MutexGuard<'_, Vec<(StreamId, Pool)>> {
        self.underway.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// The pool of the capture that a stream is in.
    pub fn of(&self, stream: &Stream) -> Option<Pool> {
        let underway = self.lock();
        let found = underway.iter().find(|(id, _)| *id == stream.id());
        found.map(|(_, pool)| pool.clone())
    }

    fn add(&self, stream: &Stream, pool: &Pool) {
        self.lock().push((stream.id(), pool.clone()));
    }

    fn end(&self, pool: &Pool) {
        let is_of = |known: &Pool| Arc::ptr_eq(&known.inner, &pool.inner);
        let ended = self
            .lock()
            .extract_if(.., |(_, known)| is_of(known))
            .collect::<Vec<_>>();
        // Handles go without the lock.
        drop(ended);
    }
}

/// A capture that is underway, with memory of its own. Requests on its streams, through whichever
/// handle of the pool, are served from that; blocks that are dropped meanwhile are used again by the
/// same capture, and by nobody else.
///
/// ```
/// use std::sync::Arc;
/// use core_gpu_driver::{CaptureMode, Driver, Stream, StreamKind};
/// use core_gpu_memory::{Pool, Source};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let machine = gpu_sim::Machine::with_bytes(64 << 20);
/// let driver: Arc<dyn Driver> = gpu_sim::SimDriver::open(&machine, 0)?;
/// let stream = Stream::new(&driver, StreamKind::NonBlocking)?;
/// let pool = Pool::new(&driver);
/// let capture = pool.begin_capture(&stream, CaptureMode::Global)?;
/// let activations = pool.allocate::<u8>(1_000, &stream, Source::named("activations"))?;
/// stream.set(activations.span(), 7)?;
/// let graph = capture.end()?;
/// // SAFETY: the graph writes to `activations` only, which is there.
/// unsafe { graph.graph().launch(&stream)? };
/// assert_eq!(activations.download(&stream)?, [7; 1_000]);
/// # Ok(())
/// # }
/// ```
#[must_use = "the capture goes on until it is ended"]
pub struct PoolCapture {
    pool: Pool,
    memory: Pool,
    stream: Stream,
    ended: bool,
}

/// A graph with the memory that was taken while it was captured. That is given back when this and the
/// last buffer of it are gone.
#[derive(Debug)]
pub struct PooledGraph {
    /// Before its memory.
    graph: Graph,
    memory: Pool,
}

impl Pool {
    /// Begins to capture a stream, with a pool of its own for what is asked for on it. That grows
    /// without breaking the capture, within what is left of this pool's bounds.
    ///
    /// # Errors
    /// As the driver's call fails: the legacy default stream cannot be captured, nor one that is.
    pub fn begin_capture(
        &self,
        stream: &Stream,
        mode: CaptureMode,
    ) -> Result<PoolCapture, AllocError> {
        let settings = &self.inner.settings;
        let room = |limit: u64, used: u64| match limit {
            u64::MAX => u64::MAX,
            limit => limit.saturating_sub(used),
        };
        let settings = Settings {
            reserve_limit_bytes: room(settings.reserve_limit_bytes, self.reserved_bytes()),
            limit_bytes: room(settings.limit_bytes, self.bytes_in_use()),
            of_capture: true,
            remap: false,
            ..settings.clone()
        };
        let driver = Arc::clone(self.driver());
        let memory = PoolBuilder::with_settings(driver, settings).build()?;
        // Known before it begins, so that no request comes between.
        self.inner.captures.add(stream, &memory);
        let mut capture = PoolCapture {
            pool: self.clone(),
            memory,
            stream: stream.clone(),
            ended: true,
        };
        stream.begin_capture(mode)?;
        capture.ended = false;
        Ok(capture)
    }
}

impl PoolCapture {
    /// Another stream that joins the capture, by waiting for an event of it: what is asked for on it
    /// is the capture's as well. Without this it is refused ([`AllocError::Capturing`]).
    pub fn join(&self, stream: &Stream) {
        self.pool.inner.captures.add(stream, &self.memory);
    }

    /// Bytes that the capture has from the driver.
    #[must_use]
    pub fn reserved_bytes(&self) -> u64 {
        self.memory.reserved_bytes()
    }

    /// Ends the capture.
    ///
    /// # Errors
    /// As the driver's call fails: the capture is over and has no graph, because something broke it
    /// or a stream that joined it was not waited for. Its memory goes back when its buffers do.
    pub fn end(mut self) -> Result<PooledGraph, DriverError> {
        self.ended = true;
        let graph = self.stream.end_capture();
        self.pool.inner.captures.end(&self.memory);
        Ok(PooledGraph {
            graph: graph?,
            memory: self.memory.clone(),
        })
    }
}

impl Drop for PoolCapture {
    fn drop(&mut self) {
        if !self.ended {
            // Whatever was captured is not wanted; that it broke is nobody's concern any more.
            let _ = self.stream.end_capture();
        }
        self.pool.inner.captures.end(&self.memory);
    }
}

impl PooledGraph {
    /// The graph, to be launched.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Bytes of the device that are kept for it.
    #[must_use]
    pub fn reserved_bytes(&self) -> u64 {
        self.memory.reserved_bytes()
    }
}

impl fmt::Debug for PoolCapture {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PoolCapture")
            .field("stream", &self.stream)
            .field("memory", &self.memory)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use core_gpu_driver::{Driver, StreamKind};

    use super::*;
    use crate::Source;

    /// Another thread may be between asking whose stream it is and having its block.
    #[test]
    fn whoever_is_served_from_a_capture_keeps_its_memory() {
        let machine = gpu_sim::Machine::with_bytes(64 << 20);
        let driver: Arc<dyn Driver> = gpu_sim::SimDriver::open(&machine, 0).unwrap();
        let stream = Stream::new(&driver, StreamKind::NonBlocking).unwrap();
        let pool = Pool::new(&driver);
        let free = || driver.memory_info().unwrap().free_bytes;
        let before = free();
        let capture = pool.begin_capture(&stream, CaptureMode::Global).unwrap();
        drop(
            pool.allocate::<u8>(1_000, &stream, Source::UNNAMED)
                .unwrap(),
        );
        let served_from = pool.inner.captures.of(&stream).unwrap();
        drop(capture.end().unwrap());
        assert!(free() < before, "somebody is being served from it");
        drop(served_from);
        assert_eq!(free(), before);
    }
}
