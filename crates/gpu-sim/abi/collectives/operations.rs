//! The collectives.

use std::ffi::{c_int, c_uint, c_void};

use crate::{
    Failure, call,
    client::Communicator,
    communicator,
    group::{self, Pending},
    reduce::{
        ALL_GATHER, ALL_REDUCE, BROADCAST, RECEIVE, REDUCE, REDUCE_SCATTER, SEND, element_bytes,
    },
    wire::Shape,
};

#[unsafe(no_mangle)]
pub extern "C" fn ncclGroupStart() -> c_int {
    call("ncclGroupStart", || {
        group::start();
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclGroupEnd() -> c_int {
    call("ncclGroupEnd", group::end)
}

/// One rank's part in a collective.
struct Part {
    from: *const c_void,
    to: *mut c_void,
    communicator: *mut c_void,
    stream: *mut c_void,
}

/// A rank of a communicator, by the number that a caller gives.
fn rank(of: &Communicator, number: c_int, why: &str) -> Result<usize, Failure> {
    let number = usize::try_from(number).map_err(|_| Failure::argument("this is no rank"))?;
    if number >= of.ranks {
        return Err(Failure::argument(why));
    }
    Ok(number)
}

/// How many bytes so many times a shape's elements take.
fn bytes_of(shape: Shape, times: u64) -> Result<usize, Failure> {
    let bytes = element_bytes(shape.element)?
        .checked_mul(shape.count)
        .and_then(|bytes| bytes.checked_mul(times));
    let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok());
    bytes.ok_or_else(|| Failure::argument("that is too many elements"))
}

impl Part {
    /// So many bytes of what this rank gives.
    fn read(&self, communicator: &Communicator, bytes: usize) -> Result<Vec<u8>, Failure> {
        let from = self.from.addr() as u64;
        communicator.device.read(from, bytes, self.stream.addr())
    }

    /// Where this rank gets something.
    fn place(&self) -> (u64, usize) {
        (self.to.addr() as u64, self.stream.addr())
    }
}

/// Gives what this rank has, and waits for what it gets. `root`, where there is one, is who alone gives
/// or gets.
fn collective(part: &Part, shape: Shape, root: Option<c_int>) -> Result<(), Failure> {
    let communicator = communicator(part.communicator.addr())?;
    let root = root.map(|root| rank(&communicator, root, "the root is no rank"));
    let root = root.transpose()?;
    let is_root = root.is_none_or(|root| root == communicator.rank);
    let times = match shape.kind {
        REDUCE_SCATTER => communicator.ranks as u64,
        BROADCAST if !is_root => 0,
        _ => 1,
    };
    let given = part.read(&communicator, bytes_of(shape, times)?)?;
    let shape = Shape {
        root: root.unwrap_or(0) as u64,
        ..shape
    };
    let sequence = communicator.give(shape, given)?;
    group::wait(Pending {
        communicator,
        sequence,
        to: Some(part.place()),
    })
}

fn shape(kind: u64, element: c_uint, operation: c_uint, count: usize) -> Shape {
    Shape {
        kind,
        element: u64::from(element),
        operation: u64::from(operation),
        root: 0,
        count: count as u64,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclAllReduce(
    from: *const c_void,
    to: *mut c_void,
    count: usize,
    element: c_uint,
    operation: c_uint,
    communicator: *mut c_void,
    stream: *mut c_void,
) -> c_int {
    call("ncclAllReduce", || {
        let part = Part {
            from,
            to,
            communicator,
            stream,
        };
        collective(&part, shape(ALL_REDUCE, element, operation, count), None)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclReduce(
    from: *const c_void,
    to: *mut c_void,
    count: usize,
    element: c_uint,
    operation: c_uint,
    root: c_int,
    communicator: *mut c_void,
    stream: *mut c_void,
) -> c_int {
    call("ncclReduce", || {
        let part = Part {
            from,
            to,
            communicator,
            stream,
        };
        collective(&part, shape(REDUCE, element, operation, count), Some(root))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclBroadcast(
    from: *const c_void,
    to: *mut c_void,
    count: usize,
    element: c_uint,
    root: c_int,
    communicator: *mut c_void,
    stream: *mut c_void,
) -> c_int {
    call("ncclBroadcast", || {
        let part = Part {
            from,
            to,
            communicator,
            stream,
        };
        collective(&part, shape(BROADCAST, element, 0, count), Some(root))
    })
}

/// The old form, in place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclBcast(
    data: *mut c_void,
    count: usize,
    element: c_uint,
    root: c_int,
    communicator: *mut c_void,
    stream: *mut c_void,
) -> c_int {
    // SAFETY: the same promise.
    unsafe { ncclBroadcast(data, data, count, element, root, communicator, stream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclAllGather(
    from: *const c_void,
    to: *mut c_void,
    count: usize,
    element: c_uint,
    communicator: *mut c_void,
    stream: *mut c_void,
) -> c_int {
    call("ncclAllGather", || {
        let part = Part {
            from,
            to,
            communicator,
            stream,
        };
        collective(&part, shape(ALL_GATHER, element, 0, count), None)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclReduceScatter(
    from: *const c_void,
    to: *mut c_void,
    count: usize,
    element: c_uint,
    operation: c_uint,
    communicator: *mut c_void,
    stream: *mut c_void,
) -> c_int {
    call("ncclReduceScatter", || {
        let part = Part {
            from,
            to,
            communicator,
            stream,
        };
        let shape = shape(REDUCE_SCATTER, element, operation, count);
        collective(&part, shape, None)
    })
}

/// One half of a message to or from another rank.
fn point(part: &Part, shape: Shape, other: c_int) -> Result<(), Failure> {
    let communicator = communicator(part.communicator.addr())?;
    let root = rank(&communicator, other, "this is no rank")? as u64;
    let bytes = bytes_of(shape, 1)?;
    let sends = shape.kind == SEND;
    let given = match sends {
        true => part.read(&communicator, bytes)?,
        false => Vec::new(),
    };
    let sequence = communicator.point(Shape { root, ..shape }, given)?;
    group::wait(Pending {
        communicator,
        sequence,
        to: (!sends).then(|| part.place()),
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclSend(
    from: *const c_void,
    count: usize,
    element: c_uint,
    peer: c_int,
    communicator: *mut c_void,
    stream: *mut c_void,
) -> c_int {
    call("ncclSend", || {
        let part = Part {
            from,
            to: std::ptr::null_mut(),
            communicator,
            stream,
        };
        point(&part, shape(SEND, element, 0, count), peer)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclRecv(
    to: *mut c_void,
    count: usize,
    element: c_uint,
    peer: c_int,
    communicator: *mut c_void,
    stream: *mut c_void,
) -> c_int {
    call("ncclRecv", || {
        let part = Part {
            from: std::ptr::null(),
            to,
            communicator,
            stream,
        };
        point(&part, shape(RECEIVE, element, 0, count), peer)
    })
}
