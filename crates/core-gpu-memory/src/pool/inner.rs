//! The path that is taken when a thread's cache does not have what is wanted, or no room for it.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed},
    },
};

use core_gpu_driver::{
    Absent, DeviceId, Driver, DriverError, EndingStream, Region, RegionState, Segment, Stream,
    StreamEnd, StreamId,
};

use crate::{
    AllocError, Pool, Source,
    observe::{MemoryEvent, Observer, Pressure, Reclaim},
    pool::{
        builder::Settings,
        capture::Captures,
        central::{Central, Request, Shortage},
        depot::Batch,
        lease::{Lease, OtherStream},
        lock::{CentralLock, Locked},
        thread::{self, Put, Take, Wanted, Way},
    },
    segment::Order,
    size_class::{Length, Shelf, SizeClass, block_bytes},
};

/// Bytes that the depot holds at most in batches.
const DEPOT_MOST: u64 = 8 * 1024 * 1024;

thread_local! {
    /// Set while this thread runs a callback that makes room.
    static RECLAIMING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread runs a callback that makes room.
pub fn is_reclaiming() -> bool {
    RECLAIMING.get()
}

/// While it lives this thread runs a callback, in which no memory may be asked for. A callback that
/// panics ends it like one that returns.
struct Reclaiming {
    before: bool,
}

impl Reclaiming {
    fn begin() -> Reclaiming {
        Reclaiming {
            before: RECLAIMING.replace(true),
        }
    }
}

impl Drop for Reclaiming {
    fn drop(&mut self) {
        RECLAIMING.set(self.before);
    }
}

/// A pool, shared by its handle and its blocks.
pub struct PoolInner {
    pub id: u64,
    pub device: DeviceId,
    /// The pool's handles and its segments keep the driver, and not what threads cache: a thread that
    /// is idle for ever must not keep a device open.
    driver: Weak<dyn Driver>,
    pub settings: Settings,
    /// Raised when threads are to give back what they cache.
    pub recall: AtomicU32,
    /// Somebody listens to every allocation: the driver or an observer.
    pub talks: bool,
    pub process: u32,
    /// The most that one block can ever be.
    most_bytes: u64,
    /// Segments are made in pieces of so many bytes, so that holes can be put together.
    pub piece_bytes: Option<u64>,
    central: CentralLock,
    closed: AtomicBool,
    reclaimers: Mutex<Vec<(Pressure, Weak<dyn Reclaim>)>>,
    /// The pools of captures that are underway.
    pub captures: Captures,
    /// Callbacks that panicked.
    pub panics: AtomicU64,
}

impl std::fmt::Debug for PoolInner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Pool")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl PoolInner {
    pub fn new(id: u64, driver: &Arc<dyn Driver>, settings: Settings) -> PoolInner {
        let mut central = Central::default();
        central.accounts.total.limit = settings.limit_bytes;
        let piece_bytes = match settings.remap && !settings.managed {
            true => Segment::piece_bytes(driver),
            false => None,
        };
        let total = driver.info().total_bytes;
        PoolInner {
            id,
            most_bytes: match settings.managed {
                true => settings.reserve_limit_bytes,
                false => total.min(settings.reserve_limit_bytes),
            },
            piece_bytes,
            talks: driver.listens() || !settings.observers.is_empty(),
            device: driver.info().id,
            driver: Arc::downgrade(driver),
            settings,
            recall: AtomicU32::new(0),
            process: std::process::id(),
            central: CentralLock::new(central),
            closed: AtomicBool::new(false),
            reclaimers: Mutex::default(),
            captures: Captures::default(),
            panics: AtomicU64::new(0),
        }
    }

    /// The pool's lock. A thread that panicked with it left numbers that are still consistent: no
    /// code outside of this crate runs under it.
    #[inline]
    pub fn lock(&self) -> Locked<'_> {
        self.central.lock()
    }

    /// The driver. It is gone when the pool's handles and its memory are.
    pub fn driver(&self) -> Result<Arc<dyn Driver>, DriverError> {
        let driver = self.driver.upgrade();
        driver.ok_or_else(|| Absent::Deinitialized.into())
    }

    /// Whether that is the pool's driver, or another of the same device.
    fn is_own(&self, driver: &Arc<dyn Driver>) -> bool {
        let same = std::ptr::addr_eq(Arc::as_ptr(driver), self.driver.as_ptr());
        same || driver.info().id == self.device
    }

    pub fn annotate(&self, region: Region, state: RegionState) {
        if let Some(driver) = self.driver.upgrade() {
            driver.annotate(region, state);
        }
    }

    /// Runs a callback of the program's, in which no memory may be asked for. One that panics is
    /// counted and has returned nothing: it must not stop a free half way.
    fn call_back<R>(&self, callback: impl FnOnce() -> R) -> Option<R> {
        let _reclaiming = Reclaiming::begin();
        let answer = catch_unwind(AssertUnwindSafe(callback)).ok();
        if answer.is_none() {
            self.panics.fetch_add(1, Relaxed);
        }
        answer
    }

    pub fn is_closed(&self) -> bool {
        self.closed.load(Relaxed)
    }

    pub fn close(&self) {
        self.closed.store(true, Relaxed);
    }

    /// Asks all threads for what they cache, beginning with this one.
    pub fn recall_threads(self: &Arc<Self>) {
        self.recall.fetch_add(1, Relaxed);
        thread::flush(self);
    }

    pub fn add_reclaimer(&self, pressure: Pressure, reclaimer: Weak<dyn Reclaim>) {
        let mut reclaimers = self
            .reclaimers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        reclaimers.retain(|(_, known)| known.strong_count() > 0);
        reclaimers.push((pressure, reclaimer));
    }

    /// Asks those who can to make room. Returns what they say they freed.
    pub fn reclaim(&self, pressure: Pressure, wanted: u64) -> u64 {
        let reclaimers = self
            .reclaimers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let asked: Vec<_> = reclaimers
            .iter()
            .filter(|(kind, _)| *kind == pressure)
            .filter_map(|(_, reclaimer)| reclaimer.upgrade())
            .collect();
        drop(reclaimers);
        let _reclaiming = Reclaiming::begin();
        thread::make_stale(self);
        let freed = asked
            .iter()
            .filter_map(|reclaimer| self.call_back(|| reclaimer.reclaim(wanted)));
        freed.fold(0, u64::saturating_add)
    }

    pub fn say(&self, event: &MemoryEvent) {
        for observer in &self.settings.observers {
            self.call_back(|| Observer::event(observer.as_ref(), event));
        }
    }

    /// An error that no caller can be told of.
    pub fn report(&self, error: &DriverError) {
        // Whether anybody listens or not: what this thread caches is not for the hook either.
        thread::make_stale(self);
        self.call_back(|| (self.settings.error_hook)(error));
    }

    pub fn say_freed(&self, lease: &Lease) {
        self.say(&MemoryEvent::Freed {
            address: lease.region.address.get(),
            bytes: lease.region.bytes,
            by: lease.by,
        });
    }

    fn say_allocated(&self, lease: &Lease, on: &Stream) {
        self.annotate(lease.region, RegionState::in_use_on(on));
        self.say(&MemoryEvent::Allocated {
            address: lease.region.address.get(),
            bytes: lease.region.bytes,
            by: lease.by,
        });
    }

    pub fn fail_free(&self, bytes: u64, error: DriverError) {
        self.lock().tallies.failed_frees += 1;
        self.report(&error);
        self.say(&MemoryEvent::FailedFree { bytes, error });
    }

    /// A block for the request: from this thread's cache if it has one.
    #[inline]
    pub fn allocate(
        self: &Arc<Self>,
        bytes: u64,
        on: &Stream,
        by: Source,
    ) -> Result<Box<Lease>, AllocError> {
        let length = Length::of(bytes);
        let mut lease = match self.hit(length.shelf, on, by) {
            Take::Hit(lease) => lease,
            Take::Miss(wanted) => match self.allocate_slowly(length, on, by, wanted) {
                // It is the capture's, which has begun its use and told of it.
                Ok(lease) if !Arc::ptr_eq(&lease.pool, self) => return Ok(lease),
                Ok(lease) => lease,
                Err(error) => return Err(self.note_loss_in(*error)),
            },
        };
        lease.begin(by, bytes);
        if on.is_foreign() {
            lease.held = Some(on.clone());
        }
        if self.talks {
            lease.pool.say_allocated(&lease, on);
        }
        Ok(lease)
    }

    #[inline]
    fn hit(&self, shelf: Shelf, on: &Stream, by: Source) -> Take {
        let Some(class) = shelf.class() else {
            let heard = thread::has_heard(self);
            let wanted = if heard { Wanted::ONE } else { Wanted::RECALLED };
            return Take::Miss(wanted);
        };
        if on.may_be_capturing() && self.is_captured(on) {
            return Take::Miss(Wanted::FIRST);
        }
        // A callback is refused by the slow path; where nobody listens none runs.
        if self.talks && RECLAIMING.get() {
            return Take::Miss(Wanted::FIRST);
        }
        thread::take(self, class, on.id(), by)
    }

    /// Whether the stream is being captured, or nobody can say. A capture's own pool is there for
    /// that.
    fn is_captured(&self, on: &Stream) -> bool {
        let asks = self.settings.captures && !self.settings.of_capture;
        asks && on.is_capturing() != Ok(false)
    }

    #[inline(never)]
    fn allocate_slowly(
        self: &Arc<Self>,
        length: Length,
        on: &Stream,
        by: Source,
        wanted: Wanted,
    ) -> Result<Box<Lease>, Box<AllocError>> {
        if let Some(captured) = self.admit(on)? {
            // With a handle of it: the capture may end meanwhile, and its graph go.
            return captured
                .inner
                .allocate(length.bytes, on, by)
                .map_err(Box::new);
        }
        match self.serve_one(length, on, by, wanted) {
            Some(lease) => Ok(lease),
            None => self.allocate_anew(length, on, by, wanted),
        }
    }

    /// For a thread that wants one block and nothing else: one of the same length that the pool keeps
    /// for the stream as it came back, or what is cut for it, while the lock is held once.
    #[inline(always)]
    fn serve_one(
        self: &Arc<Self>,
        length: Length,
        on: &Stream,
        by: Source,
        wanted: Wanted,
    ) -> Option<Box<Lease>> {
        if wanted != Wanted::ONE {
            return None;
        }
        self.central.with(|central| {
            let order = central.orders.find(on.id())?;
            match central.reuse(order, length.shelf, by) {
                Some(lease) => Some(lease),
                None => self.cut(central, order, (length, on, by)),
            }
        })
    }

    /// A block for a stream that the pool knows, from what is free in its order or idle. None where
    /// that is not all there is to it.
    #[inline(never)]
    fn cut(
        self: &Arc<Self>,
        central: &mut Central,
        order: Order,
        (length, on, by): (Length, &Stream, Source),
    ) -> Option<Box<Lease>> {
        let bytes = block_bytes(length.bytes)?;
        if bytes > self.most_bytes || central.closed || !self.is_own(on.driver()) {
            return None;
        }
        let short = length
            .shelf
            .class()
            .is_some_and(|class| !thread::is_long(class));
        if short && central.depot.batch_bytes() > 0 {
            return None;
        }
        let request = Request {
            requested: length.bytes,
            bytes,
            shelf: length.shelf,
            stream: on,
            by,
        };
        central.cut(self, order, &request)
    }

    #[inline(never)]
    fn allocate_anew(
        self: &Arc<Self>,
        length: Length,
        on: &Stream,
        by: Source,
        wanted: Wanted,
    ) -> Result<Box<Lease>, Box<AllocError>> {
        let Length { bytes, shelf } = length;
        let too_large = || {
            Box::new(AllocError::TooLarge {
                bytes,
                device: self.most_bytes,
            })
        };
        let block = block_bytes(bytes).ok_or_else(too_large)?;
        if block > self.most_bytes {
            return Err(too_large());
        }
        if !self.is_own(on.driver()) {
            return Err(Box::new(AllocError::OtherDevice));
        }
        let request = Request {
            requested: bytes,
            bytes: block,
            shelf,
            stream: on,
            by,
        };
        let served = match request.shelf.class() {
            Some(class) => self.try_serve_class(&request, class, wanted),
            None => self.try_serve_large(&request),
        };
        match served {
            Ok(lease) => Ok(lease),
            Err(shortage) => self.after_shortage(&request, shortage),
        }
    }

    #[cold]
    fn after_shortage(
        self: &Arc<Self>,
        request: &Request<'_>,
        shortage: Shortage,
    ) -> Result<Box<Lease>, Box<AllocError>> {
        let served = match shortage {
            Shortage::Limit => self.after_recall(request),
            Shortage::Blocks => self.descend(request),
            Shortage::Closed => Err(AllocError::ShutDown),
        };
        if served.is_err() {
            self.lock().accounts.of(request.by).refusals += 1;
        }
        served.map_err(Box::new)
    }

    #[cold]
    fn note_loss_in(&self, error: AllocError) -> AllocError {
        if let AllocError::Driver(error) = &error {
            self.note_loss(error);
        }
        error
    }

    /// Whether memory may be asked for here and now. The pool of the stream's capture, if that is
    /// what it has to come from.
    #[inline]
    fn admit(&self, on: &Stream) -> Result<Option<Pool>, Box<AllocError>> {
        if RECLAIMING.get() {
            return Err(Box::new(AllocError::Reclaiming));
        }
        if !on.may_be_capturing() || !self.settings.captures || self.settings.of_capture {
            return Ok(None);
        }
        match on.is_capturing() {
            Ok(false) => Ok(None),
            Ok(true) => match self.captures.of(on) {
                Some(pool) => Ok(Some(pool)),
                None => Err(Box::new(AllocError::Capturing)),
            },
            Err(error) => Err(Box::new(error.into())),
        }
    }

    /// Serves from what is there, and brings the thread a batch and credit on the way.
    pub fn try_serve(self: &Arc<Self>, request: &Request<'_>) -> Result<Box<Lease>, Shortage> {
        let Some(class) = request.shelf.class() else {
            return self.try_serve_large(request);
        };
        let wanted = thread::wanted(self, request.stream.id(), class, request.by);
        self.try_serve_class(request, class, wanted)
    }

    #[inline(always)]
    fn try_serve_large(self: &Arc<Self>, request: &Request<'_>) -> Result<Box<Lease>, Shortage> {
        if !thread::has_heard(self) {
            thread::flush(self);
        }
        self.central.with(|central| central.serve(self, request))
    }

    fn try_serve_class(
        self: &Arc<Self>,
        request: &Request<'_>,
        class: SizeClass,
        wanted: Wanted,
    ) -> Result<Box<Lease>, Shortage> {
        let mut wanted = wanted;
        if wanted.recalled {
            thread::flush(self);
            wanted = thread::wanted(self, request.stream.id(), class, request.by);
        }
        if wanted.blocks == 0 {
            return self.pay(request, class);
        }
        let mut central = self.lock();
        if let Some(mut batch) = self.draw_from_depot(&mut central, request, class)? {
            let lease = batch.pop().ok_or(Shortage::Blocks)?;
            return Ok(self.finish(central, request, class, (lease, batch), wanted.credit));
        }
        let lease = central.serve(self, request)?;
        if wanted.blocks == 1 && !wanted.credit {
            return Ok(lease);
        }
        let order = lease.order;
        let mut rest = Batch::new();
        while rest.len() + 1 < wanted.blocks as usize {
            let Some(another) = central.carve(self, order, request) else {
                break;
            };
            rest.push(another);
        }
        Ok(self.finish(central, request, class, (lease, rest), wanted.credit))
    }

    /// The thread has a block and no credit for it.
    fn pay(
        self: &Arc<Self>,
        request: &Request<'_>,
        class: SizeClass,
    ) -> Result<Box<Lease>, Shortage> {
        let (stream, by) = (request.stream.id(), request.by);
        let mut central = self.lock();
        if central.closed {
            return Err(Shortage::Closed);
        }
        if !central.accounts.draw(by, request.bytes) {
            return Err(Shortage::Limit);
        }
        let credit = request.bytes + central.accounts.draw_credit(by, 0);
        drop(central);
        let rest = thread::stock(self, stream, class, by, Vec::new(), credit);
        self.store(by, rest);
        match thread::take(self, class, stream, by) {
            Take::Hit(lease) => Ok(lease),
            Take::Miss(_) => Err(Shortage::Blocks),
        }
    }

    fn draw_from_depot(
        &self,
        central: &mut Central,
        request: &Request<'_>,
        class: SizeClass,
    ) -> Result<Option<Vec<Box<Lease>>>, Shortage> {
        if central.depot.batch_bytes() == 0 {
            return Ok(None);
        }
        let Some(order) = central.orders.find(request.stream.id()) else {
            return Ok(None);
        };
        let Some(batch) = central.depot.take(order, class) else {
            return Ok(None);
        };
        if !central.accounts.draw(request.by, request.bytes) {
            central.depot.put(batch);
            return Err(Shortage::Limit);
        }
        let account = central.accounts.of(request.by);
        account.misses += 1;
        account.allocated_bytes += request.bytes;
        Ok(Some(batch))
    }

    /// Stocks the thread with what came beside the block for the request.
    fn finish(
        self: &Arc<Self>,
        mut central: Locked<'_>,
        request: &Request<'_>,
        class: SizeClass,
        (lease, rest): (Box<Lease>, Batch),
        wants_credit: bool,
    ) -> Box<Lease> {
        let by = request.by;
        let credit = if wants_credit {
            let bytes = class.bytes() * rest.len() as u64;
            central.accounts.draw_credit(by, bytes)
        } else {
            0
        };
        drop(central);
        let rest = thread::stock(self, request.stream.id(), class, by, rest, credit);
        self.store(by, rest);
        lease
    }

    /// A limit refused: threads give their credit back, and it is tried once more.
    fn after_recall(self: &Arc<Self>, request: &Request<'_>) -> Result<Box<Lease>, AllocError> {
        self.recall_threads();
        match self.try_serve(request) {
            Ok(lease) => Ok(lease),
            Err(Shortage::Blocks) => self.descend(request),
            Err(Shortage::Limit) => Err(AllocError::Limit { by: request.by }),
            Err(Shortage::Closed) => Err(AllocError::ShutDown),
        }
    }

    /// Takes a block back that nobody uses any more. An error means that its end on other streams
    /// could not be marked: it is then in quarantine.
    #[inline]
    pub fn take_back(lease: Box<Lease>) -> Option<DriverError> {
        match thread::put(lease) {
            Put::Done => None,
            Put::Rejected(lease, way) => PoolInner::release(lease, way),
        }
    }

    /// Takes a block back that its stream may use again. Comes back if the pool has ended. Apart, so
    /// that what goes in and out are two pointers.
    #[inline(never)]
    pub fn take_back_at_once(&self, lease: Box<Lease>) -> Option<Box<Lease>> {
        self.central.with(|central| central.take_back(lease))
    }

    /// A block that the thread's cache did not take, or that other streams have to do with.
    #[cold]
    fn release(lease: Box<Lease>, way: Way) -> Option<DriverError> {
        let pool = Arc::clone(&lease.pool);
        if way == Way::Recalled && thread::is_recalled(&pool) {
            thread::flush(&pool);
        }
        if lease.shared.load(Relaxed) {
            return pool.release_after_others(lease);
        }
        let class = lease
            .class()
            .filter(|_| way != Way::Heap && !pool.is_closed());
        let Some(class) = class else {
            pool.release_to_heap(lease);
            return None;
        };
        let excess = thread::make_room(&pool, lease.stream, class, lease.by);
        pool.store(lease.by, excess);
        if let Put::Rejected(lease, _) = thread::put(lease) {
            pool.release_to_heap(lease);
        }
        None
    }

    pub fn release_to_heap(&self, lease: Box<Lease>) {
        let mut central = self.lock();
        let Some(lease) = central.take_back(lease) else {
            return;
        };
        central.account_freed(&lease);
        let segment = central.absorb(&lease);
        drop(central);
        drop(segment);
    }

    /// Puts blocks into the depot, or into the heap if the depot is full, and credit back.
    fn store(&self, by: Source, excess: thread::Excess) {
        let thread::Excess {
            blocks: batch,
            credit,
        } = excess;
        if batch.is_empty() && credit == 0 {
            return;
        }
        let mut central = self.lock();
        central.accounts.put_back(by, credit);
        let one_class = batch.windows(2).all(|pair| match pair {
            [one, other] => one.shelf == other.shelf && one.order == other.order,
            _ => true,
        });
        let first = batch.first().and_then(|lease| lease.class());
        let batch = match first.is_some_and(thread::is_long) && !central.closed {
            true => central.depot.keep_each(batch),
            false => batch,
        };
        if central.closed || !one_class || central.depot.batch_bytes() >= DEPOT_MOST {
            let gone = central.absorb_all(batch);
            drop(central);
            drop(gone);
        } else {
            central.depot.put(batch);
        }
    }

    /// Notes that a block is used on another stream as well.
    pub fn use_on(self: &Arc<Self>, lease: &Lease, stream: &Stream) {
        let mut central = self.lock();
        let order = central.order_of(self, stream);
        let known = central.shared.get(&lease.node);
        let known = known.is_some_and(|others| others.iter().any(|other| other.order == order));
        if order != lease.order && !known {
            if !self.is_own(stream.driver()) {
                central.note_other_device(stream.driver());
            }
            central.orders.lend(order);
            central
                .shared
                .entry(lease.node)
                .or_default()
                .push(OtherStream {
                    stream: stream.downgrade(),
                    order,
                    _held: stream.is_foreign().then(|| stream.clone()),
                });
            lease.shared.store(true, Relaxed);
        }
        drop(central);
        self.annotate(lease.region, RegionState::also_used_on(stream));
    }
}

impl StreamEnd for PoolInner {
    fn stream_ends(&self, id: StreamId, ending: &EndingStream<'_>) {
        // Blocks that threads cache for it would only lie there.
        self.recall.fetch_add(1, Relaxed);
        let ended = self.lock().stream_ends(id, ending);
        if let Err(error) = ended {
            self.report(&error);
        }
    }
}
