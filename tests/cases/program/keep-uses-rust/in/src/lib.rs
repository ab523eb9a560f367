pub mod core;
pub mod gpu;
