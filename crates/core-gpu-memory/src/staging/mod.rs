//! Staging: the way between ordinary memory of the host and the device, through a ring of pinned
//! memory. Many arrays go in one call with one wait. It does not decide what is where.

mod counter;
mod pending;
mod ring;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use core_gpu_driver::{DeviceSpan, Driver, DriverError, Refusal, Stream};
use xxhash_rust::xxh3::xxh3_64;

pub use counter::{TransferCounter, Transfers};
use pending::Landing;
pub use pending::PendingDownload;
use ring::{Piece, Ring};

/// Why bytes did not arrive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StagingError {
    /// The driver failed. What was on its way may have arrived or not.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// In checksum mode: what arrived is not what was sent.
    #[error(
        "the checksum of {bytes} bytes at {address:#x} is {found:016x} instead of {expected:016x}"
    )]
    Checksum {
        /// Address on the device.
        address: u64,
        /// Length in bytes.
        bytes: u64,
        /// Checksum of what was sent.
        expected: u64,
        /// Checksum of what arrived.
        found: u64,
    },
}

/// One array for the device: where to, and its bytes, equally many.
pub type Upload<'a> = (DeviceSpan<'a>, &'a [u8]);
/// One array from the device: where to, and where from, equally many bytes.
pub type Download<'a> = (&'a mut [u8], DeviceSpan<'a>);

/// What can be chosen of a [`Staging`].
#[derive(Debug, Clone)]
pub struct StagingSettings {
    /// Bytes of one slot of the ring: what is filled while another is on its way.
    pub slot_bytes: u64,
    /// Slots, at least two.
    pub slots: usize,
    /// Take ordinary memory when there is no pinned memory to be had. Slower, and every copy waits;
    /// [`Staging::is_pinned`] and [`Transfers::pageable_copies`] tell.
    pub pageable_fallback: bool,
    /// Copy everything twice and compare checksums. For finding broken links and broken programs.
    pub checksums: bool,
}

impl Default for StagingSettings {
    fn default() -> StagingSettings {
        StagingSettings {
            slot_bytes: 4 << 20,
            slots: 4,
            pageable_fallback: true,
            checksums: false,
        }
    }
}

/// Copies between ordinary memory and a device. May be used from several threads, which take turns.
///
/// An upload returns as soon as the bytes are in pinned memory: the caller's slice is free again,
/// and the bytes arrive in the stream's order. A download returns when the bytes are there, or at
/// once with a handle to wait for ([`Staging::download_async`]).
///
/// ```
/// use std::sync::Arc;
/// use core_gpu_driver::{Driver, HostDriver, Stream, StreamKind};
/// use core_gpu_memory::{Pool, Source, Staging, StagingSettings};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 26));
/// let stream = Stream::new(&driver, StreamKind::NonBlocking)?;
/// let staging = Staging::new(&driver, &StagingSettings::default())?;
/// let (pool, by) = (Pool::new(&driver), Source::named("batch"));
/// let [one, two] = [(); 2].map(|()| pool.allocate::<u8>(4, &stream, by));
/// let (one, two) = (one?, two?);
/// staging.upload_many(&[(one.span(), b"some"), (two.span(), b"more")], &stream)?;
/// let (mut first, mut second) = ([0; 4], [0; 4]);
/// staging.download_many(&mut [(&mut first, one.span()), (&mut second, two.span())], &stream)?;
/// assert_eq!((&first, &second), (b"some", b"more"));
/// assert_eq!(staging.counter().read().to_device_bytes, 8);
/// # Ok(())
/// # }
/// ```
pub struct Staging {
    ring: Option<Mutex<Ring>>,
    /// Pinned memory of downloads that are not waited for; none where there is no pinned memory.
    landing: Option<Arc<Landing>>,
    counter: Arc<TransferCounter>,
    checksums: bool,
}

impl Staging {
    /// Takes the ring's pinned memory.
    ///
    /// # Errors
    /// As the driver's call fails, unless ordinary memory is allowed instead and it is pinned
    /// memory that is out.
    pub fn new(
        driver: &Arc<dyn Driver>,
        settings: &StagingSettings,
    ) -> Result<Staging, DriverError> {
        let fallback = settings.pageable_fallback;
        let ring = match Ring::new(driver, settings.slot_bytes, settings.slots) {
            Ok(ring) => Some(Mutex::new(ring)),
            Err(DriverError::OutOfMemory) if fallback => None,
            Err(error) => return Err(error),
        };
        let landing = ring.as_ref().map(|ring| {
            let bytes = Self::lock(ring).bytes();
            Arc::new(Landing::new(driver, bytes, fallback))
        });
        Ok(Staging {
            ring,
            landing,
            counter: Arc::default(),
            checksums: settings.checksums,
        })
    }

    /// Without pinned memory: every copy waits.
    #[must_use]
    pub fn pageable(checksums: bool) -> Staging {
        Staging {
            ring: None,
            landing: None,
            counter: Arc::default(),
            checksums,
        }
    }

    /// Whether copies go through pinned memory.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        self.ring.is_some()
    }

    /// What went over the link so far.
    #[must_use]
    pub fn counter(&self) -> &Arc<TransferCounter> {
        &self.counter
    }

    fn lock(ring: &Mutex<Ring>) -> MutexGuard<'_, Ring> {
        ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends one array.
    ///
    /// # Errors
    /// As [`Staging::upload_many`].
    pub fn upload(&self, to: DeviceSpan<'_>, from: &[u8], on: &Stream) -> Result<(), StagingError> {
        self.upload_many(&[(to, from)], on)
    }

    /// Sends arrays in the stream's order. Waits only when the ring is full, and in checksum mode.
    ///
    /// # Errors
    /// As the driver's calls fail; refused when lengths differ, or the stream is captured; wrong
    /// checksums. Arrays before the one that failed may have been sent.
    pub fn upload_many(&self, arrays: &[Upload<'_>], on: &Stream) -> Result<(), StagingError> {
        for (to, from) in arrays {
            same_length("upload", to.bytes(), from.len() as u64)?;
        }
        match &self.ring {
            Some(ring) => self.send_pinned(&mut Self::lock(ring), arrays, on)?,
            None => self.send_pageable(arrays, on)?,
        }
        if self.checksums {
            for (to, from) in arrays {
                self.compare(*to, xxh3_64(from), on)?;
            }
        }
        Ok(())
    }

    fn send_pinned(
        &self,
        ring: &mut Ring,
        arrays: &[Upload<'_>],
        on: &Stream,
    ) -> Result<(), DriverError> {
        for (to, from) in arrays {
            let mut done = 0;
            while done < to.bytes() {
                let piece = ring.room(to.bytes() - done, on, &self.counter)?;
                let sent = self.send_piece(ring, piece, (*to, done), from, on);
                if sent.is_err() {
                    // The copy may be on its way all the same.
                    let closed = ring.close(on, &self.counter);
                    return sent.and(closed);
                }
                done += piece.bytes;
            }
        }
        ring.close(on, &self.counter)
    }

    fn send_piece(
        &self,
        ring: &Ring,
        piece: Piece,
        (to, done): (DeviceSpan<'_>, u64),
        from: &[u8],
        on: &Stream,
    ) -> Result<(), DriverError> {
        let range = done as usize..(done + piece.bytes) as usize;
        let (Some(bytes), Some(part)) = (from.get(range), to.part(done, piece.bytes)) else {
            return same_length("upload", to.bytes(), from.len() as u64);
        };
        ring.write(piece, bytes)?;
        on.upload(part, ring.span(piece))?;
        self.counter.uploaded(piece.bytes);
        Ok(())
    }

    fn send_pageable(&self, arrays: &[Upload<'_>], on: &Stream) -> Result<(), DriverError> {
        for (to, from) in arrays.iter().filter(|(_, from)| !from.is_empty()) {
            on.upload_and_wait(*to, from)?;
            self.counter.uploaded(to.bytes());
            self.counter.was_pageable();
            self.counter.waited();
        }
        Ok(())
    }

    /// Fetches one array and waits for it.
    ///
    /// # Errors
    /// As [`Staging::download_many`].
    pub fn download(
        &self,
        to: &mut [u8],
        from: DeviceSpan<'_>,
        on: &Stream,
    ) -> Result<(), StagingError> {
        self.download_many(&mut [(to, from)], on)
    }

    /// Fetches arrays in the stream's order, with one wait for each fill of the ring.
    ///
    /// # Errors
    /// As [`Staging::upload_many`]; the contents of the slices are then undefined.
    pub fn download_many(
        &self,
        arrays: &mut [Download<'_>],
        on: &Stream,
    ) -> Result<(), StagingError> {
        for (to, from) in arrays.iter() {
            same_length("download", from.bytes(), to.len() as u64)?;
        }
        self.fetch(arrays, on)?;
        if self.checksums {
            for (to, from) in arrays.iter() {
                self.compare(*from, xxh3_64(to), on)?;
            }
        }
        Ok(())
    }

    /// Asks for arrays in the stream's order and does not wait for them: the answer is a handle that
    /// does, once for all of them. What is put on the stream afterwards does not change what arrives,
    /// so that a buffer of that stream may be dropped at once.
    ///
    /// The arrays lie in pinned memory until they are waited for, twice in checksum mode. Where there
    /// is no pinned memory to be had, and ordinary memory will do, they are waited for here.
    ///
    /// # Errors
    /// As the driver's calls fail; refused when the stream is captured.
    pub fn download_async(
        &self,
        from: &[DeviceSpan<'_>],
        on: &Stream,
    ) -> Result<PendingDownload, StagingError> {
        if let Some(landing) = &self.landing {
            let (counter, checksums) = (&self.counter, self.checksums);
            match PendingDownload::start(landing, counter, from, checksums, on) {
                Err(DriverError::OutOfMemory) if landing.pageable_fallback => {}
                started => return Ok(started?),
            }
        }
        let length = |span: &DeviceSpan<'_>| usize::try_from(span.bytes());
        let lengths: Result<Vec<usize>, _> = from.iter().map(length).collect();
        let lengths = lengths.map_err(|_| DriverError::OutOfMemory)?;
        let mut arrays: Vec<_> = lengths.into_iter().map(|bytes| vec![0; bytes]).collect();
        let slices = arrays.iter_mut().map(Vec::as_mut_slice);
        let mut wanted: Vec<_> = slices.zip(from.iter().copied()).collect();
        self.download_many(&mut wanted, on)?;
        Ok(PendingDownload::there(arrays, &self.counter))
    }

    fn fetch(&self, arrays: &mut [Download<'_>], on: &Stream) -> Result<(), DriverError> {
        match &self.ring {
            Some(ring) => self.fetch_pinned(&mut Self::lock(ring), arrays, on),
            None => self.fetch_pageable(arrays, on),
        }
    }

    fn fetch_pageable(&self, arrays: &mut [Download<'_>], on: &Stream) -> Result<(), DriverError> {
        for (to, from) in arrays.iter_mut().filter(|(to, _)| !to.is_empty()) {
            on.download_and_wait(to, *from)?;
            self.counter.downloaded(from.bytes());
            self.counter.was_pageable();
            self.counter.waited();
        }
        Ok(())
    }

    fn fetch_pinned(
        &self,
        ring: &mut Ring,
        arrays: &mut [Download<'_>],
        on: &Stream,
    ) -> Result<(), DriverError> {
        ring.begin_round(&self.counter)?;
        let mut underway = Vec::new();
        let mut room = ring.bytes();
        for index in 0..arrays.len() {
            let Some((_, from)) = arrays.get(index) else {
                break;
            };
            let (from, mut done) = (*from, 0);
            while done < from.bytes() {
                if room == 0 {
                    self.collect(ring, &mut underway, arrays, on)?;
                    room = ring.bytes();
                }
                let piece = ring.next_in_round(from.bytes() - done, &mut room);
                let Some(part) = from.part(done, piece.bytes) else {
                    break;
                };
                underway.push((index, done, piece));
                let asked = on.download(ring.span(piece), part);
                if let Err(error) = asked {
                    ring.abandon_round();
                    return Err(error);
                }
                self.counter.downloaded(piece.bytes);
                done += piece.bytes;
            }
        }
        self.collect(ring, &mut underway, arrays, on)
    }

    /// Waits for the pieces that are on their way, and hands them out.
    fn collect(
        &self,
        ring: &mut Ring,
        underway: &mut Vec<(usize, u64, Piece)>,
        arrays: &mut [Download<'_>],
        on: &Stream,
    ) -> Result<(), DriverError> {
        if underway.is_empty() {
            return Ok(());
        }
        self.counter.waited();
        if let Err(error) = on.synchronize() {
            ring.abandon_round();
            return Err(error);
        }
        for (index, done, piece) in underway.drain(..) {
            let range = done as usize..(done + piece.bytes) as usize;
            if let Some(to) = arrays.get_mut(index).and_then(|(to, _)| to.get_mut(range)) {
                ring.read(piece, to)?;
            }
        }
        ring.settled();
        Ok(())
    }

    /// Reads a span back and compares it.
    fn compare(
        &self,
        span: DeviceSpan<'_>,
        expected: u64,
        on: &Stream,
    ) -> Result<(), StagingError> {
        let mut back =
            vec![0; usize::try_from(span.bytes()).map_err(|_| DriverError::OutOfMemory)?];
        self.fetch(&mut [(back.as_mut_slice(), span)], on)?;
        let found = xxh3_64(&back);
        if found == expected {
            return Ok(());
        }
        Err(StagingError::Checksum {
            address: span.address().get(),
            bytes: span.bytes(),
            expected,
            found,
        })
    }
}

fn same_length(function: &'static str, device: u64, host: u64) -> Result<(), DriverError> {
    if device == host {
        return Ok(());
    }
    let why = Refusal::OutOfRange {
        offset: 0,
        bytes: host,
        held: device,
    };
    Err(DriverError::Refused { function, why })
}

impl std::fmt::Debug for Staging {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Staging")
            .field("pinned", &self.is_pinned())
            .field("counted", &self.counter.read())
            .finish_non_exhaustive()
    }
}
