//! Device memory: one pool, one manager, one cache.
//!
//! | you want | take |
//! | --- | --- |
//! | memory for reuse, in the order of streams | [`Pool`], which gives [`Buffer`]s |
//! | some of a buffer's elements, and copies that nobody waits for | [`Buffer::slice`], [`PinnedBuffer`] |
//! | memory that belongs to a graph | [`Pool::begin_capture`] |
//! | streams that share memory, or never do | [`StreamPolicy`] |
//! | a limit, numbers, a log around any source of memory | [`adaptor`] |
//! | numbers for a collector, events for a log | [`PoolStatistics::to_open_metrics`], [`Observer`] |
//! | bytes by key that may leave the device when there is no room | [`MemoryManager`], which gives [`Entry`]s |
//! | what can be made again, kept while there is room | [`Cache`] |
//! | many arrays to the device or back with one wait | [`Staging`] |
//! | bytes by path, on the device, on the host, on disk, in Zarr's format | [`store`] |
//! | files on the device | [`FileManager`] |
//! | arrays of other libraries over this memory | [`dlpack`] |
//! | this memory as another library's allocator | [`allocator`] |
//! | a cudarc program on this memory | `interop`, behind the feature `cudarc-interop` |
//!
//! Lengths are bytes unless a type says otherwise. Everything may be used from several threads,
//! unless its docs say otherwise. A [`Buffer`] has one address as long as it lives; an [`Entry`] has
//! one only while it is pinned. Nothing panics when memory runs out: [`AllocError`] says who holds
//! what, after [`Step::ALL`] was tried. [`coming_from`] has what others call the same, and
//! [`memory_model`] what orders what.
//!
//! ```
//! use std::sync::Arc;
//! use core_gpu_driver::{Driver, HostDriver, Stream, StreamKind};
//! use core_gpu_memory::{Pool, Source};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 24));
//! let stream = Stream::new(&driver, StreamKind::NonBlocking)?;
//! let pool = Pool::new(&driver);
//! let weights = Source::named("weights");
//! let mut buffer = pool.allocate::<f32>(3, &stream, weights)?;
//! buffer.upload(&[1.0, 2.0, 3.0], &stream)?;
//! assert_eq!(buffer.download(&stream)?, [1.0, 2.0, 3.0]);
//! drop(buffer);
//! pool.shutdown()?;
//! # Ok(())
//! # }
//! ```

#![expect(
    clippy::vec_box,
    reason = "a block's record stays where it is on its way from lease to cache and back"
)]

pub mod adaptor;
pub mod allocator;
mod array;
mod buffer;
#[doc = include_str!("../COMING-FROM.md")]
pub mod coming_from {}
#[doc = include_str!("../docs/memory-model.md")]
pub mod memory_model {}
pub mod cache;
pub mod config;
mod device_type;
pub mod dlpack;
pub mod error;
pub mod file;
#[cfg(feature = "cudarc-interop")]
pub mod interop;
pub mod manager;
pub mod observe;
mod ordered;
mod perfetto;
pub mod pool;
pub mod resource;
pub mod segment;
pub mod settings;
pub mod size_class;
mod slice;
mod source;
pub mod staging;
pub mod store;
#[doc(hidden)]
pub mod test_support;
#[cfg(feature = "tracing")]
mod tracing_events;

pub use array::{DeviceArray, allocate_array, memory_pool};
pub use buffer::Buffer;
pub use cache::{Cache, CacheError, CacheLimits, CacheStatistics, Cached, Hold};
pub use config::{Backend, ConfigError, MemoryConfig};
pub use device_type::{DType, DeviceType};
pub use error::{AllocError, LeakReport};
pub use file::{FileError, FileManager};
pub use manager::{
    Entry, InsertError, ManagerStatistics, MemoryManager, MemoryManagerBuilder, PinnedEntry,
    PinnedEntryMut, Scope, Watermarks, existing_memory_manager, memory_manager, set_memory_manager,
};
pub use observe::{MemoryEvent, Observer, Pressure, Reclaim, Step};
pub use perfetto::PerfettoCounters;
pub use pool::{
    GrowthPolicy, Pool, PoolBuilder, PoolCapture, PoolStatistics, PooledGraph, Snapshot,
    StreamPolicy,
};
pub use resource::{Block, DirectResource, Resource, StreamOrderedResource};
pub use slice::{BufferSlice, BufferSliceMut, PinnedBuffer, PinnedSlice};
pub use source::Source;
pub use staging::{
    PendingDownload, Staging, StagingError, StagingSettings, TransferCounter, Transfers,
};
#[cfg(feature = "tracing")]
pub use tracing_events::TracingEvents;
