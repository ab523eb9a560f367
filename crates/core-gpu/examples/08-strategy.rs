//! How work is spread over the devices that there are, and what each worker is told.

use core_gpu::{
    managers::{BatchRequest, multi_gpu_manager},
    strategies::{StrategyConfig, auto_select_strategy},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let devices = multi_gpu_manager()?;
    for device in devices.usage() {
        let batch = devices.optimal_batch_size(&device.id, &BatchRequest::of_bytes(1 << 20));
        match batch {
            Ok(items) => println!("{}: {items} items of a MiB at once", device.name),
            Err(why) => println!("{}: {why}", device.name),
        }
    }
    // 0 devices: the processor; 1: several processes on it; more: NCCL joins them.
    let mut strategy = auto_select_strategy(StrategyConfig {
        cpu_workers: Some(2),
        memory_threshold: 0.2,
        ..StrategyConfig::default()
    })?;
    strategy.initialize()?;
    for worker in 0..strategy.num_workers() {
        let told = strategy.device_for_worker(worker)?;
        println!(
            "{} worker {worker}: {} (as {})",
            strategy.backend(),
            told.device,
            told.in_worker
        );
    }
    strategy.cleanup()?;
    Ok(())
}
