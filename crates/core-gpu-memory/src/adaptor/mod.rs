//! Resources around another resource. Each adds one thing; they compose in any order.
//!
//! All of them own the resource that they are around, may be used from several threads, take a lock
//! of their own for each request, and put nothing on streams: what a block belongs to, and in which
//! order it is used again, is as the resource above has it. Lengths are in bytes.
//!
//! ```
//! # use std::sync::Arc;
//! # use core_gpu_driver::{Driver, HostDriver, Stream, StreamKind};
//! use core_gpu_memory::{Buffer, Pool, Resource, Source, adaptor::{Limit, Statistics}};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 24));
//! # let stream = Stream::new(&driver, StreamKind::NonBlocking)?;
//! let pool: Arc<dyn Resource> = Arc::new(Pool::new(&driver));
//! let limited: Arc<dyn Resource> = Arc::new(Limit::new(pool, 1 << 20));
//! let counted = Arc::new(Statistics::new(limited));
//! let resource: Arc<dyn Resource> = counted.clone();
//! let buffer = Buffer::<f32>::allocate_from(&resource, 1_000, &stream, Source::named("model"))?;
//! assert_eq!(counted.of(Source::named("model")).bytes_in_use, buffer.bytes());
//! # Ok(())
//! # }
//! ```

mod failure;
mod limit;
mod log;
mod replay;
mod statistics;
mod tracking;

pub use failure::{FailureCallback, OnFailure};
pub use limit::Limit;
pub use log::Log;
pub use replay::{Replay, ReplayError, ReplayOutcome};
pub use statistics::{SourceUsage, Statistics};
pub use tracking::{LiveAllocation, Tracking};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// An adaptor's lock. What it guards is consistent even if a thread panicked.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
