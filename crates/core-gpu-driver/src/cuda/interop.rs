//! cudarc's streams as ours: both are handles of the driver's own, in the same primary context.

use std::sync::Arc;

use cudarc::driver::CudaStream;

use crate::{
    codes,
    driver::Driver,
    error::{DriverError, Refusal},
    identity::PlatformKind,
    stream::{RawStream, Stream, refused},
};

/// A stream of cudarc's as one of ours. Work put on either is on both; the stream lives as long as
/// a handle of either does.
///
/// # Errors
/// Refused when it is of another device than the driver's, or of a context that is not the device's
/// primary one; as the driver's call fails.
pub fn stream_of(
    driver: &Arc<dyn Driver>,
    theirs: &Arc<CudaStream>,
) -> Result<Stream, DriverError> {
    let id = driver.info().id;
    let context = theirs.context();
    let uuid = context
        .uuid()
        .map_err(|error| codes::error("cuDeviceGetUuid", error.0 as i32, id, false))?;
    let bytes = uuid.bytes.map(|byte| byte as u8);
    if id.platform != PlatformKind::Cuda || id.uuid != bytes {
        return Err(refused("stream_of", Refusal::OtherDevice));
    }
    let raw = match theirs.cu_stream().addr() {
        0 => RawStream::LEGACY_DEFAULT,
        _ => RawStream(theirs.cu_stream().expose_provenance() as u64),
    };
    // SAFETY: it is a stream of this device, and its owner is kept.
    Ok(unsafe { Stream::adopt_with_owner(driver, raw, Arc::clone(theirs) as _) })
}
