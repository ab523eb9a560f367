//! Native parts. See [`core::gpu::detect`].

pub mod core;
pub mod optimization;
mod users;

pub use crate::core::gpu::BATCH;
pub use users::all;
