//! Identities, communicators, errors, versions.

use std::{
    ffi::{c_char, c_int, c_void},
    sync::Arc,
};

use crate::{
    ANSWERS, Failure, INVALID_ARGUMENT, INVALID_USAGE, REMOTE_ERROR, SYSTEM_ERROR, call,
    client::{Communicator, Link},
    communicator,
    device::Device,
    group::{self, Pending},
    keep, lasting, library,
    meeting::{IDENTITY, Meeting},
};

/// The library's version as it counts: 2.26.2.
const VERSION: c_int = 22_602;

/// An identity (`ncclUniqueId`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Identity([u8; IDENTITY]);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGetVersion(version: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    call("ncclGetVersion", || unsafe {
        ANSWERS.put(version, VERSION)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGetUniqueId(to: *mut Identity) -> c_int {
    call("ncclGetUniqueId", || {
        let identity = Identity(Meeting::open()?.identity());
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, identity) }
    })
}

/// Bytes that a communicator takes of its device.
fn own_bytes() -> Result<usize, Failure> {
    match std::env::var("GPU_SIM_NCCL_BYTES") {
        Err(_) => Ok(0),
        Ok(text) => text.parse().map_err(|_| {
            let why = format!("GPU_SIM_NCCL_BYTES cannot be `{text}`");
            Failure::new(SYSTEM_ERROR, why)
        }),
    }
}

/// # Safety
/// `to` is null or has room for a handle.
unsafe fn join(
    to: *mut *mut c_void,
    ranks: c_int,
    identity: Identity,
    rank: c_int,
) -> Result<(), Failure> {
    let (Ok(ranks), Ok(rank)) = (usize::try_from(ranks), usize::try_from(rank)) else {
        return Err(Failure::argument("this is no rank"));
    };
    if rank >= ranks {
        return Err(Failure::argument("there is no such rank"));
    }
    let meeting = Meeting::of(&identity.0)?;
    let device = Device::current(own_bytes()?)?;
    let joined = Link::open(meeting);
    let link = match joined {
        Ok(link) => link,
        Err(failure) => return device.release().and(Err(failure)),
    };
    let handle = keep(Communicator::new(link, rank, ranks, device));
    let done = communicator(handle).and_then(|communicator| {
        let sequence = communicator.greet(meeting)?;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, std::ptr::without_provenance_mut(handle)) }?;
        group::wait(Pending {
            communicator,
            sequence,
            to: None,
        })
    });
    if done.is_err() {
        remove(handle)?.end()?;
    }
    done
}

fn remove(handle: usize) -> Result<Arc<Communicator>, Failure> {
    let removed = library().get().communicators.remove(&handle);
    removed.ok_or_else(|| Failure::argument("this is no communicator"))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommInitRank(
    to: *mut *mut c_void,
    ranks: c_int,
    identity: Identity,
    rank: c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    call("ncclCommInitRank", || unsafe {
        join(to, ranks, identity, rank)
    })
}

/// The configuration is not looked at: all calls block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommInitRankConfig(
    to: *mut *mut c_void,
    ranks: c_int,
    identity: Identity,
    rank: c_int,
    _configuration: *mut c_void,
) -> c_int {
    // SAFETY: the caller's promise.
    call("ncclCommInitRankConfig", || unsafe {
        join(to, ranks, identity, rank)
    })
}

/// Nothing is under way when a call is back.
#[unsafe(no_mangle)]
pub extern "C" fn ncclCommFinalize(handle: *mut c_void) -> c_int {
    call("ncclCommFinalize", || {
        communicator(handle.addr()).map(|_| ())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclCommDestroy(handle: *mut c_void) -> c_int {
    call("ncclCommDestroy", || remove(handle.addr())?.leave())
}

/// The others learn it as if the process were gone.
#[unsafe(no_mangle)]
pub extern "C" fn ncclCommAbort(handle: *mut c_void) -> c_int {
    call("ncclCommAbort", || remove(handle.addr())?.end())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommGetAsyncError(handle: *mut c_void, to: *mut c_int) -> c_int {
    call("ncclCommGetAsyncError", || {
        let trouble = communicator(handle.addr())?.trouble();
        let code = trouble.as_ref().map_or(0, |failure| failure.code);
        if let Some(failure) = trouble {
            library().get().last = failure.why;
        }
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, code) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommCount(handle: *mut c_void, to: *mut c_int) -> c_int {
    call("ncclCommCount", || {
        let ranks = communicator(handle.addr())?.ranks as c_int;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, ranks) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommUserRank(handle: *mut c_void, to: *mut c_int) -> c_int {
    call("ncclCommUserRank", || {
        let rank = communicator(handle.addr())?.rank as c_int;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, rank) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommCuDevice(handle: *mut c_void, to: *mut c_int) -> c_int {
    call("ncclCommCuDevice", || {
        let device = communicator(handle.addr())?.device.number;
        // SAFETY: the caller's promise.
        unsafe { ANSWERS.put(to, device) }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclGetErrorString(code: c_int) -> *const c_char {
    lasting(match code {
        0 => "no error",
        1 => "unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
        SYSTEM_ERROR => "unhandled system error (run with NCCL_DEBUG=INFO for details)",
        3 => "internal error - please report this issue to the NCCL developers",
        INVALID_ARGUMENT => "invalid argument (run with NCCL_DEBUG=WARN for details)",
        INVALID_USAGE => "invalid usage (run with NCCL_DEBUG=WARN for details)",
        REMOTE_ERROR => "remote process exited or there was a network error",
        7 => "NCCL operation in progress",
        _ => "unknown result code",
    })
}

/// The words of the last failure in this process, whatever the communicator.
#[unsafe(no_mangle)]
pub extern "C" fn ncclGetLastError(_handle: *mut c_void) -> *const c_char {
    let last = library().get().last.clone();
    lasting(&last)
}
