//! One device: the best there is, with a slot, a stream and a pool behind it.

use core_gpu::prelude::*;

fn main() -> core_gpu::Result<()> {
    let gpu = Gpu::open_best()?;
    println!("{}: {}", gpu.name(), gpu.reason());
    let sum = gpu.timed(|gpu| {
        let buffer = gpu.upload(&[1.0_f32, 2.0, 3.0])?;
        Ok(gpu.download(&buffer)?.iter().sum::<f32>())
    })?;
    println!("sum {sum}");
    gpu.close()
}
