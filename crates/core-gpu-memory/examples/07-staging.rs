//! Many arrays, one wait; and a pipeline whose only transfers are its inputs and its outputs.

use std::{error::Error, sync::Arc};

use core_gpu_driver::{Driver, HostDriver, Stream, StreamKind};
use core_gpu_memory::{Pool, Source, Staging, StagingSettings};

/// The example, on any device.
pub fn run(driver: &Arc<dyn Driver>) -> Result<(), Box<dyn Error>> {
    let stream = Stream::new(driver, StreamKind::NonBlocking)?;
    let pool = Pool::new(driver);
    let staging = Staging::new(driver, &StagingSettings::default())?;
    let by = Source::named("pipeline");

    let inputs: Vec<Vec<u8>> = (0..8_u8).map(|seed| vec![seed; 10_000]).collect();
    let mut buffers = Vec::new();
    for input in &inputs {
        buffers.push(pool.allocate::<u8>(input.len(), &stream, by)?);
    }
    let up: Vec<_> = buffers
        .iter()
        .zip(&inputs)
        .map(|(buffer, input)| (buffer.span(), input.as_slice()))
        .collect();
    staging.upload_many(&up, &stream)?;

    // What a kernel would do; it stays on the device.
    let sum = pool.allocate::<u8>(10_000, &stream, by)?;
    for buffer in &buffers {
        stream.copy(sum.span(), buffer.span())?;
    }
    let mut output = vec![0; 10_000];
    staging.download(&mut output, sum.span(), &stream)?;
    assert_eq!(output, vec![7; 10_000]);

    let counted = staging.counter().read();
    println!(
        "{} bytes up, {} down, {} waits",
        counted.to_device_bytes, counted.to_host_bytes, counted.synchronisations
    );
    assert_eq!(
        (counted.to_device_bytes, counted.to_host_bytes),
        (80_000, 10_000)
    );
    Ok(())
}

#[cfg_attr(test, expect(dead_code, reason = "tests call `run`"))]
fn main() -> Result<(), Box<dyn Error>> {
    run(&HostDriver::open(64 << 20))
}
