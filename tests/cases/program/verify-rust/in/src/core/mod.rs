//! The home.

pub mod memory;
