//! Boxes.

pub mod left;
pub mod right;

#[cfg(test)]
mod helpers;
#[cfg(all(test, unix))]
#[path = "odd_name.rs"]
mod more_helpers;
