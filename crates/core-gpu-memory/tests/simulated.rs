//! The pool on the simulated machine, which knows who may touch which byte: every schedule, and
//! every driver call failing.
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use std::sync::Arc;

use core_gpu_driver::{Driver, Event, EventKind, Stream, StreamKind};
use core_gpu_memory::{AllocError, Buffer, Pool, Source, pool::BlockState, test_support::Rng};
use gpu_sim::{CaptureMode, Code, Config, Fault, Machine, Schedule, SimDriver};

const MIB: u64 = 1 << 20;

fn machine(bytes: u64, schedule: Schedule) -> (Machine, Arc<dyn Driver>) {
    let mut config = Config::with_devices(&[bytes]);
    config.schedule = schedule;
    let machine = Machine::new(config);
    let driver: Arc<dyn Driver> = SimDriver::open(&machine, 0).unwrap();
    (machine, driver)
}

fn stream(driver: &Arc<dyn Driver>) -> Stream {
    Stream::new(driver, StreamKind::NonBlocking).unwrap()
}

/// Lets one stream's work come before what another does from now on.
fn order(before: &Stream, after: &Stream) {
    let event = Event::new(before.driver(), EventKind::Order).unwrap();
    before.record(&event).unwrap();
    after.wait(&event).unwrap();
}

fn trace(seed: u64, schedule: Schedule) {
    let (machine, driver) = machine(3 * MIB, schedule);
    let free = driver.memory_info().unwrap().free_bytes;
    let pool = Pool::new(&driver);
    let mut streams = vec![stream(&driver), stream(&driver), stream(&driver)];
    let mut rng = Rng::new(seed);
    let mut live: Vec<(Buffer<u8>, usize)> = Vec::new();
    let by = Source::named("simulated trace");
    for _ in 0..150 {
        let at = rng.below(3) as usize;
        match rng.below(12) {
            0..=5 => {
                let bound = 1_u64 << rng.below(20);
                let length = rng.below(bound) as usize;
                match pool.allocate(length, &streams[at], by) {
                    Ok(buffer) => {
                        streams[at].set(buffer.span(), at as u8).unwrap();
                        live.push((buffer, at));
                    }
                    Err(error) => assert!(error.is_out_of_room(), "seed {seed}: {error}"),
                }
            }
            6..=9 if !live.is_empty() => {
                let index = rng.below(live.len() as u64) as usize;
                drop(live.swap_remove(index));
            }
            10 if !live.is_empty() => {
                let index = rng.below(live.len() as u64) as usize;
                let (buffer, home) = &mut live[index];
                order(&streams[*home], &streams[at]);
                buffer.used_on(&streams[at]);
                streams[at].set(buffer.span(), 9).unwrap();
                order(&streams[at], &streams[*home]);
            }
            11 if rng.below(4) == 0 => {
                // A stream ends, and with it nothing that was allocated on it.
                live.retain(|(_, home)| *home != at);
                streams[at] = stream(&driver);
            }
            _ => (),
        }
    }
    live.clear();
    pool.trim();
    assert_eq!(
        pool.statistics().bytes_in_use,
        0,
        "seed {seed} {schedule:?}"
    );
    let ended = pool.shutdown();
    streams.clear();
    assert_eq!(machine.violations(), [], "seed {seed} {schedule:?}");
    ended.unwrap();
    assert_eq!(
        driver.memory_info().unwrap().free_bytes,
        free,
        "seed {seed} {schedule:?}"
    );
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
            trace(seed, schedule);
        }
    }
}

#[test]
fn a_captured_stream_is_refused() {
    let (machine, driver) = machine(4 * MIB, Schedule::Latest);
    let pool = Pool::builder(&driver)
        .always_check_capture(true)
        .build()
        .unwrap();
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
fn program(machine: &Machine, driver: &Arc<dyn Driver>) {
    let Ok(one) = Stream::new(driver, StreamKind::NonBlocking) else {
        return;
    };
    let Ok(other) = Stream::new(driver, StreamKind::NonBlocking) else {
        return;
    };
    let pool = Pool::new(driver);
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
    if statistics.lost_bytes == 0 {
        assert_eq!(live, known, "{statistics:?} {hidden:?}");
    }
}

/// Bytes in quarantine that are blocks of segments, and no segments.
fn quarantined_blocks(pool: &Pool) -> u64 {
    let snapshot = pool.snapshot();
    let blocks = snapshot.segments.iter().flat_map(|segment| &segment.blocks);
    let held = blocks.filter(|block| block.state == BlockState::Quarantined);
    held.map(|block| block.bytes).sum()
}

#[test]
fn every_call_may_fail_at_every_occurrence() {
    let (counting, driver) = machine(4 * MIB, Schedule::Latest);
    program(&counting, &driver);
    assert_eq!(counting.violations(), []);
    drop(driver);
    for (function, calls) in counting.calls() {
        for occurrence in 1..=calls {
            let faults = [
                Fault::before(function, occurrence, Code::OUT_OF_MEMORY),
                Fault::before(function, occurrence, Code::INVALID_VALUE),
                Fault::after(function, occurrence, Code::INVALID_VALUE),
                Fault::from_earlier_work(function, occurrence, Code::ILLEGAL_ADDRESS),
            ];
            for fault in faults {
                let (machine, driver) = machine(4 * MIB, Schedule::Latest);
                machine.plan(fault.clone());
                program(&machine, &driver);
                assert_eq!(machine.violations(), [], "{fault:?}");
            }
        }
    }
}
