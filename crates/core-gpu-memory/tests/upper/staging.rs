//! Staging: what goes up comes down, in few waits, through any ring.

use core_gpu_driver::{DeviceSpan, Driver, DriverError, Segment};
use core_gpu_memory::{PendingDownload, Staging, StagingError, StagingSettings};
use gpu_sim::{Code, Fault, Schedule};

use crate::support::{MIB, each_device, pattern, simulated, small_ring, stream};

const LENGTHS: &[usize] = &[0, 1, 255, 256, 257, 1024, 5000, 1, 70_000];

fn round_trip(staging: &Staging, driver: &std::sync::Arc<dyn Driver>) {
    let stream = stream(driver);
    let segment = Segment::allocate(driver, MIB as usize).unwrap();
    let arrays: Vec<_> = LENGTHS
        .iter()
        .zip(0..)
        .map(|(len, seed)| pattern(seed, *len))
        .collect();
    let spans: Vec<_> = arrays
        .iter()
        .zip(0_u64..)
        .map(|(array, at)| segment.span(at * 100_000, array.len() as u64).unwrap())
        .collect();
    let up: Vec<_> = spans
        .iter()
        .copied()
        .zip(arrays.iter().map(Vec::as_slice))
        .collect();
    staging.upload_many(&up, &stream).unwrap();
    let mut back: Vec<_> = LENGTHS.iter().map(|len| vec![0; *len]).collect();
    let mut down: Vec<_> = back.iter_mut().map(Vec::as_mut_slice).zip(spans).collect();
    staging.download_many(&mut down, &stream).unwrap();
    assert_eq!(back, arrays);
    stream.synchronize().unwrap();
}

#[test]
fn what_goes_up_comes_down() {
    each_device(4 * MIB, |driver| {
        for checksums in [false, true] {
            let settings = StagingSettings {
                checksums,
                ..small_ring()
            };
            let staging = Staging::new(driver, &settings).unwrap();
            assert!(staging.is_pinned());
            round_trip(&staging, driver);
            round_trip(&staging, driver);
            round_trip(&Staging::pageable(checksums), driver);
        }
    });
}

/// A segment with patterns in it, and where they lie.
fn filled(driver: &std::sync::Arc<dyn Driver>) -> (Segment, Vec<Vec<u8>>) {
    let stream = stream(driver);
    let segment = Segment::allocate(driver, MIB as usize).unwrap();
    let mut arrays = Vec::new();
    for (len, seed) in LENGTHS.iter().zip(0_u64..) {
        let array = pattern(seed as u8, *len);
        let span = segment.span(seed * 100_000, *len as u64).unwrap();
        if *len > 0 {
            stream.upload_and_wait(span, &array).unwrap();
        }
        arrays.push(array);
    }
    (segment, arrays)
}

/// Where the arrays of [`filled`] lie.
fn spans_of(segment: &Segment) -> Vec<DeviceSpan<'_>> {
    let places = LENGTHS.iter().zip(0_u64..);
    places
        .map(|(len, seed)| segment.span(seed * 100_000, *len as u64).unwrap())
        .collect()
}

#[test]
fn what_is_asked_for_is_what_was_there_then() {
    each_device(4 * MIB, |driver| {
        for checksums in [false, true] {
            let settings = StagingSettings {
                checksums,
                ..small_ring()
            };
            let pinned = Staging::new(driver, &settings).unwrap();
            for staging in [pinned, Staging::pageable(checksums)] {
                let (segment, arrays) = filled(driver);
                let spans = spans_of(&segment);
                let stream = stream(driver);
                let pending = staging.download_async(&spans, &stream).unwrap();
                let empty = staging.download_async(&[], &stream).unwrap();
                // It comes behind the copies.
                stream.set(segment.whole(), 0).unwrap();
                assert_eq!(pending.wait().unwrap(), arrays);
                assert_eq!(empty.wait().unwrap(), Vec::<Vec<u8>>::new());
                let mut back = vec![7; 256];
                let zeros = staging.download_async(&[segment.span(0, 256).unwrap()], &stream);
                zeros.unwrap().wait_into(&mut [&mut back]).unwrap();
                assert_eq!(back, [0; 256]);
                stream.synchronize().unwrap();
            }
        }
    });
}

#[test]
fn a_pending_download_waits_once_and_knows_when_it_need_not() {
    let (machine, driver) = simulated(8 * MIB, Schedule::Latest);
    let (segment, arrays) = filled(&driver);
    let spans = spans_of(&segment);
    let staging = Staging::new(&driver, &StagingSettings::default()).unwrap();
    let stream = stream(&driver);
    machine.stall(0, stream.raw()).unwrap();
    let pending = staging.download_async(&spans, &stream).unwrap();
    assert!(!pending.is_ready().unwrap(), "a slow kernel is before it");
    assert_eq!(staging.counter().read().synchronisations, 0);
    // Others do not wait for it: the ring is free.
    let other = crate::support::stream(&driver);
    let apart = Segment::allocate(&driver, 256).unwrap();
    staging.upload(apart.whole(), &[1; 256], &other).unwrap();
    other.synchronize().unwrap();
    machine.release_hangs();
    assert_eq!(pending.wait().unwrap(), arrays);
    assert_eq!(staging.counter().read().synchronisations, 1);
    let pending = staging.download_async(&spans, &stream).unwrap();
    stream.synchronize().unwrap();
    assert!(pending.is_ready().unwrap());
    assert_eq!(pending.wait().unwrap(), arrays);
    assert_eq!(staging.counter().read().synchronisations, 1, "none more");
    assert_eq!(
        machine.calls().get("cuMemHostAlloc"),
        Some(&2),
        "ring and landing"
    );
    drop((staging, segment, apart, stream, other));
    machine.verify().unwrap();
}

#[test]
fn what_nobody_waits_for_disturbs_nobody() {
    let (machine, driver) = simulated(8 * MIB, Schedule::Latest);
    let (segment, arrays) = filled(&driver);
    let spans = spans_of(&segment);
    let staging = Staging::new(&driver, &StagingSettings::default()).unwrap();
    let stream = stream(&driver);
    for _ in 0..20 {
        drop(staging.download_async(&spans, &stream).unwrap());
        let pending = staging.download_async(&spans, &stream).unwrap();
        let moved = std::thread::spawn(move || pending.wait().unwrap());
        assert_eq!(moved.join().unwrap(), arrays);
    }
    let pinned = machine.calls().get("cuMemHostAlloc").copied();
    assert!(pinned < Some(10), "memory is used again: {pinned:?}");
    let late = staging.download_async(&spans, &stream).unwrap();
    drop((staging, segment, stream));
    assert_eq!(late.wait().unwrap(), arrays);
    machine.verify().unwrap();
}

#[test]
fn a_pending_download_refuses_what_does_not_fit() {
    let (machine, driver) = simulated(8 * MIB, Schedule::Latest);
    let (segment, _) = filled(&driver);
    let spans = spans_of(&segment);
    let staging = Staging::new(&driver, &StagingSettings::default()).unwrap();
    let stream = stream(&driver);
    let mut short = [7; 10];
    let pending = staging.download_async(&[segment.whole()], &stream).unwrap();
    assert!(pending.wait_into(&mut [&mut short]).is_err());
    let pending = staging.download_async(&spans, &stream).unwrap();
    assert!(pending.wait_into(&mut [&mut short]).is_err());
    assert_eq!(short, [7; 10]);
    machine
        .begin_capture(0, stream.raw(), gpu_sim::CaptureMode::ThreadLocal)
        .unwrap();
    let captured = staging.download_async(&spans, &stream).unwrap_err();
    assert!(
        matches!(captured, StagingError::Driver(DriverError::Refused { .. })),
        "{captured}"
    );
}

#[test]
fn many_arrays_cost_one_wait() {
    let (machine, driver) = simulated(4 * MIB, Schedule::Latest);
    let staging = Staging::new(&driver, &StagingSettings::default()).unwrap();
    round_trip(&staging, &driver);
    let counted = staging.counter().read();
    let bytes: usize = LENGTHS.iter().sum();
    assert_eq!(counted.to_device_bytes, bytes as u64);
    assert_eq!(counted.to_host_bytes, bytes as u64);
    assert_eq!(
        (counted.synchronisations, counted.pageable_copies),
        (2, 0),
        "the ring, then the batch"
    );
    let moved = machine.moved();
    assert_eq!(
        (moved.to_device_bytes, moved.to_host_bytes),
        (bytes as u64, bytes as u64)
    );
    drop(staging);
    machine.verify().unwrap();
}

#[test]
fn without_pinned_memory_it_is_slower_and_says_so() {
    let (machine, driver) = simulated(4 * MIB, Schedule::Latest);
    machine.plan(Fault::before("cuMemHostAlloc", 1, Code::OUT_OF_MEMORY));
    let staging = Staging::new(&driver, &StagingSettings::default()).unwrap();
    assert!(!staging.is_pinned());
    round_trip(&staging, &driver);
    assert!(staging.counter().read().pageable_copies > 0);
    machine.plan(Fault::before("cuMemHostAlloc", 2, Code::OUT_OF_MEMORY));
    let strict = StagingSettings {
        pageable_fallback: false,
        ..StagingSettings::default()
    };
    assert_eq!(
        Staging::new(&driver, &strict).unwrap_err(),
        DriverError::OutOfMemory
    );
    machine.verify().unwrap();
}

#[test]
fn a_wrong_bit_is_found_where_checksums_are_compared() {
    for (checksums, pinned) in [(true, true), (true, false), (false, true)] {
        let (machine, driver) = simulated(4 * MIB, Schedule::Latest);
        let settings = StagingSettings {
            checksums,
            ..small_ring()
        };
        let staging = match pinned {
            true => Staging::new(&driver, &settings).unwrap(),
            false => Staging::pageable(checksums),
        };
        let (stream, segment) = (stream(&driver), Segment::allocate(&driver, 5000).unwrap());
        machine.damage_uploads(1);
        let sent = staging.upload(segment.whole(), &pattern(1, 5000), &stream);
        match sent {
            Err(StagingError::Checksum { bytes, .. }) if checksums => assert_eq!(bytes, 5000),
            Ok(()) if !checksums => (),
            other => panic!("{other:?}"),
        }
        stream.synchronize().unwrap();
        staging
            .upload(segment.whole(), &pattern(1, 5000), &stream)
            .unwrap();
        stream.synchronize().unwrap();
    }
}

#[test]
fn lengths_must_agree() {
    let (_machine, driver) = simulated(4 * MIB, Schedule::Latest);
    let stream = stream(&driver);
    let segment = Segment::allocate(&driver, 256).unwrap();
    let staging = Staging::new(&driver, &small_ring()).unwrap();
    let wrong = staging
        .upload(segment.whole(), &[0; 255], &stream)
        .unwrap_err();
    assert!(
        matches!(wrong, StagingError::Driver(DriverError::Refused { .. })),
        "{wrong}"
    );
    let wrong = staging
        .download(&mut [0; 257], segment.whole(), &stream)
        .unwrap_err();
    assert!(
        matches!(wrong, StagingError::Driver(DriverError::Refused { .. })),
        "{wrong}"
    );
}

#[test]
fn after_every_fault_the_ring_is_usable() {
    let functions = [
        "cuMemcpyAsync",
        "cuMemHostAlloc",
        "cuEventCreate",
        "cuEventRecord",
        "cuStreamSynchronize",
        "cuEventQuery",
    ];
    for function in functions {
        for occurrence in 1..30 {
            for after in [false, true] {
                let (machine, driver) = simulated(4 * MIB, Schedule::Latest);
                let stream = stream(&driver);
                let segment = Segment::allocate(&driver, 8192).unwrap();
                let staging = Staging::new(&driver, &small_ring()).unwrap();
                let fault = if after { Fault::after } else { Fault::before };
                machine.plan(fault(function, occurrence, Code::INVALID_VALUE));
                let sent = pattern(3, 8192);
                for _ in 0..3 {
                    let mut back = vec![0; 8192];
                    let up = staging.upload(segment.whole(), &sent, &stream);
                    let down = staging.download(&mut back, segment.whole(), &stream);
                    if up.is_ok() && down.is_ok() {
                        assert_eq!(back, sent, "{function} {occurrence}");
                    }
                    let pending = staging.download_async(&[segment.whole()], &stream);
                    let arrays = pending.and_then(PendingDownload::wait);
                    if let (Ok(()), Ok(arrays)) = (up, arrays) {
                        assert_eq!(arrays, [sent.as_slice()], "{function} {occurrence}");
                    }
                }
                let calls = machine.calls();
                if calls.get(function).is_none_or(|calls| *calls < occurrence) {
                    break;
                }
                let mut back = vec![0; 8192];
                staging.upload(segment.whole(), &sent, &stream).unwrap();
                staging
                    .download(&mut back, segment.whole(), &stream)
                    .unwrap();
                assert_eq!(back, sent, "{function} {occurrence}");
                assert_eq!(machine.violations(), []);
            }
        }
    }
}
