//! Home.

pub mod old;
