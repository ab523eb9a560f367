//! Slots in etcd: the rules that all stores keep, and what etcd adds. Where it is not installed, the tests say so.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that fails says where"
)]

mod cluster;
mod etcd;
mod gone;
mod rules;
mod soak;
#[cfg(feature = "tls")]
mod tls;
mod users;

use core_gpu_trials::device;
