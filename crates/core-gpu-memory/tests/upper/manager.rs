//! The manager: keys, budget, spilling and promotion, copy on write, scopes, pressure.

use std::{panic::AssertUnwindSafe, sync::Arc};

use core_gpu_driver::{Driver, Stream};
use core_gpu_memory::{
    AllocError, InsertError, MemoryEvent, MemoryManager, Observer, Source, Watermarks,
    test_support::Rng,
};
use gpu_sim::{CaptureMode, Fault, Schedule};

use crate::support::{MIB, builder, each_device, host, pattern, schedules, simulated, stream};

#[test]
fn bytes_come_and_go_by_source() {
    each_device(16 * MIB, |driver| {
        let manager = builder(driver)
            .max_memory_fraction(0.5)
            .safety_margin(MIB)
            .build()
            .unwrap();
        assert_eq!(manager.statistics().budget_bytes, 7 * MIB);
        let (one, other) = (Source::named("manager one"), Source::named("manager other"));
        let first = manager.allocate(1000, one).unwrap();
        let second = manager.allocate(3 * MIB as usize, other).unwrap();
        assert_eq!(manager.total_allocated(), 1024 + 3 * MIB);
        let stats = manager.allocation_stats();
        assert_eq!(stats["manager one"].bytes_in_use, 1024);
        assert_eq!(stats["manager other"].bytes_in_use, 3 * MIB);
        assert_eq!(manager.free_memory().unwrap(), 4 * MIB - 1024);
        assert!(manager.check_memory(3 * MIB).unwrap());
        assert!(!manager.check_memory(4 * MIB).unwrap());
        let refused = manager.allocate(8 * MIB as usize, one).unwrap_err();
        assert!(matches!(refused, AllocError::TooLarge { .. }), "{refused}");
        manager.deallocate(first).unwrap();
        manager.deallocate(second).unwrap();
        assert_eq!(manager.total_allocated(), 0);
        assert!(manager.cleanup() >= 3 * MIB);
        manager.shutdown().unwrap();
    });
}

#[test]
fn keys_name_entries() {
    each_device(16 * MIB, |driver| {
        let manager = builder(driver).build().unwrap();
        let stream = stream(driver);
        let data = pattern(1, 5000);
        let entry = manager.insert("a", &data, &stream).unwrap();
        assert!(matches!(
            manager.insert("a", &data, &stream),
            Err(InsertError::KeyInUse { .. })
        ));
        assert_eq!(manager.get("a").unwrap().read(&stream).unwrap(), data);
        assert!(manager.get("b").is_none());
        assert!(!manager.release("b"));
        assert!(manager.release("a"));
        assert!(manager.get("a").is_none());
        assert_eq!(
            entry.read(&stream).unwrap(),
            data,
            "a handle keeps what it holds"
        );
        manager.insert("a", &[], &stream).unwrap();
        manager.insert("c", &[7], &stream).unwrap();
        assert_eq!(manager.keys(), ["a", "c"]);
        drop(entry);
        assert_eq!(manager.clear(), 2);
        assert_eq!(manager.total_allocated(), 0);
        manager.shutdown().unwrap();
    });
}

#[test]
fn a_write_is_seen_by_the_key_and_not_by_other_handles() {
    each_device(16 * MIB, |driver| {
        let manager = builder(driver).build().unwrap();
        let (one, two) = (stream(driver), stream(driver));
        let mut writer = manager.insert("a", &[1; 300], &one).unwrap();
        let before = manager.total_allocated();
        writer.write(10, &[2; 5], &two).unwrap();
        assert_eq!(manager.total_allocated(), before, "alone: in place");
        let reader = manager.get("a").unwrap();
        writer.write(20, &[3; 5], &one).unwrap();
        let old = reader.read(&two).unwrap();
        let new = manager.get("a").unwrap().read(&two).unwrap();
        assert_eq!((old[10], old[20], new[10], new[20]), (2, 1, 2, 3));
        assert!(matches!(
            writer.write(299, &[0; 2], &one),
            Err(AllocError::Driver(_))
        ));
        // The writer's handle follows what it wrote, also when the key has gone.
        manager.release("a");
        let mut other = writer.clone();
        other.write(0, &[9], &one).unwrap();
        assert_eq!(
            (writer.read(&one).unwrap()[0], other.read(&one).unwrap()[0]),
            (1, 9)
        );
        drop((writer, reader, other));
        manager.shutdown().unwrap();
    });
}

#[test]
fn while_one_writes_nobody_reads() {
    let driver = host(16 * MIB);
    let manager = builder(&driver).build().unwrap();
    let stream = stream(&driver);
    let mut writer = manager.insert("a", &[1; 300], &stream).unwrap();
    let pinned = writer.pin_mut(&stream).unwrap();
    let reader = manager.get("a").unwrap();
    assert!(matches!(reader.pin(&stream), Err(AllocError::BeingWritten)));
    drop(pinned);
    reader.pin(&stream).unwrap();
}

/// An entry's home is the device until somebody needs the room, and nobody sees a difference.
#[test]
fn entries_move_to_the_host_and_back() {
    each_device(8 * MIB, |driver| {
        let manager = builder(driver)
            .max_memory_fraction(0.5)
            .spill_bytes(8 * MIB)
            .build()
            .unwrap();
        let stream = stream(driver);
        let data: Vec<_> = (0..7)
            .map(|seed| pattern(seed, MIB as usize - 100))
            .collect();
        let entries: Vec<_> = data
            .iter()
            .enumerate()
            .map(|(index, data)| manager.insert(&index.to_string(), data, &stream).unwrap())
            .collect();
        let statistics = manager.statistics();
        assert!(statistics.spills >= 3, "{statistics:?}");
        assert!(entries.iter().any(|entry| !entry.is_resident()));
        let pinned = entries[6].pin(&stream).unwrap();
        for (entry, data) in entries.iter().zip(&data) {
            let pin = entry.pin(&stream).unwrap();
            let mut back = vec![0; data.len()];
            manager
                .staging()
                .download(&mut back, pin.span(), &stream)
                .unwrap();
            assert_eq!(&back, data);
        }
        assert!(manager.statistics().promotions > 0);
        assert!(entries[6].is_resident(), "pinned: it stays");
        drop(pinned);
        for (entry, data) in entries.iter().zip(&data) {
            assert_eq!(&entry.read(&stream).unwrap(), data);
        }
        drop(entries);
        manager.clear();
        stream.synchronize().unwrap();
        assert_eq!(manager.statistics().host_bytes_used, 0);
        manager.shutdown().unwrap();
    });
}

#[derive(Default)]
struct Moves(std::sync::Mutex<Vec<(bool, u64)>>);

impl Observer for Moves {
    fn event(&self, event: &MemoryEvent) {
        match event {
            MemoryEvent::Spilled { bytes, .. } => self.0.lock().unwrap().push((true, *bytes)),
            MemoryEvent::Promoted { bytes, .. } => self.0.lock().unwrap().push((false, *bytes)),
            _ => (),
        }
    }
}

#[test]
fn an_observer_hears_what_moves() {
    let driver = host(16 * MIB);
    let moves = Arc::new(Moves::default());
    let manager = builder(&driver)
        .observer(Arc::clone(&moves) as _)
        .build()
        .unwrap();
    let entry = manager.insert("a", &[1; 5000], manager.stream()).unwrap();
    assert!(entry.spill());
    drop(entry.pin(manager.stream()).unwrap());
    assert_eq!(*moves.0.lock().unwrap(), [(true, 5000), (false, 5000)]);
}

#[test]
fn what_must_not_stay_leaves_with_its_last_pin() {
    let driver = host(16 * MIB);
    let manager = builder(&driver).keep_in_vram(false).build().unwrap();
    let stream = stream(&driver);
    let entry = manager.insert("a", &[5; 3000], &stream).unwrap();
    let (one, two) = (entry.pin(&stream).unwrap(), entry.pin(&stream).unwrap());
    drop(one);
    assert!(entry.is_resident());
    drop(two);
    assert!(!entry.is_resident());
    assert_eq!(entry.read(&stream).unwrap(), [5; 3000]);
    assert!(!entry.is_resident(), "it is read where it is");
}

#[test]
fn room_is_made_before_there_is_none() {
    let driver = host(8 * MIB);
    let marks = Watermarks {
        high: 0.5,
        low: 0.25,
    };
    let manager = builder(&driver)
        .max_memory_fraction(1.0)
        .spill_bytes(8 * MIB)
        .watermarks(marks)
        .build()
        .unwrap();
    let stream = stream(&driver);
    for index in 0..6 {
        manager
            .insert(&index.to_string(), &pattern(index, MIB as usize), &stream)
            .unwrap();
        assert!(manager.total_allocated() <= 4 * MIB + MIB);
    }
    let steps = manager.pool().statistics().steps;
    assert!(manager.statistics().spills > 0);
    assert!(
        steps
            .iter()
            .all(|(step, count)| *count == 0 || *step < core_gpu_memory::Step::Evict),
        "{steps:?}"
    );
}

#[test]
fn a_scope_releases_what_was_taken_in_it() {
    let driver = host(16 * MIB);
    let manager = builder(&driver).build().unwrap();
    let by = Source::named("scope test");
    let unwound = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let scope = manager.scope();
        let first = scope.allocate(100, by).unwrap().address();
        for _ in 0..100 {
            scope.allocate(100, by).unwrap();
        }
        assert_eq!(scope.allocate(100, by).unwrap().len(), 100);
        assert_eq!(scope.len(), 102);
        scope
            .insert("in the scope", &[1], manager.stream())
            .unwrap();
        assert_ne!(scope.allocate(1, by).unwrap().address(), first);
        panic!("on purpose");
    }));
    assert!(unwound.is_err());
    assert_eq!(manager.total_allocated(), 0);
    assert!(manager.get("in the scope").is_none());
}

#[test]
fn nothing_is_pinned_during_capture() {
    let (machine, driver) = simulated(16 * MIB, Schedule::Latest);
    let manager = builder(&driver).build().unwrap();
    let captured = stream(&driver);
    let mut entry = manager.insert("a", &[1; 100], manager.stream()).unwrap();
    machine
        .begin_capture(0, captured.raw(), CaptureMode::Relaxed)
        .unwrap();
    assert!(matches!(entry.pin(&captured), Err(AllocError::Capturing)));
    assert!(matches!(
        entry.pin_mut(&captured),
        Err(AllocError::Capturing)
    ));
    assert!(matches!(
        manager.insert("b", &[1], &captured),
        Err(InsertError::Alloc(AllocError::Capturing))
    ));
    let graph = machine.end_capture(0, captured.raw()).unwrap();
    machine.destroy_graph(0, graph).unwrap();
    entry.pin(&captured).unwrap();
    assert_eq!(machine.violations(), []);
}

/// Any order of operations, against a map of what the bytes must be.
fn trace(seed: u64, driver: &Arc<dyn Driver>) {
    let manager = builder(driver)
        .max_memory_fraction(0.5)
        .spill_bytes(4 * MIB)
        .build()
        .unwrap();
    let streams = [stream(driver), stream(driver)];
    let mut rng = Rng::new(seed);
    let mut model: std::collections::BTreeMap<String, Vec<u8>> = std::collections::BTreeMap::new();
    let mut held = Vec::new();
    for step in 0..120_u8 {
        let key = rng.below(6).to_string();
        let on = &streams[rng.below(2) as usize];
        match rng.below(8) {
            0..=2 => insert(&manager, &mut model, (&key, step), &mut rng, on),
            3 => assert_eq!(
                manager.release(&key),
                model.remove(&key).is_some(),
                "seed {seed}"
            ),
            4 => held.extend(manager.get(&key).map(|entry| (entry, model[&key].clone()))),
            5 if !held.is_empty() => drop(held.swap_remove(rng.below(held.len() as u64) as usize)),
            6 => {
                let entry = manager.get(&key).filter(|entry| entry.bytes() > 0);
                let written = entry.map(|mut entry| entry.write(0, &[step], on));
                if matches!(written, Some(Ok(()))) {
                    model.get_mut(&key).unwrap()[0] = step;
                }
            }
            _ => drop(manager.spill(MIB)),
        }
        if let Some(entry) = manager.get(&key) {
            assert_eq!(
                entry.read(on).unwrap(),
                model[&key],
                "seed {seed} step {step}"
            );
        }
    }
    for (entry, bytes) in &held {
        assert_eq!(&entry.read(&streams[0]).unwrap(), bytes, "seed {seed}");
    }
    drop(held);
    manager.clear();
    assert_eq!(manager.total_allocated(), 0, "seed {seed}");
    manager.shutdown().unwrap();
}

fn insert(
    manager: &MemoryManager,
    model: &mut std::collections::BTreeMap<String, Vec<u8>>,
    (key, seed): (&str, u8),
    rng: &mut Rng,
    on: &Stream,
) {
    let data = pattern(seed, rng.below(600_000) as usize);
    match manager.insert(key, &data, on) {
        Ok(_) => assert!(model.insert(key.to_owned(), data).is_none()),
        Err(InsertError::KeyInUse { .. }) => assert!(model.contains_key(key)),
        Err(InsertError::Alloc(error)) => assert!(error.is_out_of_room(), "{error}"),
        Err(error) => unreachable!("{error}"),
    }
}

#[test]
fn any_order_of_operations_keeps_the_bytes() {
    for seed in 0..64 {
        trace(seed, &host(3 * MIB));
        let schedule = schedules().nth(seed as usize % 21).unwrap();
        let (machine, driver) = simulated(3 * MIB, schedule);
        trace(seed, &driver);
        machine
            .verify()
            .unwrap_or_else(|complaint| panic!("seed {seed} {schedule:?}: {complaint}"));
    }
}

/// Goes on after every error; bytes that can be read are right.
fn program(driver: &Arc<dyn Driver>) {
    let Ok(manager) = builder(driver)
        .max_memory_fraction(0.6)
        .spill_bytes(4 * MIB)
        .build()
    else {
        return;
    };
    let on = manager.stream().clone();
    for index in 0..4_u8 {
        let data = pattern(index, 700_000);
        let key = index.to_string();
        if let Ok(mut entry) = manager.insert(&key, &data, &on) {
            if let Ok(read) = entry.read(&on) {
                assert_eq!(read, data);
            }
            let _ = entry.write(0, &data[..10], &on);
        }
    }
    for index in 0..4_u8 {
        if let Some(read) = manager
            .get(&index.to_string())
            .and_then(|entry| entry.read(&on).ok())
        {
            assert_eq!(read, pattern(index, 700_000));
        }
    }
    manager.clear();
    assert_eq!(manager.total_allocated(), 0);
    drop(manager.allocate(100, Source::UNNAMED));
    let _ = manager.shutdown();
}

#[test]
fn every_call_may_fail_at_every_occurrence() {
    let (counting, driver) = simulated(3 * MIB, Schedule::Latest);
    program(&driver);
    counting.verify().unwrap();
    for fault in Fault::every(&counting.calls(), 12) {
        let (machine, driver) = simulated(3 * MIB, Schedule::Latest);
        machine.plan(fault.clone());
        program(&driver);
        assert_eq!(machine.violations(), [], "{fault:?}");
    }
}
