//! A cache of device memory: bounded, cost-aware, and the first to give up room.

use std::{convert::Infallible, error::Error, sync::Arc};

use core_gpu_driver::{Driver, HostDriver};
use core_gpu_memory::{Cache, CacheLimits, Hold, MemoryManager, Source};

/// The example, on any device.
pub fn run(driver: &Arc<dyn Driver>) -> Result<(), Box<dyn Error>> {
    let manager = MemoryManager::builder(driver).spill_bytes(0).build()?;
    let limits = CacheLimits {
        bytes: 1 << 20,
        entries: 3,
    };
    let cache = Cache::new(&manager, limits, Source::named("tables"));
    let stream = manager.stream();

    for key in ["a", "b", "a", "c", "a", "d", "a"] {
        // The cost says how dear it is to make again, in a unit of one's own.
        let load = || Ok::<_, Infallible>(vec![key.len() as u8; 1_000]);
        let cached = cache.get_or_upload(key, 1.0, stream, load)?;
        let used = cached.read_on(stream)?;
        println!("{key} at {}", used.span().address());
    }
    drop(cache.insert("always", &[1; 10], 1.0, Hold::Pinned, stream)?);
    let statistics = cache.statistics();
    println!(
        "hit rate {:.2}, {} evicted",
        statistics.hit_rate(),
        statistics.evictions
    );
    assert!(cache.get("a").is_some(), "it was wanted often");
    Ok(())
}

#[cfg_attr(test, expect(dead_code, reason = "tests call `run`"))]
fn main() -> Result<(), Box<dyn Error>> {
    run(&HostDriver::open(64 << 20))
}
