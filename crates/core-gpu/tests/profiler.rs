//! The profiler on the host and on simulated machines. It is the process's: tests take turns.
#![expect(clippy::unwrap_used, reason = "a test's failure")]

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use core_gpu::{
    driver::{Driver, HostDriver, Region, Segment, Stream, StreamKind},
    memory::{Pool, Source},
    profiler::{
        MemoryWatch, SpanName, Work, profile, profile_named, profile_on, profile_with_memory,
        profiler,
    },
};
use gpu_sim::{Code, Config, Kernel, Machine, Schedule, SimDriver};

/// One test at a time, with nothing recorded yet.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    profiler().reset();
    profiler().enable();
    turn
}

fn simulated(schedule: Schedule) -> (Machine, Arc<SimDriver>, Arc<dyn Driver>, Stream) {
    let mut config = Config::with_devices(&[1 << 24]);
    config.schedule = schedule;
    let machine = Machine::new(config);
    let device = SimDriver::open(&machine, 0).unwrap();
    let driver: Arc<dyn Driver> = Arc::clone(&device) as _;
    let stream = Stream::new(&driver, StreamKind::NonBlocking).unwrap();
    (machine, device, driver, stream)
}

#[test]
fn spans_are_counted_and_their_own_time_is_what_is_left() {
    let _turn = turn();
    for _ in 0..10 {
        let _outer = profile("outer");
        std::thread::sleep(Duration::from_millis(1));
        let _inner = profile("inner");
        std::thread::sleep(Duration::from_millis(2));
    }
    let stats = profiler().stats();
    let (outer, inner) = (&stats["outer"], &stats["inner"]);
    assert_eq!((outer.count, inner.count), (10, 10));
    assert_eq!(inner.own, inner.total);
    assert!(outer.own < outer.total && outer.own >= 10_000_000);
    assert!(outer.shortest <= outer.median && outer.median <= outer.longest);
}

/// Spans as ranges where NVIDIA's library for them is; a typed reason where it is not.
#[test]
fn ranges_are_there_or_the_reason_is() {
    let _turn = turn();
    match profiler().enable_ranges() {
        Ok(()) => {
            for _ in 0..3 {
                let _outer = profile("a range");
                let _inner = profile("inside of it");
            }
            // One that is open when ranges end is ended all the same.
            let open = profile("open");
            profiler().disable_ranges();
            drop(open);
            assert_eq!(profiler().stats()["a range"].count, 3);
        }
        Err(why) => {
            let said = why.to_string();
            let known = ["libnvToolsExt.so.1", "feature `cuda`"];
            assert!(known.iter().any(|known| said.contains(known)), "{said}");
        }
    }
}

#[test]
fn off_means_off() {
    let _turn = turn();
    profiler().disable();
    drop(profile("unseen"));
    {
        let _open = profile("begun while off");
        profiler().enable();
    }
    let _open = profile("ended while off");
    profiler().disable();
    drop(_open);
    assert!(profiler().stats().is_empty());
}

#[test]
fn a_reset_forgets_also_what_is_open() {
    let _turn = turn();
    drop(profile("before"));
    let open = profile("open");
    profiler().reset();
    drop(open);
    drop(profile("after"));
    let names: Vec<_> = profiler().stats().into_keys().collect();
    assert_eq!(names, ["after"]);
}

#[test]
fn threads_add_up_also_those_that_are_gone() {
    let _turn = turn();
    let count = 200;
    for _ in 0..count {
        let thread = std::thread::spawn(|| {
            for _ in 0..3 {
                drop(profile_named(SpanName::of(&format!("made {}", 1 + 1))));
            }
        });
        thread.join().unwrap();
    }
    assert_eq!(profiler().stats()["made 2"].count, 3 * count);
}

#[test]
fn device_spans_have_the_devices_time() {
    let _turn = turn();
    let (_machine, device, driver, stream) = simulated(Schedule::Latest);
    let segment = Segment::allocate(&driver, 4096).unwrap();
    let kernel = Kernel::new("work").taking(1_000_000).writing(Region {
        address: segment.whole().address(),
        bytes: 4096,
    });
    for _ in 0..4 {
        let span = profile_on("kernels", &stream, Work::Compute);
        device.launch(&kernel, stream.raw()).unwrap();
        device.launch(&kernel, stream.raw()).unwrap();
        drop(span);
        let _upload = profile_on("upload", &stream, Work::Upload { bytes: 4096 });
        stream.upload_and_wait(segment.whole(), &[7; 4096]).unwrap();
    }
    stream.synchronize().unwrap();
    let report = profiler().report();
    let found = &report.devices[0];
    let kernels = &found.spans["kernels"];
    assert_eq!(kernels.count, 4);
    // Two kernels of a millisecond each, and what the machine adds for starting them.
    assert!(
        (2_000_000..2_100_000).contains(&kernels.shortest),
        "{kernels:?}"
    );
    let uploads = &found.spans["upload"];
    assert_eq!(
        (uploads.count, uploads.transfers, uploads.bytes),
        (4, 4, 4 * 4096)
    );
    assert_eq!(found.compute, kernels.total);
    assert_eq!(found.transfer, uploads.total);
    assert_eq!((found.pending, found.errors, found.overlapped), (0, 0, 0));
    assert!(found.window >= found.busy);
}

#[test]
fn spans_that_are_not_over_are_pending_and_counted_later() {
    let _turn = turn();
    let (machine, device, _driver, stream) = simulated(Schedule::Latest);
    machine.stall(0, stream.raw()).unwrap();
    {
        let _span = profile_on("stuck", &stream, Work::Compute);
        device.launch(&Kernel::new("work"), stream.raw()).unwrap();
    }
    let report = profiler().report();
    assert_eq!(report.devices[0].pending, 1);
    assert!(report.devices[0].spans.is_empty());
    machine.release_hangs();
    stream.synchronize().unwrap();
    let report = profiler().report();
    assert_eq!(report.devices[0].pending, 0);
    assert_eq!(report.devices[0].spans["stuck"].count, 1);
}

#[test]
fn a_capture_is_left_alone() {
    let _turn = turn();
    let (machine, device, driver, stream) = simulated(Schedule::Latest);
    drop(profile_on("before", &stream, Work::Compute));
    machine
        .begin_capture(0, stream.raw(), gpu_sim::CaptureMode::Global)
        .unwrap();
    {
        let _span = profile_on("captured", &stream, Work::Compute);
        device.launch(&Kernel::new("work"), stream.raw()).unwrap();
    }
    let report = profiler().report();
    assert_eq!(report.devices[0].captured, 1);
    assert_eq!(report.devices[0].pending, 1, "nothing was asked");
    machine.end_capture(0, stream.raw()).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(profiler().report().devices[0].spans["before"].count, 1);
    drop((stream, driver));
}

#[test]
fn a_failing_driver_fails_no_span() {
    let _turn = turn();
    let (machine, _device, _driver, stream) = simulated(Schedule::Latest);
    drop(profile_on("works", &stream, Work::Compute));
    machine.lose(0, Code(700));
    for _ in 0..3 {
        drop(profile_on("fails", &stream, Work::Compute));
    }
    let report = profiler().report();
    let device = &report.devices[0];
    // The three that could not begin, and the one that can no longer be read.
    assert_eq!(device.errors, 4);
    assert!(device.last_error.as_deref().unwrap().contains("lost"));
    let rules: Vec<_> = report.recommendations.iter().map(|r| r.rule).collect();
    assert!(rules.contains(&"unseen-spans"), "{rules:?}");
}

#[test]
fn memory_is_seen_where_it_is_asked_for() {
    let _turn = turn();
    let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 24));
    let stream = Stream::new(&driver, StreamKind::NonBlocking).unwrap();
    let pool = Pool::builder(&driver)
        .observer(Arc::new(MemoryWatch::new()))
        .build()
        .unwrap();
    let mut kept = Vec::new();
    for _ in 0..5 {
        let _span = profile_with_memory("step");
        kept.push(pool.allocate::<u8>(4096, &stream, Source::UNNAMED).unwrap());
        let _inner = profile_with_memory("inner");
        drop(
            pool.allocate::<u8>(1 << 16, &stream, Source::UNNAMED)
                .unwrap(),
        );
    }
    let report = profiler().report();
    let (step, inner) = (
        report.host["step"].memory.unwrap(),
        report.host["inner"].memory.unwrap(),
    );
    assert_eq!((step.spans, step.change), (5, 5 * 4096));
    assert_eq!((inner.change, inner.peak), (0, 1 << 16));
    assert_eq!(step.peak, 4096 + (1 << 16));
    assert_eq!(report.memory.allocations, 10);
    drop(kept);
    pool.shutdown().unwrap();
}

#[test]
fn the_trace_has_host_and_device_on_one_line() {
    let _turn = turn();
    let (_machine, device, driver, stream) = simulated(Schedule::Eager);
    {
        let _host = profile("host \"step\"");
        let _device = profile_on("device step", &stream, Work::Compute);
        device
            .launch(&Kernel::new("work").taking(5_000), stream.raw())
            .unwrap();
    }
    stream.synchronize().unwrap();
    let trace: serde_json::Value = serde_json::from_str(&profiler().trace_json()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let one = |name: &str| {
        let found = events.iter().find(|event| event["name"] == name);
        found.unwrap_or_else(|| panic!("no {name} in {events:?}"))
    };
    let (host, device) = (one("host \"step\""), one("device step"));
    for event in [host, device] {
        assert_eq!(event["ph"], "X");
        assert!(event["ts"].as_f64().unwrap() >= 0.0);
    }
    assert_ne!(host["pid"], device["pid"]);
    assert_eq!(device["tid"], stream.id().get());
    let lasted = device["dur"].as_f64().unwrap();
    assert!((5.0..20.0).contains(&lasted), "{lasted}");
    let named: Vec<_> = events
        .iter()
        .filter(|event| event["name"] == "process_name")
        .collect();
    assert_eq!(named.len(), 2);
    drop(driver);
}

#[test]
fn a_report_is_json_and_text() {
    let _turn = turn();
    drop(profile("a span"));
    let report = profiler().report();
    let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    assert_eq!(json["host"]["a span"]["count"], 1);
    assert!(report.to_text().contains("a span"));
}

#[test]
fn many_device_spans_are_read_on_the_way() {
    let _turn = turn();
    let (machine, _device, _driver, stream) = simulated(Schedule::Eager);
    for _ in 0..5_000 {
        drop(profile_on("many", &stream, Work::Compute));
    }
    stream.synchronize().unwrap();
    assert_eq!(profiler().report().devices[0].spans["many"].count, 5_000);
    // Events are used again: the profiler holds as many as gathered at most, two for each span.
    assert!(
        machine.live().events <= 2 * 1024 + 8,
        "{:?}",
        machine.live()
    );
}

#[test]
fn devices_are_forgotten() {
    let _turn = turn();
    let (_machine, device, driver, stream) = simulated(Schedule::Eager);
    drop(profile_on("one", &stream, Work::Compute));
    stream.synchronize().unwrap();
    assert_eq!(profiler().report().devices.len(), 1);
    profiler().reset();
    assert!(profiler().report().devices.is_empty());
    drop((stream, driver));
    assert_eq!(Arc::strong_count(&device), 1, "nobody keeps it open");
}

#[test]
fn transfers_that_dominate_are_called_out() {
    let _turn = turn();
    let (_machine, device, driver, stream) = simulated(Schedule::Latest);
    let segment = Segment::allocate(&driver, 1 << 20).unwrap();
    let bytes = vec![1; 1 << 20];
    for _ in 0..10 {
        {
            let _span = profile_on("upload", &stream, Work::Upload { bytes: 1 << 20 });
            stream.upload_and_wait(segment.whole(), &bytes).unwrap();
        }
        let _span = profile_on("kernel", &stream, Work::Compute);
        device.launch(&Kernel::new("short"), stream.raw()).unwrap();
    }
    stream.synchronize().unwrap();
    let report = profiler().report();
    let found = &report.recommendations[0];
    assert_eq!(found.rule, "transfer-bound", "{}", report.to_text());
}

#[cfg(feature = "tracing")]
#[test]
fn spans_of_tracing_are_spans() {
    use core_gpu::profiler::TracingBridge;
    use tracing_subscriber::{layer::SubscriberExt as _, registry};
    let _turn = turn();
    tracing::subscriber::with_default(registry().with(TracingBridge::new()), || {
        for _ in 0..3 {
            let _outer = tracing::info_span!("traced").entered();
            let _inner = tracing::info_span!("inside").entered();
        }
    });
    let stats = profiler().stats();
    assert_eq!((stats["traced"].count, stats["inside"].count), (3, 3));
    assert_eq!(stats["inside"].own, stats["inside"].total);
    assert!(stats["traced"].own < stats["traced"].total);
}
