//! A graph: work captured once and launched as often as wanted, with memory of its own.
#![expect(unsafe_code, reason = "who launches a graph vouches for its memory")]

use core_gpu::{driver::CaptureMode, prelude::*};

fn main() -> core_gpu::Result<()> {
    let gpu = Gpu::open_best()?;
    let capture = match gpu.pool().begin_capture(gpu.stream(), CaptureMode::Global) {
        Ok(capture) => capture,
        Err(why) => return gpu.close().map(|()| println!("not captured: {why}")),
    };
    let values = gpu.allocate::<u8>(1 << 10)?;
    gpu.stream().set(values.span(), 7)?;
    let graph = capture.end()?;
    // SAFETY: the graph writes to `values` alone, which is there.
    unsafe { graph.graph().launch(gpu.stream())? };
    println!("{}: {}", gpu.name(), gpu.download(&values)?[0]);
    Ok(())
}
