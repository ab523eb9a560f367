//! What ends while something else goes on: waits, captures, streams and pools.

use std::{sync::Arc, thread};

use core_gpu_driver::{
    CaptureMode, Driver, Event, EventKind, HostDriver, Pinned, PinnedSpan, Segment,
    graph::is_any_underway,
};
use core_gpu_memory::{Pool, Source};
use gpu_sim::{Code, Fault, Machine, Schedule};

use crate::{MIB, machine, order, stream};

/// The number of the next call of a function.
fn next_call(machine: &Machine, function: &str) -> u64 {
    machine.calls().get(function).copied().unwrap_or_default() + 1
}

/// Waits until a call that hangs has begun.
fn await_call(machine: &Machine, function: &str, number: u64) {
    while next_call(machine, function) <= number {
        thread::yield_now();
    }
}

/// While one thread waits for the device, what was pending is drained and a later block takes its place.
#[test]
fn a_wait_settles_what_was_held_back_before_it_and_nothing_else() {
    const WAIT: &str = "cuCtxSynchronize";
    let (machine, drivers) = machine(&[64 * MIB, 64 * MIB], Schedule::Latest);
    let [home, second, third] = [0; 3].map(|_| stream(&drivers[0]));
    let (away, by) = (stream(&drivers[1]), Source::named("held"));
    let there = Segment::allocate(&drivers[1], 5 << 20).unwrap();
    let pool = Pool::new(&drivers[0]);
    let first = pool.allocate::<u8>(5 << 20, &home, by).unwrap();
    let later = pool.allocate::<u8>(5 << 20, &home, by).unwrap();
    home.set(first.span(), 1).unwrap();
    home.set(later.span(), 1).unwrap();
    order(&home, &second);
    first.used_on(&second);
    second.set(first.span(), 2).unwrap();
    drop(first);
    let number = next_call(&machine, WAIT);
    machine.plan(Fault::hang(WAIT, number));
    thread::scope(|scope| {
        scope.spawn(|| pool.trim());
        await_call(&machine, WAIT, number);
        // What cannot be served drains what is pending on the way.
        assert!(pool.allocate::<u8>(60 << 20, &third, by).is_err());
        order(&home, &away);
        later.used_on(&away);
        away.copy(there.whole(), later.span()).unwrap();
        drop(later);
        machine.release_hangs();
    });
    let again = pool.allocate::<u8>(5 << 20, &third, by).unwrap();
    third.set(again.span(), 3).unwrap();
    assert_eq!(machine.violations(), []);
    drop((again, pool, home, second, third));
    drop((away, there, drivers));
    machine.verify().unwrap();
}

/// The last handle goes while a block is on its way from its user to those that are pending.
#[test]
fn the_end_of_a_pool_leaves_blocks_that_other_devices_use() {
    const RECORD: &str = "cuEventRecord";
    let (machine, drivers) = machine(&[64 * MIB, 64 * MIB], Schedule::Latest);
    let (home, away) = (stream(&drivers[0]), stream(&drivers[1]));
    let there = Segment::allocate(&drivers[1], 5 << 20).unwrap();
    let pool = Pool::new(&drivers[0]);
    let buffer = pool
        .allocate::<u8>(5 << 20, &home, Source::UNNAMED)
        .unwrap();
    home.set(buffer.span(), 1).unwrap();
    order(&home, &away);
    buffer.used_on(&away);
    away.copy(there.whole(), buffer.span()).unwrap();
    let number = next_call(&machine, RECORD);
    machine.plan(Fault::hang(RECORD, number));
    thread::scope(|scope| {
        scope.spawn(move || drop(buffer));
        await_call(&machine, RECORD, number);
        drop(pool);
        machine.release_hangs();
    });
    assert_eq!(machine.violations(), []);
    drop((home, away, there, drivers));
    machine.verify().unwrap();
}

#[test]
fn pinned_memory_waits_for_a_stream_whose_end_could_not() {
    const WAIT: &str = "cuStreamSynchronize";
    for in_capture in [false, true] {
        let (machine, drivers) = machine(&[64 * MIB], Schedule::Latest);
        let on = stream(&drivers[0]);
        let segment = Segment::allocate(&drivers[0], 4096).unwrap();
        let pinned = Pinned::allocate(&drivers[0], 4096).unwrap();
        on.set(segment.whole(), 1).unwrap();
        let to = PinnedSpan {
            pinned: &pinned,
            offset: 0,
        };
        on.download(to, segment.whole()).unwrap();
        if in_capture {
            // While it lasts, the stream cannot be waited for.
            on.begin_capture(CaptureMode::Relaxed).unwrap();
        } else {
            let number = next_call(&machine, WAIT);
            machine.plan(Fault::before(WAIT, number, Code::INVALID_VALUE));
        }
        drop((on, pinned));
        assert_eq!(machine.violations(), []);
        drop((segment, drivers));
        machine.verify().unwrap();
    }
}

/// An error between the beginning of a capture and its end drops the stream.
#[test]
fn a_capture_is_over_with_its_stream() {
    let (machine, drivers) = machine(&[64 * MIB], Schedule::Latest);
    let (on, other) = (stream(&drivers[0]), stream(&drivers[0]));
    let (pool, by) = (Pool::new(&drivers[0]), Source::named("abandoned"));
    let before = pool.allocate::<u8>(30 << 20, &on, by).unwrap();
    on.set(before.span(), 1).unwrap();
    drop(before);
    on.begin_capture(CaptureMode::Global).unwrap();
    drop(on);
    assert!(!is_any_underway(&drivers[0]));
    let behind_it = pool.allocate::<u8>(50 << 20, &other, by).unwrap();
    other.set(behind_it.span(), 2).unwrap();
    drop(behind_it);
    assert!(pool.trim() > 0);
    drop((pool, other, drivers));
    machine.verify().unwrap();
}

/// A pool's last handle and a graph that is replaced, while another is being captured.
#[test]
fn the_end_of_a_pool_breaks_no_capture() {
    for mode in [
        CaptureMode::Global,
        CaptureMode::ThreadLocal,
        CaptureMode::Relaxed,
    ] {
        let (machine, drivers) = machine(&[256 * MIB], Schedule::Latest);
        let (on, other) = (stream(&drivers[0]), stream(&drivers[0]));
        let (pool, by) = (Pool::new(&drivers[0]), Source::named("replaced"));
        let record = || {
            let capture = pool.begin_capture(&on, mode).unwrap();
            let inside = pool.allocate::<u8>(20 << 20, &on, by).unwrap();
            on.set(inside.span(), 2).unwrap();
            capture
        };
        let older = record().end().unwrap();
        let capture = record();
        for shut_down in [false, true] {
            let beside = Pool::new(&drivers[0]);
            let buffer = beside.allocate::<u8>(32 << 20, &other, by).unwrap();
            other.set(buffer.span(), 1).unwrap();
            drop(buffer);
            if shut_down {
                beside.shutdown().unwrap();
            }
        }
        drop(older);
        let graph = capture
            .end()
            .unwrap_or_else(|error| panic!("{mode:?}: {error}"));
        let free = drivers[0].memory_info().unwrap().free_bytes;
        assert!(free > 200 * MIB, "{free} bytes: what was put off is back");
        drop((graph, pool, on, other, drivers));
        machine.verify().unwrap();
    }
}

#[test]
fn drivers_of_the_host_know_nothing_of_each_other() {
    let hosts: [Arc<dyn Driver>; 2] = [
        Arc::new(HostDriver::new(MIB)),
        Arc::new(HostDriver::new(MIB)),
    ];
    let segments = hosts
        .each_ref()
        .map(|host| Segment::allocate(host, 64).unwrap());
    let on = stream(&hosts[0]);
    on.set(segments[0].whole(), 1).unwrap();
    assert!(on.set(segments[1].whole(), 2).is_err());
    let events = hosts
        .each_ref()
        .map(|host| Event::new(host, EventKind::Order).unwrap());
    assert_ne!(events[0].raw(), events[1].raw());
}
