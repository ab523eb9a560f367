//! Calls somebody when there is no room, and tries again if that helped.

use std::sync::Arc;

use core_gpu_driver::{Driver, DriverError, Stream};

use crate::{AllocError, Block, Resource, Source};

/// Makes room for so many bytes; says whether it is worth trying again. It may free, on this thread
/// or another.
pub type OnFailure = Box<dyn Fn(u64, &AllocError) -> bool + Send + Sync>;

/// How often a request is tried, whatever the callback says.
const TRIES: usize = 16;

/// Calls back when the resource above is out of room, on the thread of the request and without a
/// lock. May be used from several threads.
pub struct FailureCallback {
    upstream: Arc<dyn Resource>,
    callback: OnFailure,
}

impl FailureCallback {
    /// Calls `callback` for every request that finds no room, until it says no or 16 times.
    #[must_use]
    pub fn new(upstream: Arc<dyn Resource>, callback: OnFailure) -> FailureCallback {
        FailureCallback { upstream, callback }
    }
}

impl Resource for FailureCallback {
    fn driver(&self) -> &Arc<dyn Driver> {
        self.upstream.driver()
    }

    fn allocate_block(&self, bytes: u64, on: &Stream, by: Source) -> Result<Block, AllocError> {
        for _ in 1..TRIES {
            let error = match self.upstream.allocate_block(bytes, on, by) {
                Err(error) if error.is_out_of_room() => error,
                served => return served,
            };
            if !(self.callback)(bytes, &error) {
                return Err(error);
            }
        }
        self.upstream.allocate_block(bytes, on, by)
    }

    fn free_block(&self, block: Block) -> Result<(), DriverError> {
        self.upstream.free_block(block)
    }
}
