//! The rules of drivers and the pool on a driver that others wrote: Vulkan's, on whatever device is
//! there, which is Mesa's processor where there is no card.
#![expect(clippy::unwrap_used, reason = "a test may end")]

use std::{sync::Arc, time::Duration};

use core_gpu::{
    Gpu,
    driver::{Driver, Event, EventKind, Stream, StreamKind, VulkanDriver, vulkan},
    memory::{AllocError, Buffer, MemoryManager, Pool, Source},
    platform::{Platforms, VulkanPlatform},
};
use gpu_sim::conformance;

/// All devices, opened; none, with a word about it, where there is none.
fn drivers() -> Vec<Arc<dyn Driver>> {
    let found = vulkan::devices();
    let found = found.inspect_err(|why| println!("skipped: no Vulkan: {why}"));
    let found = found.unwrap_or_default();
    if found.is_empty() {
        println!("skipped: no Vulkan device; Debian has one in `mesa-vulkan-drivers`");
    }
    let open = |info: &core_gpu::driver::DeviceInfo| -> Arc<dyn Driver> {
        println!("on {}: {} bytes", info.name, info.total_bytes);
        VulkanDriver::open(&info.id).unwrap()
    };
    found.iter().map(open).collect()
}

#[test]
fn the_rules_hold() {
    for driver in drivers() {
        assert_eq!(conformance::broken_rules(&driver), Vec::<String>::new());
    }
}

#[test]
fn fills_reach_every_byte_and_no_other() {
    for driver in drivers() {
        let stream = Stream::new(&driver, StreamKind::NonBlocking).unwrap();
        let segment = core_gpu::driver::Segment::allocate(&driver, 64).unwrap();
        for begin in 0..8_u64 {
            for bytes in 1..20_u64 {
                stream.set(segment.whole(), 1).unwrap();
                stream.set(segment.span(begin, bytes).unwrap(), 9).unwrap();
                let mut back = [0; 64];
                stream
                    .download_and_wait(&mut back, segment.whole())
                    .unwrap();
                let wanted = |at: u64| {
                    if (begin..begin + bytes).contains(&at) {
                        9
                    } else {
                        1
                    }
                };
                let wanted: Vec<u8> = (0..64).map(wanted).collect();
                assert_eq!(back[..], wanted, "{bytes} bytes from {begin}");
            }
        }
    }
}

/// Numbers that look random, the same each time.
fn numbers(mut seed: u64) -> impl FnMut(u64) -> u64 {
    move |below| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    }
}

#[test]
fn what_a_pool_gives_out_is_nobody_elses() {
    for driver in drivers() {
        let pool = Pool::new(&driver);
        let streams: Vec<_> = (0..4)
            .map(|_| Stream::new(&driver, StreamKind::NonBlocking).unwrap())
            .collect();
        let by = Source::named("canaries");
        let mut next = numbers(7);
        let mut live: Vec<(Buffer<u8>, u8, usize)> = Vec::new();
        for round in 0..600_u32 {
            if live.len() > 24 || (next(3) == 0 && !live.is_empty()) {
                let (buffer, value, on) = live.swap_remove(next(live.len() as u64) as usize);
                let back = buffer.download(&streams[on]).unwrap();
                assert!(back.iter().all(|byte| *byte == value), "round {round}");
                continue;
            }
            let (on, value) = (next(4) as usize, next(256) as u8);
            let class = next(14);
            let bytes = 1 + next(1 << (4 + class)) as usize;
            let buffer = pool.allocate::<u8>(bytes, &streams[on], by).unwrap();
            streams[on].set(buffer.span(), value).unwrap();
            live.push((buffer, value, on));
        }
        drop(live);
        pool.trim();
        pool.shutdown().unwrap();
        let memory = driver.memory_info().unwrap();
        assert_eq!(
            memory.free_bytes, memory.total_bytes,
            "everything went back"
        );
    }
}

#[test]
fn a_block_goes_to_another_stream_behind_its_use() {
    for driver in drivers() {
        let pool = Pool::builder(&driver)
            .reserve_limit(1 << 20)
            .build()
            .unwrap();
        let by = Source::named("one block");
        let (one, other) = (
            Stream::new(&driver, StreamKind::NonBlocking).unwrap(),
            Stream::new(&driver, StreamKind::NonBlocking).unwrap(),
        );
        let first = pool.allocate::<u8>(700 << 10, &one, by).unwrap();
        one.set(first.span(), 1).unwrap();
        let filled = Event::new(&driver, EventKind::Order).unwrap();
        one.record(&filled).unwrap();
        other.wait(&filled).unwrap();
        first.used_on(&other);
        assert_eq!(first.download(&other).unwrap()[699], 1);
        drop(first);
        let second = pool.allocate::<u8>(700 << 10, &other, by).unwrap();
        other.set(second.span(), 2).unwrap();
        assert!(
            second
                .download(&other)
                .unwrap()
                .iter()
                .all(|byte| *byte == 2)
        );
        let refused = pool.allocate::<u8>(700 << 10, &one, by);
        assert!(matches!(refused, Err(AllocError::OutOfMemory(_))));
        drop(second);
        pool.shutdown().unwrap();
    }
}

#[test]
fn entries_leave_the_device_and_come_back() {
    for driver in drivers() {
        let total = driver.info().total_bytes as f64;
        let manager = MemoryManager::builder(&driver)
            .max_memory_fraction((6 << 20) as f64 / total)
            .safety_margin(0)
            .spill_bytes(16 << 20)
            .build()
            .unwrap();
        let stream = manager.stream().clone();
        for number in 0..8_u8 {
            let key = format!("entry {number}");
            manager
                .insert(&key, &vec![number; 1 << 20], &stream)
                .unwrap();
        }
        for number in 0..8_u8 {
            let entry = manager.get(&format!("entry {number}")).unwrap();
            let back = entry.read(&stream).unwrap();
            assert!(back.iter().all(|byte| *byte == number));
        }
    }
}

#[test]
fn a_program_opens_it_by_name() {
    if drivers().is_empty() {
        return;
    }
    let platforms = Platforms::new(vec![Arc::new(VulkanPlatform)], Duration::from_secs(20));
    let folder = tempfile::tempdir().unwrap();
    let configuration = core_gpu::configuration::Configuration {
        slot_directory: folder.path().join("slots"),
        ..Default::default()
    };
    let gpu = Gpu::options()
        .platforms(&Arc::new(platforms))
        .configuration(configuration)
        .device("vulkan:0")
        .open()
        .unwrap();
    assert!(gpu.is_gpu());
    let done = gpu.timed(|gpu| gpu.download(&gpu.upload(&[1_u32, 2, 3])?));
    assert_eq!(done.unwrap(), [1, 2, 3]);
    gpu.close().unwrap();
}
