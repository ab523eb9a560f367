//! A buffer belongs to the stream that it was allocated on. Use on another is declared; its memory
//! is then used again only after both.

use std::{error::Error, sync::Arc};

use core_gpu_driver::{Driver, Event, EventKind, HostDriver, Stream, StreamKind};
use core_gpu_memory::{Pool, Source};

/// The example, on any device.
pub fn run(driver: &Arc<dyn Driver>) -> Result<(), Box<dyn Error>> {
    let producer = Stream::new(driver, StreamKind::NonBlocking)?;
    let consumer = Stream::new(driver, StreamKind::NonBlocking)?;
    let pool = Pool::new(driver);

    let buffer = pool.allocate_zeroed::<u8>(4_096, &producer, Source::named("frames"))?;
    producer.set(buffer.span(), 7)?;

    // The order between the streams is the program's business …
    let filled = Event::new(driver, EventKind::Order)?;
    producer.record(&filled)?;
    consumer.wait(&filled)?;
    // … and that the consumer uses the memory has to be said for its kernels. Copies such as the next
    // line's say it themselves.
    buffer.used_on(&consumer);
    assert_eq!(buffer.download(&consumer)?, [7; 4_096]);
    drop(buffer);

    println!(
        "{} bytes wait for the consumer",
        pool.statistics().pending_bytes
    );
    // Whoever wants them now is made to wait by an event, not by the host.
    let next = pool.allocate::<u8>(4_096, &producer, Source::named("frames"))?;
    drop(next);
    pool.shutdown()?;
    Ok(())
}

#[cfg_attr(test, expect(dead_code, reason = "tests call `run`"))]
fn main() -> Result<(), Box<dyn Error>> {
    run(&HostDriver::open(64 << 20))
}
