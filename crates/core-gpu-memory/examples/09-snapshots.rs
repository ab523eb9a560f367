//! Looking into a pool: snapshots and what changed between two, counters for Perfetto.

use std::{error::Error, sync::Arc};

use core_gpu_driver::{Driver, HostDriver, Stream, StreamKind};
use core_gpu_memory::{PerfettoCounters, Pool, Snapshot, Source};

/// The example, on any device.
pub fn run(driver: &Arc<dyn Driver>) -> Result<(), Box<dyn Error>> {
    let stream = Stream::new(driver, StreamKind::NonBlocking)?;
    let counters = Arc::new(PerfettoCounters::new());
    let pool = Pool::builder(driver)
        .observer(Arc::clone(&counters) as _)
        .build()?;
    let before = pool.snapshot();
    let leak = pool.allocate::<u8>(5_000, &stream, Source::named("leak"))?;
    drop(pool.allocate::<u8>(90_000, &stream, Source::named("scratch"))?);
    let after = Snapshot::from_json(&pool.snapshot().to_json())?;

    for (source, bytes) in before.diff(&after).in_use_bytes {
        println!("{source} has {bytes} bytes more than before");
    }
    println!("{} bytes of trace", counters.to_json("example").len());
    drop(leak);
    pool.shutdown()?;
    Ok(())
}

#[cfg_attr(test, expect(dead_code, reason = "tests call `run`"))]
fn main() -> Result<(), Box<dyn Error>> {
    run(&HostDriver::open(64 << 20))
}
