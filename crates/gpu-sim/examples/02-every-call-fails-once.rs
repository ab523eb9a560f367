//! Every driver call of a program fails once, at every occurrence: it must neither panic nor leak.

use std::{error::Error, sync::Arc};

use core_gpu_driver::{Driver, DriverError, Segment, Stream, StreamKind};
use gpu_sim::{Code, Fault, Machine, SimDriver};

/// The program that is tried.
fn program(driver: &Arc<dyn Driver>) -> Result<Vec<u8>, DriverError> {
    let stream = Stream::new(driver, StreamKind::NonBlocking)?;
    let segment = Segment::allocate(driver, 1_024)?;
    stream.set(segment.whole(), 7)?;
    let mut bytes = vec![0; 1_024];
    stream.download_and_wait(&mut bytes, segment.whole())?;
    Ok(bytes)
}

/// The example.
pub fn run() -> Result<(), Box<dyn Error>> {
    let counting = Machine::with_bytes(1 << 20);
    let driver: Arc<dyn Driver> = SimDriver::open(&counting, 0)?;
    program(&driver)?;
    counting.verify()?;

    let mut tried = 0;
    for (function, calls) in counting.calls() {
        for occurrence in 1..=calls {
            let machine = Machine::with_bytes(1 << 20);
            machine.plan(Fault::before(function, occurrence, Code::INVALID_VALUE));
            let Ok(driver) = SimDriver::open(&machine, 0) else {
                continue;
            };
            let driver: Arc<dyn Driver> = driver;
            match program(&driver) {
                Ok(bytes) => assert_eq!(bytes, vec![7; 1_024]),
                Err(error) => println!("{function} {occurrence}: {error}"),
            }
            assert!(machine.violations().is_empty(), "{function} {occurrence}");
            tried += 1;
        }
    }
    println!("{tried} faults, no panic");
    Ok(())
}

#[cfg_attr(test, expect(dead_code, reason = "tests call `run`"))]
fn main() -> Result<(), Box<dyn Error>> {
    run()
}
