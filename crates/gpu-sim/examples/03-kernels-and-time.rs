//! A kernel is a function that says which bytes it touches. Time is the machine's own.

use std::{error::Error, sync::Arc};

use core_gpu_driver::{Driver, Event, EventKind, Segment, Stream, StreamKind};
use gpu_sim::{Kernel, Machine, SimDriver};

/// The example.
pub fn run() -> Result<(), Box<dyn Error>> {
    let machine = Machine::with_bytes(1 << 20);
    let device = SimDriver::open(&machine, 0)?;
    let driver: Arc<dyn Driver> = Arc::clone(&device) as _;
    let stream = Stream::new(&driver, StreamKind::NonBlocking)?;
    let segment = Segment::allocate(&driver, 8)?;
    stream.upload_and_wait(segment.whole(), &[1, 2, 3, 4, 5, 6, 7, 8])?;

    let region = segment.whole().region();
    let double = Kernel::new("double")
        .reading(region)
        .writing(region)
        .taking(3_000_000)
        .doing(move |memory| {
            let bytes = memory.read(region)?;
            let doubled: Vec<u8> = bytes.iter().map(|byte| byte * 2).collect();
            memory.write(region, &doubled)
        });
    let start = Event::new(&driver, EventKind::Timed)?;
    let end = Event::new(&driver, EventKind::Timed)?;
    stream.record(&start)?;
    device.launch(&double, stream.raw())?;
    stream.record(&end)?;

    let mut bytes = [0; 8];
    stream.download_and_wait(&mut bytes, segment.whole())?;
    assert_eq!(bytes, [2, 4, 6, 8, 10, 12, 14, 16]);
    println!("the kernel took {:?}", end.elapsed_since(&start)?);
    Ok(())
}

#[cfg_attr(test, expect(dead_code, reason = "tests call `run`"))]
fn main() -> Result<(), Box<dyn Error>> {
    run()
}
