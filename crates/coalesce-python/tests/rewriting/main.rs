//! Whole rewrites of small trees, and what Python makes of the shims that they leave.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod items;
mod lazy;
mod moves;
mod order;
mod proof;
mod retire;
mod run_time_names;
mod shims;
mod support;
mod who_comes_there;
