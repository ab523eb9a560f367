//! Devices for tests: the host, and a simulated machine for each schedule.

use std::sync::Arc;

use core_gpu_driver::{Driver, HostDriver, Stream, StreamKind};
use core_gpu_memory::{Cached, MemoryManager, MemoryManagerBuilder, StagingSettings};
use gpu_sim::{Machine, Schedule, SimDriver};

pub const MIB: u64 = 1 << 20;

pub fn host(bytes: u64) -> Arc<dyn Driver> {
    HostDriver::open(bytes)
}

pub fn simulated(bytes: u64, schedule: Schedule) -> (Machine, Arc<dyn Driver>) {
    SimDriver::of_machine(bytes, schedule).unwrap()
}

pub fn stream(driver: &Arc<dyn Driver>) -> Stream {
    Stream::new(driver, StreamKind::NonBlocking).unwrap()
}

/// A ring that is small enough to be full often.
pub fn small_ring() -> StagingSettings {
    StagingSettings {
        slot_bytes: 1024,
        slots: 3,
        ..StagingSettings::default()
    }
}

pub fn builder(driver: &Arc<dyn Driver>) -> MemoryManagerBuilder {
    MemoryManager::builder(driver).staging(StagingSettings {
        slot_bytes: 128 << 10,
        ..small_ring()
    })
}

/// Runs a check on the host and on simulated machines, which must have nothing against it.
pub fn each_device(bytes: u64, check: fn(&Arc<dyn Driver>)) {
    let driver = host(bytes);
    let free = driver.memory_info().unwrap().free_bytes;
    check(&driver);
    assert_eq!(driver.memory_info().unwrap().free_bytes, free, "host");
    for schedule in schedules() {
        let (machine, driver) = simulated(bytes, schedule);
        check(&driver);
        machine
            .verify()
            .unwrap_or_else(|complaint| panic!("{schedule:?}: {complaint}"));
    }
}

pub fn schedules() -> impl Iterator<Item = Schedule> {
    let late = (0..3).map(Schedule::OneLate);
    let seeded = (0..16).map(Schedule::Seeded);
    [Schedule::Eager, Schedule::Latest]
        .into_iter()
        .chain(late)
        .chain(seeded)
}

/// Bytes that differ from each other, cheaply.
pub fn pattern(seed: u8, len: usize) -> Vec<u8> {
    let block: Vec<u8> = (0..251_u8)
        .map(|at| at.wrapping_mul(31).wrapping_add(seed))
        .collect();
    let mut bytes = block.repeat(len / block.len() + 1);
    bytes.truncate(len);
    bytes
}

/// What is cached, read back on a stream.
pub fn bytes_of(manager: &MemoryManager, cached: &Cached, on: &Stream) -> Vec<u8> {
    let used = cached.read_on(on).unwrap();
    let mut bytes = vec![0; used.span().bytes() as usize];
    manager
        .staging()
        .download(&mut bytes, used.span(), on)
        .unwrap();
    bytes
}
