pub mod core;
pub mod gpu;
pub mod user;
