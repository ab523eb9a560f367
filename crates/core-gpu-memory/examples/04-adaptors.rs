//! Adaptors add one thing each around a resource, in any order.

use std::{error::Error, sync::Arc};

use core_gpu_driver::{Driver, HostDriver, Stream, StreamKind};
use core_gpu_memory::{
    Buffer, Pool, Resource, Source,
    adaptor::{Limit, Statistics, Tracking},
};

/// The example, on any device.
pub fn run(driver: &Arc<dyn Driver>) -> Result<(), Box<dyn Error>> {
    let stream = Stream::new(driver, StreamKind::NonBlocking)?;
    let pool: Arc<dyn Resource> = Arc::new(Pool::new(driver));
    let limited: Arc<dyn Resource> = Arc::new(Limit::new(pool, 1 << 20));
    let counted: Arc<dyn Resource> = Arc::new(Statistics::new(limited));
    let tracking = Arc::new(Tracking::new(counted, false));
    let resource: Arc<dyn Resource> = Arc::clone(&tracking) as _;

    let by = Source::named("features");
    let buffer = Buffer::<u8>::allocate_from(&resource, 10_000, &stream, by)?;
    for live in tracking.live() {
        println!("live: {} bytes of {}", live.bytes, live.by);
    }
    assert!(Buffer::<u8>::allocate_from(&resource, 2 << 20, &stream, by).is_err());
    drop(buffer);
    assert!(tracking.live().is_empty());
    Ok(())
}

#[cfg_attr(test, expect(dead_code, reason = "tests call `run`"))]
fn main() -> Result<(), Box<dyn Error>> {
    run(&HostDriver::open(64 << 20))
}
