//! Stores of slots: the rules that all keep, and what etcd adds. Where etcd is not installed, its tests
//! say so.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that fails says where"
)]

mod cluster;
mod conformance;
mod etcd;
mod network;
mod soak;
#[cfg(feature = "tls")]
mod tls;

use core_gpu::driver::{DeviceId, PlatformKind};

fn device(number: u8) -> DeviceId {
    DeviceId {
        platform: PlatformKind::Simulated,
        uuid: [number; 16],
    }
}
