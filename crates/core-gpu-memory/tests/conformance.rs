//! One suite for every resource: the pool, the driver itself, each adaptor, and all of them at once.
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use std::sync::Arc;

use core_gpu_driver::{Driver, HostDriver, Stream, StreamKind};
use core_gpu_memory::{
    AllocError, Buffer, DirectResource, Pool, Resource, Source, StreamOrderedResource,
    adaptor::{FailureCallback, Limit, Log, Replay, Statistics, Tracking},
    size_class::ALIGNMENT,
};
use gpu_sim::{Machine, SimDriver};

const DEVICE: u64 = 8 << 20;

type Make = fn(&Arc<dyn Driver>) -> Arc<dyn Resource>;

fn pool(driver: &Arc<dyn Driver>) -> Arc<dyn Resource> {
    Arc::new(Pool::new(driver))
}

fn everything(driver: &Arc<dyn Driver>) -> Arc<dyn Resource> {
    let limit: Arc<dyn Resource> = Arc::new(Limit::new(pool(driver), DEVICE));
    let statistics: Arc<dyn Resource> = Arc::new(Statistics::new(limit));
    let tracking: Arc<dyn Resource> = Arc::new(Tracking::new(statistics, true));
    let log: Arc<dyn Resource> = Arc::new(Log::new(tracking, Box::new(std::io::sink())));
    Arc::new(FailureCallback::new(log, Box::new(|_, _| false)))
}

const RESOURCES: &[(&str, Make)] = &[
    ("direct", |driver| Arc::new(DirectResource::new(driver))),
    ("the driver's pool", |driver| {
        Arc::new(StreamOrderedResource::new(driver))
    }),
    ("pool", pool),
    ("pool in pieces", |driver| {
        Arc::new(Pool::builder(driver).remap(true).build().unwrap())
    }),
    ("pool of managed memory", |driver| {
        Arc::new(
            Pool::builder(driver)
                .managed()
                .reserve_limit(DEVICE)
                .build()
                .unwrap(),
        )
    }),
    ("limit", |driver| Arc::new(Limit::new(pool(driver), DEVICE))),
    ("statistics", |driver| {
        Arc::new(Statistics::new(pool(driver)))
    }),
    ("tracking", |driver| {
        Arc::new(Tracking::new(pool(driver), false))
    }),
    ("log", |driver| {
        Arc::new(Log::new(pool(driver), Box::new(std::io::sink())))
    }),
    ("failure callback", |driver| {
        Arc::new(FailureCallback::new(pool(driver), Box::new(|_, _| false)))
    }),
    ("everything", everything),
];

struct Bench {
    name: String,
    driver: Arc<dyn Driver>,
    resource: Arc<dyn Resource>,
    stream: Stream,
}

/// Every resource on every driver. Each must leave the device as it was.
fn each(check: fn(&Bench)) {
    for (name, make) in RESOURCES {
        let machine = Machine::with_bytes(DEVICE);
        let simulated: Arc<dyn Driver> = SimDriver::open(&machine, 0).unwrap();
        let host: Arc<dyn Driver> = Arc::new(HostDriver::new(DEVICE));
        for (driver_name, driver) in [("host", host), ("simulated", simulated)] {
            let free = driver.memory_info().unwrap().free_bytes;
            let bench = Bench {
                name: format!("{name} on {driver_name}"),
                resource: make(&driver),
                stream: Stream::new(&driver, StreamKind::NonBlocking).unwrap(),
                driver: Arc::clone(&driver),
            };
            check(&bench);
            let name = bench.name.clone();
            drop(bench);
            driver.synchronize().unwrap();
            assert_eq!(driver.memory_info().unwrap().free_bytes, free, "{name}");
        }
        assert_eq!(machine.violations(), [], "{name}");
    }
}

impl Bench {
    fn allocate(&self, len: usize) -> Result<Buffer<u8>, AllocError> {
        Buffer::allocate_from(
            &self.resource,
            len,
            &self.stream,
            Source::named("conformance"),
        )
    }
}

#[test]
fn nothing_is_a_block_too() {
    each(|bench| {
        let (one, other) = (bench.allocate(0).unwrap(), bench.allocate(0).unwrap());
        assert_ne!(one.address(), other.address(), "{}", bench.name);
        assert!(one.is_empty() && one.bytes() == 0, "{}", bench.name);
    });
}

#[test]
fn blocks_are_aligned_and_apart() {
    each(|bench| {
        let sizes = [1, 255, 256, 257, 4_000, 70_000, 300_001];
        let all: Vec<_> = sizes
            .iter()
            .map(|size| bench.allocate(*size).unwrap())
            .collect();
        let mut ranges = Vec::new();
        for buffer in &all {
            assert!(buffer.address().is_aligned_to(ALIGNMENT), "{}", bench.name);
            ranges.push((
                buffer.address().get(),
                buffer.address().get() + buffer.bytes(),
            ));
        }
        ranges.sort_unstable();
        assert!(
            ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0),
            "{}",
            bench.name
        );
    });
}

#[test]
fn what_is_written_is_read() {
    each(|bench| {
        let values: Vec<u8> = (0..5_000_u32).map(|value| value as u8).collect();
        let mut buffer = bench.allocate(values.len()).unwrap();
        buffer.upload(&values, &bench.stream).unwrap();
        assert_eq!(
            buffer.download(&bench.stream).unwrap(),
            values,
            "{}",
            bench.name
        );
        buffer.free().unwrap();
    });
}

#[test]
fn too_much_is_refused_and_nothing_is_lost_by_it() {
    each(|bench| {
        let refused = bench.allocate(DEVICE as usize + 1).unwrap_err();
        let too_large = matches!(refused, AllocError::TooLarge { .. });
        assert!(too_large, "{}: {refused}", bench.name);
        let half = bench.allocate(DEVICE as usize / 2).unwrap();
        for _ in 0..3 {
            let refused = bench.allocate(DEVICE as usize).unwrap_err();
            assert!(refused.is_out_of_room(), "{}: {refused}", bench.name);
        }
        drop(half);
        drop(bench.allocate(DEVICE as usize).unwrap());
    });
}

#[test]
fn a_stream_of_another_device_is_refused() {
    each(|bench| {
        let machine = Machine::new(gpu_sim::Config::with_devices(&[DEVICE, DEVICE]));
        let other: Arc<dyn Driver> = SimDriver::open(&machine, 1).unwrap();
        let stream = Stream::new(&other, StreamKind::NonBlocking).unwrap();
        let by = Source::UNNAMED;
        let refused = Buffer::<u8>::allocate_from(&bench.resource, 1, &stream, by).unwrap_err();
        assert!(
            matches!(refused, AllocError::OtherDevice),
            "{}: {refused}",
            bench.name
        );
    });
}

#[test]
fn two_streams_share_it() {
    each(|bench| {
        let other = Stream::new(&bench.driver, StreamKind::NonBlocking).unwrap();
        for round in 0..20_u8 {
            for stream in [&bench.stream, &other] {
                let by = Source::named("conformance");
                let buffer =
                    Buffer::<u8>::allocate_from(&bench.resource, 100_000, stream, by).unwrap();
                stream.set(buffer.span(), round).unwrap();
            }
        }
    });
}

#[test]
fn two_threads_share_it() {
    each(|bench| {
        std::thread::scope(|scope| {
            let work = |stream: Stream| {
                for length in 0..200 {
                    let by = Source::named("conformance");
                    let buffer = Buffer::<u8>::allocate_from(&bench.resource, length, &stream, by);
                    stream.set(buffer.unwrap().span(), 1).unwrap();
                }
            };
            let threads = [0, 1].map(|_| {
                let stream = Stream::new(&bench.driver, StreamKind::NonBlocking).unwrap();
                scope.spawn(move || work(stream))
            });
            threads
                .into_iter()
                .for_each(|thread| thread.join().unwrap());
        });
    });
}

#[test]
fn adaptors_count_what_goes_through_them() {
    let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(DEVICE));
    let stream = Stream::new(&driver, StreamKind::NonBlocking).unwrap();
    let by = Source::named("adaptor");
    let limit = Arc::new(Limit::new(pool(&driver), 4096));
    let statistics = Arc::new(Statistics::new(limit.clone()));
    let tracking = Arc::new(Tracking::new(statistics.clone(), true));
    let resource: Arc<dyn Resource> = tracking.clone();
    let one = Buffer::<u8>::allocate_from(&resource, 1_000, &stream, by).unwrap();
    let two = Buffer::<u8>::allocate_from(&resource, 3_000, &stream, by).unwrap();
    let refused = Buffer::<u8>::allocate_from(&resource, 1, &stream, by).unwrap_err();
    assert!(matches!(refused, AllocError::Limit { .. }), "{refused}");
    assert_eq!(limit.bytes_in_use(), 4096);
    drop(one);
    let usage = statistics.of(by);
    assert_eq!((usage.bytes_in_use, usage.peak_bytes), (3_000, 4_000));
    assert_eq!(
        (usage.allocations, usage.refusals, usage.blocks_in_use),
        (2, 1, 1)
    );
    let live = tracking.live();
    assert_eq!((live.len(), live[0].bytes, live[0].sequence), (1, 3_000, 1));
    assert!(live[0].backtrace.is_some());
    drop(two);
    assert_eq!((tracking.bytes_in_use(), limit.bytes_in_use()), (0, 0));
}

#[test]
fn a_callback_makes_room() {
    let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(DEVICE));
    let stream = Stream::new(&driver, StreamKind::NonBlocking).unwrap();
    let held = Arc::new(std::sync::Mutex::new(Vec::new()));
    let hoard = Arc::clone(&held);
    let resource: Arc<dyn Resource> = Arc::new(FailureCallback::new(
        pool(&driver),
        Box::new(move |_, _| hoard.lock().unwrap().pop().is_some()),
    ));
    for _ in 0..4 {
        let by = Source::UNNAMED;
        let quarter = DEVICE as usize / 4;
        let buffer = Buffer::<u8>::allocate_from(&resource, quarter, &stream, by).unwrap();
        held.lock().unwrap().push(buffer);
    }
    let all = DEVICE as usize;
    drop(Buffer::<u8>::allocate_from(&resource, all, &stream, Source::UNNAMED).unwrap());
    assert!(held.lock().unwrap().is_empty());
}

#[derive(Clone, Default)]
struct Shared(Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_log_runs_again_and_writes_itself() {
    let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(DEVICE));
    let stream = Stream::new(&driver, StreamKind::NonBlocking).unwrap();
    let logged = |resource: Arc<dyn Resource>| {
        let text = Shared::default();
        let log = Arc::new(Log::new(resource, Box::new(text.clone())));
        (log, text)
    };
    let (log, text) = logged(pool(&driver));
    let resource: Arc<dyn Resource> = log.clone();
    let by = Source::named("logged \"name\"");
    let one = Buffer::<u8>::allocate_from(&resource, 100, &stream, by).unwrap();
    let two = Buffer::<u8>::allocate_from(&resource, 200, &stream, by).unwrap();
    drop(one);
    assert!(Buffer::<u8>::allocate_from(&resource, 2 * DEVICE as usize, &stream, by).is_err());
    drop(two);
    log.flush().unwrap();
    let first = String::from_utf8(text.0.lock().unwrap().clone()).unwrap();
    let replay = Replay::parse(&first).unwrap();
    let (log, text) = logged(pool(&driver));
    let resource: Arc<dyn Resource> = log.clone();
    let outcome = replay.run(&resource).unwrap();
    assert_eq!(
        (outcome.served, outcome.refused_before, outcome.peak_bytes),
        (2, 1, 300)
    );
    log.flush().unwrap();
    let second = String::from_utf8(text.0.lock().unwrap().clone()).unwrap();
    let kept = first.lines().filter(|line| !line.contains("refuse"));
    assert_eq!(kept.collect::<Vec<_>>(), second.lines().collect::<Vec<_>>());
    assert!(
        Replay::parse("{}")
            .unwrap_err()
            .to_string()
            .starts_with("line 1 ")
    );
}
