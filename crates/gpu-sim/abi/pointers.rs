//! What the C interfaces have in common: answers that are written where a caller wants them, texts that
//! are read, and the numbers and handles of streams and events, which HIP has as CUDA has them.
#![expect(unsafe_code, reason = "an interface of C is pointers")]

use std::{
    ffi::{CStr, c_char, c_uint, c_void},
    ptr::{self, NonNull},
};

use core_gpu_driver::{EventKind, HostAddress, RawEvent, RawStream, StreamKind};

use crate::{CaptureStatus, Code};

/// How a library answers.
#[derive(Clone, Copy, Debug)]
pub struct Answers<E> {
    /// What it says to who has no room for an answer.
    pub no_room: fn() -> E,
}

impl<E> Answers<E> {
    /// Writes an answer where the caller wants it.
    ///
    /// # Errors
    /// For null.
    ///
    /// # Safety
    /// `to` is null or has room for one value.
    pub unsafe fn put<T>(self, to: *mut T, value: T) -> Result<(), E> {
        if to.is_null() {
            return Err((self.no_room)());
        }
        // SAFETY: it is not null, and the caller promises the room.
        unsafe { to.write(value) };
        Ok(())
    }

    /// Writes text with its zero byte, cut off where there is no more room.
    ///
    /// # Errors
    /// For null, and for no room at all.
    ///
    /// # Safety
    /// `to` is null or has room for `length` bytes.
    pub unsafe fn put_text(
        self,
        to: *mut c_char,
        length: impl TryInto<usize>,
        text: &str,
    ) -> Result<(), E> {
        let room = length.try_into().unwrap_or(0);
        if to.is_null() || room == 0 {
            return Err((self.no_room)());
        }
        for (offset, byte) in text.bytes().take(room - 1).chain([0]).enumerate() {
            // SAFETY: the offset is below `room`.
            unsafe { to.add(offset).write(byte.cast_signed() as c_char) };
        }
        Ok(())
    }
}

/// A text of the caller's, where it is one.
///
/// # Safety
/// `pointer` is null or a text that ends in a zero byte and stays as it is.
#[must_use]
pub unsafe fn text<'t>(pointer: *const c_char) -> Option<&'t str> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: it is not null, and the caller promises the text.
    unsafe { CStr::from_ptr(pointer) }.to_str().ok()
}

/// An address of the host.
///
/// # Errors
/// For null.
pub fn host_at(address: *const c_void) -> Result<HostAddress, Code> {
    let pointer = NonNull::new(address.cast_mut().cast()).ok_or(Code::INVALID_VALUE)?;
    Ok(HostAddress::of(pointer))
}

/// A stream as the machine has it. Null is the default stream.
#[must_use]
pub fn raw_stream(stream: *mut c_void) -> RawStream {
    RawStream(stream.addr() as u64)
}

/// An event as the machine has it.
#[must_use]
pub fn raw_event(event: *mut c_void) -> RawEvent {
    RawEvent(event.addr() as u64)
}

/// A handle as the caller has it.
#[must_use]
pub fn handle(number: u64) -> *mut c_void {
    ptr::without_provenance_mut(number as usize)
}

/// What a stream's flags ask for.
///
/// # Errors
/// For flags that are none.
pub fn stream_kind(flags: c_uint) -> Result<StreamKind, Code> {
    match flags {
        0 => Ok(StreamKind::Blocking),
        1 => Ok(StreamKind::NonBlocking),
        _ => Err(Code::INVALID_VALUE),
    }
}

/// What an event's flags ask for.
#[must_use]
pub fn event_kind(flags: c_uint) -> EventKind {
    /// Flag: the event keeps no time.
    const NO_TIME: c_uint = 2;
    match flags & NO_TIME {
        0 => EventKind::Timed,
        _ => EventKind::Order,
    }
}

/// A capture's state as its documented number.
#[must_use]
pub fn capture_number(status: CaptureStatus) -> c_uint {
    match status {
        CaptureStatus::None => 0,
        CaptureStatus::Active => 1,
        CaptureStatus::Broken => 2,
    }
}

/// The answer to whether something is done.
///
/// # Errors
/// Where it is not.
pub fn ready(done: bool) -> Result<(), Code> {
    if done { Ok(()) } else { Err(Code::NOT_READY) }
}
