//! A pipeline that stays on the device: what goes over the link is its inputs and its outputs; and
//! what too little room costs, on the simulated machine's own clock.

use std::sync::Arc;

use core_gpu_driver::Driver;
use core_gpu_memory::{MemoryManager, Source, StagingSettings};
use gpu_sim::{Config, Machine, Schedule, SimDriver};

use crate::support::{MIB, pattern, simulated};

const PIECE: usize = MIB as usize;

fn manager(driver: &Arc<dyn Driver>, spill: u64) -> MemoryManager {
    let staging = StagingSettings {
        slot_bytes: MIB,
        ..StagingSettings::default()
    };
    MemoryManager::builder(driver)
        .max_memory_fraction(1.0)
        .spill_bytes(spill)
        .staging(staging)
        .build()
        .unwrap()
}

#[test]
fn a_pipeline_moves_its_inputs_and_its_outputs_and_nothing_else() {
    let (machine, driver) = simulated(64 * MIB, Schedule::Latest);
    let manager = manager(&driver, 0);
    let on = manager.stream().clone();
    let inputs: Vec<_> = (0..8).map(|seed| pattern(seed, PIECE)).collect();
    let names: Vec<_> = (0..8).map(|index| format!("input {index}")).collect();
    for (name, input) in names.iter().zip(&inputs) {
        manager.insert(name, input, &on).unwrap();
    }
    // Five stages, each from the one before, on the device.
    let mut stage = manager.allocate(PIECE, Source::named("stage")).unwrap();
    for name in names.iter().take(5) {
        let next = manager.allocate(PIECE, Source::named("stage")).unwrap();
        let entry = manager.get(name).unwrap();
        let pinned = entry.pin(&on).unwrap();
        on.copy(stage.span(), pinned.span()).unwrap();
        drop(pinned);
        on.copy(next.span(), stage.span()).unwrap();
        stage = next;
    }
    let mut output = vec![0; PIECE];
    manager
        .staging()
        .download(&mut output, stage.span(), &on)
        .unwrap();
    assert_eq!(output, inputs[4]);
    let transfers = manager.statistics().transfers;
    let bytes = PIECE as u64;
    assert_eq!(
        (transfers.to_device_bytes, transfers.to_host_bytes),
        (8 * bytes, bytes)
    );
    let moved = machine.moved();
    assert_eq!(
        (moved.to_device_bytes, moved.to_host_bytes),
        (8 * bytes, bytes)
    );
    assert_eq!(machine.violations(), []);
}

/// Four rounds over entries, a stage of so many launches for each, in nanoseconds of the machine.
fn rounds(working_set: usize, launches: usize) -> u64 {
    let mut config = Config::with_devices(&[16 * MIB]);
    config.schedule = Schedule::Eager;
    let machine = Machine::new(config);
    let driver: Arc<dyn Driver> = SimDriver::open(&machine, 0).unwrap();
    let manager = manager(&driver, 32 * MIB);
    let on = manager.stream().clone();
    let names: Vec<_> = (0..working_set).map(|index| index.to_string()).collect();
    for (name, seed) in names.iter().zip(0..) {
        manager
            .insert(name, &pattern(seed, PIECE - 1024), &on)
            .unwrap();
    }
    let (start, sent) = (machine.now(), manager.statistics().transfers);
    for _ in 0..4 {
        for name in &names {
            let mut entry = manager.get(name).unwrap();
            let pinned = entry.pin_mut(&on).unwrap();
            // A stage that goes over the bytes again and again, as kernels would.
            for _ in 0..launches {
                on.set(pinned.span(), 1).unwrap();
            }
        }
    }
    driver.synchronize().unwrap();
    assert_eq!(
        manager.statistics().transfers.since(&sent).to_device_bytes,
        0,
        "moves are apart"
    );
    assert_eq!(machine.violations(), []);
    machine.now() - start
}

/// How many times as long an entry takes when there are half as many again as there is room for.
/// The manager's docs say the same numbers: change both.
const SLOWDOWN: &[(usize, f64)] = &[(10, 3.13), (100, 1.22), (1000, 1.02)];

#[test]
fn too_little_room_costs_the_time_that_is_written_down() {
    for (launches, stated) in SLOWDOWN {
        // Twelve pieces fit; half as many again do not.
        let (fits, over) = (rounds(12, *launches), rounds(18, *launches));
        let slowdown = over as f64 / 18.0 / (fits as f64 / 12.0);
        let alone = fits as f64 / 48.0 / 1000.0;
        println!("stages of {alone:.0} us at 1.5 times the device: {slowdown:.2} times as long");
        assert!(
            (slowdown - stated).abs() <= stated * 0.02,
            "{launches}: {slowdown:.2}, not {stated}"
        );
    }
}
