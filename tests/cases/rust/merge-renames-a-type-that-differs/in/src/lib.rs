pub mod gpu;
pub mod pool;

pub fn run() -> usize {
    let mut own = gpu::GpuPool::new();
    own.extend([vec![0; 3]]);
    own.give(vec![0; 4]);
    own.free_bytes() + pool::Pool::new().take(1).len()
}
