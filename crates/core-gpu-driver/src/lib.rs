//! One trait for a device's memory, streams and events, and the owning types that make its use
//! safe. Host memory is a driver like any other. No pool, no scheduling, no kernels of its own: this
//! crate gives what those are built from, and nearly all `unsafe` code of the runtime is here.
//!
//! ```
//! use std::sync::Arc;
//! use core_gpu_driver::{Driver, HostDriver, Segment, Stream, StreamKind};
//!
//! # fn main() -> Result<(), core_gpu_driver::DriverError> {
//! let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 20));
//! let stream = Stream::new(&driver, StreamKind::NonBlocking)?;
//! let segment = Segment::allocate(&driver, 4)?;
//! stream.upload_and_wait(segment.whole(), b"four")?;
//! let mut bytes = [0; 4];
//! stream.download_and_wait(&mut bytes, segment.whole())?;
//! assert_eq!(&bytes, b"four");
//! # Ok(())
//! # }
//! ```
#![expect(
    unsafe_code,
    reason = "drivers take addresses and handles that no type can check"
)]

pub mod address;
pub mod annotate;
#[cfg(any(feature = "vulkan", all(feature = "metal", target_vendor = "apple")))]
mod buffer_driver;
#[cfg(any(feature = "vulkan", all(feature = "metal", target_vendor = "apple")))]
mod buffers;
pub mod codes;
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod driver;
pub mod drop_error;
#[cfg(any(feature = "cuda", feature = "rocm"))]
mod dynamic;
pub mod error;
pub mod graph;
pub mod host;
pub mod identity;
#[cfg(any(feature = "cuda", feature = "rocm"))]
mod library_driver;
mod mapped;
pub mod memory;
#[cfg(feature = "metal")]
pub mod metal;
#[cfg(feature = "cuda")]
pub mod nccl;
#[cfg(feature = "cuda")]
pub mod nvml;
#[cfg(feature = "cuda")]
pub mod nvtx;
#[cfg(unix)]
pub mod process;
#[cfg(feature = "rocm")]
pub mod rocm;
pub mod stream;
mod stream_memory;
pub mod ticks;
pub mod virtual_memory;
#[cfg(feature = "vulkan")]
pub mod vulkan;

pub use address::{DeviceAddress, HostAddress, Place};
pub use annotate::{Region, RegionState};
#[cfg(feature = "cuda")]
pub use cuda::CudaDriver;
pub use driver::Driver;
pub use error::{Absent, DriverError, Refusal};
pub use graph::{CaptureMode, Graph, RawGraph};
pub use host::HostDriver;
pub use identity::{Capabilities, DeviceId, DeviceInfo, MemoryInfo, NoIdentity, PlatformKind};
pub use mapped::Piece;
pub use memory::{DeviceSpan, Pinned, PinnedSpan, Segment};
#[cfg(feature = "rocm")]
pub use rocm::RocmDriver;
pub use stream::{
    EndingStream, Event, EventKind, RawEvent, RawStream, Stream, StreamEnd, StreamId, StreamKind,
    WeakStream,
};
pub use stream_memory::StreamMemory;
pub use virtual_memory::{PhysicalMemory, VirtualMemory};
#[cfg(feature = "vulkan")]
pub use vulkan::{VulkanDriver, VulkanKernel};
