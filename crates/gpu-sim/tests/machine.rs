//! What the machine models, rule by rule: kinds of streams, late and early schedules, use after
//! free, orders of capture, address space, faults, losing a device, forking.
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use std::{sync::Arc, time::Duration};

use core_gpu_driver::{
    Absent, Driver, DriverError, Event, EventKind, Pinned, PinnedSpan, RawStream, RegionState,
    Segment, Stream, StreamKind,
};
use gpu_sim::{
    CaptureMode, CaptureStatus, Code, Config, Fault, Kernel, Machine, POISON, Schedule, SimDriver,
    ViolationKind,
};

const BYTES: u64 = 16 << 20;

fn machine(schedule: Schedule) -> (Machine, Arc<SimDriver>, Arc<dyn Driver>) {
    let mut config = Config::with_devices(&[BYTES]);
    config.schedule = schedule;
    let machine = Machine::new(config);
    let device = SimDriver::open(&machine, 0).unwrap();
    let driver: Arc<dyn Driver> = Arc::clone(&device) as _;
    (machine, device, driver)
}

fn stream(driver: &Arc<dyn Driver>) -> Stream {
    Stream::new(driver, StreamKind::NonBlocking).unwrap()
}

fn kinds(machine: &Machine) -> Vec<ViolationKind> {
    machine
        .violations()
        .into_iter()
        .map(|violation| violation.kind)
        .collect()
}

#[test]
fn fresh_memory_is_poisoned() {
    let (_machine, _, driver) = machine(Schedule::Eager);
    let (stream, segment) = (stream(&driver), Segment::allocate(&driver, 1000).unwrap());
    let mut bytes = [0; 1000];
    stream
        .download_and_wait(&mut bytes, segment.whole())
        .unwrap();
    assert_eq!(bytes, [POISON; 1000]);
}

/// Blocking streams wait for the default stream and it for them; others do not.
#[test]
fn the_default_stream_orders_blocking_streams_only() {
    for (kind, ordered) in [
        (StreamKind::Blocking, true),
        (StreamKind::NonBlocking, false),
    ] {
        let (machine, _, driver) = machine(Schedule::Latest);
        let (default, other) = (
            Stream::legacy_default(&driver),
            Stream::new(&driver, kind).unwrap(),
        );
        let segment = Segment::allocate(&driver, 1000).unwrap();
        default.set(segment.whole(), 1).unwrap();
        let second = other.set(segment.whole(), 2);
        assert_eq!(second.is_ok(), ordered, "{kind:?}");
        let races = kinds(&machine)
            .iter()
            .any(|kind| matches!(kind, ViolationKind::Race { .. }));
        assert_eq!(races, !ordered, "{kind:?}");
    }
}

#[test]
fn each_thread_has_a_default_stream_of_its_own() {
    let (machine, _, driver) = machine(Schedule::Latest);
    let segment = Segment::allocate(&driver, 1000).unwrap();
    let region = segment.whole().region();
    machine
        .set(0, region, 1, RawStream::PER_THREAD_DEFAULT)
        .unwrap();
    machine
        .set(0, region, 2, RawStream::PER_THREAD_DEFAULT)
        .unwrap();
    std::thread::scope(|scope| {
        let other = scope.spawn(|| machine.set(0, region, 3, RawStream::PER_THREAD_DEFAULT));
        other.join().unwrap().unwrap_err();
    });
    assert!(matches!(kinds(&machine)[..], [ViolationKind::Race { .. }]));
}

/// The host reads pinned memory while the copy has not run: a forgotten wait shows.
#[test]
fn late_work_is_done_when_somebody_waits_and_not_before() {
    for (schedule, seen) in [(Schedule::Latest, 0), (Schedule::Eager, 7)] {
        let (_machine, _, driver) = machine(schedule);
        let (stream, segment) = (stream(&driver), Segment::allocate(&driver, 4).unwrap());
        let pinned = Pinned::allocate(&driver, 4).unwrap();
        stream.set(segment.whole(), 7).unwrap();
        let to = PinnedSpan {
            pinned: &pinned,
            offset: 0,
        };
        stream.download(to, segment.whole()).unwrap();
        let mut bytes = [9; 4];
        pinned.read(0, &mut bytes).unwrap();
        assert_eq!(bytes, [seen; 4], "{schedule:?}");
        stream.synchronize().unwrap();
        pinned.read(0, &mut bytes).unwrap();
        assert_eq!(bytes, [7; 4], "{schedule:?}");
    }
}

#[test]
fn pinned_memory_is_sent_late_and_pageable_memory_at_the_call() {
    let (_machine, _, driver) = machine(Schedule::Latest);
    let (stream, segment) = (stream(&driver), Segment::allocate(&driver, 4).unwrap());
    let pinned = Pinned::allocate(&driver, 4).unwrap();
    pinned.write(0, &[1; 4]).unwrap();
    stream
        .upload(
            segment.whole(),
            PinnedSpan {
                pinned: &pinned,
                offset: 0,
            },
        )
        .unwrap();
    // Too early: the copy has not run.
    pinned.write(0, &[2; 4]).unwrap();
    let mut bytes = [0; 4];
    stream
        .download_and_wait(&mut bytes, segment.whole())
        .unwrap();
    assert_eq!(bytes, [2; 4]);
    let mut source = [3; 4];
    stream.upload_and_wait(segment.whole(), &source).unwrap();
    source.fill(4);
    stream
        .download_and_wait(&mut bytes, segment.whole())
        .unwrap();
    assert_eq!(bytes, [3; 4]);
}

#[test]
fn annotated_bytes_are_used_as_it_was_said() {
    let (machine, _, driver) = machine(Schedule::Latest);
    let (one, other) = (stream(&driver), stream(&driver));
    let segment = Segment::allocate(&driver, 1024).unwrap();
    let part = |at| segment.span(at, 256).unwrap();
    driver.annotate(segment.whole().region(), RegionState::Free);
    one.set(part(0), 1).unwrap_err();
    driver.annotate(part(0).region(), RegionState::InUse { on: one.raw() });
    one.set(part(0), 1).unwrap();
    other.set(part(0), 1).unwrap_err();
    driver.annotate(
        part(0).region(),
        RegionState::AlsoUsedOn {
            stream: other.raw(),
        },
    );
    // Declared, and still not ordered.
    other.set(part(0), 1).unwrap_err();
    driver.annotate(part(0).region(), RegionState::Free);
    driver.annotate(part(0).region(), RegionState::InUse { on: other.raw() });
    let found = kinds(&machine);
    let wanted: [fn(&ViolationKind) -> bool; 4] = [
        |kind| matches!(kind, ViolationKind::TouchesFree { .. }),
        |kind| matches!(kind, ViolationKind::NotDeclared { .. }),
        |kind| matches!(kind, ViolationKind::Race { .. }),
        |kind| matches!(kind, ViolationKind::ReusedTooEarly { .. }),
    ];
    assert_eq!(found.len(), wanted.len(), "{found:?}");
    assert!(
        found.iter().zip(wanted).all(|(kind, is)| is(kind)),
        "{found:?}"
    );
}

#[test]
fn giving_memory_back_under_work_is_seen() {
    let (machine, _, driver) = machine(Schedule::Latest);
    let (stream, segment) = (stream(&driver), Segment::allocate(&driver, 1024).unwrap());
    stream.set(segment.whole(), 1).unwrap();
    let freed = segment.free();
    assert!(freed.is_err());
    assert!(matches!(
        kinds(&machine)[..],
        [ViolationKind::FreedInUse { .. }]
    ));
}

#[test]
fn memory_in_a_streams_order_needs_no_wait_on_it() {
    let (machine, _, driver) = machine(Schedule::Latest);
    let (one, other) = (stream(&driver), stream(&driver));
    let at = machine.allocate_on(0, 4096, one.raw()).unwrap();
    let region = core_gpu_driver::Region {
        address: at,
        bytes: 4096,
    };
    machine.set(0, region, 1, one.raw()).unwrap();
    machine.set(0, region, 1, other.raw()).unwrap_err();
    machine.free_on(0, at, one.raw()).unwrap();
    // After its free it is nobody's.
    machine.set(0, region, 1, one.raw()).unwrap_err();
    machine.free_on(0, at, one.raw()).unwrap_err();
    one.synchronize().unwrap();
    assert_eq!(machine.live().device_bytes, 0);
}

#[test]
fn a_capture_runs_when_its_graph_does() {
    let (machine, device, driver) = machine(Schedule::Eager);
    let (captured, segment) = (stream(&driver), Segment::allocate(&driver, 4).unwrap());
    let fill = |value: u8| {
        let region = segment.whole().region();
        Kernel::new("fill")
            .writing(region)
            .doing(move |memory| memory.write(region, &[value; 4]))
    };
    let read = || {
        let (other, mut bytes) = (stream(&driver), [0; 4]);
        driver.synchronize().unwrap();
        other
            .download_and_wait(&mut bytes, segment.whole())
            .unwrap();
        other.synchronize().unwrap();
        bytes
    };
    device.launch(&fill(1), captured.raw()).unwrap();
    captured.synchronize().unwrap();
    machine
        .begin_capture(0, captured.raw(), CaptureMode::Relaxed)
        .unwrap();
    assert_eq!(
        machine.capture_status(0, captured.raw()),
        Ok(CaptureStatus::Active)
    );
    device.launch(&fill(2), captured.raw()).unwrap();
    let graph = machine.end_capture(0, captured.raw()).unwrap();
    assert_eq!(read(), [1; 4], "it was only written down");
    machine.launch_graph(0, graph, captured.raw()).unwrap();
    captured.synchronize().unwrap();
    assert_eq!(read(), [2; 4]);
    machine.destroy_graph(0, graph).unwrap();
}

#[test]
fn waiting_breaks_a_capture() {
    let (machine, _, driver) = machine(Schedule::Latest);
    let captured = stream(&driver);
    machine
        .begin_capture(0, captured.raw(), CaptureMode::Global)
        .unwrap();
    let waited = captured.synchronize().unwrap_err();
    assert!(
        matches!(waited, DriverError::Call { code: 900, .. }),
        "{waited}"
    );
    assert_eq!(
        machine.end_capture(0, captured.raw()),
        Err(Code::CAPTURE_INVALIDATED)
    );
}

#[test]
fn address_space_is_mapped_and_unmapped() {
    let (machine, _, driver) = machine(Schedule::Latest);
    let unit = driver.virtual_memory().unwrap().granularity_bytes();
    let at = machine.reserve(0, 2 * unit).unwrap();
    let second = at.checked_add(unit).unwrap();
    let (one, other) = (
        machine.create_physical(0, unit).unwrap(),
        machine.create_physical(0, unit).unwrap(),
    );
    machine.map(0, at, one).unwrap();
    machine.map(0, at, other).unwrap_err();
    machine.map(0, second, other).unwrap();
    let stream = stream(&driver);
    // One range over two mappings.
    let both = core_gpu_driver::Region {
        address: at,
        bytes: 2 * unit,
    };
    machine.set(0, both, 1, stream.raw()).unwrap();
    stream.synchronize().unwrap();
    machine.unmap(0, second, unit).unwrap();
    machine.set(0, both, 1, stream.raw()).unwrap_err();
    machine.release(0, at, 2 * unit).unwrap_err();
    machine.unmap(0, at, unit).unwrap();
    machine.release(0, at, 2 * unit).unwrap();
    machine.destroy_physical(0, one).unwrap();
    machine.destroy_physical(0, other).unwrap();
    assert_eq!(machine.live().device_bytes, 0);
    assert_eq!(
        (machine.live().reservations, machine.live().physical),
        (0, 0)
    );
}

#[test]
fn a_lost_device_stays_lost() {
    let (machine, _, driver) = machine(Schedule::Latest);
    let stream = stream(&driver);
    machine
        .fail_work(0, stream.raw(), Code::ILLEGAL_ADDRESS)
        .unwrap();
    for _ in 0..2 {
        let error = stream.synchronize().unwrap_err();
        assert!(
            matches!(error, DriverError::Lost { code: 700, .. }),
            "{error}"
        );
    }
    assert!(Segment::allocate(&driver, 100).is_err_and(|error| error.is_lost()));
}

#[test]
fn errors_come_before_after_and_from_earlier() {
    let cases = [
        (
            Fault::before("cuMemAlloc", 1, Code::INVALID_VALUE),
            0,
            false,
        ),
        (
            Fault::after("cuMemAlloc", 1, Code::INVALID_VALUE),
            1000,
            false,
        ),
        (
            Fault::from_earlier_work("cuMemAlloc", 1, Code::LAUNCH_FAILED),
            0,
            true,
        ),
    ];
    for (fault, orphaned, lost) in cases {
        let (machine, _, driver) = machine(Schedule::Latest);
        machine.plan(fault.clone());
        let error = Segment::allocate(&driver, 1000).unwrap_err();
        assert_eq!(error.is_lost(), lost, "{fault:?}");
        assert_eq!(machine.fault_books().orphaned_bytes, orphaned, "{fault:?}");
        assert_eq!(Segment::allocate(&driver, 1000).is_err(), lost, "{fault:?}");
    }
}

#[test]
fn a_forked_child_has_no_driver() {
    let (machine, _, driver) = machine(Schedule::Latest);
    machine.pretend_forked();
    let error = driver.memory_info().unwrap_err();
    assert_eq!(error, DriverError::Absent(Absent::Forked));
}

#[test]
fn other_processes_take_memory_too() {
    let (machine, _, driver) = machine(Schedule::Latest);
    machine.set_other_processes(0, BYTES - 4096);
    assert_eq!(driver.memory_info().unwrap().free_bytes, 4096);
    assert_eq!(
        Segment::allocate(&driver, 8192).unwrap_err(),
        DriverError::OutOfMemory
    );
}

#[test]
fn time_is_the_machines_own() {
    let (machine, device, driver) = machine(Schedule::Latest);
    let stream = stream(&driver);
    let event = || Event::new(&driver, EventKind::Timed).unwrap();
    let (start, end) = (event(), event());
    stream.record(&start).unwrap();
    device
        .launch(&Kernel::new("slow").taking(5_000_000), stream.raw())
        .unwrap();
    stream.record(&end).unwrap();
    stream.synchronize().unwrap();
    let elapsed = end.elapsed_since(&start).unwrap();
    assert!(
        elapsed >= Duration::from_millis(5) && elapsed < Duration::from_millis(6),
        "{elapsed:?}"
    );
    assert!(machine.now() >= 5_000_000);
}

/// Copies of 1 MiB each from pinned memory, on so many streams, and how long the machine took.
fn time_of_copies(streams: usize, uploads: usize, downloads: usize) -> u64 {
    let (machine, _, driver) = machine(Schedule::Latest);
    let streams: Vec<_> = (0..streams).map(|_| stream(&driver)).collect();
    let copies = uploads + downloads;
    let segment = Segment::allocate(&driver, copies << 20).unwrap();
    let pinned = Pinned::allocate(&driver, copies << 20).unwrap();
    let begun = machine.now();
    for number in 0..copies {
        let on = &streams[number * streams.len() / copies];
        let offset = number << 20;
        let device = segment.span(offset as u64, 1 << 20).unwrap();
        let host = PinnedSpan {
            pinned: &pinned,
            offset: offset as u64,
        };
        match number < uploads {
            true => on.upload(device, host).unwrap(),
            false => on.download(host, device).unwrap(),
        }
    }
    for stream in &streams {
        stream.synchronize().unwrap();
    }
    machine.now() - begun
}

#[test]
fn copies_of_one_direction_share_the_link() {
    let (alone, beside) = (time_of_copies(1, 4, 0), time_of_copies(4, 4, 0));
    assert!(beside > alone * 9 / 10, "{beside} of {alone}");
    let both_ways = time_of_copies(2, 2, 2);
    assert!(both_ways < alone * 6 / 10, "{both_ways} of {alone}");
}

#[test]
fn devices_have_events_of_their_own() {
    let machine = Machine::new(Config::with_devices(&[BYTES, BYTES]));
    let open = |number| -> Arc<dyn Driver> { SimDriver::open(&machine, number).unwrap() };
    let (one, other) = (open(0), open(1));
    let (first, second) = (stream(&one), stream(&other));
    let event = Event::new(&one, EventKind::Order).unwrap();
    // Recorded on its own device only, waited for on any.
    assert!(second.record(&event).is_err());
    first.record(&event).unwrap();
    second.wait(&event).unwrap();
    second.synchronize().unwrap();
}

/// A seed gives the same machine every time.
#[test]
fn seeded_schedules_repeat() {
    let run = |seed| {
        let (machine, _, driver) = machine(Schedule::Seeded(seed));
        let (one, other) = (stream(&driver), stream(&driver));
        let segment = Segment::allocate(&driver, 4096).unwrap();
        let pinned = Pinned::allocate(&driver, 4096).unwrap();
        let mut seen = Vec::new();
        for round in 0..20_u8 {
            one.set(segment.span(0, 2048).unwrap(), round).unwrap();
            other.set(segment.span(2048, 2048).unwrap(), round).unwrap();
            let to = PinnedSpan {
                pinned: &pinned,
                offset: u64::from(round),
            };
            one.download(to, segment.span(0, 1).unwrap()).unwrap();
            let mut bytes = [0; 20];
            pinned.read(0, &mut bytes).unwrap();
            seen.push(bytes);
        }
        one.synchronize().unwrap();
        other.synchronize().unwrap();
        (seen, machine.now())
    };
    let all: Vec<_> = (0..8).map(run).collect();
    let again: Vec<_> = (0..8).map(run).collect();
    assert_eq!(all, again);
    assert!(
        all.windows(2).any(|pair| pair[0] != pair[1]),
        "seeds differ"
    );
}
