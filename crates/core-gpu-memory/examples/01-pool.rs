//! A pool keeps device memory for reuse: the second buffer is the first one's block again.

use std::{error::Error, sync::Arc};

use core_gpu_driver::{Driver, HostDriver, Stream, StreamKind};
use core_gpu_memory::{Pool, Source};

/// The example, on any device.
pub fn run(driver: &Arc<dyn Driver>) -> Result<(), Box<dyn Error>> {
    let stream = Stream::new(driver, StreamKind::NonBlocking)?;
    let pool = Pool::new(driver);
    // Interned once: accounting is then an index, never a look-up.
    let weights = Source::named("weights");

    let mut first = pool.allocate::<f32>(1_000, &stream, weights)?;
    first.upload(&[0.5; 1_000], &stream)?;
    assert_eq!(first.download(&stream)?, [0.5; 1_000]);
    let address = first.address();
    drop(first);

    let second = pool.allocate::<f32>(900, &stream, weights)?;
    println!("the same block again: {}", second.address() == address);
    let statistics = pool.statistics();
    println!(
        "{} bytes in use, {} reserved",
        statistics.bytes_in_use, statistics.reserved_bytes
    );
    // Says if it did not go well; dropping it would tell the error hook only.
    second.free()?;
    pool.shutdown()?;
    Ok(())
}

#[cfg_attr(test, expect(dead_code, reason = "tests call `run`"))]
fn main() -> Result<(), Box<dyn Error>> {
    run(&HostDriver::open(64 << 20))
}
