//! Streams and events.

use std::ffi::{c_int, c_uint, c_void};

use gpu_sim::pointers::{
    capture_number, event_kind, handle, raw_event, raw_stream, ready, stream_kind,
};

use crate::{ANSWERS, on_current};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamCreateWithFlags(
    stream: *mut *mut c_void,
    flags: c_uint,
) -> c_int {
    on_current("hipStreamCreate", |machine, device| {
        let made = machine.create_stream(device, stream_kind(flags)?)?;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(stream, handle(made.0)) }
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
        let number = capture_number(machine.capture_status(device, raw_stream(stream))?);
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(status, number) }
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
    on_current("hipEventCreate", |machine, device| {
        let made = machine.create_event(device, event_kind(flags))?;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(event, handle(made.0)) }
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
        unsafe { ANSWERS.put(milliseconds, elapsed.as_secs_f32() * 1000.0) }
    })
}
