//! Picks a device, takes a slot, allocates from a pool, profiles, and gives everything back. It is
//! the program of the README, and runs anywhere: on a GPU, or on the processor where there is none.

use core_gpu::{
    configuration::Configuration,
    devices::DeviceManager,
    driver::{Stream, StreamKind},
    memory::{Pool, Source},
    platform::{Deadline, Fallback, Platforms},
    profiler::{profile, profiler},
    slots::{FileSlots, Request, SlotGuard, SlotStore},
};
use std::{error::Error, sync::Arc, time::Duration};

fn main() -> Result<(), Box<dyn Error>> {
    let settings = Configuration::from_environment()?;
    let manager = DeviceManager::new(Platforms::system(), settings.preference);
    let (device, driver) = manager.open_device("auto", Fallback::Cpu)?;
    // All who share a device have to say the same number; this is what `Gpu` says where there is one device.
    let slots = settings.max_pipelines.unwrap_or_else(|| settings.workers());
    let store: Arc<dyn SlotStore> = Arc::new(FileSlots::new(settings.slot_directory));
    let wait = Deadline::after(Duration::from_secs(60));
    let slot = SlotGuard::acquire(&store, &Request::on(device.info.id, slots), wait)?;
    println!("{}, slot {}", device.name, slot.slot());
    profiler().enable();
    let stream = Stream::new(&driver, StreamKind::NonBlocking)?;
    let pool = Pool::new(&driver);
    {
        let _span = profile("there and back");
        let mut buffer = pool.allocate::<f32>(3, &stream, Source::named("example"))?;
        buffer.upload(&[1.0, 2.0, 3.0], &stream)?;
        println!("{:?}", buffer.download(&stream)?);
    }
    println!("{}", profiler().report().to_text());
    pool.shutdown()?;
    slot.release()?;
    Ok(())
}
