//! Streams, events and capture.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use gpu_sim::{
    CaptureMode, Code, RawGraph,
    pointers::{capture_number, event_kind, handle, raw_event, raw_stream, ready, stream_kind},
};

use crate::{ANSWERS, global, on_device};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreate(stream: *mut *mut c_void, flags: c_uint) -> c_int {
    on_device(|machine, device| {
        let made = machine.create_stream(device, stream_kind(flags)?)?;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(stream, handle(made.0)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamDestroy_v2(stream: *mut c_void) -> c_int {
    on_device(|machine, device| machine.destroy_stream(device, raw_stream(stream)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamSynchronize(stream: *mut c_void) -> c_int {
    on_device(|machine, device| machine.synchronize_stream(device, raw_stream(stream)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamQuery(stream: *mut c_void) -> c_int {
    on_device(|machine, device| ready(machine.query_stream(device, raw_stream(stream))?))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWaitEvent(
    stream: *mut c_void,
    event: *mut c_void,
    _flags: c_uint,
) -> c_int {
    on_device(|machine, device| machine.wait(device, raw_stream(stream), raw_event(event)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamIsCapturing(stream: *mut c_void, status: *mut c_uint) -> c_int {
    on_device(|machine, device| {
        let number = capture_number(machine.capture_status(device, raw_stream(stream))?);
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(status, number) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamBeginCapture_v2(stream: *mut c_void, mode: c_uint) -> c_int {
    on_device(|machine, device| {
        machine.begin_capture(device, raw_stream(stream), capture_mode(mode)?)
    })
}

/// A mode by the driver's number.
fn capture_mode(number: c_uint) -> Result<CaptureMode, Code> {
    match number {
        0 => Ok(CaptureMode::Global),
        1 => Ok(CaptureMode::ThreadLocal),
        2 => Ok(CaptureMode::Relaxed),
        _ => Err(Code::INVALID_VALUE),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuThreadExchangeStreamCaptureMode(mode: *mut c_uint) -> c_int {
    global("cuThreadExchangeStreamCaptureMode", |machine| {
        if mode.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: it is not null, and the caller promises a number there.
        let wanted = capture_mode(unsafe { mode.read() })?;
        let before = match machine.exchange_capture_mode(wanted) {
            CaptureMode::Global => 0,
            CaptureMode::ThreadLocal => 1,
            CaptureMode::Relaxed => 2,
        };
        // SAFETY: as above.
        unsafe { ANSWERS.put(mode, before) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphInstantiateWithFlags(
    executable: *mut *mut c_void,
    graph: *mut c_void,
    _flags: c_ulonglong,
) -> c_int {
    on_device(|machine, device| {
        let ready = machine.instantiate_graph(device, RawGraph(graph.addr() as u64))?;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(executable, handle(ready.0)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphLaunch(executable: *mut c_void, stream: *mut c_void) -> c_int {
    on_device(|machine, device| {
        let graph = RawGraph(executable.addr() as u64);
        machine.launch_graph(device, graph, raw_stream(stream))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecDestroy(executable: *mut c_void) -> c_int {
    on_device(|machine, device| machine.destroy_graph(device, RawGraph(executable.addr() as u64)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamEndCapture(stream: *mut c_void, graph: *mut *mut c_void) -> c_int {
    on_device(|machine, device| {
        let made = machine.end_capture(device, raw_stream(stream))?;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(graph, handle(made.0)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphDestroy(graph: *mut c_void) -> c_int {
    on_device(|machine, device| machine.destroy_graph(device, RawGraph(graph.addr() as u64)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventCreate(event: *mut *mut c_void, flags: c_uint) -> c_int {
    on_device(|machine, device| {
        let made = machine.create_event(device, event_kind(flags))?;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(event, handle(made.0)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventDestroy_v2(event: *mut c_void) -> c_int {
    on_device(|machine, device| machine.destroy_event(device, raw_event(event)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventRecord(event: *mut c_void, stream: *mut c_void) -> c_int {
    on_device(|machine, device| machine.record(device, raw_event(event), raw_stream(stream)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventQuery(event: *mut c_void) -> c_int {
    on_device(|machine, device| ready(machine.query_event(device, raw_event(event))?))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventSynchronize(event: *mut c_void) -> c_int {
    on_device(|machine, device| machine.synchronize_event(device, raw_event(event)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime(
    milliseconds: *mut f32,
    start: *mut c_void,
    end: *mut c_void,
) -> c_int {
    on_device(|machine, device| {
        let elapsed = machine.elapsed(device, raw_event(start), raw_event(end))?;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(milliseconds, elapsed.as_secs_f32() * 1000.0) }
    })
}
