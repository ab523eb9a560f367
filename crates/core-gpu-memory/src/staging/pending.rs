//! Downloads that are not waited for: arrays on their way into pinned memory of their own, with one
//! event behind all of them. The ring is not held meanwhile.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use core_gpu_driver::{
    DeviceSpan, Driver, DriverError, Event, EventKind, Pinned, PinnedSpan, Refusal, Region, Stream,
};
use xxhash_rust::xxh3::xxh3_64;

use crate::staging::{StagingError, counter::TransferCounter, same_length};

/// Arrays begin at multiples of this many bytes.
const ALIGNMENT: u64 = 256;
/// Pinned memory is asked for in powers of two from this many bytes on, so that it fits again.
const LEAST_BYTES: u64 = 64 * 1024;

/// Pinned memory that no download uses any more, for the next ones: to ask the driver for it takes
/// milliseconds.
pub(super) struct Landing {
    driver: Arc<dyn Driver>,
    /// Bytes that are kept at most.
    most_bytes: u64,
    /// Ordinary memory will do where there is no pinned memory to be had.
    pub(super) pageable_fallback: bool,
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    pinned: Pinned,
    /// Nobody waited for what was written into it.
    until: Option<Event>,
}

impl Landing {
    pub(super) fn new(driver: &Arc<dyn Driver>, most_bytes: u64, pageable_fallback: bool) -> Self {
        Self {
            driver: Arc::clone(driver),
            most_bytes,
            pageable_fallback,
            idle: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Pinned memory of at least that many bytes that nothing writes any more.
    fn take(&self, bytes: u64) -> Result<Pinned, DriverError> {
        let mut idle = self.lock();
        for one in idle.iter_mut() {
            if let Some(event) = &one.until
                && event.query()?
            {
                one.until = None;
            }
        }
        let fits = |one: &Idle| one.until.is_none() && one.pinned.bytes() >= bytes;
        let fitting = idle.iter().enumerate().filter(|(_, one)| fits(one));
        let best = fitting.min_by_key(|(_, one)| one.pinned.bytes());
        if let Some(place) = best.map(|(place, _)| place) {
            return Ok(idle.swap_remove(place).pinned);
        }
        drop(idle);
        let rounded = bytes.checked_next_power_of_two().unwrap_or(bytes);
        let bytes = usize::try_from(rounded.max(LEAST_BYTES));
        Pinned::allocate(&self.driver, bytes.map_err(|_| DriverError::OutOfMemory)?)
    }

    /// Keeps pinned memory, unless there is enough. What goes is waited for.
    fn keep(&self, pinned: Pinned, until: Option<Event>) {
        let mut idle = self.lock();
        let kept: u64 = idle.iter().map(|one| one.pinned.bytes()).sum();
        if kept + pinned.bytes() <= self.most_bytes {
            idle.push(Idle { pinned, until });
        }
    }
}

/// Where one array lies.
#[derive(Clone, Copy, Debug)]
struct Place {
    from: Region,
    offset: u64,
    /// A second copy of it, in checksum mode.
    again: Option<u64>,
}

struct Underway {
    pinned: Pinned,
    event: Event,
    places: Vec<Place>,
}

enum State {
    Underway(Underway),
    /// They were waited for at once, since there was no pinned memory.
    There(Vec<Vec<u8>>),
    /// They were handed out.
    Gone,
}

/// Arrays that are on their way from the device. May be sent to another thread. Dropping it waits for
/// nothing.
#[must_use = "the bytes are handed out by `wait`"]
pub struct PendingDownload {
    state: State,
    landing: Option<Arc<Landing>>,
    counter: Arc<TransferCounter>,
}

impl PendingDownload {
    /// Arrays that are there already.
    pub(super) fn there(arrays: Vec<Vec<u8>>, counter: &Arc<TransferCounter>) -> Self {
        Self {
            state: State::There(arrays),
            landing: None,
            counter: Arc::clone(counter),
        }
    }

    /// Puts the copies on the stream, and an event behind them.
    pub(super) fn start(
        landing: &Arc<Landing>,
        counter: &Arc<TransferCounter>,
        spans: &[DeviceSpan<'_>],
        checksums: bool,
        on: &Stream,
    ) -> Result<Self, DriverError> {
        if on.is_capturing()? {
            let why = Refusal::Capturing;
            return Err(DriverError::Refused {
                function: "download",
                why,
            });
        }
        let (places, bytes) = lay_out(spans, checksums).ok_or(DriverError::OutOfMemory)?;
        let pinned = landing.take(bytes)?;
        // When one of these fails, what is on its way already is waited for as the memory goes.
        for (place, from) in places
            .iter()
            .zip(spans)
            .filter(|(_, from)| from.bytes() > 0)
        {
            for offset in [Some(place.offset), place.again].into_iter().flatten() {
                let pinned = &pinned;
                on.download(PinnedSpan { pinned, offset }, *from)?;
                counter.downloaded(from.bytes());
            }
        }
        let event = Event::new(on.driver(), EventKind::Order)?;
        on.record(&event)?;
        Ok(Self {
            state: State::Underway(Underway {
                pinned,
                event,
                places,
            }),
            landing: Some(Arc::clone(landing)),
            counter: Arc::clone(counter),
        })
    }

    /// Whether [`PendingDownload::wait`] would wait for nothing.
    ///
    /// # Errors
    /// As the driver's call fails, and when earlier work failed.
    pub fn is_ready(&self) -> Result<bool, StagingError> {
        match &self.state {
            State::Underway(underway) => Ok(underway.event.query()?),
            State::There(_) | State::Gone => Ok(true),
        }
    }

    /// Waits for the arrays, once for all of them, and hands them out in the order in which they were
    /// asked for.
    ///
    /// # Errors
    /// As the driver's call fails, and when earlier work failed: what arrived is then unknown. In
    /// checksum mode, [`StagingError::Checksum`].
    pub fn wait(mut self) -> Result<Vec<Vec<u8>>, StagingError> {
        match std::mem::replace(&mut self.state, State::Gone) {
            State::There(arrays) => Ok(arrays),
            State::Gone => Ok(Vec::new()),
            State::Underway(underway) => {
                let arrays = underway.finish(&self.counter)?;
                if let Some(landing) = &self.landing {
                    landing.keep(underway.pinned, None);
                }
                Ok(arrays)
            }
        }
    }

    /// As [`PendingDownload::wait`], into slices.
    ///
    /// # Errors
    /// As [`PendingDownload::wait`]; refused when there are not as many slices as arrays, or their
    /// lengths differ. The slices are then as they were.
    pub fn wait_into(self, to: &mut [&mut [u8]]) -> Result<(), StagingError> {
        let arrays = self.wait()?;
        same_length("download", arrays.len() as u64, to.len() as u64)?;
        for (array, to) in arrays.iter().zip(to.iter()) {
            same_length("download", array.len() as u64, to.len() as u64)?;
        }
        for (array, to) in arrays.iter().zip(to) {
            to.copy_from_slice(array);
        }
        Ok(())
    }
}

impl Underway {
    fn finish(&self, counter: &TransferCounter) -> Result<Vec<Vec<u8>>, StagingError> {
        if !self.event.query()? {
            counter.waited();
            self.event.synchronize()?;
        }
        self.places.iter().map(|place| self.read(*place)).collect()
    }

    fn read(&self, place: Place) -> Result<Vec<u8>, StagingError> {
        let bytes = usize::try_from(place.from.bytes).map_err(|_| DriverError::OutOfMemory)?;
        let at = |offset| -> Result<Vec<u8>, DriverError> {
            let mut array = vec![0; bytes];
            self.pinned.read(offset, &mut array)?;
            Ok(array)
        };
        let array = at(place.offset)?;
        let Some(again) = place.again else {
            return Ok(array);
        };
        let (expected, found) = (xxh3_64(&at(again)?), xxh3_64(&array));
        if expected == found {
            return Ok(array);
        }
        Err(StagingError::Checksum {
            address: place.from.address.get(),
            bytes: place.from.bytes,
            expected,
            found,
        })
    }
}

/// Where arrays go one behind the other, and how many bytes that takes.
fn lay_out(spans: &[DeviceSpan<'_>], twice: bool) -> Option<(Vec<Place>, u64)> {
    let mut end = 0_u64;
    let mut next = |bytes: u64| {
        let offset = end;
        end = end
            .checked_add(bytes)?
            .checked_next_multiple_of(ALIGNMENT)?;
        Some(offset)
    };
    let mut places = Vec::with_capacity(spans.len());
    for from in spans {
        let offset = next(from.bytes())?;
        let again = match twice {
            true => Some(next(from.bytes())?),
            false => None,
        };
        places.push(Place {
            from: from.region(),
            offset,
            again,
        });
    }
    Some((places, end))
}

impl Drop for PendingDownload {
    fn drop(&mut self) {
        let state = std::mem::replace(&mut self.state, State::Gone);
        if let (State::Underway(underway), Some(landing)) = (state, &self.landing) {
            landing.keep(underway.pinned, Some(underway.event));
        }
    }
}

impl std::fmt::Debug for PendingDownload {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let arrays = match &self.state {
            State::Underway(underway) => underway.places.len(),
            State::There(arrays) => arrays.len(),
            State::Gone => 0,
        };
        formatter
            .debug_struct("PendingDownload")
            .field("arrays", &arrays)
            .finish_non_exhaustive()
    }
}
