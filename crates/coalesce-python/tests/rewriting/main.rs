//! Whole rewrites of small trees, and what Python makes of the shims that they leave.

mod moves;
mod order;
mod shims;
mod support;
