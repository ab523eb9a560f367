//! Owned memory, of the device and of the host, and the work that moves bytes between them. Bounds
//! and devices are checked here, so that nothing above needs unsafe code. There is no pool here.

use std::{
    fmt,
    marker::PhantomData,
    mem::ManuallyDrop,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    address::{DeviceAddress, HostAddress, Place},
    annotate::Region,
    driver::Driver,
    drop_error,
    error::{DriverError, Refusal},
    graph,
    mapped::Mapping,
    stream::{Stream, StreamCore, refused, same_device},
};

/// Memory of a device, owned. Sized in bytes; its address never changes.
///
/// Dropping it waits for the device and gives it back; an error goes to [`crate::drop_error`]. While a
/// stream of the device is captured ([`Stream::begin_capture`]) that is put off until it is over.
pub struct Segment {
    pub(crate) driver: Arc<dyn Driver>,
    pub(crate) address: DeviceAddress,
    pub(crate) bytes: u64,
    /// What is under the addresses; none for memory that the driver gave with its address.
    pub(crate) mapping: Option<Mapping>,
}

impl Segment {
    /// Asks the driver for memory, whose contents are undefined. May wait for the device.
    ///
    /// # Errors
    /// [`DriverError::OutOfMemory`], or as the driver's call fails; refused for zero bytes.
    pub fn allocate(driver: &Arc<dyn Driver>, bytes: usize) -> Result<Self, DriverError> {
        let address = driver.allocate(bytes)?;
        Ok(Self {
            driver: Arc::clone(driver),
            address,
            bytes: bytes as u64,
            mapping: None,
        })
    }

    /// As [`Segment::allocate`], of memory that moves between the device and the host as it is touched.
    ///
    /// # Errors
    /// [`crate::Absent::Capability`] where the device cannot, else as [`Segment::allocate`].
    pub fn allocate_managed(driver: &Arc<dyn Driver>, bytes: usize) -> Result<Self, DriverError> {
        let address = driver.allocate_managed(bytes)?;
        Ok(Self {
            driver: Arc::clone(driver),
            address,
            bytes: bytes as u64,
            mapping: None,
        })
    }

    /// Gives it back without waiting: the caller knows that no work uses it any more. When that is
    /// wrong, bytes of the device are wrong; memory of this process is not in danger.
    ///
    /// # Errors
    /// As the driver's call fails. The segment comes back, to be kept in quarantine: dropping it
    /// tries again.
    pub fn free(self) -> Result<(), (DriverError, Self)> {
        let mut this = ManuallyDrop::new(self);
        match this.give_back() {
            Ok(()) => {
                this.drop_fields();
                Ok(())
            }
            Err(error) => Err((error, ManuallyDrop::into_inner(this))),
        }
    }

    /// The driver takes it back.
    fn give_back(&mut self) -> Result<(), DriverError> {
        if self.mapping.is_some() {
            return self.unmap_all();
        }
        // SAFETY: `address` came from `allocate`, and `self` is its only owner.
        unsafe { self.driver.free(self.address) }
    }

    /// For who gives a segment up without dropping it.
    fn drop_fields(&mut self) {
        drop(self.mapping.take());
        // SAFETY: the callers do not use `self` again, and its own `drop` does not run.
        unsafe { std::ptr::drop_in_place(&raw mut self.driver) };
    }

    /// Gives it up without giving it back, for a device that is lost: its bytes are gone anyway.
    /// Returns how many they were.
    #[must_use]
    pub fn abandon(self) -> u64 {
        let mut this = ManuallyDrop::new(self);
        let bytes = this.memory_bytes();
        this.drop_fields();
        bytes
    }

    /// Where it begins.
    #[must_use]
    #[inline]
    pub fn address(&self) -> DeviceAddress {
        self.address
    }

    /// Its size in bytes. Where pieces were taken out of it there are addresses only.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The device that it belongs to.
    #[must_use]
    pub fn driver(&self) -> &Arc<dyn Driver> {
        &self.driver
    }

    /// All of it.
    #[must_use]
    pub fn whole(&self) -> DeviceSpan<'_> {
        DeviceSpan {
            address: self.address,
            bytes: self.bytes,
            memory: PhantomData,
        }
    }

    /// Part of it; nothing when it does not reach that far.
    #[must_use]
    #[inline]
    pub fn span(&self, offset: u64, bytes: u64) -> Option<DeviceSpan<'_>> {
        self.whole().part(offset, bytes)
    }
}

impl Segment {
    /// Waits for the device and gives it back.
    fn wait_and_give_back(&mut self) {
        let waited = self.driver.synchronize();
        let freed = match waited {
            Err(error) if !error.is_lost() && !error.is_deinitialized() => Err(error),
            // All work is done, or the device does none any more.
            _ => self.give_back(),
        };
        if let Err(error) = freed {
            drop_error::report(drop_error::What::Segment, &error);
        }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        let own = Self {
            driver: Arc::clone(&self.driver),
            address: self.address,
            bytes: self.bytes,
            mapping: self.mapping.take(),
        };
        if let Some(own) = graph::keep_during_captures(own) {
            let mut own = ManuallyDrop::new(own);
            own.wait_and_give_back();
            own.drop_fields();
        }
    }
}

impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Segment")
            .field("address", &self.address)
            .field("bytes", &self.bytes)
            .finish()
    }
}

/// Bytes of a device's memory, borrowed from whoever holds it: a span cannot be kept beyond its
/// memory. Work that was put on a stream with a span may still run when the borrow ends; whoever holds
/// the memory sees to it that it is given to nobody else before that work is done.
///
/// ```compile_fail
/// # use std::sync::Arc;
/// # use core_gpu_driver::{Driver, HostDriver, Segment, Stream, StreamKind};
/// # fn main() -> Result<(), core_gpu_driver::DriverError> {
/// # let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 20));
/// # let stream = Stream::new(&driver, StreamKind::NonBlocking)?;
/// let segment = Segment::allocate(&driver, 4)?;
/// let span = segment.whole();
/// drop(segment);
/// stream.set(span, 1)?; // the memory is gone
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeviceSpan<'m> {
    address: DeviceAddress,
    bytes: u64,
    memory: PhantomData<&'m ()>,
}

impl DeviceSpan<'_> {
    /// Bytes of a device that are known by their address: another library's allocation, or a part of
    /// a segment that an allocator has given out.
    ///
    /// # Safety
    /// They are memory of a device for the whole lifetime, which the caller chooses, and after it until
    /// the work is done that was put on streams with the span.
    #[must_use]
    #[inline]
    pub const unsafe fn adopt(address: DeviceAddress, bytes: u64) -> Self {
        Self {
            address,
            bytes,
            memory: PhantomData,
        }
    }

    /// Where it begins. An address keeps nothing alive; using it is `unsafe`.
    #[must_use]
    #[inline]
    pub const fn address(self) -> DeviceAddress {
        self.address
    }

    /// Its size in bytes.
    #[must_use]
    #[inline]
    pub const fn bytes(self) -> u64 {
        self.bytes
    }

    /// Part of it; nothing when it does not reach that far.
    #[must_use]
    #[inline]
    pub fn part(self, offset: u64, bytes: u64) -> Option<Self> {
        if offset.checked_add(bytes)? > self.bytes {
            return None;
        }
        let address = self.address.checked_add(offset)?;
        Some(Self {
            address,
            bytes,
            ..self
        })
    }

    /// The same bytes, for [`Driver::annotate`] and for books: it borrows nothing.
    #[must_use]
    #[inline]
    pub const fn region(self) -> Region {
        Region {
            address: self.address,
            bytes: self.bytes,
        }
    }
}

impl fmt::Debug for DeviceSpan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.address, self.bytes)
    }
}

/// Memory of the host that the device reads and writes by itself, owned. Sized in bytes.
///
/// It is read and written through copies, never as a slice, because the device may be at it. Which
/// streams have work on it is remembered; dropping it waits for them. May be used from several
/// threads.
pub struct Pinned {
    driver: Arc<dyn Driver>,
    address: HostAddress,
    bytes: u64,
    /// The streams with work on it. Its lock also keeps threads of this process apart.
    users: Mutex<Vec<Arc<StreamCore>>>,
}

impl Pinned {
    /// Asks the driver for pinned memory, whose contents are undefined. Slow: milliseconds.
    ///
    /// # Errors
    /// [`DriverError::OutOfMemory`], or as the driver's call fails; refused for zero bytes.
    pub fn allocate(driver: &Arc<dyn Driver>, bytes: usize) -> Result<Self, DriverError> {
        let address = driver.allocate_pinned(bytes)?;
        // SAFETY: `bytes` bytes at `address` are ours and nobody else knows of them. Writing them
        // once makes them defined, so that `read` never hands out undefined bytes.
        unsafe { address.pointer().write_bytes(0, bytes) };
        Ok(Self {
            driver: Arc::clone(driver),
            address,
            bytes: bytes as u64,
            users: Mutex::default(),
        })
    }

    /// Its size in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The device whose driver made it.
    #[must_use]
    pub fn driver(&self) -> &Arc<dyn Driver> {
        &self.driver
    }

    /// Writes bytes at an offset. Does not wait for work that reads them: whoever writes before
    /// that work is done sends a mixture.
    ///
    /// # Errors
    /// Refused when the bytes do not fit.
    pub fn write(&self, offset: u64, from: &[u8]) -> Result<(), DriverError> {
        let at = self.checked("write", offset, from.len() as u64)?;
        let _threads = self.lock();
        // SAFETY: the range was checked; the lock keeps other threads of this process away, and
        // `from` is no part of it, because no slice of it is ever made.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), at.pointer(), from.len()) };
        Ok(())
    }

    /// Reads bytes at an offset. Does not wait for work that writes them.
    ///
    /// # Errors
    /// Refused when there are not so many bytes.
    pub fn read(&self, offset: u64, to: &mut [u8]) -> Result<(), DriverError> {
        let at = self.checked("read", offset, to.len() as u64)?;
        let _threads = self.lock();
        // SAFETY: as in `write`.
        unsafe { std::ptr::copy_nonoverlapping(at.pointer(), to.as_mut_ptr(), to.len()) };
        Ok(())
    }

    /// Waits for all work that uses it.
    ///
    /// # Errors
    /// As the driver's call fails, and when earlier work failed; those streams stay remembered.
    pub fn settle(&self) -> Result<(), DriverError> {
        let mut users = self.lock();
        while let Some(user) = users.last() {
            user.settle()?;
            users.pop();
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<StreamCore>>> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn checked(
        &self,
        function: &'static str,
        offset: u64,
        bytes: u64,
    ) -> Result<HostAddress, DriverError> {
        let out_of_range = || {
            let why = Refusal::OutOfRange {
                offset,
                bytes,
                held: self.bytes,
            };
            refused(function, why)
        };
        let end = offset.checked_add(bytes).ok_or_else(out_of_range)?;
        if end > self.bytes {
            return Err(out_of_range());
        }
        self.address.checked_add(offset).ok_or_else(out_of_range)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let freed = match self.settle() {
            Err(error) if !error.is_lost() && !error.is_deinitialized() => Err(error),
            // SAFETY: `address` came from `allocate_pinned`, and this is its only owner. All work on
            // it is done, or the device does none any more.
            _ => unsafe { self.driver.free_pinned(self.address) },
        };
        if let Err(error) = freed {
            drop_error::report(drop_error::What::Pinned, &error);
        }
    }
}

impl fmt::Debug for Pinned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pinned")
            .field("bytes", &self.bytes)
            .finish()
    }
}

/// Part of pinned memory, as one end of a copy.
#[derive(Clone, Copy, Debug)]
pub struct PinnedSpan<'p> {
    /// The memory.
    pub pinned: &'p Pinned,
    /// Where in it, in bytes.
    pub offset: u64,
}

/// Moving bytes, in the stream's order. Spans must be of the stream's device: no driver of a process gives
/// out an address that another has, so that its call fails.
impl Stream {
    /// Copies within the device. Both spans are equally long.
    ///
    /// # Errors
    /// As the driver's call fails; refused for different lengths.
    pub fn copy(&self, to: DeviceSpan<'_>, from: DeviceSpan<'_>) -> Result<(), DriverError> {
        if to.bytes != from.bytes {
            let why = Refusal::OutOfRange {
                offset: 0,
                bytes: from.bytes,
                held: to.bytes,
            };
            return Err(refused("copy", why));
        }
        let (to, bytes) = (Place::Device(to.address), to.bytes as usize);
        // SAFETY: both are spans of a device, and `self` keeps the stream alive.
        unsafe {
            self.driver()
                .copy(to, Place::Device(from.address), bytes, self.handle())
        }
    }

    /// Sets every byte of a span.
    ///
    /// # Errors
    /// As the driver's call fails.
    pub fn set(&self, to: DeviceSpan<'_>, value: u8) -> Result<(), DriverError> {
        let bytes = to.bytes as usize;
        // SAFETY: it is a span of a device, and `self` keeps the stream alive.
        unsafe { self.driver().set(to.address, value, bytes, self.handle()) }
    }

    /// Copies from pinned memory to the device, without waiting.
    ///
    /// # Errors
    /// As the driver's call fails; refused when the pinned memory does not hold so many bytes, or
    /// is another device's.
    pub fn upload(&self, to: DeviceSpan<'_>, from: PinnedSpan<'_>) -> Result<(), DriverError> {
        let host = self.host_side("upload", from, to.bytes)?;
        self.with_host(Place::Device(to.address), host.1, to.bytes, host.0)
    }

    /// Copies from the device to pinned memory, without waiting.
    ///
    /// # Errors
    /// As [`Stream::upload`].
    pub fn download(&self, to: PinnedSpan<'_>, from: DeviceSpan<'_>) -> Result<(), DriverError> {
        let host = self.host_side("download", to, from.bytes)?;
        self.with_host(host.1, Place::Device(from.address), from.bytes, host.0)
    }

    /// Copies from ordinary memory to the device and waits for the stream.
    ///
    /// # Errors
    /// As the driver's call fails; refused for different lengths.
    pub fn upload_and_wait(&self, to: DeviceSpan<'_>, from: &[u8]) -> Result<(), DriverError> {
        self.not_capturing("upload")?;
        let address = pageable("upload", to, from.len(), from.as_ptr().cast_mut())?;
        let Some(address) = address else {
            return Ok(());
        };
        // SAFETY: the lengths are equal, the driver only reads `from`, and that is borrowed until the
        // stream has been waited for, or the device has. If neither can be, the bytes of ordinary
        // memory were copied by the call itself, before it returned.
        let copied = unsafe {
            self.driver().copy(
                Place::Device(to.address),
                address,
                from.len(),
                self.handle(),
            )
        };
        self.synchronize_after(copied)
    }

    /// Copies from the device to ordinary memory and waits for the stream.
    ///
    /// # Errors
    /// As the driver's call fails, when the bytes are undefined; refused for different lengths.
    pub fn download_and_wait(
        &self,
        to: &mut [u8],
        from: DeviceSpan<'_>,
    ) -> Result<(), DriverError> {
        self.not_capturing("download")?;
        let address = pageable("download", from, to.len(), to.as_mut_ptr())?;
        let Some(address) = address else {
            return Ok(());
        };
        // SAFETY: the lengths are equal, and `to` is borrowed until the stream has been waited for, or
        // the device has; if neither can be, as in `upload_and_wait`.
        let copied = unsafe {
            self.driver().copy(
                address,
                Place::Device(from.address),
                to.len(),
                self.handle(),
            )
        };
        self.synchronize_after(copied)
    }

    /// Waits even when the copy failed: it may have been started all the same. Where the stream cannot be
    /// waited for, all of the device is: the memory of the host is its owner's again afterwards.
    fn synchronize_after(&self, copied: Result<(), DriverError>) -> Result<(), DriverError> {
        let waited = self.synchronize();
        if let Err(error) = &waited
            && !error.is_lost()
            && !error.is_deinitialized()
        {
            // What it says is no news: the stream's error is the one that is told.
            let _ = self.driver().synchronize();
        }
        copied.and(waited)
    }

    /// A captured copy would run whenever the graph is launched, after the memory of the host has
    /// gone.
    fn not_capturing(&self, function: &'static str) -> Result<(), DriverError> {
        if self.is_capturing()? {
            return Err(refused(function, Refusal::Capturing));
        }
        Ok(())
    }

    fn host_side<'p>(
        &self,
        function: &'static str,
        span: PinnedSpan<'p>,
        bytes: u64,
    ) -> Result<(&'p Pinned, Place), DriverError> {
        self.not_capturing(function)?;
        same_device(function, self.driver(), &span.pinned.driver)?;
        let at = span.pinned.checked(function, span.offset, bytes)?;
        Ok((span.pinned, Place::Host(at)))
    }

    fn with_host(
        &self,
        to: Place,
        from: Place,
        bytes: u64,
        pinned: &Pinned,
    ) -> Result<(), DriverError> {
        let mut users = pinned.lock();
        if !users.iter().any(|user| user.id == self.id()) {
            users.push(Arc::clone(self.core()));
        }
        self.core().will_touch_host();
        // SAFETY: the host's range was checked and `pinned` waits for this stream before it goes;
        // a stream that touched the host waits before it ends; the other side is a device's span.
        unsafe { self.driver().copy(to, from, bytes as usize, self.handle()) }
    }
}

fn pageable(
    function: &'static str,
    span: DeviceSpan<'_>,
    len: usize,
    pointer: *mut u8,
) -> Result<Option<Place>, DriverError> {
    if span.bytes != len as u64 {
        let why = Refusal::OutOfRange {
            offset: 0,
            bytes: len as u64,
            held: span.bytes,
        };
        return Err(refused(function, why));
    }
    let pointer = std::ptr::NonNull::new(pointer).filter(|_| len > 0);
    Ok(pointer.map(|pointer| Place::Host(HostAddress::of(pointer))))
}
