//! Coalesce as a library: the commands, and the command line in front of them.
//!
//! Joins the crates that read, resolve, plan, apply and report; each of those says what it is for.

pub mod cli;
pub mod commands;
pub mod exit;
mod named_files;
mod progress;
mod servers;
pub mod terminal;
