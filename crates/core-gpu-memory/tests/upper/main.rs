//! What stands on the pool: staging, the manager, the cache, stores and files, on the host and on
//! simulated machines of every schedule.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that fails says where"
)]

mod cache;
mod files;
mod manager;
mod pipeline;
mod staging;
mod store;
mod support;
