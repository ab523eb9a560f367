//! What stores of slots are tried with, for the tests of those that there are and of new ones: [`rules`] that all
//! keep, a [`soak`] of many claimants whose judge believes no store, holders that are [`gone`], and machines of their own in [`network`]
//! namespaces. What is wrong is a panic that says where.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a trial that fails says where"
)]

pub mod gone;
pub mod network;
pub mod remote;
pub mod rules;
pub mod soak;

use core_gpu::driver::{DeviceId, PlatformKind};

/// A device that nobody has.
#[must_use]
pub fn device(number: u8) -> DeviceId {
    DeviceId {
        platform: PlatformKind::Simulated,
        uuid: [number; 16],
    }
}
