//! Callbacks that panic leave everything usable: their thread, the block, and all pools.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use core_gpu_driver::{Driver, HostDriver, Stream};
use core_gpu_memory::{AllocError, MemoryEvent, Observer, Pool, Pressure, Reclaim, Source};

use crate::stream;

/// Panics at every so manyth event.
struct Panics {
    every: u64,
    heard: AtomicU64,
}

impl Panics {
    fn every(every: u64) -> Arc<Panics> {
        let heard = AtomicU64::new(0);
        Arc::new(Panics { every, heard })
    }

    fn hear(&self) {
        let heard = self.heard.fetch_add(1, Relaxed);
        assert!(!heard.is_multiple_of(self.every), "as the test wants it");
    }
}

impl Observer for Panics {
    fn event(&self, _event: &MemoryEvent) {
        self.hear();
    }
}

impl Reclaim for Panics {
    fn reclaim(&self, _wanted: u64) -> u64 {
        self.hear();
        0
    }
}

#[test]
fn an_observer_that_panics_costs_nothing_but_its_own_call() {
    let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(64 << 20));
    let (on, by) = (stream(&driver), Source::named("panics"));
    for every in [1, 2, 3] {
        let observer = Panics::every(every);
        let pool = Pool::builder(&driver).observer(observer).build().unwrap();
        for bytes in [1_000, 100_000, 3_000_000] {
            for _ in 0..4 {
                let buffer = pool.allocate::<u8>(bytes, &on, by).unwrap();
                buffer.free().unwrap();
            }
        }
        assert_eq!(pool.bytes_in_use(), 0);
        assert!(pool.statistics().callback_panics > 0);
        pool.shutdown().unwrap();
    }
    assert_eq!(driver.memory_info().unwrap().free_bytes, 64 << 20);
}

#[test]
fn a_reclaimer_that_panics_has_freed_nothing() {
    let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(8 << 20));
    let (on, by) = (stream(&driver), Source::named("panics"));
    let pool = Pool::new(&driver);
    let reclaimer: Arc<dyn Reclaim> = Panics::every(1);
    pool.on_pressure(Pressure::Evict, Arc::downgrade(&reclaimer));
    pool.on_pressure(Pressure::Spill, Arc::downgrade(&reclaimer));
    let held = pool.allocate::<u8>(6 << 20, &on, by).unwrap();
    let refused = pool.allocate::<u8>(6 << 20, &on, by);
    assert!(
        matches!(refused, Err(AllocError::OutOfMemory(_))),
        "{refused:?}"
    );
    drop(held);
    let numbers = pool.statistics();
    assert_eq!((numbers.callback_panics, numbers.refusals), (2, 1));
    for pool in [&pool, &Pool::new(&driver)] {
        pool.allocate::<u8>(1_000, &on, by).unwrap();
    }
}

#[test]
fn an_error_hook_that_panics_is_counted() {
    let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(8 << 20));
    let hook = |_: &core_gpu_driver::DriverError| panic!("as the test wants it");
    let pool = Pool::builder(&driver)
        .error_hook(Arc::new(hook))
        .build()
        .unwrap();
    let on = stream(&driver);
    drop(pool.allocate::<u8>(1_000, &on, Source::UNNAMED).unwrap());
    pool.shutdown().unwrap();
}

/// Asks the pool that it hears of for memory.
#[derive(Default)]
struct Asks {
    of: Mutex<Option<(Pool, Stream)>>,
    refusals: AtomicU64,
}

impl Observer for Asks {
    fn event(&self, _event: &MemoryEvent) {
        let Some((pool, on)) = self.of.lock().unwrap().clone() else {
            return;
        };
        let answer = pool.allocate::<u8>(1_000, &on, Source::named("asks"));
        assert!(matches!(answer, Err(AllocError::Reclaiming)), "{answer:?}");
        self.refusals.fetch_add(1, Relaxed);
    }
}

/// Also for a size that the thread has cached, which it would hear of again.
#[test]
fn an_observer_that_asks_for_memory_is_refused() {
    let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(64 << 20));
    let (on, by) = (stream(&driver), Source::named("asks"));
    let observer = Arc::new(Asks::default());
    let pool = Pool::builder(&driver)
        .observer(Arc::clone(&observer) as _)
        .build()
        .unwrap();
    let warm: Vec<_> = (0..4)
        .map(|_| pool.allocate::<u8>(1_000, &on, by).unwrap())
        .collect();
    drop(warm);
    *observer.of.lock().unwrap() = Some((pool.clone(), on.clone()));
    for _ in 0..3 {
        drop(pool.allocate::<u8>(1_000, &on, by).unwrap());
    }
    drop(observer.of.lock().unwrap().take());
    assert_eq!(pool.statistics().callback_panics, 0);
    assert!(observer.refusals.load(Relaxed) >= 6);
    pool.shutdown().unwrap();
}
