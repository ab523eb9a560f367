//! placeholder

pub mod cli;
pub mod exit;
