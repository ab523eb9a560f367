//! Graphs: work that was captured from a stream instead of run, to be launched as often as wanted.
//! Which memory a graph uses is not known here.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    driver::Driver,
    drop_error,
    error::DriverError,
    memory::Segment,
    stream::{Stream, StreamCore, StreamId, same_device},
};

/// From which threads calls that might wait are refused while a capture lasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CaptureMode {
    /// From all.
    #[default]
    Global,
    /// From the one that began the capture.
    ThreadLocal,
    /// From none.
    Relaxed,
}

/// A graph that can be launched, as the driver knows it: a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RawGraph(pub u64);

/// A graph that can be launched, owned. May be used from several threads; dropping it waits for
/// nothing, and launches that are underway go on.
pub struct Graph {
    driver: Arc<dyn Driver>,
    raw: RawGraph,
}

impl Graph {
    /// Puts all of its work on a stream, as one piece.
    ///
    /// # Errors
    /// As the driver's call fails; refused for a stream of another device.
    ///
    /// # Safety
    /// Whatever memory its work uses is still memory of whom it was when it was captured, and stays
    /// that until the launch is done.
    pub unsafe fn launch(&self, on: &Stream) -> Result<(), DriverError> {
        same_device("launch", &self.driver, on.driver())?;
        // SAFETY: `self` owns the graph, `on` keeps the stream alive; the rest is the caller's promise.
        unsafe { self.driver.launch_graph(self.raw, on.handle()) }
    }

    /// The driver's handle. Live as long as this owner.
    #[must_use]
    pub fn raw(&self) -> RawGraph {
        self.raw
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: `raw` came from `end_capture`, and this is its only owner.
        if let Err(error) = unsafe { self.driver.destroy_graph(self.raw) } {
            drop_error::report(drop_error::What::Graph, &error);
        }
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Graph").field(&self.raw.0).finish()
    }
}

/// Captures of one device that were begun here, and segments that were dropped meanwhile: to give them
/// back would wait for the device, and break every capture.
#[derive(Default)]
struct Underway {
    /// The streams on which they began.
    captures: Vec<StreamId>,
    dropped: Vec<Segment>,
}

/// By the space of the device's handles.
fn underway() -> MutexGuard<'static, BTreeMap<u64, Underway>> {
    static UNDERWAY: Mutex<BTreeMap<u64, Underway>> = Mutex::new(BTreeMap::new());
    UNDERWAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps a segment that is dropped until the captures of its device are over. It comes back if there
/// are none.
pub(crate) fn keep_during_captures(segment: Segment) -> Option<Segment> {
    match underway().get_mut(&segment.driver.handle_space()) {
        Some(underway) => {
            underway.dropped.push(segment);
            None
        }
        None => Some(segment),
    }
}

/// Whether a capture of that device, begun by [`Stream::begin_capture`], is underway.
#[must_use]
pub fn is_any_underway(driver: &Arc<dyn Driver>) -> bool {
    underway().contains_key(&driver.handle_space())
}

/// A stream goes on which a capture was begun and not ended: it ends with the stream, and its work is
/// never done.
pub(crate) fn abandon(stream: &StreamCore) {
    if !is_underway_on(stream) {
        return;
    }
    let driver = &stream.driver;
    // SAFETY: the stream's owner is about to end it, and has not yet.
    let ended = unsafe { driver.end_capture(stream.raw) };
    // One that was broken before is nobody's concern any more; or it is over by now.
    if let Ok(raw) = ended {
        drop(Graph {
            driver: Arc::clone(driver),
            raw,
        });
    }
    end_one(stream);
}

fn is_underway_on(stream: &StreamCore) -> bool {
    let all = underway();
    let of_device = all.get(&stream.driver.handle_space());
    of_device.is_some_and(|of_device| of_device.captures.contains(&stream.id))
}

/// A stream's capture is over. One that somebody else began is none of these.
fn end_one(stream: &StreamCore) {
    let space = stream.driver.handle_space();
    let mut all = underway();
    let Some(of_device) = all.get_mut(&space) else {
        return;
    };
    let mut captures = of_device.captures.iter();
    if let Some(place) = captures.position(|known| *known == stream.id) {
        of_device.captures.swap_remove(place);
    }
    let over = of_device.captures.is_empty().then(|| all.remove(&space));
    drop(all);
    // Segments go without the lock.
    drop(over);
}

/// Capturing.
impl Stream {
    /// From now on work put on this stream is kept for a graph instead of run.
    ///
    /// # Errors
    /// As the driver's call fails: the legacy default stream cannot be captured, nor one that is.
    pub fn begin_capture(&self, mode: CaptureMode) -> Result<(), DriverError> {
        self.core().expect_captures();
        let space = self.driver().handle_space();
        let mut all = underway();
        all.entry(space).or_default().captures.push(self.id());
        drop(all);
        // SAFETY: `self` keeps the handle alive.
        let begun = unsafe { self.driver().begin_capture(self.handle(), mode) };
        if begun.is_err() {
            end_one(self.core());
        }
        begun
    }

    /// Ends the capture that was begun on this stream.
    ///
    /// # Errors
    /// As the driver's call fails, when the capture has ended without a graph: something that must not
    /// happen during a capture broke it, or a stream that had joined it was not waited for.
    pub fn end_capture(&self) -> Result<Graph, DriverError> {
        // SAFETY: `self` keeps the handle alive.
        let raw = unsafe { self.driver().end_capture(self.handle()) };
        end_one(self.core());
        Ok(Graph {
            driver: Arc::clone(self.driver()),
            raw: raw?,
        })
    }
}
