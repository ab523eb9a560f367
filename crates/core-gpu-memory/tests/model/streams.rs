//! Streams: whose block is whose, foreign streams, and who waits for whom.

use std::sync::Arc;

use core_gpu_driver::{RegionState, Segment, Stream, StreamKind};
use core_gpu_memory::{
    Buffer, Cache, CacheLimits, DirectResource, Hold, MemoryManager, PinnedBuffer, Pool, Resource,
    Source, StreamOrderedResource, StreamPolicy,
};
use gpu_sim::{Kernel, Machine, Schedule, SimDriver};

use crate::{MIB, SCHEDULES, machine, order, stream};

/// Copies by a buffer's own methods need no declaration: the next owner waits for them.
#[test]
fn copies_on_another_stream_declare_it() {
    for schedule in SCHEDULES {
        let (machine, drivers) = machine(&[64 * MIB], schedule);
        let (driver, by) = (&drivers[0], Source::named("copies"));
        let (own, other) = (stream(driver), stream(driver));
        let pool = Pool::new(driver);
        let pinned = PinnedBuffer::<u8>::allocate(driver, 4096).unwrap();
        let allocate = || pool.allocate::<u8>(4096, &own, by).unwrap();
        let (mut from, mut to) = (allocate(), allocate());
        from.slice_mut(..).unwrap().fill_bytes(7, &own).unwrap();
        order(&own, &other);
        to.copy_from(&from, &other).unwrap();
        to.download_async(pinned.all(), &other).unwrap();
        drop((from, to));
        // The same memory, on the stream that has not waited.
        for mut next in [allocate(), allocate()] {
            next.slice_mut(..).unwrap().fill_bytes(9, &own).unwrap();
        }
        let mut values = [0; 4096];
        pinned.all().read(&mut values).unwrap();
        assert_eq!(values, [7; 4096], "{schedule:?}");
        let mut third = allocate();
        order(&own, &other);
        third.upload_async(pinned.all(), &other).unwrap();
        third.slice_mut(..8).unwrap().fill_bytes(1, &other).unwrap();
        drop(third);
        drop((allocate(), pinned, pool, own, other));
        machine
            .verify()
            .unwrap_or_else(|complaint| panic!("{schedule:?}: {complaint}"));
    }
}

/// Every handle of a foreign stream goes before the buffer does, and the stream itself lives on.
#[test]
fn a_foreign_stream_is_held_by_what_was_allocated_on_it() {
    for schedule in SCHEDULES {
        let (machine, drivers) = machine(&[64 * MIB], schedule);
        let (driver, by) = (&drivers[0], Source::named("foreign"));
        let raw = machine.create_stream(0, StreamKind::NonBlocking).unwrap();
        let pool = Pool::new(driver);
        // SAFETY: the stream lives until everything else is gone.
        let adopt = || unsafe { Stream::adopt(driver, raw) };
        let buffer = pool.allocate::<u8>(40 << 20, &adopt(), by).unwrap();
        adopt().set(buffer.span(), 1).unwrap();
        let address = buffer.address();
        drop(buffer);
        let two = stream(driver);
        let other = pool.allocate::<u8>(40 << 20, &two, by).unwrap();
        assert_eq!(other.address(), address, "there is room for one only");
        two.set(other.span(), 2).unwrap();
        drop(other);
        drop((two, pool));
        machine.destroy_stream(0, raw).unwrap();
        machine
            .verify()
            .unwrap_or_else(|complaint| panic!("{schedule:?}: {complaint}"));
    }
}

#[test]
fn a_foreign_stream_is_one_stream_however_often_it_is_adopted() {
    let (machine, drivers) = machine(&[MIB, MIB], Schedule::Eager);
    let raw = machine.create_stream(0, StreamKind::NonBlocking).unwrap();
    // SAFETY: the stream lives longer than its handles.
    let (one, two) = unsafe {
        (
            Stream::adopt(&drivers[0], raw),
            Stream::adopt(&drivers[0], raw),
        )
    };
    assert_eq!(one, two);
    assert_eq!(
        Stream::legacy_default(&drivers[0]),
        Stream::legacy_default(&drivers[0])
    );
    assert_ne!(
        Stream::legacy_default(&drivers[0]),
        Stream::legacy_default(&drivers[1])
    );
    let id = one.id();
    drop((one, two));
    // SAFETY: as above.
    let again = unsafe { Stream::adopt(&drivers[0], raw) };
    assert_ne!(again.id(), id, "numbers are not used again");
}

/// As the stream of a foreign owner: kept by the pool only as long as somebody else keeps it.
#[test]
fn the_owner_of_a_foreign_stream_is_not_kept_for_ever() {
    let (machine, drivers) = machine(&[64 * MIB], Schedule::Latest);
    let (driver, by) = (&drivers[0], Source::named("owners"));
    let pool = Pool::new(driver);
    let mut owners = Vec::new();
    for _ in 0..20 {
        let raw = machine.create_stream(0, StreamKind::NonBlocking).unwrap();
        let owner: Arc<()> = Arc::new(());
        owners.push((raw, Arc::downgrade(&owner)));
        // SAFETY: as long as the owner, which is looked at below, and longer.
        let theirs = unsafe { Stream::adopt_with_owner(driver, raw, Arc::clone(&owner) as _) };
        for bytes in [100, 5_000, 3_000_000] {
            let buffer = pool.allocate::<u8>(bytes, &theirs, by).unwrap();
            theirs.set(buffer.span(), 1).unwrap();
        }
        drop((theirs, owner));
    }
    let kept = |owners: &[(_, std::sync::Weak<()>)]| {
        owners
            .iter()
            .filter(|(_, owner)| owner.strong_count() > 0)
            .count()
    };
    assert!(kept(&owners) <= 1, "{} kept", kept(&owners));
    pool.flush_threads();
    assert_eq!(kept(&owners), 0);
    drop(pool);
    for (raw, _) in owners {
        machine.destroy_stream(0, raw).unwrap();
    }
    machine.verify().unwrap();
}

/// On every schedule: a pool of one device whose blocks are filled there and copied from by a stream of
/// another. The check is given the pool, and what makes such a block.
fn on_two_devices(check: impl Fn(&Pool, &dyn Fn() -> Buffer<u8>)) {
    for schedule in SCHEDULES {
        let (machine, drivers) = machine(&[24 * MIB, 24 * MIB], schedule);
        let (home, away) = (stream(&drivers[0]), stream(&drivers[1]));
        let (pool, by) = (Pool::new(&drivers[0]), Source::named("devices"));
        let there = Pool::new(&drivers[1])
            .allocate::<u8>(8 << 20, &away, by)
            .unwrap();
        check(&pool, &|| {
            let buffer = pool.allocate::<u8>(8 << 20, &home, by).unwrap();
            home.set(buffer.span(), 3).unwrap();
            order(&home, &away);
            buffer.used_on(&away);
            away.copy(there.span(), buffer.span()).unwrap();
            buffer
        });
        drop((there, pool, home, away, drivers));
        machine
            .verify()
            .unwrap_or_else(|complaint| panic!("{schedule:?}: {complaint}"));
    }
}

#[test]
fn a_stream_of_another_device_may_use_a_block() {
    on_two_devices(|pool, copied| {
        for _ in 0..10 {
            copied().free().unwrap();
        }
        let numbers = pool.statistics();
        assert_eq!((numbers.failed_frees, numbers.quarantined_bytes), (0, 0));
    });
}

/// Waiting for the pool's own device says nothing of what another device does with a block.
#[test]
fn trimming_waits_for_other_devices_that_use_a_block() {
    on_two_devices(|pool, copied| {
        drop(copied());
        assert!(pool.trim() > 0);
        drop(copied());
        pool.shutdown().unwrap();
    });
}

/// Memory from the driver itself, and the driver's own pool, which other devices use.
#[test]
fn other_resources_wait_for_other_devices_too() {
    for schedule in SCHEDULES {
        let (machine, drivers) = machine(&[24 * MIB, 24 * MIB], schedule);
        let (home, away) = (stream(&drivers[0]), stream(&drivers[1]));
        let resources: [Arc<dyn Resource>; 2] = [
            Arc::new(DirectResource::new(&drivers[0])),
            Arc::new(StreamOrderedResource::new(&drivers[0])),
        ];
        let sink = Segment::allocate(&drivers[1], 4096).unwrap();
        for resource in resources {
            for is_freed in [true, false] {
                let block = resource.allocate_block(4096, &home, Source::UNNAMED);
                let block = block.unwrap();
                home.set(block.span(), 3).unwrap();
                order(&home, &away);
                block.used_on(&away);
                let from = block.span().part(0, 4096).unwrap();
                away.copy(sink.whole(), from).unwrap();
                match is_freed {
                    true => block.free().unwrap(),
                    false => drop(block),
                }
            }
        }
        drop((sink, home, away, drivers));
        machine
            .verify()
            .unwrap_or_else(|complaint| panic!("{schedule:?}: {complaint}"));
    }
}

/// What is cached on one device and read by another, and goes while that reads.
#[test]
fn cached_bytes_are_read_on_another_device() {
    for schedule in SCHEDULES {
        let (machine, drivers) = machine(&[24 * MIB, 24 * MIB], schedule);
        let (home, away) = (stream(&drivers[0]), stream(&drivers[1]));
        let manager = MemoryManager::builder(&drivers[0]).build().unwrap();
        let cache = Cache::new(&manager, CacheLimits::default(), Source::named("shared"));
        let sink = Segment::allocate(&drivers[1], 4096).unwrap();
        for round in 0..4 {
            let cached = cache
                .insert("key", &[round; 4096], 1.0, Hold::Normal, &home)
                .unwrap();
            for on in [&away, &home, &away] {
                let read = cached.read_on(on).unwrap();
                if on == &away {
                    away.copy(sink.whole(), read.span()).unwrap();
                }
            }
            assert!(cache.remove("key"));
            drop(cached);
            manager.pool().trim();
        }
        drop(cache);
        manager.shutdown().unwrap();
        drop((sink, manager, home, away, drivers));
        machine
            .verify()
            .unwrap_or_else(|complaint| panic!("{schedule:?}: {complaint}"));
    }
}

/// Twenty kernels of 1 ms on each of two streams; the milliseconds that they take, and the bytes.
fn overlap(policy: StreamPolicy) -> (u64, u64) {
    let machine = Machine::with_bytes(1 << 30);
    let simulated = SimDriver::open(&machine, 0).unwrap();
    let driver = simulated.clone() as Arc<dyn core_gpu_driver::Driver>;
    let streams = [stream(&driver), stream(&driver)];
    let pool = Pool::builder(&driver).streams(policy).build().unwrap();
    let by = Source::named("overlap");
    let begin = machine.now();
    for _ in 0..20 {
        for stream in &streams {
            let buffer = pool.allocate::<u8>(3 << 20, stream, by).unwrap();
            let kernel = Kernel::new("work")
                .writing(buffer.span().region())
                .taking(1_000_000);
            simulated.launch(&kernel, stream.raw()).unwrap();
        }
    }
    driver.synchronize().unwrap();
    assert_eq!(machine.violations(), []);
    ((machine.now() - begin) / 1_000_000, pool.reserved_bytes())
}

#[test]
fn streams_stay_parallel_unless_they_are_told_to_share() {
    let (grown, grown_bytes) = overlap(StreamPolicy::GrowFirst);
    assert!(grown <= 21, "{grown} ms for 20");
    let (local, _) = overlap(StreamPolicy::StreamLocal);
    assert!(local <= 21, "{local} ms for 20");
    let (shared, shared_bytes) = overlap(StreamPolicy::Share);
    assert!(shared >= 39, "{shared} ms one after the other");
    assert!(shared_bytes < grown_bytes);
}

/// Where no memory is left, the first borrows, and the second says so.
#[test]
fn policies_differ_when_memory_is_short() {
    for (policy, served) in [
        (StreamPolicy::GrowFirst, true),
        (StreamPolicy::Share, true),
        (StreamPolicy::StreamLocal, true),
    ] {
        let (machine, drivers) = machine(&[8 * MIB], Schedule::Latest);
        let (one, two) = (stream(&drivers[0]), stream(&drivers[0]));
        let pool = Pool::builder(&drivers[0]).streams(policy).build().unwrap();
        let by = Source::named("short");
        let buffer = pool.allocate::<u8>(6 << 20, &one, by).unwrap();
        one.set(buffer.span(), 1).unwrap();
        drop(buffer);
        let waits = pool.statistics().stream_waits;
        let other = pool.allocate::<u8>(6 << 20, &two, by);
        assert_eq!(other.is_ok(), served, "{policy:?}");
        two.set(other.unwrap().span(), 2).unwrap();
        let waited = pool.statistics().stream_waits - waits;
        assert_eq!(
            waited > 0,
            policy != StreamPolicy::StreamLocal,
            "{policy:?}"
        );
        drop((pool, one, two, drivers));
        machine.verify().unwrap();
    }
}

#[test]
fn events_are_made_once_and_used_again() {
    let (machine, drivers) = machine(&[64 * MIB], Schedule::Eager);
    let (one, two) = (stream(&drivers[0]), stream(&drivers[0]));
    let (pool, by) = (Pool::new(&drivers[0]), Source::named("events"));
    for _ in 0..1_000 {
        let buffer = pool.allocate::<u8>(4_096, &one, by).unwrap();
        order(&one, &two);
        buffer.used_on(&two);
        two.set(buffer.span(), 1).unwrap();
        drop(buffer);
    }
    let made = pool.statistics().events_made;
    assert!(made < 300, "{made} events for 1,000 frees");
    drop((pool, one, two, drivers));
    machine.verify().unwrap();
}

/// The simulator's own rule, which all of these rest on.
#[test]
fn the_simulator_tells_of_an_early_reuse() {
    let (machine, drivers) = machine(&[MIB], Schedule::Latest);
    let (one, two) = (stream(&drivers[0]), stream(&drivers[0]));
    let segment = Segment::allocate(&drivers[0], 4096).unwrap();
    let region = segment.whole().region();
    drivers[0].annotate(region, RegionState::Free);
    drivers[0].annotate(region, RegionState::in_use_on(&one));
    one.set(segment.whole(), 1).unwrap();
    drivers[0].annotate(region, RegionState::Free);
    drivers[0].annotate(region, RegionState::in_use_on(&two));
    assert_eq!(machine.violations().len(), 1);
}
