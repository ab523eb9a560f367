//! The memory model: what orders what, on simulated machines that know who may touch which byte and
//! when. Every rule of `docs/memory-model.md` is tried here.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    unsafe_code,
    reason = "a test that fails says where; adopting streams and launching graphs is unsafe"
)]

mod callbacks;
mod endings;
mod extremes;
mod graphs;
mod lifetimes;
mod numbers;
mod random;
mod streams;

use std::sync::Arc;

use core_gpu_driver::{Driver, Stream, StreamKind};
use core_gpu_memory::test_support;
use gpu_sim::{Config, Machine, Schedule, SimDriver};

const MIB: u64 = 1 << 20;
const SCHEDULES: [Schedule; 4] = [
    Schedule::Eager,
    Schedule::Latest,
    Schedule::OneLate(0),
    Schedule::Seeded(7),
];

fn machine(bytes: &[u64], schedule: Schedule) -> (Machine, Vec<Arc<dyn Driver>>) {
    let mut config = Config::with_devices(bytes);
    config.schedule = schedule;
    let machine = Machine::new(config);
    let open = |number: usize| SimDriver::open(&machine, number as u32).unwrap() as Arc<dyn Driver>;
    let drivers = (0..bytes.len()).map(open).collect();
    (machine, drivers)
}

fn stream(driver: &Arc<dyn Driver>) -> Stream {
    Stream::new(driver, StreamKind::NonBlocking).unwrap()
}

/// Lets one stream's work come before what another does from now on.
fn order(before: &Stream, after: &Stream) {
    test_support::order(before, after).unwrap();
}
