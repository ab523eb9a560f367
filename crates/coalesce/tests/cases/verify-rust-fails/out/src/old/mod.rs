//! Old.

pub mod gpu;
