//! A program that forgets to wait: on a card it is wrong now and then, here it is an error.

use std::{error::Error, sync::Arc};

use core_gpu_driver::{Driver, Event, EventKind, Segment, Stream, StreamKind};
use gpu_sim::{Machine, SimDriver};

/// The example.
pub fn run() -> Result<(), Box<dyn Error>> {
    let machine = Machine::with_bytes(1 << 20);
    let driver: Arc<dyn Driver> = SimDriver::open(&machine, 0)?;
    let producer = Stream::new(&driver, StreamKind::NonBlocking)?;
    let consumer = Stream::new(&driver, StreamKind::NonBlocking)?;
    let segment = Segment::allocate(&driver, 4_096)?;

    producer.set(segment.whole(), 1)?;
    let mut bytes = vec![0; 4_096];
    assert!(
        consumer
            .download_and_wait(&mut bytes, segment.whole())
            .is_err()
    );
    for violation in machine.violations() {
        println!("{violation}");
    }

    let filled = Event::new(&driver, EventKind::Order)?;
    producer.record(&filled)?;
    consumer.wait(&filled)?;
    consumer.download_and_wait(&mut bytes, segment.whole())?;
    assert_eq!(bytes, vec![1; 4_096]);
    Ok(())
}

#[cfg_attr(test, expect(dead_code, reason = "tests call `run`"))]
fn main() -> Result<(), Box<dyn Error>> {
    run()
}
