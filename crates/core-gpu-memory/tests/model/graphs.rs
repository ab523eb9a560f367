//! Graphs: what a captured stream is given is the graph's as long as that lives, and a pool breaks no
//! capture.

use core_gpu_driver::{CaptureMode, Segment};
use core_gpu_memory::{AllocError, Pool, Source};
use gpu_sim::{Schedule, ViolationKind};

use crate::{MIB, SCHEDULES, machine, order, stream};

#[test]
fn a_cached_size_answers_like_any_other_while_a_stream_is_captured() {
    let (machine, drivers) = machine(&[256 * MIB], Schedule::Latest);
    let (on, by) = (stream(&drivers[0]), Source::named("sizes"));
    let pool = Pool::new(&drivers[0]);
    let warm: Vec<_> = (0..4)
        .map(|_| pool.allocate::<u8>(1_000, &on, by).unwrap())
        .collect();
    drop(warm);
    for by_handle in [true, false] {
        if by_handle {
            machine
                .begin_capture(0, on.raw(), CaptureMode::Global)
                .unwrap();
        } else {
            on.begin_capture(CaptureMode::Global).unwrap();
        }
        for bytes in [1_000, 5_000, 3_000_000] {
            let refused = pool.allocate::<u8>(bytes, &on, by);
            assert!(
                matches!(refused, Err(AllocError::Capturing)),
                "{bytes}: {refused:?}"
            );
        }
        drop(on.end_capture().unwrap());
    }
    pool.allocate::<u8>(1_000, &on, by).unwrap();
}

/// A stream that joins a capture by an event is captured as well, though nobody has its handle.
#[test]
fn a_stream_that_joins_a_capture_is_captured() {
    let (_machine, drivers) = machine(&[64 * MIB], Schedule::Eager);
    let (origin, branch) = (stream(&drivers[0]), stream(&drivers[0]));
    let (pool, by) = (Pool::new(&drivers[0]), Source::named("joins"));
    drop(pool.allocate::<u8>(1_000, &branch, by).unwrap());
    origin.begin_capture(CaptureMode::ThreadLocal).unwrap();
    order(&origin, &branch);
    let refused = pool.allocate::<u8>(1_000, &branch, by);
    assert!(matches!(refused, Err(AllocError::Capturing)), "{refused:?}");
    order(&branch, &origin);
    drop(origin.end_capture().unwrap());
}

#[test]
fn memory_of_a_capture_is_kept_as_long_as_its_graph() {
    for schedule in SCHEDULES {
        let (machine, drivers) = machine(&[64 * MIB], schedule);
        let (on, by) = (stream(&drivers[0]), Source::named("graph"));
        let pool = Pool::new(&drivers[0]);
        let warm: Vec<_> = (0..4)
            .map(|_| pool.allocate::<u8>(1_000, &on, by).unwrap())
            .collect();
        drop(warm);
        let capture = pool.begin_capture(&on, CaptureMode::Global).unwrap();
        let scratch = pool.allocate::<u8>(1_000, &on, by).unwrap();
        on.set(scratch.span(), 7).unwrap();
        let scratch_at = scratch.address();
        drop(scratch);
        // The same capture may use it again, for its own work comes in order.
        let output = pool.allocate::<u8>(1_000, &on, by).unwrap();
        assert_eq!(output.address(), scratch_at);
        on.set(output.span(), 8).unwrap();
        let large = pool.allocate::<u8>(20 << 20, &on, by).unwrap();
        on.set(large.span(), 9).unwrap();
        drop(large);
        let graph = capture.end().unwrap();
        assert!(graph.reserved_bytes() >= 20 << 20);
        // Nobody else is given any of it.
        let mut others: Vec<_> = (0..50)
            .map(|_| pool.allocate::<u8>(1_000, &on, by).unwrap())
            .collect();
        for other in &mut others {
            other.upload(&[1; 1_000], &on).unwrap();
        }
        for _ in 0..3 {
            // SAFETY: the graph has its memory, and `output` is there.
            unsafe { graph.graph().launch(&on).unwrap() };
            assert_eq!(output.download(&on).unwrap(), [8; 1_000]);
        }
        for other in &others {
            assert_eq!(other.download(&on).unwrap(), [1; 1_000]);
        }
        drop((output, others));
        // SAFETY: the memory is the graph's still.
        unsafe { graph.graph().launch(&on).unwrap() };
        drop((graph, pool, on, drivers));
        machine
            .verify()
            .unwrap_or_else(|complaint| panic!("{schedule:?}: {complaint}"));
    }
}

/// Growth, trimming and waiting for memory, by the capturing thread and by another, break no capture.
#[test]
fn a_pool_that_grows_or_trims_breaks_no_capture() {
    for mode in [
        CaptureMode::Global,
        CaptureMode::ThreadLocal,
        CaptureMode::Relaxed,
    ] {
        let (machine, drivers) = machine(&[256 * MIB], Schedule::Latest);
        let (on, other) = (stream(&drivers[0]), stream(&drivers[0]));
        let (pool, by) = (Pool::new(&drivers[0]), Source::named("beside"));
        let shared = pool.allocate::<u8>(5 << 20, &other, by).unwrap();
        shared.used_on(&stream(&drivers[0]));
        drop(shared);
        let capture = pool.begin_capture(&on, mode).unwrap();
        let beside = || {
            let buffer = pool.allocate::<u8>(32 << 20, &other, by).unwrap();
            other.set(buffer.span(), 1).unwrap();
            drop(buffer);
            assert_eq!(pool.trim(), 0, "it would have to wait for the device");
            let refused = pool.allocate::<u8>(250 << 20, &other, by);
            assert!(refused.is_err());
        };
        beside();
        std::thread::scope(|scope| scope.spawn(beside).join().unwrap());
        let inside = pool.allocate::<u8>(40 << 20, &on, by).unwrap();
        on.set(inside.span(), 2).unwrap();
        drop(inside);
        let graph = capture
            .end()
            .unwrap_or_else(|error| panic!("{mode:?}: {error}"));
        assert!(pool.trim() > 0);
        drop((graph, pool, on, other, drivers));
        machine.verify().unwrap();
    }
}

#[test]
fn a_broken_capture_leaves_pool_and_stream_usable() {
    let (machine, drivers) = machine(&[64 * MIB], Schedule::Eager);
    let (on, by) = (stream(&drivers[0]), Source::named("broken"));
    let pool = Pool::new(&drivers[0]);
    let capture = pool.begin_capture(&on, CaptureMode::Global).unwrap();
    let inside = pool.allocate::<u8>(1_000, &on, by).unwrap();
    drivers[0].synchronize().unwrap_err();
    capture.end().unwrap_err();
    drop(inside);
    let abandoned = pool.begin_capture(&on, CaptureMode::Global).unwrap();
    drop(abandoned);
    pool.allocate::<u8>(1_000, &on, by).unwrap();
    drop((pool, on, drivers));
    machine.verify().unwrap();
}

#[test]
fn branches_of_a_capture_have_memory_of_it() {
    let (machine, drivers) = machine(&[64 * MIB], Schedule::Latest);
    let (origin, branch) = (stream(&drivers[0]), stream(&drivers[0]));
    let (pool, by) = (Pool::new(&drivers[0]), Source::named("branches"));
    let capture = pool.begin_capture(&origin, CaptureMode::Global).unwrap();
    order(&origin, &branch);
    capture.join(&branch);
    let (mine, yours) = (
        pool.allocate::<u8>(3 << 20, &origin, by).unwrap(),
        pool.allocate::<u8>(3 << 20, &branch, by).unwrap(),
    );
    origin.set(mine.span(), 1).unwrap();
    branch.set(yours.span(), 2).unwrap();
    let freed = yours.address();
    drop(yours);
    // A free block of one branch is not for the other.
    let another = pool.allocate::<u8>(3 << 20, &origin, by).unwrap();
    assert_ne!(another.address(), freed);
    origin.set(another.span(), 3).unwrap();
    order(&branch, &origin);
    let graph = capture.end().unwrap();
    // SAFETY: the graph has its memory.
    unsafe { graph.graph().launch(&origin).unwrap() };
    assert_eq!(mine.download(&origin).unwrap()[..3], [1; 3]);
    drop((mine, another, graph, pool, origin, branch, drivers));
    machine.verify().unwrap();
}

/// A launch that writes where somebody else has memory by now.
#[test]
fn the_simulator_tells_of_a_graph_over_memory_of_another_owner() {
    for bytes in [1_000, 3_000_000] {
        let (machine, drivers) = machine(&[64 * MIB], Schedule::Latest);
        let (on, by) = (stream(&drivers[0]), Source::named("stale"));
        let pool = Pool::new(&drivers[0]);
        let before = pool.allocate::<u8>(bytes, &on, by).unwrap();
        on.begin_capture(CaptureMode::ThreadLocal).unwrap();
        on.set(before.span(), 7).unwrap();
        let graph = on.end_capture().unwrap();
        // SAFETY: `before` is there.
        unsafe { graph.launch(&on).unwrap() };
        assert_eq!(machine.violations(), []);
        drop(before);
        let _victim = pool.allocate::<u8>(bytes, &on, by).unwrap();
        // SAFETY: it is not there any more, which is what the simulator has to tell.
        unsafe { graph.launch(&on).ok() };
        let kinds: Vec<_> = machine
            .violations()
            .iter()
            .map(|broken| broken.kind)
            .collect();
        assert!(kinds.contains(&ViolationKind::OwnerChanged), "{kinds:?}");
    }
}

#[test]
fn the_simulator_tells_of_branches_that_race() {
    for waits in [false, true] {
        let (machine, drivers) = machine(&[64 * MIB], Schedule::Eager);
        let (one, two) = (stream(&drivers[0]), stream(&drivers[0]));
        let segment = Segment::allocate(&drivers[0], 4096).unwrap();
        one.begin_capture(CaptureMode::Global).unwrap();
        order(&one, &two);
        one.set(segment.whole(), 1).unwrap();
        if waits {
            order(&one, &two);
        }
        let second = two.set(segment.whole(), 2);
        order(&two, &one);
        let graph = one.end_capture();
        let races = machine.violations();
        let races = races
            .iter()
            .filter(|broken| matches!(broken.kind, ViolationKind::Race { .. }));
        assert_eq!(races.count(), usize::from(!waits), "{second:?} {graph:?}");
    }
}
