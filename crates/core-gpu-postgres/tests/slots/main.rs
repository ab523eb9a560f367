//! Slots in PostgreSQL: the rules that all stores keep, and what this one adds. Where it is not installed, the tests say
//! so.
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

mod postgres;
mod server;
mod soak;

use core_gpu_trials::device;
