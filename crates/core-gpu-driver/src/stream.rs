//! Streams and events: their raw handles, and the counted owners that make their use safe. Ordering
//! work is all they do; what memory the work needs is not known here.

use std::{
    any::Any,
    collections::BTreeMap,
    fmt,
    hash::{Hash, Hasher},
    num::NonZeroU64,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::{driver::Driver, drop_error, error::DriverError, error::Refusal};

/// A stream as the driver knows it: a number. It says nothing about whether the stream still lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RawStream(pub u64);

impl RawStream {
    /// The stream that all blocking streams wait for, and that waits for all of them.
    pub const LEGACY_DEFAULT: Self = Self(1);
    /// The calling thread's own default stream.
    pub const PER_THREAD_DEFAULT: Self = Self(2);
}

/// An event as the driver knows it: a number. It says nothing about whether the event still lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RawEvent(pub u64);

/// A number for a stream or an event of a driver that makes up its own: no two of this process have the
/// same, so that one driver's is unknown to another.
pub(crate) fn next_handle() -> u64 {
    // Small numbers are the default streams'.
    static NEXT: AtomicU64 = AtomicU64::new(16);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// How a stream stands to the legacy default stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StreamKind {
    /// Runs beside the legacy default stream.
    #[default]
    NonBlocking,
    /// Waits for the legacy default stream, and is waited for by it.
    Blocking,
}

/// What an event is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// Order only. The cheaper kind.
    #[default]
    Order,
    /// Order, and the time at which it was reached.
    Timed,
}

/// A stream for as long as this process runs: unlike handles, numbers are never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(NonZeroU64);

impl StreamId {
    fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(NonZeroU64::new(number).expect("invariant: 2^64 streams are never made"))
    }

    /// Its number, from one on.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0.get()
    }
}

/// Who wants to know that a stream ends, before it does: a pool that keeps blocks for it.
pub trait StreamEnd: Send + Sync {
    /// The last handle is gone and `stream` is about to be destroyed; it still takes work. Must not
    /// block for long. May not make new handles of this stream.
    fn stream_ends(&self, id: StreamId, stream: &EndingStream<'_>);
}

/// A stream in its last moment, when events may still be recorded on it.
#[derive(Debug)]
pub struct EndingStream<'s> {
    core: &'s StreamCore,
}

impl EndingStream<'_> {
    /// Records an event after all work of the stream.
    ///
    /// # Errors
    /// As the driver's call fails; refused for an event of another device.
    pub fn record(&self, event: &Event) -> Result<(), DriverError> {
        self.core.record(event)
    }

    /// Waits for all work of the stream.
    ///
    /// # Errors
    /// As the driver's call fails, and when earlier work failed.
    pub fn synchronize(&self) -> Result<(), DriverError> {
        self.core.synchronize()
    }

    /// The driver's handle.
    #[must_use]
    pub fn raw(&self) -> RawStream {
        self.core.raw
    }

    /// The device that it belongs to.
    #[must_use]
    pub fn driver(&self) -> &Arc<dyn Driver> {
        &self.core.driver
    }
}

/// Whether the handle is ours to destroy, and whether that has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    /// Ours, and live.
    Owned,
    /// Somebody else's, or the driver's own.
    Foreign,
    /// Destroyed, after waiting if host memory was involved, unless the device is gone.
    Ended,
    /// Destroyed though waiting for its work failed: that may go on.
    Unwaited,
}

/// The handle, apart from the counted owner: memory that work may still use keeps this, and not the
/// stream, so that the stream can end.
#[derive(Debug)]
pub(crate) struct StreamCore {
    pub(crate) driver: Arc<dyn Driver>,
    pub(crate) raw: RawStream,
    pub(crate) id: StreamId,
    /// Somebody else made the handle, or the driver has it of itself.
    foreign: bool,
    /// It may be captured at some time: only the driver knows whether it is now.
    capturable: AtomicBool,
    state: Mutex<CoreState>,
}

#[derive(Debug)]
struct CoreState {
    life: Life,
    /// Work that reads or writes memory of the host was put on the stream.
    touches_host: bool,
}

impl StreamCore {
    fn record(&self, event: &Event) -> Result<(), DriverError> {
        same_device("record", &self.driver, &event.0.driver)?;
        if self.capturable.load(Ordering::Relaxed) {
            event.0.from_capture.store(true, Ordering::Relaxed);
        }
        // SAFETY: `event` owns its handle, and this stream's handle is live while its owner or
        // `EndingStream` exists, which are the only callers.
        unsafe { self.driver.record(event.0.raw, self.raw) }
    }

    /// From now on only the driver knows whether it is being captured.
    pub(crate) fn expect_captures(&self) {
        if !self.capturable.load(Ordering::Relaxed) {
            self.capturable.store(true, Ordering::Relaxed);
        }
    }

    fn synchronize(&self) -> Result<(), DriverError> {
        // SAFETY: as in `record`.
        unsafe { self.driver.synchronize_stream(self.raw) }
    }

    /// Waits for the stream's work if the stream still lives. If not, its end has waited; or could not,
    /// and then all of the device is waited for.
    pub(crate) fn settle(&self) -> Result<(), DriverError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.life {
            Life::Ended => Ok(()),
            Life::Unwaited => {
                self.wait_for_device()?;
                state.life = Life::Ended;
                Ok(())
            }
            // SAFETY: the state says that the handle lives, and its lock keeps it from ending.
            Life::Owned | Life::Foreign => unsafe { self.driver.synchronize_stream(self.raw) },
        }
    }

    /// Refused during a capture, which it would break.
    fn wait_for_device(&self) -> Result<(), DriverError> {
        if crate::graph::is_any_underway(&self.driver) {
            return Err(refused("synchronize", Refusal::Capturing));
        }
        self.driver.synchronize()
    }

    pub(crate) fn will_touch_host(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.touches_host = true;
    }

    fn end(&self) -> Result<(), DriverError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = if state.touches_host {
            // SAFETY: the handle lives until this function has destroyed it.
            unsafe { self.driver.synchronize_stream(self.raw) }
        } else {
            Ok(())
        };
        let over = match &waited {
            Ok(()) => Life::Ended,
            Err(error) if error.is_lost() || error.is_deinitialized() => Life::Ended,
            Err(_) => Life::Unwaited,
        };
        let life = std::mem::replace(&mut state.life, over);
        if life == Life::Owned {
            // SAFETY: `raw` came from `create_stream`; the last owner is gone, and `settle` sees
            // that it has ended.
            unsafe { self.driver.destroy_stream(self.raw)? };
        }
        waited
    }
}

struct Shared {
    core: Arc<StreamCore>,
    watchers: Mutex<Vec<Weak<dyn StreamEnd>>>,
    /// Whoever owns a foreign handle, kept until the last of ours is gone.
    owner: OnceLock<Arc<dyn Any + Send + Sync>>,
}

/// Streams that somebody else made, by the space of their handles and the handle: one stream for each,
/// however often it is adopted, so that whoever keeps books of streams sees one.
type ForeignStreams = BTreeMap<(u64, RawStream), Weak<Shared>>;

fn foreign_streams() -> MutexGuard<'static, ForeignStreams> {
    static STREAMS: Mutex<ForeignStreams> = Mutex::new(BTreeMap::new());
    STREAMS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Nobody finds a foreign stream any more that has ended. Another may have taken its place.
    fn forget(&self) {
        let key = (self.core.driver.handle_space(), self.core.raw);
        let mut streams = foreign_streams();
        let own = streams.get(&key).map(Weak::as_ptr);
        if own.is_some_and(|own| std::ptr::eq(own, self)) {
            streams.remove(&key);
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let watchers = std::mem::take(
            self.watchers
                .get_mut()
                .unwrap_or_else(PoisonError::into_inner),
        );
        // What watchers record must not become part of a capture that nobody will end.
        crate::graph::abandon(&self.core);
        let ending = EndingStream { core: &self.core };
        for watcher in watchers.iter().filter_map(Weak::upgrade) {
            watcher.stream_ends(self.core.id, &ending);
        }
        if let Err(error) = self.core.end() {
            drop_error::report(drop_error::What::Stream, &error);
        }
        if self.core.foreign {
            self.forget();
        }
    }
}

/// A queue of work on a device, counted: the last handle ends it. May be used from several threads.
///
/// Ending a stream does not wait for its work, unless that work uses [`crate::Pinned`] memory.
/// Handles are equal when they are clones of each other, and when they were adopted from one foreign
/// stream.
#[derive(Clone)]
pub struct Stream(Arc<Shared>);

impl Stream {
    /// A new stream of the device.
    ///
    /// # Errors
    /// As the driver's call fails.
    pub fn new(driver: &Arc<dyn Driver>, kind: StreamKind) -> Result<Self, DriverError> {
        let raw = driver.create_stream(kind)?;
        Ok(Self::with(driver, raw, Life::Owned))
    }

    /// The device's legacy default stream: it waits for all blocking streams, and they for it.
    #[must_use]
    pub fn legacy_default(driver: &Arc<dyn Driver>) -> Self {
        Self::foreign(driver, RawStream::LEGACY_DEFAULT, None)
    }

    /// Uses a stream that somebody else made. Adopting it again while a handle of ours lives gives a
    /// clone of that handle.
    ///
    /// # Safety
    /// `raw` is a live stream of the driver's device, and stays it until the last clone of this
    /// handle is gone, every buffer that was allocated on it or declared as used on it was dropped,
    /// and every [`crate::Pinned`] used on it is settled or freed. It is not
    /// [`RawStream::PER_THREAD_DEFAULT`], which means another stream on each thread.
    #[must_use]
    pub unsafe fn adopt(driver: &Arc<dyn Driver>, raw: RawStream) -> Self {
        Self::foreign(driver, raw, None)
    }

    /// Uses a stream that somebody else made, and keeps its owner alive meanwhile. Else as
    /// [`Stream::adopt`].
    ///
    /// # Safety
    /// `raw` is a stream of the driver's device that lives as long as `owner` does. It is not
    /// [`RawStream::PER_THREAD_DEFAULT`].
    #[must_use]
    pub unsafe fn adopt_with_owner(
        driver: &Arc<dyn Driver>,
        raw: RawStream,
        owner: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        Self::foreign(driver, raw, Some(owner))
    }

    /// The one stream for a foreign handle, made if there is none.
    fn foreign(
        driver: &Arc<dyn Driver>,
        raw: RawStream,
        owner: Option<Arc<dyn Any + Send + Sync>>,
    ) -> Self {
        let key = (driver.handle_space(), raw);
        let mut streams = foreign_streams();
        let stream = match streams.get(&key).and_then(Weak::upgrade) {
            Some(known) => Self(known),
            None => {
                let made = Self::with(driver, raw, Life::Foreign);
                streams.insert(key, Arc::downgrade(&made.0));
                made
            }
        };
        // Whatever is dropped from here on, an owner too many or this handle, is so without the lock.
        drop(streams);
        if let Some(owner) = owner {
            let _ = stream.0.owner.set(owner);
        }
        stream
    }

    fn with(driver: &Arc<dyn Driver>, raw: RawStream, life: Life) -> Self {
        let state = CoreState {
            life,
            touches_host: false,
        };
        let foreign = life == Life::Foreign;
        let core = StreamCore {
            driver: Arc::clone(driver),
            raw,
            id: StreamId::next(),
            foreign,
            capturable: AtomicBool::new(foreign),
            state: Mutex::new(state),
        };
        Self(Arc::new(Shared {
            core: Arc::new(core),
            watchers: Mutex::default(),
            owner: OnceLock::new(),
        }))
    }

    /// Whether somebody else made it. Whoever keeps memory for such a stream keeps a handle of it, for
    /// nobody else says when its work begins and ends.
    #[must_use]
    #[inline]
    pub fn is_foreign(&self) -> bool {
        self.0.core.foreign
    }

    /// Whether somebody beside this stream keeps the owner that it was adopted with. Not for a stream
    /// without one.
    #[must_use]
    pub fn is_owner_in_use(&self) -> bool {
        let owner = self.0.owner.get();
        owner.is_some_and(|owner| Arc::strong_count(owner) > 1)
    }

    /// Whether it can be that it is being captured: its handle was given out, somebody else made it, or
    /// a capture was begun here or joined. While it is false no driver need be asked.
    #[must_use]
    #[inline]
    pub fn may_be_capturing(&self) -> bool {
        self.0.core.capturable.load(Ordering::Relaxed)
    }

    /// The driver's handle, for calls that do not give it to anybody.
    #[inline]
    pub(crate) fn handle(&self) -> RawStream {
        self.0.core.raw
    }

    pub(crate) fn core(&self) -> &Arc<StreamCore> {
        &self.0.core
    }

    /// Its number, which no other stream of this process ever has.
    #[must_use]
    #[inline]
    pub fn id(&self) -> StreamId {
        self.0.core.id
    }

    /// The driver's handle. Live as long as this handle or a clone of it. Whoever has it may capture
    /// the stream: see [`Stream::may_be_capturing`].
    #[must_use]
    pub fn raw(&self) -> RawStream {
        self.0.core.expect_captures();
        self.0.core.raw
    }

    /// The device that it belongs to.
    #[must_use]
    #[inline]
    pub fn driver(&self) -> &Arc<dyn Driver> {
        &self.0.core.driver
    }

    /// Lets `watcher` know before the stream ends. Kept weakly.
    pub fn watch(&self, watcher: Weak<dyn StreamEnd>) {
        let mut watchers = self
            .0
            .watchers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // A stream may outlive many pools.
        watchers.retain(|known| known.strong_count() > 0);
        watchers.push(watcher);
    }

    /// Waits until all work on it is done.
    ///
    /// # Errors
    /// As the driver's call fails, and when earlier work failed.
    pub fn synchronize(&self) -> Result<(), DriverError> {
        self.0.core.synchronize()
    }

    /// Whether all work on it is done.
    ///
    /// # Errors
    /// As the driver's call fails, and when earlier work failed.
    pub fn query(&self) -> Result<bool, DriverError> {
        // SAFETY: `self` keeps the handle alive.
        unsafe { self.driver().query_stream(self.handle()) }
    }

    /// Whether work put on it is being captured into a graph instead of run.
    ///
    /// # Errors
    /// As the driver's call fails.
    #[inline]
    pub fn is_capturing(&self) -> Result<bool, DriverError> {
        // SAFETY: `self` keeps the handle alive.
        unsafe { self.driver().is_capturing(self.handle()) }
    }

    /// Records the event after the work that is on the stream now.
    ///
    /// # Errors
    /// As the driver's call fails; refused for an event of another device.
    pub fn record(&self, event: &Event) -> Result<(), DriverError> {
        self.0.core.record(event)
    }

    /// Lets work put on it from now on wait for the event, which may be of another device of the
    /// same platform.
    ///
    /// # Errors
    /// As the driver's call fails; refused for an event of another platform.
    pub fn wait(&self, event: &Event) -> Result<(), DriverError> {
        let (ours, theirs) = (self.driver().info().id, event.0.driver.info().id);
        if ours.platform != theirs.platform {
            return Err(refused("wait", Refusal::OtherDevice));
        }
        if event.0.from_capture.load(Ordering::Relaxed) {
            self.0.core.expect_captures();
        }
        // SAFETY: both owners are borrowed.
        unsafe { self.driver().wait(self.handle(), event.0.raw) }
    }
}

impl Stream {
    /// A handle that does not keep the stream from ending.
    #[must_use]
    pub fn downgrade(&self) -> WeakStream {
        WeakStream(Arc::downgrade(&self.0))
    }
}

/// A stream that may have ended. For who keeps something for a stream without keeping the stream.
#[derive(Clone)]
pub struct WeakStream(Weak<Shared>);

impl WeakStream {
    /// The stream, unless it has ended. Dropping the answer may be what ends it: hold no lock that
    /// a [`StreamEnd`] takes.
    #[must_use]
    pub fn upgrade(&self) -> Option<Stream> {
        self.0.upgrade().map(Stream)
    }
}

impl fmt::Debug for WeakStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WeakStream").field(&self.upgrade()).finish()
    }
}

impl PartialEq for Stream {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for Stream {}

impl Hash for Stream {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("id", &self.id().get())
            .field("raw", &self.handle().0)
            .field("device", &self.driver().info().id)
            .finish()
    }
}

struct EventInner {
    driver: Arc<dyn Driver>,
    raw: RawEvent,
    /// It was recorded on a stream that may have been captured then.
    from_capture: AtomicBool,
}

impl Drop for EventInner {
    fn drop(&mut self) {
        // SAFETY: `raw` came from `create_event`, and this is its only owner.
        if let Err(error) = unsafe { self.driver.destroy_event(self.raw) } {
            drop_error::report(drop_error::What::Event, &error);
        }
    }
}

/// A point in a stream's work, owned. May be recorded again; may be used from several threads.
pub struct Event(EventInner);

impl Event {
    /// A new event, which is not recorded and therefore reached.
    ///
    /// # Errors
    /// As the driver's call fails.
    pub fn new(driver: &Arc<dyn Driver>, kind: EventKind) -> Result<Self, DriverError> {
        let raw = driver.create_event(kind)?;
        Ok(Self(EventInner {
            driver: Arc::clone(driver),
            raw,
            from_capture: AtomicBool::new(false),
        }))
    }

    /// The driver's handle. Live as long as this owner.
    #[must_use]
    pub fn raw(&self) -> RawEvent {
        self.0.raw
    }

    /// The device that it belongs to.
    #[must_use]
    #[inline]
    pub fn driver(&self) -> &Arc<dyn Driver> {
        &self.0.driver
    }

    /// Whether its last recording has been reached.
    ///
    /// # Errors
    /// As the driver's call fails, and when earlier work failed.
    pub fn query(&self) -> Result<bool, DriverError> {
        // SAFETY: `self` owns the handle.
        unsafe { self.0.driver.query_event(self.0.raw) }
    }

    /// Waits until its last recording has been reached.
    ///
    /// # Errors
    /// As the driver's call fails, and when earlier work failed.
    pub fn synchronize(&self) -> Result<(), DriverError> {
        // SAFETY: `self` owns the handle.
        unsafe { self.0.driver.synchronize_event(self.0.raw) }
    }

    /// Time from `start` to this event; both must be [`EventKind::Timed`] and reached.
    ///
    /// # Errors
    /// As the driver's call fails; refused for an event of another device.
    pub fn elapsed_since(&self, start: &Self) -> Result<Duration, DriverError> {
        same_device("elapsed", &self.0.driver, &start.0.driver)?;
        // SAFETY: both owners are borrowed.
        unsafe { self.0.driver.elapsed(start.0.raw, self.0.raw) }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Event").field(&self.0.raw.0).finish()
    }
}

pub(crate) fn refused(function: &'static str, why: Refusal) -> DriverError {
    DriverError::Refused { function, why }
}

/// Refuses allocations of nothing.
pub(crate) fn not_zero(function: &'static str, bytes: usize) -> Result<(), DriverError> {
    match bytes {
        0 => Err(refused(function, Refusal::ZeroBytes)),
        _ => Ok(()),
    }
}

pub(crate) fn same_device(
    function: &'static str,
    one: &Arc<dyn Driver>,
    other: &Arc<dyn Driver>,
) -> Result<(), DriverError> {
    if one.info().id == other.info().id {
        return Ok(());
    }
    Err(refused(function, Refusal::OtherDevice))
}
