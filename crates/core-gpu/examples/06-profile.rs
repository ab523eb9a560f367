//! Where the time goes: spans on the host and on a device, what they do to memory, a report with
//! advice, and a trace for Perfetto.

use core_gpu::{
    managers::gpu_manager,
    memory::Source,
    profiler::{Work, profile, profile_on, profile_with_memory, profiler},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = gpu_manager()?;
    let memory = gpu.memory();
    let stream = memory.stream().clone();
    profiler().enable();
    let numbers = vec![1_u8; 1 << 20];
    for _ in 0..100 {
        let _step = profile("step");
        let mut buffer = {
            let _span = profile_with_memory("allocate");
            memory.allocate(numbers.len(), Source::named("numbers"))?
        };
        let bytes = buffer.bytes();
        {
            let _span = profile_on("upload", &stream, Work::Upload { bytes });
            buffer.upload(&numbers, &stream)?;
        }
        let _span = profile("read back");
        let back = buffer.download(&stream)?;
        assert_eq!(back.len(), numbers.len());
    }
    println!("{}", profiler().report().to_text());
    let trace = std::env::temp_dir().join("core-gpu-trace.json");
    std::fs::write(&trace, profiler().trace_json())?;
    println!("open {} with Perfetto", trace.display());
    Ok(())
}
