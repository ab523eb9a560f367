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

/// What the docs say of threads holds for what they say it of.
#[test]
fn handles_may_be_sent_to_other_threads() {
    use core_gpu_memory::{
        Block, Buffer, Cache, Cached, DeviceArray, DirectResource, Entry, FileManager,
        MemoryManager, PerfettoCounters, Pool, Staging, adaptor, manager, store,
    };
    fn may_be_sent<T: Send + Sync>() {}
    may_be_sent::<(Pool, Buffer<f32>, Block, DirectResource, DeviceArray)>();
    may_be_sent::<(MemoryManager, Entry, Cache, Cached, FileManager, Staging)>();
    may_be_sent::<(manager::PinnedEntry<'_>, manager::PinnedEntryMut<'_>)>();
    may_be_sent::<(adaptor::Limit, adaptor::Log, adaptor::Statistics)>();
    may_be_sent::<(adaptor::Tracking, adaptor::FailureCallback)>();
    may_be_sent::<(store::DeviceStore, store::HostStore, store::DiskStore)>();
    may_be_sent::<PerfettoCounters>();
}
