//! The manager: memory by key, which leaves the device when there is no room and comes back.

use std::{error::Error, sync::Arc};

use core_gpu_driver::{Driver, HostDriver};
use core_gpu_memory::{MemoryManager, StagingSettings};

/// The example, on any device.
pub fn run(driver: &Arc<dyn Driver>) -> Result<(), Box<dyn Error>> {
    let manager = MemoryManager::builder(driver)
        .max_memory_fraction(0.5)
        .safety_margin(1 << 20)
        .spill_bytes(8 << 20)
        .staging(StagingSettings {
            slot_bytes: 1 << 20,
            ..StagingSettings::default()
        })
        .build()?;
    let stream = manager.stream().clone();

    let mut layer = manager.insert("layer 1", &[1; 1 << 20], &stream)?;
    // Between pins it may be anywhere; a pin is the only way to its address.
    println!("moved to the host: {}", layer.spill());
    let pinned = layer.pin(&stream)?;
    println!("back at {}", pinned.span().address());
    drop(pinned);

    // A change is seen by the key, not by who has another handle.
    let before = manager.get("layer 1").ok_or("no such key")?;
    layer.write(0, &[9], &stream)?;
    assert_eq!(before.read(&stream)?.first(), Some(&1));
    assert_eq!(layer.read(&stream)?.first(), Some(&9));

    let scope = manager.scope();
    scope.insert("scratch", &[0; 100], &stream)?;
    drop(scope);
    assert!(manager.get("scratch").is_none());
    manager.release("layer 1");
    drop((before, layer));
    manager.shutdown()?;
    Ok(())
}

#[cfg_attr(test, expect(dead_code, reason = "tests call `run`"))]
fn main() -> Result<(), Box<dyn Error>> {
    run(&HostDriver::open(64 << 20))
}
