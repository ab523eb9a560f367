//! cudarc's streams as ours: both are handles of the driver's own, in the same primary context.

use std::sync::Arc;

use cudarc::driver::CudaStream;

use crate::{
    driver::Driver,
    error::{DriverError, Refusal},
    identity::PlatformKind,
    stream::{RawStream, Stream, refused},
};

/// A stream of cudarc's as one of ours: the same one however often it is asked for. Work put on either
/// is on both; the stream lives as long as a handle of either does. Calls no driver.
///
/// # Errors
/// Refused when it is of another device than the driver's, or of a context that is not the device's
/// primary one.
pub fn stream_of(
    driver: &Arc<dyn Driver>,
    theirs: &Arc<CudaStream>,
) -> Result<Stream, DriverError> {
    // Of a CUDA driver it is the primary context's handle.
    let context = theirs.context().cu_ctx().addr() as u64;
    let same_context = driver.handle_space() == context;
    if driver.info().id.platform != PlatformKind::Cuda || !same_context {
        return Err(refused("stream_of", Refusal::OtherDevice));
    }
    let raw = match theirs.cu_stream().addr() {
        0 => RawStream::LEGACY_DEFAULT,
        _ => RawStream(theirs.cu_stream().expose_provenance() as u64),
    };
    if raw == RawStream::PER_THREAD_DEFAULT {
        // It is another stream on each thread.
        return Err(refused("stream_of", Refusal::UnknownStream));
    }
    // SAFETY: it is a stream of this device, and its owner is kept.
    Ok(unsafe { Stream::adopt_with_owner(driver, raw, Arc::clone(theirs) as _) })
}
