//! The way down: what is tried, in order, when no free block fits.
//!
//! The pool's lock is not held while the driver allocates or frees, nor while others are asked to
//! make room.

use std::sync::Arc;

use core_gpu_driver::{Absent, DriverError, RegionState, Segment};

use crate::{
    AllocError,
    error::{Holding, ShortageReport},
    observe::{MemoryEvent, Pressure, Step},
    pool::{
        builder::StreamPolicy,
        central::{Request, Shortage},
        inner::PoolInner,
        lease::Lease,
    },
    size_class::ALIGNMENT,
};

type Served = Result<Option<Box<Lease>>, AllocError>;

impl PoolInner {
    /// Makes room step by step, trying again after each.
    pub fn descend(self: &Arc<Self>, request: &Request<'_>) -> Result<Box<Lease>, AllocError> {
        if std::process::id() != self.process {
            return Err(AllocError::Forked);
        }
        let mut driver_error = None;
        for step in Step::ALL.into_iter().filter(|step| self.takes(*step)) {
            self.lock().tallies.steps[step as usize] += 1;
            self.say(&MemoryEvent::Step {
                step,
                for_bytes: request.bytes,
            });
            if let Some(lease) = self.take_step(step, request, &mut driver_error)? {
                return Ok(lease);
            }
        }
        Err(AllocError::OutOfMemory(Box::new(
            self.shortage_report(request, driver_error),
        )))
    }

    /// Whether a step is for this pool. A capture's own neither waits nor takes anything from others:
    /// both would be part of the graph, or break it.
    fn takes(&self, step: Step) -> bool {
        let own = matches!(step, Step::FlushThreads | Step::Grow);
        match (step, self.settings.streams) {
            _ if self.settings.of_capture => own,
            (Step::OtherStreams, policy) => policy == StreamPolicy::Share,
            (Step::JoinStreams, policy) => policy != StreamPolicy::StreamLocal,
            _ => true,
        }
    }

    fn take_step(
        self: &Arc<Self>,
        step: Step,
        request: &Request<'_>,
        said: &mut Option<DriverError>,
    ) -> Served {
        match step {
            Step::FlushThreads => self.flush_threads(request),
            Step::OtherStreams => self.from_others(request),
            Step::DrainPending => self.drain_and_retry(request),
            Step::Grow => self.grow_and_retry(request, said),
            Step::JoinStreams => self.join_and_retry(request),
            Step::Trim => {
                self.trim(0);
                match self.retry(request)? {
                    Some(lease) => Ok(Some(lease)),
                    None => self.grow_and_retry(request, said),
                }
            }
            Step::Evict => self.ask_others(Pressure::Evict, request, said),
            Step::Remap => {
                if self.remap(request.bytes)? {
                    self.retry(request)
                } else {
                    Ok(None)
                }
            }
            Step::Spill => self.ask_others(Pressure::Spill, request, said),
        }
    }

    fn drain_and_retry(self: &Arc<Self>, request: &Request<'_>) -> Served {
        if self.settings.streams == StreamPolicy::Share {
            if !self.drain_pending(request)? {
                return Ok(None);
            }
        } else {
            // What is not reached yet would have to be waited for.
            self.lock().drain_reached();
        }
        self.retry(request)
    }

    /// One block of another stream, if that is enough; or else all that is free.
    fn join_and_retry(self: &Arc<Self>, request: &Request<'_>) -> Served {
        if let Some(lease) = self.from_others(request)? {
            return Ok(Some(lease));
        }
        self.recall_threads();
        self.drain_pending(request)?;
        self.join_streams(request)?;
        self.retry(request)
    }

    fn retry(self: &Arc<Self>, request: &Request<'_>) -> Served {
        match self.try_serve(request) {
            Ok(lease) => Ok(Some(lease)),
            Err(Shortage::Blocks) => Ok(None),
            Err(Shortage::Limit) => Err(AllocError::Limit { by: request.by }),
            Err(Shortage::Closed) => Err(AllocError::ShutDown),
        }
    }

    /// Takes what the depot has, and then what threads have, if that may be enough. Asking threads
    /// costs each of them all that it caches.
    fn flush_threads(self: &Arc<Self>, request: &Request<'_>) -> Served {
        let mut central = self.lock();
        let idle = central.depot.bytes() + central.thread_cached_bytes();
        central.drain_reached();
        drop(central);
        self.empty_depot();
        let served = self.retry(request)?;
        if served.is_some() || idle < request.bytes {
            return Ok(served);
        }
        self.recall_threads();
        self.empty_depot();
        self.retry(request)
    }

    /// What the depot has joins the heap.
    pub fn empty_depot(&self) {
        let mut central = self.lock();
        let gone = central.empty_depot();
        drop(central);
        drop(gone);
    }

    fn from_others(self: &Arc<Self>, request: &Request<'_>) -> Served {
        let mut central = self.lock();
        if !central.accounts.draw(request.by, request.bytes) {
            return Err(AllocError::Limit { by: request.by });
        }
        if central.closed {
            central.accounts.put_back(request.by, request.bytes);
            return Err(AllocError::ShutDown);
        }
        let found = central.borrow_from_others(self, request);
        if matches!(found, Ok(Some(_))) {
            let account = central.accounts.of(request.by);
            account.misses += 1;
            account.allocated_bytes += request.bytes;
        } else {
            central.accounts.put_back(request.by, request.bytes);
        }
        drop(central);
        Ok(found?)
    }

    fn drain_pending(self: &Arc<Self>, request: &Request<'_>) -> Result<bool, DriverError> {
        let mut central = self.lock();
        let any = !central.pending.is_empty();
        let drained = central.drain_behind_events(self, request.stream);
        drop(central);
        drained.map(|()| any)
    }

    fn join_streams(self: &Arc<Self>, request: &Request<'_>) -> Result<(), DriverError> {
        let mut central = self.lock();
        let gone = central.empty_depot();
        let joined = central.join_streams(self, request.stream);
        drop(central);
        drop(gone);
        joined
    }

    fn ask_others(
        self: &Arc<Self>,
        pressure: Pressure,
        request: &Request<'_>,
        said: &mut Option<DriverError>,
    ) -> Served {
        if self.reclaim(pressure, request.bytes) == 0 {
            return Ok(None);
        }
        self.recall_threads();
        if self.settings.streams == StreamPolicy::StreamLocal {
            // Waiting for the device makes what became free idle, and no stream waits for another.
            self.trim(0);
        } else {
            self.drain_pending(request)?;
            self.join_streams(request)?;
        }
        match self.retry(request)? {
            Some(lease) => Ok(Some(lease)),
            None => {
                // What was freed may lie in several segments, each of them too short.
                self.trim(0);
                self.grow_and_retry(request, said)
            }
        }
    }

    fn grow_and_retry(
        self: &Arc<Self>,
        request: &Request<'_>,
        said: &mut Option<DriverError>,
    ) -> Served {
        match self.grow(request.bytes) {
            Ok(true) => self.retry(request),
            Ok(false) => Ok(None),
            Err(DriverError::OutOfMemory) => {
                *said = Some(DriverError::OutOfMemory);
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Asks the driver for a segment with room for `needed` bytes. False if the pool's own bound
    /// leaves no room for one.
    pub fn grow(self: &Arc<Self>, needed: u64) -> Result<bool, DriverError> {
        let reserved = self.lock().heap.reserved_bytes();
        let room = self.settings.reserve_limit_bytes.saturating_sub(reserved);
        let unit = self.piece_bytes.unwrap_or(ALIGNMENT);
        let room = room - room % unit;
        let Some(needed) = needed
            .checked_next_multiple_of(unit)
            .filter(|needed| *needed <= room)
        else {
            return Ok(false);
        };
        let wanted = self
            .settings
            .growth
            .next_segment(needed, reserved)
            .min(room);
        let mut bytes = wanted
            .checked_next_multiple_of(unit)
            .unwrap_or(needed)
            .min(room);
        loop {
            match self.allocate_segment(bytes) {
                Ok(segment) => return self.adopt(segment),
                Err(DriverError::OutOfMemory) if bytes > needed => {
                    let half = (bytes / 2).next_multiple_of(unit);
                    bytes = half.max(needed);
                }
                Err(error) => {
                    self.note_loss(&error);
                    return Err(error);
                }
            }
        }
    }

    fn allocate_segment(&self, bytes: u64) -> Result<Segment, DriverError> {
        if self.piece_bytes.is_some() {
            return Segment::allocate_in_pieces(&self.driver()?, bytes);
        }
        let asked = usize::try_from(bytes).map_err(|_| DriverError::OutOfMemory)?;
        match self.settings.managed {
            true => Segment::allocate_managed(&self.driver()?, asked),
            false => Segment::allocate(&self.driver()?, asked),
        }
    }

    /// Puts a segment into the heap. Another thread may have grown the pool meanwhile: its bound
    /// holds all the same.
    pub fn adopt(self: &Arc<Self>, segment: Segment) -> Result<bool, DriverError> {
        let bytes = segment.bytes();
        if self.talks {
            let region = segment.whole().region();
            self.annotate(region, RegionState::Free);
            if self.settings.of_capture {
                self.annotate(region, RegionState::OfGraph);
            }
        }
        let mut central = self.lock();
        let reserved = central.heap.reserved_bytes().saturating_add(bytes);
        let within = reserved <= self.settings.reserve_limit_bytes && !central.closed;
        let id = if within {
            central.heap.add_segment(bytes)
        } else {
            None
        };
        let Some(id) = id else {
            drop(central);
            drop(segment);
            return Ok(!within);
        };
        central.segments.insert(id, segment);
        central.tallies.segments_made += 1;
        central.peak_reserved = central.peak_reserved.max(central.heap.reserved_bytes());
        drop(central);
        self.say(&MemoryEvent::Grown { bytes });
        Ok(true)
    }

    /// Who holds what, for the error.
    fn shortage_report(&self, request: &Request<'_>, said: Option<DriverError>) -> ShortageReport {
        let device = self.driver().and_then(|driver| driver.memory_info()).ok();
        let central = self.lock();
        let mut holdings: Vec<_> = central
            .accounts
            .iter()
            .map(|(by, account)| (by, account.usage().bytes_in_use))
            .filter(|(_, bytes)| *bytes > 0)
            .map(|(by, bytes)| Holding {
                source: by.name(),
                bytes,
            })
            .collect();
        holdings.sort_by(|one, other| {
            other
                .bytes
                .cmp(&one.bytes)
                .then_with(|| one.source.cmp(&other.source))
        });
        let reserved_bytes = central.heap.reserved_bytes();
        ShortageReport {
            requested_bytes: request.requested,
            reserved_bytes,
            holdings,
            free_bytes: central.heap.free_bytes(),
            longest_free_bytes: central.heap.longest_free(),
            pending_bytes: central.pending_bytes,
            thread_cached_bytes: central.thread_cached_bytes(),
            quarantined_bytes: central.quarantined_bytes(),
            device_free_bytes: device.map(|info| info.free_bytes),
            foreign_bytes: device.map(|info| info.used_bytes().saturating_sub(reserved_bytes)),
            driver: said.map(|error| error.to_string()),
        }
    }

    /// After the loss of the device all bytes are lost.
    pub fn note_loss(&self, error: &DriverError) {
        let lost = error.is_lost() || matches!(error, DriverError::Absent(Absent::Deinitialized));
        if lost {
            let mut central = self.lock();
            if !central.lost {
                central.lost = true;
                central.lost_bytes += central.heap.reserved_bytes();
            }
        }
    }
}
