//! The pools that a process has: for who wants to know what it holds of a device altogether. Pools
//! are listed weakly, and leave the list when they and their blocks are gone.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use core_gpu_driver::{DeviceId, PlatformKind};

use crate::pool::inner::PoolInner;

static POOLS: Mutex<Vec<Weak<PoolInner>>> = Mutex::new(Vec::new());

/// What one pool holds of its device, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolUse {
    /// The device.
    pub device: DeviceId,
    /// Bytes in blocks that are in use.
    pub bytes_in_use: u64,
    /// Bytes that the pool has from the driver.
    pub reserved_bytes: u64,
}

/// What each pool of this process holds. Takes each pool's lock in turn.
#[must_use]
pub fn live_pools() -> Vec<PoolUse> {
    let use_of = |pool: &Arc<PoolInner>| {
        let central = pool.lock();
        PoolUse {
            device: pool.device,
            bytes_in_use: central.accounts.bytes_in_use(),
            reserved_bytes: central.heap.reserved_bytes(),
        }
    };
    all().iter().map(use_of).collect()
}

/// Lets each pool of the host's memory in this process give back what is not in use. Returns the
/// bytes given back. Pools of devices are left alone: giving back waits for the device.
pub fn trim_host_pools() -> u64 {
    let on_host = |pool: &&Arc<PoolInner>| pool.device.platform == PlatformKind::Host;
    let pools = all();
    pools
        .iter()
        .filter(on_host)
        .filter(|pool| !pool.is_closed())
        .map(|pool| pool.trim(0))
        .sum()
}

/// Lets every pool of this process give back what is not in use, of devices as well: that waits for
/// the work on them. Returns the bytes given back.
pub fn trim_all_pools() -> u64 {
    let pools = all();
    let open = pools.iter().filter(|pool| !pool.is_closed());
    open.map(|pool| pool.trim(0)).sum()
}

pub(super) fn list(pool: &Arc<PoolInner>) {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    pools.retain(|known| known.strong_count() > 0);
    pools.push(Arc::downgrade(pool));
}

/// No lock is held any more when a pool is looked at, or let go.
fn all() -> Vec<Arc<PoolInner>> {
    let pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    pools.iter().filter_map(Weak::upgrade).collect()
}

#[cfg(test)]
mod tests {
    use core_gpu_driver::{Driver, HostDriver, Stream, StreamKind};

    use super::*;
    use crate::{Pool, Source};

    /// A pool with a block in use: while it is listed, and after it and its thread are gone.
    fn use_a_pool() -> Weak<PoolInner> {
        let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 24));
        let stream = Stream::new(&driver, StreamKind::NonBlocking).unwrap();
        let pool = Pool::new(&driver);
        let buffer = pool.allocate::<u8>(1 << 20, &stream, Source::named("live"));
        let wanted = PoolUse {
            device: driver.info().id,
            bytes_in_use: pool.bytes_in_use(),
            reserved_bytes: pool.reserved_bytes(),
        };
        assert!(live_pools().contains(&wanted));
        let weak = Arc::downgrade(&pool.inner);
        drop(pool);
        assert!(weak.upgrade().is_some(), "{buffer:?} is there");
        weak
    }

    #[test]
    fn a_pool_is_listed_as_long_as_it_or_a_block_lives() {
        // Threads keep what they have cached of a pool until they end.
        let weak = std::thread::spawn(use_a_pool).join().unwrap();
        assert!(weak.upgrade().is_none());
    }
}
