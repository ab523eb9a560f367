//! Native parts. See [`optimization::gpu::detect`].

pub mod core;
pub mod optimization;
mod users;

pub use crate::optimization::gpu::BATCH;
pub use users::all;
