//! Limits, and what an error says when there is no room.

use std::{error::Error, sync::Arc};

use core_gpu_driver::{Driver, HostDriver, Stream, StreamKind};
use core_gpu_memory::{AllocError, Pool, Source};

/// The example, on any device.
pub fn run(driver: &Arc<dyn Driver>) -> Result<(), Box<dyn Error>> {
    let stream = Stream::new(driver, StreamKind::NonBlocking)?;
    let pool = Pool::builder(driver).reserve_limit(8 << 20).build()?;
    let (model, batch) = (Source::named("model"), Source::named("batch"));
    pool.set_source_limit(batch, 1 << 20);

    let kept = pool.allocate::<u8>(5 << 20, &stream, model)?;
    match pool.allocate::<u8>(2 << 20, &stream, batch) {
        Err(AllocError::Limit { by }) => println!("{by} has had its share"),
        Err(error) => return Err(error.into()),
        Ok(_) => return Err("the limit does not hold".into()),
    }
    match pool.allocate::<u8>(4 << 20, &stream, model) {
        Err(AllocError::OutOfMemory(report)) => println!("who holds what: {report}"),
        Err(error) => return Err(error.into()),
        Ok(_) => return Err("there is more than there is".into()),
    }
    // Nothing is worse than before: what fits still fits.
    drop(pool.allocate::<u8>(2 << 20, &stream, model)?);
    drop(kept);
    pool.shutdown()?;
    Ok(())
}

#[cfg_attr(test, expect(dead_code, reason = "tests call `run`"))]
fn main() -> Result<(), Box<dyn Error>> {
    run(&HostDriver::open(64 << 20))
}
