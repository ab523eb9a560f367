//! Filters heights, and says where the time went.

use lidar_tools::{above, mean, memory_line};
use optimization_gpu_memory as memory;
use optimization_gpu_profiler::{get_profiler, profile_operation};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let profiler = get_profiler();
    profiler.enable();
    let heights: Vec<f32> = (0..1000).map(|number| number as f32).collect();
    let high = {
        let _span = profile_operation("filter");
        above(&heights, 989.5)
    };
    println!(
        "{} of {} on {}",
        high.value.len(),
        heights.len(),
        high.ran_on
    );
    if memory::check_gpu_memory(1 << 10)? {
        let manager = memory::get_gpu_memory_manager()?;
        println!(
            "{}",
            memory_line(manager, &memory::TransferStats::default())
        );
        println!("{} bytes given back", memory::cleanup_gpu_memory()?);
    }
    let filter = &profiler.stats()["filter"];
    println!("filtered {} time", filter.count);
    assert!(mean(filter) > 0);
    eprintln!("{}", profiler.report().to_text());
    Ok(())
}
