//! Sizes that no device has: an error each, never a panic, and nothing is changed by it.

use std::sync::Arc;

use core_gpu_driver::{Driver, DriverError, HostDriver, Segment};
use core_gpu_memory::{
    AllocError, DType, GrowthPolicy, MemoryManager, Pool, Source, Staging, StagingSettings,
};
use gpu_sim::Schedule;

use crate::{MIB, machine, stream};

fn host() -> Arc<dyn Driver> {
    Arc::new(HostDriver::new(64 << 20))
}

#[test]
fn a_manager_refuses_what_there_cannot_be() {
    let driver = host();
    let manager = MemoryManager::builder(&driver)
        .spill_bytes(0)
        .build()
        .unwrap();
    let by = Source::named("extremes");
    let held = manager.allocate(100, by).unwrap();
    for bytes in [
        usize::MAX,
        usize::MAX - 255,
        usize::MAX - 4096,
        1 << 62,
        1 << 40,
    ] {
        let refused = manager.allocate(bytes, by);
        assert!(
            matches!(refused, Err(AllocError::TooLarge { .. })),
            "{bytes}: {refused:?}"
        );
    }
    assert_eq!(manager.check_memory(u64::MAX), Ok(false));
    manager.allocate(10, by).unwrap();
    drop(held);
    let array =
        manager
            .pool()
            .allocate_array(&[u64::MAX, 2], DType::Int64, true, manager.stream(), by);
    assert!(matches!(array, Err(AllocError::SizeOverflow)));
    for bytes in [u64::MAX, u64::MAX - 300, 1 << 63] {
        let built = MemoryManager::builder(&driver).spill_bytes(bytes).build();
        assert!(matches!(built, Err(AllocError::HostMemory)), "{built:?}");
    }
}

#[test]
fn staging_refuses_a_ring_that_there_cannot_be() {
    let strict = StagingSettings {
        pageable_fallback: false,
        ..StagingSettings::default()
    };
    for settings in [
        StagingSettings {
            slot_bytes: u64::MAX,
            ..strict.clone()
        },
        StagingSettings {
            slot_bytes: u64::MAX / 2,
            slots: 3,
            ..strict.clone()
        },
        StagingSettings {
            slots: usize::MAX,
            ..strict.clone()
        },
    ] {
        let made = Staging::new(&host(), &settings);
        assert_eq!(made.err(), Some(DriverError::OutOfMemory), "{settings:?}");
        let lenient = StagingSettings {
            pageable_fallback: true,
            ..settings
        };
        assert!(!Staging::new(&host(), &lenient).unwrap().is_pinned());
    }
}

#[test]
fn a_pool_and_a_driver_refuse_what_there_cannot_be() {
    for driver in [host(), machine(&[64 * MIB], Schedule::Eager).1.remove(0)] {
        for bytes in [usize::MAX, usize::MAX - 255, usize::MAX - 511] {
            let segment = Segment::allocate(&driver, bytes);
            assert!(segment.is_err(), "{bytes}");
        }
        let grown = Pool::builder(&driver)
            .growth(GrowthPolicy::Fixed(u64::MAX))
            .remap(true);
        let grown = grown.build().unwrap();
        drop(grown.allocate::<u8>(1 << 20, &stream(&driver), Source::UNNAMED));
        let initial = Pool::builder(&driver).initial(u64::MAX).build();
        assert!(initial.is_err());
    }
}

#[test]
fn a_manager_takes_no_memory_of_the_host_before_it_is_needed() {
    let (machine, drivers) = machine(&[1 << 34], Schedule::Eager);
    let staging = StagingSettings {
        slot_bytes: 4096,
        slots: 2,
        ..StagingSettings::default()
    };
    let manager = MemoryManager::builder(&drivers[0])
        .staging(staging)
        .build()
        .unwrap();
    assert_eq!(manager.statistics().host_bytes, 0);
    assert!(machine.live().pinned_bytes < 1 << 20);
    let entry = manager
        .insert("entry", &[7; 1_000], manager.stream())
        .unwrap();
    assert!(entry.spill());
    assert!(manager.statistics().host_bytes >= 1_000);
    assert_eq!(entry.read(manager.stream()).unwrap(), [7; 1_000]);
    drop((entry, manager, drivers));
    machine.verify().unwrap();
}
