pub mod gpu;
pub mod pool;
