//! The examples, on the host, on simulated machines of every schedule, and with every driver call
//! failing at every occurrence: before its effect, after it, and from earlier work.
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]
#![expect(
    unreachable_pub,
    reason = "what is public in an example is so for this test"
)]

use std::{error::Error, sync::Arc};

use core_gpu_driver::{Driver, HostDriver, Stream, StreamKind};
use core_gpu_memory::{Pool, Source};
use gpu_sim::{Fault, Machine, Schedule, SimDriver};

#[path = "../../examples/02-streams.rs"]
mod between_streams;
#[path = "../../examples/06-cache.rs"]
mod cached;
#[path = "../../examples/03-limits.rs"]
mod limits;
#[path = "../../examples/05-manager.rs"]
mod manager;
#[path = "../../examples/01-pool.rs"]
mod pool;
#[path = "../../examples/09-snapshots.rs"]
mod snapshots;
#[path = "../../examples/07-staging.rs"]
mod staging;
#[path = "../../examples/08-stores.rs"]
mod stores;
#[path = "../../examples/04-adaptors.rs"]
mod with_adaptors;

type Run = fn(&Arc<dyn Driver>) -> Result<(), Box<dyn Error>>;

const EXAMPLES: &[(&str, Run)] = &[
    ("01-pool", pool::run),
    ("02-streams", between_streams::run),
    ("03-limits", limits::run),
    ("04-adaptors", with_adaptors::run),
    ("05-manager", manager::run),
    ("06-cache", cached::run),
    ("07-staging", staging::run),
    ("08-stores", stores::run),
    ("09-snapshots", snapshots::run),
];

const BYTES: u64 = 24 << 20;

fn machine(schedule: Schedule) -> (Machine, Arc<dyn Driver>) {
    SimDriver::of_machine(BYTES, schedule).unwrap()
}

#[test]
fn examples_run_on_the_host_and_on_every_schedule() {
    for (name, run) in EXAMPLES {
        let host: Arc<dyn Driver> = Arc::new(HostDriver::new(64 << 20));
        run(&host).unwrap_or_else(|error| panic!("{name}: {error}"));
        let late = (0..3).map(Schedule::OneLate);
        let seeded = (0..64).map(Schedule::Seeded);
        for schedule in [Schedule::Eager, Schedule::Latest]
            .into_iter()
            .chain(late)
            .chain(seeded)
        {
            let (machine, driver) = machine(schedule);
            run(&driver).unwrap_or_else(|error| panic!("{name} {schedule:?}: {error}"));
            drop(driver);
            machine
                .verify()
                .unwrap_or_else(|complaint| panic!("{name} {schedule:?}: {complaint}"));
        }
    }
}

/// Memory can be had from a new pool, unless the device is lost.
fn is_usable(driver: &Arc<dyn Driver>) -> bool {
    let Ok(stream) = Stream::new(driver, StreamKind::NonBlocking) else {
        return driver.synchronize().is_err_and(|error| error.is_lost());
    };
    let pool = Pool::new(driver);
    let buffer = pool.allocate::<u8>(1_000, &stream, Source::UNNAMED);
    buffer.is_ok_and(|mut buffer| buffer.upload(&[1; 1_000], &stream).is_ok())
}

#[test]
fn every_call_may_fail_at_every_occurrence() {
    let mut faults_tried = 0;
    for (name, run) in EXAMPLES {
        let (counting, driver) = machine(Schedule::Latest);
        run(&driver).unwrap();
        for fault in Fault::every(&counting.calls(), usize::MAX) {
            let machine = Machine::with_bytes(BYTES);
            machine.plan(fault.clone());
            let Ok(driver) = SimDriver::open(&machine, 0) else {
                continue;
            };
            let driver: Arc<dyn Driver> = driver;
            // An error is what is to be expected; a panic is not.
            let _ended = run(&driver);
            assert_eq!(machine.violations(), [], "{name}: {fault:?}");
            assert!(is_usable(&driver), "{name}: {fault:?}");
            faults_tried += 1;
        }
    }
    println!("{faults_tried} faults");
}

/// The same on a card, where there is one.
#[test]
fn examples_run_on_a_real_card() {
    let found = core_gpu_driver::cuda::devices().unwrap_or_default();
    let Some(first) = found.first() else {
        println!("skipped: no GPU");
        return;
    };
    let driver: Arc<dyn Driver> = core_gpu_driver::CudaDriver::open(&first.id).unwrap();
    for (name, run) in EXAMPLES {
        // One of them asks for more than there is: its bound is its own, and holds here too.
        run(&driver).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
