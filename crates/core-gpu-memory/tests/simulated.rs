//! The pool on the simulated machine, which knows who may touch which byte: every schedule, and
//! every driver call failing.
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use std::sync::Arc;

use core_gpu_driver::{Driver, Event, EventKind, Stream, StreamKind};
use core_gpu_memory::{
    AllocError, Buffer, GrowthPolicy, Pool, Source,
    pool::BlockState,
    test_support::{Rng, order},
};
use gpu_sim::{CaptureMode, Code, Fault, Machine, Schedule, SimDriver};

const MIB: u64 = 1 << 20;

fn machine(bytes: u64, schedule: Schedule) -> (Machine, Arc<dyn Driver>) {
    SimDriver::of_machine(bytes, schedule).unwrap()
}

fn stream(driver: &Arc<dyn Driver>) -> Stream {
    Stream::new(driver, StreamKind::NonBlocking).unwrap()
}

/// Up to a mebibyte, most of them short; among pieces also whole mebibytes.
fn some_length(rng: &mut Rng, remap: bool) -> usize {
    if remap && rng.below(2) == 0 {
        return ((1 + rng.below(4)) * MIB) as usize;
    }
    let bound = 1_u64 << rng.below(20);
    rng.below(bound) as usize
}

/// With room for a few segments, or with so little in pieces that they have to be put together.
/// Says whether that was done.
fn trace(seed: u64, schedule: Schedule, remap: bool) -> bool {
    let (machine, driver) = machine(if remap { 8 * MIB } else { 3 * MIB }, schedule);
    let free = driver.memory_info().unwrap().free_bytes;
    let policy = GrowthPolicy::Fixed(4 * MIB);
    let pool = Pool::builder(&driver).remap(remap);
    let pool = if remap { pool.growth(policy) } else { pool };
    let pool = pool.build().unwrap();
    let mut streams = vec![stream(&driver), stream(&driver), stream(&driver)];
    let mut rng = Rng::new(seed);
    let mut live: Vec<(Buffer<u8>, usize)> = Vec::new();
    let by = Source::named("simulated trace");
    for _ in 0..150 {
        let at = rng.below(3) as usize;
        match rng.below(12) {
            0..=5 => match pool.allocate(some_length(&mut rng, remap), &streams[at], by) {
                Ok(buffer) => {
                    streams[at].set(buffer.span(), at as u8).unwrap();
                    live.push((buffer, at));
                }
                Err(error) => assert!(error.is_out_of_room(), "seed {seed}: {error}"),
            },
            6..=9 if !live.is_empty() => {
                let index = rng.below(live.len() as u64) as usize;
                drop(live.swap_remove(index));
            }
            10 if !live.is_empty() => {
                let index = rng.below(live.len() as u64) as usize;
                let (buffer, home) = &mut live[index];
                order(&streams[*home], &streams[at]).unwrap();
                buffer.used_on(&streams[at]);
                streams[at].set(buffer.span(), 9).unwrap();
                order(&streams[at], &streams[*home]).unwrap();
            }
            11 if rng.below(4) == 0 => {
                // A stream ends, and with it nothing that was allocated on it.
                live.retain(|(_, home)| *home != at);
                streams[at] = stream(&driver);
            }
            _ => (),
        }
    }
    let remapped = has_holes(&pool);
    live.clear();
    pool.trim();
    let in_use = pool.statistics().bytes_in_use;
    assert_eq!(in_use, 0, "seed {seed} {schedule:?}");
    let ended = pool.shutdown();
    streams.clear();
    let left = driver.memory_info().unwrap().free_bytes;
    assert_eq!(machine.violations(), [], "seed {seed} {schedule:?}");
    ended.unwrap();
    assert_eq!(left, free, "seed {seed} {schedule:?}");
    let live = machine.live();
    let (reserved, physical) = (live.reservations, live.physical);
    assert_eq!((reserved, physical), (0, 0), "seed {seed} {schedule:?}");
    remapped
}

fn has_holes(pool: &Pool) -> bool {
    let segments = pool.snapshot().segments;
    let mut blocks = segments.iter().flat_map(|segment| &segment.blocks);
    blocks.any(|block| block.state == BlockState::Hole)
}

#[test]
fn holes_are_put_together_and_blocks_stay_where_they_are() {
    let (machine, driver) = machine(8 * MIB, Schedule::Latest);
    let pool = Pool::builder(&driver)
        .remap(true)
        .growth(GrowthPolicy::Fixed(4 * MIB))
        .build()
        .unwrap();
    let on = stream(&driver);
    let by = Source::named("remapped");
    let half = 2 * MIB as usize;
    let mut kept = Vec::new();
    for value in 0..2 {
        let mut buffer = pool.allocate::<u8>(half, &on, by).unwrap();
        let gone = pool.allocate::<u8>(half, &on, by).unwrap();
        buffer.upload(&vec![value; half], &on).unwrap();
        on.set(gone.span(), 9).unwrap();
        kept.push((buffer.address(), buffer, gone));
    }
    // Two free halves, and no block that is as long as both.
    let (one, two): (Vec<_>, Vec<_>) = kept
        .into_iter()
        .map(|(at, kept, gone)| ((at, kept), gone))
        .unzip();
    drop(two);
    let both = pool.allocate::<u8>(2 * half, &on, by).unwrap();
    on.set(both.span(), 5).unwrap();
    for (value, (address, buffer)) in one.iter().enumerate() {
        assert_eq!(buffer.address(), *address);
        assert_eq!(buffer.download(&on).unwrap(), vec![value as u8; half]);
    }
    let statistics = pool.statistics();
    assert_eq!(
        (statistics.reserved_bytes, statistics.segments),
        (8 * MIB, 3)
    );
    let snapshot = pool.snapshot();
    let blocks = snapshot.segments.iter().flat_map(|segment| &segment.blocks);
    let holes: u64 = blocks
        .filter(|block| block.state == BlockState::Hole)
        .map(|block| block.bytes)
        .sum();
    assert_eq!(holes, 4 * MIB);
    drop((one, both));
    assert_eq!(pool.trim(), 8 * MIB);
    pool.shutdown().unwrap();
    drop(on);
    machine.verify().unwrap();
}

#[test]
fn no_schedule_shows_a_byte_in_two_hands() {
    for seed in 0..64 {
        let late = Schedule::OneLate(seed as usize % 3);
        for schedule in [
            Schedule::Eager,
            Schedule::Latest,
            late,
            Schedule::Seeded(seed),
        ] {
            trace(seed, schedule, false);
        }
    }
}

#[test]
fn no_schedule_shows_a_byte_in_two_hands_when_holes_are_put_together() {
    let schedules = [Schedule::Eager, Schedule::Latest];
    let seeded = (0..64).map(|seed| (seed, Schedule::Seeded(seed)));
    let traces = (0..64).zip(schedules.into_iter().cycle()).chain(seeded);
    let remapped = traces.filter(|(seed, schedule)| trace(*seed, *schedule, true));
    let remapped = remapped.count();
    assert!(remapped > 5, "{remapped} traces show it");
}

#[test]
fn a_captured_stream_is_refused() {
    let (machine, driver) = machine(4 * MIB, Schedule::Latest);
    let pool = Pool::builder(&driver).build().unwrap();
    let captured = stream(&driver);
    drop(
        pool.allocate::<u8>(100, &captured, Source::UNNAMED)
            .unwrap(),
    );
    machine
        .begin_capture(0, captured.raw(), CaptureMode::Relaxed)
        .unwrap();
    for length in [100, MIB as usize] {
        let refused = pool
            .allocate::<u8>(length, &captured, Source::UNNAMED)
            .unwrap_err();
        assert!(matches!(refused, AllocError::Capturing), "{refused}");
    }
    let graph = machine.end_capture(0, captured.raw()).unwrap();
    machine.destroy_graph(0, graph).unwrap();
    drop(
        pool.allocate::<u8>(100, &captured, Source::UNNAMED)
            .unwrap(),
    );
    pool.shutdown().unwrap();
    assert_eq!(machine.violations(), []);
}

/// What a program does with a pool, going on after every error.
fn program(machine: &Machine, driver: &Arc<dyn Driver>, remap: bool) {
    let Ok(one) = Stream::new(driver, StreamKind::NonBlocking) else {
        return;
    };
    let Ok(other) = Stream::new(driver, StreamKind::NonBlocking) else {
        return;
    };
    let pool = Pool::builder(driver)
        .remap(remap)
        .growth(GrowthPolicy::Fixed(4 * MIB));
    let pool = pool.build().unwrap();
    let by = Source::named("fault program");
    for round in 0..3 {
        let kept = pool.allocate::<u8>(1_000 * (round + 1), &one, by);
        let mut shared = pool.allocate::<u8>(MIB as usize, &one, by);
        if let Ok(buffer) = &mut shared {
            let event = Event::new(driver, EventKind::Order);
            let ordered =
                event.and_then(|event| one.record(&event).and_then(|()| other.wait(&event)));
            if ordered.is_ok() {
                buffer.used_on(&other);
                let _ = other.set(buffer.span(), 1);
            }
        }
        drop(shared);
        let _ = pool.allocate::<u8>(2 * MIB as usize, &other, by);
        pool.trim_to(MIB);
        drop(kept);
    }
    if remap {
        holes(&pool, &one, by);
    }
    let statistics = pool.statistics();
    assert_eq!(statistics.bytes_in_use, 0);
    check_books(machine, &pool);
    let _ = pool.shutdown();
}

/// What the machine has given out is what the pool has, what it could not give back, and what a
/// fault has hidden from it.
fn check_books(machine: &Machine, pool: &Pool) {
    let (statistics, hidden) = (pool.statistics(), machine.fault_books());
    let stuck = statistics.quarantined_bytes - quarantined_blocks(pool);
    let known = statistics.reserved_bytes + stuck + hidden.orphaned_bytes;
    let live = machine.live().device_bytes + hidden.freed_despite_error_bytes;
    let lost = pool
        .driver()
        .synchronize()
        .is_err_and(|error| error.is_lost());
    if !lost {
        // What a mapping that failed has left under an address is found again.
        let found = known.saturating_sub(live);
        assert!(
            live <= known && found <= hidden.orphaned_bytes,
            "{statistics:?} {hidden:?}"
        );
    }
}

/// Bytes in quarantine that are blocks of segments, and no segments.
fn quarantined_blocks(pool: &Pool) -> u64 {
    let snapshot = pool.snapshot();
    let blocks = snapshot.segments.iter().flat_map(|segment| &segment.blocks);
    let held = blocks.filter(|block| block.state == BlockState::Quarantined);
    held.map(|block| block.bytes).sum()
}

/// What makes the pool put holes together, going on after every error.
fn holes(pool: &Pool, on: &Stream, by: Source) {
    let quarter = MIB as usize;
    let mut all: Vec<_> = (0..8)
        .map(|_| pool.allocate::<u8>(quarter, on, by).ok())
        .collect();
    for pair in all.chunks_mut(4) {
        pair[2..].fill_with(|| None);
    }
    let _ = pool.allocate::<u8>(4 * quarter, on, by);
}

#[test]
fn every_call_may_fail_at_every_occurrence() {
    for remap in [false, true] {
        let bytes = if remap { 8 * MIB } else { 4 * MIB };
        let (counting, driver) = machine(bytes, Schedule::Latest);
        program(&counting, &driver, remap);
        assert_eq!(counting.violations(), []);
        drop(driver);
        for fault in Fault::every(&counting.calls(), usize::MAX) {
            let (machine, driver) = machine(bytes, Schedule::Latest);
            machine.plan(fault.clone());
            program(&machine, &driver, remap);
            assert_eq!(machine.violations(), [], "{fault:?}");
        }
    }
}

#[test]
fn what_is_on_a_lost_device_is_lost_and_nothing_else_is_said_of_it() {
    let (machine, driver) = machine(8 * MIB, Schedule::Latest);
    let pool = Pool::new(&driver);
    let on = stream(&driver);
    let by = Source::named("lost");
    let small = pool.allocate::<u8>(1_000, &on, by).unwrap();
    let large = pool.allocate::<u8>(MIB as usize, &on, by).unwrap();
    machine.lose(0, Code::ECC_UNCORRECTABLE);
    let refused = pool.allocate::<u8>(4 * MIB as usize, &on, by).unwrap_err();
    assert!(matches!(refused, AllocError::Driver(error) if error.is_lost()));
    let statistics = pool.statistics();
    assert_eq!(statistics.lost_bytes, statistics.reserved_bytes);
    drop((small, large));
    assert_eq!(pool.trim(), 0);
    let report = pool.shutdown().unwrap_err();
    assert!(
        report.lost_bytes > 0 && report.live.is_empty(),
        "{report:?}"
    );
    assert_eq!(machine.violations(), []);
}

/// A stream that does not get on holds up nobody else, and its blocks are had behind an event.
#[test]
fn a_slow_kernel_holds_up_its_own_stream_only() {
    let (machine, driver) = machine(4 * MIB, Schedule::Eager);
    let pool = Pool::builder(&driver)
        .reserve_limit(2 * MIB)
        .build()
        .unwrap();
    let (slow, quick) = (stream(&driver), stream(&driver));
    let by = Source::named("slow kernel");
    let block = pool.allocate::<u8>(MIB as usize, &slow, by).unwrap();
    machine.stall(0, slow.raw()).unwrap();
    slow.set(block.span(), 1).unwrap();
    drop(block);
    // There is room beside it: nothing waits.
    let beside = pool.allocate::<u8>(MIB as usize, &quick, by).unwrap();
    quick.set(beside.span(), 2).unwrap();
    quick.synchronize().unwrap();
    assert_eq!(pool.statistics().stream_waits, 0);
    // The slow stream's block is had at once, and work on it comes after.
    let reused = pool.allocate::<u8>(MIB as usize, &quick, by).unwrap();
    quick.set(reused.span(), 3).unwrap();
    assert!(!quick.query().unwrap(), "it waits for the slow one");
    assert_eq!(pool.statistics().stream_waits, 1);
    machine.release_hangs();
    assert_eq!(reused.download(&quick).unwrap(), vec![3; MIB as usize]);
    drop((beside, reused));
    pool.shutdown().unwrap();
    drop((slow, quick));
    machine.verify().unwrap();
}
