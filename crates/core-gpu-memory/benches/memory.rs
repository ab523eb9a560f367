//! quick
use core_gpu_driver::*;
use core_gpu_memory::*;
use std::{hint::black_box, sync::Arc, time::Instant};
fn main() {
    let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 32));
    let stream = Stream::new(&driver, StreamKind::NonBlocking).expect("a stream");
    let pool = Pool::new(&driver);
    let by = Source::named("bench");
    for bytes in [1000usize, 300_000] {
        for _ in 0..12 {
            let n = 5_000_000;
            let start = Instant::now();
            for _ in 0..n {
                let buffer = pool
                    .allocate::<u8>(black_box(bytes), &stream, by)
                    .expect("a buffer");
                black_box(&buffer);
            }
            println!(
                "{bytes}: {:.2} ns",
                start.elapsed().as_nanos() as f64 / n as f64
            );
        }
    }
}
