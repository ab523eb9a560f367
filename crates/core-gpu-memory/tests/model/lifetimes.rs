//! Who outlives whom: handles of a pool, threads that are idle, drivers, pieces of segments.

use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicU64, Ordering::SeqCst},
        mpsc,
    },
    time::{Duration, Instant},
};

use core_gpu_driver::{Driver, HostDriver, Segment, drop_error};
use core_gpu_memory::{AllocError, MemoryManager, Pool, Source, StagingSettings};
use gpu_sim::Schedule;

use crate::{MIB, machine, stream};

/// One handle ends the pool while other threads allocate through theirs: what they have been given is
/// theirs, and afterwards they are refused.
#[test]
fn a_pool_may_be_shut_down_while_others_allocate() {
    let ends = Instant::now() + Duration::from_secs(3);
    let mut rounds = 0;
    while rounds < 20 || (rounds < 200 && Instant::now() < ends) {
        rounds += 1;
        let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(64 << 20));
        let staging = StagingSettings {
            slot_bytes: 4096,
            slots: 2,
            ..StagingSettings::default()
        };
        let manager = MemoryManager::builder(&driver)
            .staging(staging)
            .build()
            .unwrap();
        let ready = Barrier::new(5);
        std::thread::scope(|scope| {
            let threads = [0; 4].map(|_| {
                let (manager, ready) = (manager.clone(), &ready);
                scope.spawn(move || allocate_until_refused(&manager, ready))
            });
            ready.wait();
            // Nobody holds anything for long; somebody may at this moment.
            let _ = manager.shutdown();
            drop(manager);
            // The scope waits for the closures only; what threads cache comes back as they end.
            for thread in threads {
                thread.join().unwrap();
            }
        });
        let free = driver.memory_info().unwrap().free_bytes;
        assert_eq!(free, 64 << 20, "round {rounds}");
    }
}

fn allocate_until_refused(manager: &MemoryManager, ready: &Barrier) {
    let (on, by) = (stream(manager.driver()), Source::named("racing"));
    let mut given = 0;
    loop {
        match manager.allocate_on(512, &on, by) {
            Ok(buffer) => on.set(buffer.span(), 1).unwrap(),
            Err(AllocError::ShutDown) => return,
            Err(error) => panic!("{error}"),
        }
        given += 1;
        if given == 100 {
            ready.wait();
        }
    }
}

#[test]
fn clones_are_one_pool_and_the_last_gives_back() {
    let (machine, drivers) = machine(&[64 * MIB], Schedule::Latest);
    let (on, by) = (stream(&drivers[0]), Source::named("clones"));
    let pool = Pool::new(&drivers[0]);
    let clone = pool.clone();
    let buffer = clone.allocate::<u8>(1_000, &on, by).unwrap();
    drop(pool);
    on.set(buffer.span(), 1).unwrap();
    drop(clone.allocate::<u8>(1_000, &on, by).unwrap());
    drop(clone);
    // The buffer's memory is its own until it goes.
    on.set(buffer.span(), 2).unwrap();
    assert_eq!(buffer.download(&on).unwrap(), [2; 1_000]);
    drop((buffer, on, drivers));
    machine.verify().unwrap();
}

#[test]
fn an_idle_thread_does_not_keep_the_driver_of_a_pool_that_is_gone() {
    let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(64 << 20));
    let known = Arc::downgrade(&driver);
    let (finish, finished) = mpsc::channel::<()>();
    let (cached, has_cached) = mpsc::channel::<()>();
    let pool = Pool::new(&driver);
    let theirs = pool.clone();
    let idle = std::thread::spawn(move || {
        let on = stream(theirs.driver());
        drop(
            theirs
                .allocate::<u8>(1_000, &on, Source::named("idle"))
                .unwrap(),
        );
        drop((on, theirs));
        cached.send(()).unwrap();
        finished.recv().unwrap();
    });
    has_cached.recv().unwrap();
    drop((pool, driver));
    assert!(
        known.upgrade().is_none(),
        "the thread is idle, and keeps the driver"
    );
    finish.send(()).unwrap();
    idle.join().unwrap();
}

#[test]
fn host_drivers_are_devices_of_their_own() {
    let hosts: [Arc<dyn Driver>; 2] = [
        Arc::new(HostDriver::new(MIB)),
        Arc::new(HostDriver::new(MIB)),
    ];
    assert_ne!(hosts[0].info().id, hosts[1].info().id);
    let (one, two) = (stream(&hosts[0]), stream(&hosts[1]));
    let pool = Pool::new(&hosts[0]);
    let refused = pool.allocate::<u8>(100, &two, Source::UNNAMED);
    assert!(
        matches!(refused, Err(AllocError::OtherDevice)),
        "{refused:?}"
    );
    pool.allocate::<u8>(100, &one, Source::UNNAMED).unwrap();
}

#[test]
fn a_piece_may_outlive_its_segment() {
    let (machine, drivers) = machine(&[64 * MIB], Schedule::Eager);
    let before = drop_error::count();
    let mut segment = Segment::allocate_in_pieces(&drivers[0], 8 << 20).unwrap();
    let (one, two) = (
        segment.take_piece(1).unwrap(),
        segment.take_piece(2).unwrap(),
    );
    drop(segment);
    drop((one, two));
    assert_eq!(drop_error::count(), before);
    machine.verify().unwrap();
}

#[test]
fn a_stream_forgets_pools_that_are_gone() {
    let (machine, drivers) = machine(&[64 * MIB], Schedule::Eager);
    let on = stream(&drivers[0]);
    let freed = Arc::new(AtomicU64::new(0));
    for _ in 0..100 {
        let freed = Arc::clone(&freed);
        let observer = Arc::new(Tells(freed));
        let pool = Pool::builder(&drivers[0])
            .observer(observer)
            .build()
            .unwrap();
        drop(pool.allocate::<u8>(3 << 20, &on, Source::UNNAMED).unwrap());
    }
    // An observer goes with its pool's own memory: the stream and this thread keep one at most.
    assert!(freed.load(SeqCst) >= 98, "{} of 100", freed.load(SeqCst));
    drop((on, drivers));
    machine.verify().unwrap();
}

/// Counts how often one of it goes.
struct Tells(Arc<AtomicU64>);

impl core_gpu_memory::Observer for Tells {
    fn event(&self, _event: &core_gpu_memory::MemoryEvent) {}
}

impl Drop for Tells {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// What a shutdown says of a thread that has blocks cached and does nothing: no leak, and the memory
/// is back when the last handle goes.
#[test]
fn what_an_idle_thread_caches_is_no_leak() {
    let (machine, drivers) = machine(&[64 * MIB], Schedule::Eager);
    let pool = Pool::new(&drivers[0]);
    let free = || drivers[0].memory_info().unwrap().free_bytes;
    let (before, stopped) = (free(), Barrier::new(2));
    std::thread::scope(|scope| {
        let (handle, stopped, drivers) = (pool.clone(), &stopped, &drivers);
        let idle = scope.spawn(move || {
            let on = stream(&drivers[0]);
            let by = Source::named("idle");
            drop(handle.allocate::<u8>(1_000, &on, by).unwrap());
            drop(handle);
            stopped.wait();
            stopped.wait();
        });
        stopped.wait();
        pool.shutdown().unwrap();
        let refused = pool.allocate::<u8>(1, &stream(&drivers[0]), Source::UNNAMED);
        assert!(matches!(refused, Err(AllocError::ShutDown)), "{refused:?}");
        assert!(free() < before, "the thread has it");
        drop(pool);
        assert_eq!(free(), before);
        stopped.wait();
        idle.join().unwrap();
    });
    drop(drivers);
    machine.verify().unwrap();
}
