//! Streams and events.

use std::ffi::{c_int, c_uint, c_void};

use core_gpu_driver::{EventKind, RawEvent, RawStream, StreamKind};
use gpu_sim::{CaptureStatus, Code};

use crate::{answer, on_current};

/// A handle as the machine has it. Null is the default stream.
pub fn raw_stream(stream: *mut c_void) -> RawStream {
    RawStream(stream.addr() as u64)
}

fn raw_event(event: *mut c_void) -> RawEvent {
    RawEvent(event.addr() as u64)
}

fn handle(number: u64) -> *mut c_void {
    std::ptr::without_provenance_mut(number as usize)
}

fn ready(done: bool) -> Result<(), Code> {
    if done { Ok(()) } else { Err(Code::NOT_READY) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamCreateWithFlags(
    stream: *mut *mut c_void,
    flags: c_uint,
) -> c_int {
    on_current("hipStreamCreate", |machine, device| {
        let kind = match flags {
            0 => StreamKind::Blocking,
            1 => StreamKind::NonBlocking,
            _ => return Err(Code::INVALID_VALUE),
        };
        let made = machine.create_stream(device, kind)?;
        // SAFETY: the caller's promise.
        unsafe { answer(stream, handle(made.0)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamDestroy(stream: *mut c_void) -> c_int {
    on_current("hipStreamDestroy", |machine, device| {
        machine.destroy_stream(device, raw_stream(stream))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamSynchronize(stream: *mut c_void) -> c_int {
    on_current("hipStreamSynchronize", |machine, device| {
        machine.synchronize_stream(device, raw_stream(stream))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamQuery(stream: *mut c_void) -> c_int {
    on_current("hipStreamQuery", |machine, device| {
        ready(machine.query_stream(device, raw_stream(stream))?)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamWaitEvent(
    stream: *mut c_void,
    event: *mut c_void,
    _flags: c_uint,
) -> c_int {
    on_current("hipStreamWaitEvent", |machine, device| {
        machine.wait(device, raw_stream(stream), raw_event(event))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamIsCapturing(stream: *mut c_void, status: *mut c_uint) -> c_int {
    on_current("hipStreamIsCapturing", |machine, device| {
        let number = match machine.capture_status(device, raw_stream(stream))? {
            CaptureStatus::None => 0,
            CaptureStatus::Active => 1,
            CaptureStatus::Broken => 2,
        };
        // SAFETY: the caller's promise.
        unsafe { answer(status, number) }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceSynchronize() -> c_int {
    on_current("hipDeviceSynchronize", |machine, device| {
        machine.synchronize(device)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventCreateWithFlags(event: *mut *mut c_void, flags: c_uint) -> c_int {
    /// Flag: the event keeps no time.
    const NO_TIME: c_uint = 2;
    on_current("hipEventCreate", |machine, device| {
        let kind = match flags & NO_TIME {
            0 => EventKind::Timed,
            _ => EventKind::Order,
        };
        let made = machine.create_event(device, kind)?;
        // SAFETY: the caller's promise.
        unsafe { answer(event, handle(made.0)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventDestroy(event: *mut c_void) -> c_int {
    on_current("hipEventDestroy", |machine, device| {
        machine.destroy_event(device, raw_event(event))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventRecord(event: *mut c_void, stream: *mut c_void) -> c_int {
    on_current("hipEventRecord", |machine, device| {
        machine.record(device, raw_event(event), raw_stream(stream))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventQuery(event: *mut c_void) -> c_int {
    on_current("hipEventQuery", |machine, device| {
        ready(machine.query_event(device, raw_event(event))?)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventSynchronize(event: *mut c_void) -> c_int {
    on_current("hipEventSynchronize", |machine, device| {
        machine.synchronize_event(device, raw_event(event))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventElapsedTime(
    milliseconds: *mut f32,
    start: *mut c_void,
    end: *mut c_void,
) -> c_int {
    on_current("hipEventElapsedTime", |machine, device| {
        let elapsed = machine.elapsed(device, raw_event(start), raw_event(end))?;
        // SAFETY: the caller's promise.
        unsafe { answer(milliseconds, elapsed.as_secs_f32() * 1000.0) }
    })
}
