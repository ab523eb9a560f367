//! Devices, registry and slots on simulated machines in this process.

use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use core_gpu::{
    configuration::Configuration,
    devices::{DeviceError, DeviceManager},
    driver::{Absent, DeviceId, DeviceInfo, Driver, DriverError, MemoryInfo, PlatformKind},
    platform::{
        Deadline, Fallback, Found, Platform, Platforms, Preference, SelectError, Tuning,
        Unavailable,
    },
    registry::{GpuRegistry, Health, RegistryError},
    slots::SlotError,
};
use gpu_sim::{Config, Machine, SimDriver};

/// A simulated machine as a platform.
#[derive(Debug)]
struct Simulated {
    machine: Machine,
    asked: AtomicU32,
}

impl Simulated {
    fn with_devices(bytes: &[u64]) -> Arc<Self> {
        Arc::new(Self {
            machine: Machine::new(Config::with_devices(bytes)),
            asked: AtomicU32::new(0),
        })
    }

    fn devices(&self) -> Vec<DeviceInfo> {
        let config = self.machine.config();
        let devices = (0..).zip(&config.devices);
        let info = |(ordinal, device): (u32, &gpu_sim::DeviceConfig)| DeviceInfo {
            id: DeviceId {
                platform: PlatformKind::Simulated,
                uuid: device.uuid,
            },
            ordinal,
            name: device.name.clone(),
            total_bytes: device.total_bytes,
            compute_capability: device.compute_capability,
            bus_address: None,
            driver_version: config.driver_version,
            alignment_bytes: 256,
            capabilities: core_gpu::driver::Capabilities::default(),
        };
        devices.map(info).collect()
    }
}

impl Platform for Simulated {
    fn kind(&self) -> PlatformKind {
        PlatformKind::Simulated
    }

    fn probe(&self) -> Result<Found, Unavailable> {
        self.asked.fetch_add(1, SeqCst);
        Ok(Found {
            version: Some(self.machine.config().driver_version),
            devices: self.devices(),
        })
    }

    fn open(&self, id: &DeviceId) -> Result<Arc<dyn Driver>, DriverError> {
        let found = self.devices().into_iter().find(|device| device.id == *id);
        let device = found.ok_or_else(|| Absent::Device {
            wanted: id.to_string(),
        })?;
        let driver: Arc<dyn Driver> = SimDriver::open(&self.machine, device.ordinal)?;
        Ok(driver)
    }

    fn memory_info(&self, device: &DeviceInfo) -> Option<MemoryInfo> {
        let config = self.machine.config();
        let device = config.devices.get(device.ordinal as usize)?;
        Some(MemoryInfo {
            free_bytes: device.total_bytes - device.other_processes_bytes,
            total_bytes: device.total_bytes,
        })
    }

    fn tunings(&self) -> &'static [Tuning] {
        &[]
    }
}

fn platforms(bytes: &[u64]) -> (Arc<Simulated>, Arc<Platforms>) {
    let simulated = Simulated::with_devices(bytes);
    let platform: Arc<dyn Platform> = Arc::clone(&simulated) as _;
    let platforms = Platforms::new(vec![platform], Duration::from_secs(20));
    (simulated, Arc::new(platforms))
}

fn configuration(folder: &tempfile::TempDir, pipelines: u32) -> Configuration {
    Configuration {
        max_pipelines: Some(pipelines),
        slot_directory: folder.path().join("slots"),
        ..Configuration::default()
    }
}

#[test]
fn many_threads_ask_a_platform_once() {
    let (simulated, platforms) = platforms(&[4096; 2]);
    let start = Barrier::new(16);
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                start.wait();
                let chosen = platforms.select(Preference::Auto, Fallback::Error);
                assert_eq!(chosen.unwrap().found().devices.len(), 2);
            });
        }
    });
    assert_eq!(simulated.asked.load(SeqCst), 1);
    assert_eq!(simulated.machine.live().contexts, 0);
}

#[test]
fn names_lead_to_devices() {
    let (_, platforms) = platforms(&[4096, 1 << 20, 8192]);
    let manager = DeviceManager::new(&platforms, Preference::Auto);
    // The name, and the device that it leads to or the error.
    let cases = [
        ("auto", Ok("simulated:1")),
        ("simulated", Ok("simulated:0")),
        ("simulated:2", Ok("simulated:2")),
        ("cpu", Ok("cpu")),
        (
            "simulated:3",
            Err("there is no device simulated:3: the platform has 3"),
        ),
        (
            "cuda:0",
            Err("cuda cannot be used: it is not among the platforms that are looked for"),
        ),
        (
            "gpu",
            Err(
                "`gpu` names no device: say cpu, cuda, rocm, metal (or mps) or vulkan, or one of \
                 them with `:NUMBER`",
            ),
        ),
    ];
    for (name, wanted) in cases {
        let found = manager.resolve_device(name, Fallback::Error);
        let found = found.map(|device| device.name.to_string());
        let wanted = wanted.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(found.map_err(|error| error.to_string()), wanted, "{name}");
        let is_name = !matches!(name, "gpu");
        let fallen = manager.resolve_device(name, Fallback::Cpu);
        assert_eq!(fallen.is_ok(), is_name, "{name}");
        if let Ok(fallen) = fallen {
            assert_eq!(fallen.instead.is_some(), wanted.is_err(), "{name}");
        }
    }
    let instead = manager.resolve_device("cuda:1", Fallback::Cpu).unwrap();
    assert_eq!(instead.name.to_string(), "cpu");
    let why = DeviceError::Platform(SelectError {
        platform: PlatformKind::Cuda,
        why: Unavailable::Unknown,
    });
    assert_eq!(instead.instead, Some(why));
}

#[test]
fn what_cannot_be_read_is_none() {
    let (simulated, platforms) = platforms(&[1 << 20, 1 << 20]);
    let manager = DeviceManager::new(&platforms, Preference::Auto);
    let id = simulated.devices()[0].id;
    let driver = manager.open(&id).unwrap();
    simulated.machine.plan(gpu_sim::Fault::before(
        "cuMemGetInfo",
        1,
        gpu_sim::Code(999),
    ));
    let report = manager.memory_info();
    let [first, second] = report.devices.as_slice() else {
        panic!("two devices, not {report:?}");
    };
    assert_eq!((first.free_bytes, first.others_bytes()), (None, None));
    assert_eq!(first.total_bytes, Some(1 << 20));
    assert_eq!(second.free_bytes, Some(1 << 20));
    drop(driver);
    assert_eq!(simulated.machine.live().contexts, 0, "nothing stays open");
}

/// Collecting reaches every pool of the process, so this is the one test here that collects.
#[test]
fn collecting_has_its_time_and_gives_back_what_pools_keep() {
    let (simulated, platforms) = platforms(&[64 << 20]);
    let manager = DeviceManager::new(&platforms, Preference::Auto);
    let (_, driver) = manager.open_device("auto", Fallback::Error).unwrap();
    let stream = core_gpu::driver::Stream::new(&driver, Default::default()).unwrap();
    let pool = core_gpu::memory::Pool::new(&driver);
    let by = core_gpu::memory::Source::named("collected");
    let kept = pool.allocate::<u8>(1 << 20, &stream, by).unwrap();
    drop(pool.allocate::<u8>(8 << 20, &stream, by).unwrap());
    let before = pool.reserved_bytes();
    let given_back = manager.maybe_collect(10, 10).unwrap();
    assert!(given_back >= 8 << 20, "{given_back} of {before}");
    let cases = [
        (0, 10, false),
        (5, 10, false),
        (10, 10, true),
        (30, 10, true),
        (7, 0, false),
    ];
    for (processed, interval, wanted) in cases {
        let collected = manager.maybe_collect(processed, interval);
        assert_eq!(collected.is_some(), wanted, "{processed} {interval}");
    }
    drop((kept, stream));
    pool.shutdown().unwrap();
    assert!(simulated.machine.violations().is_empty());
}

#[test]
fn of_many_who_initialise_one_succeeds() {
    let (_, platforms) = platforms(&[4096; 4]);
    let folder = tempfile::tempdir().unwrap();
    let configuration = configuration(&folder, 2);
    let registry = GpuRegistry::new();
    assert_eq!(registry.status(), Err(RegistryError::NotInitialized));
    let start = Barrier::new(8);
    let succeeded = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                start.wait();
                match registry.initialize(&configuration, &platforms) {
                    Ok(_) => drop(succeeded.fetch_add(1, SeqCst)),
                    Err(error) => assert_eq!(error, RegistryError::AlreadyInitialized),
                }
            });
        }
    });
    assert_eq!(succeeded.load(SeqCst), 1);
    let mut status = registry.status().unwrap();
    status.devices.clear();
    assert_eq!(registry.status().unwrap().devices.len(), 4, "it was a copy");
}

#[test]
fn pipelines_are_workers_by_devices_rounded_up() {
    // Devices, workers, an override, pipelines on each device.
    let cases = [
        (0_usize, Some(5), None, 5),
        (1, Some(5), None, 5),
        (2, Some(5), None, 3),
        (8, Some(5), None, 1),
        (4, Some(16), None, 4),
        (4, Some(16), Some(7), 7),
    ];
    for (devices, workers, max_pipelines, wanted) in cases {
        let (_, platforms) = platforms(&vec![4096; devices]);
        let configuration = Configuration {
            configured_num_workers: workers,
            max_pipelines,
            ..Configuration::default()
        };
        let status = GpuRegistry::new().initialize(&configuration, &platforms);
        let status = status.unwrap();
        assert_eq!(status.devices.len(), devices);
        assert_eq!(status.max_pipelines, wanted, "{devices} {workers:?}");
    }
    let (_, platforms) = platforms(&[4096]);
    let status = GpuRegistry::new().initialize(&Configuration::default(), &platforms);
    let threads = thread::available_parallelism().unwrap().get();
    assert_eq!(status.unwrap().max_pipelines as usize, threads);
}

#[test]
fn a_machine_without_a_gpu_has_an_empty_registry() {
    let platforms = Platforms::new(Vec::new(), Duration::from_secs(20));
    let registry = GpuRegistry::new();
    let status = registry.initialize(&Configuration::default(), &platforms);
    assert_eq!(status.unwrap().devices, []);
    assert!(registry.is_initialized());
}

#[test]
fn a_program_that_fell_back_to_the_processor_has_a_slot_too() {
    let platforms = Platforms::new(Vec::new(), Duration::from_secs(20));
    let registry = GpuRegistry::new();
    let folder = tempfile::tempdir().unwrap();
    registry
        .initialize(&configuration(&folder, 2), &platforms)
        .unwrap();
    let take = || registry.acquire(&[], Deadline::now());
    let (one, other) = (take().unwrap(), take().unwrap());
    assert_eq!(one.device().platform, PlatformKind::Host);
    assert!(matches!(
        take(),
        Err(RegistryError::Slot(SlotError::Full { devices: 1, .. }))
    ));
    drop((one, other));
    let named = platforms.devices()[0].id;
    let slot = registry.acquire(&[named], Deadline::now()).unwrap();
    assert_eq!(slot.device(), named);
}

#[test]
fn claims_of_bytes_spread_by_room() {
    let (_, platforms) = platforms(&[1000, 1000]);
    let folder = tempfile::tempdir().unwrap();
    let registry = GpuRegistry::new();
    registry
        .initialize(&configuration(&folder, 8), &platforms)
        .unwrap();
    // Nine tenths of each may be claimed.
    let take = |bytes| registry.acquire_bytes(&[], bytes, Deadline::now());
    let (one, other) = (take(600).unwrap(), take(600).unwrap());
    assert_ne!(one.device(), other.device());
    let Err(RegistryError::Slot(SlotError::Memory {
        claimed_bytes: 600,
        budget_bytes: 900,
        holders,
        ..
    })) = take(400)
    else {
        panic!("there was room");
    };
    assert_eq!(holders.len(), 1);
    let third = take(300).unwrap();
    let over = take(901).unwrap_err();
    assert!(matches!(
        over,
        RegistryError::Slot(SlotError::OverBudget { .. })
    ));
    drop((one, other, third));
    drop(take(900).unwrap());
}

#[test]
fn slots_spread_over_devices_and_are_counted() {
    let (simulated, platforms) = platforms(&[4096; 4]);
    let folder = tempfile::tempdir().unwrap();
    let registry = GpuRegistry::new();
    registry
        .initialize(&configuration(&folder, 2), &platforms)
        .unwrap();
    let active = |registry: &GpuRegistry| -> Vec<u32> {
        let status = registry.status().unwrap();
        status.devices.iter().map(|device| device.active).collect()
    };
    let take = || registry.acquire(&[], Deadline::now());
    let first: Vec<_> = (0..4).map(|_| take().unwrap()).collect();
    assert_eq!(active(&registry), [1, 1, 1, 1]);
    let second: Vec<_> = (0..4).map(|_| take().unwrap()).collect();
    assert_eq!(active(&registry), [2, 2, 2, 2]);
    assert!(matches!(
        take(),
        Err(RegistryError::Slot(SlotError::Full { devices: 4, .. }))
    ));
    drop((first, second));
    assert_eq!(active(&registry), [0, 0, 0, 0]);
    let wanted = simulated.devices()[2].id;
    let slot = registry.acquire(&[wanted], Deadline::now()).unwrap();
    assert_eq!(slot.device(), wanted);
    let stranger = DeviceId {
        platform: PlatformKind::Simulated,
        uuid: [9; 16],
    };
    assert_eq!(
        registry.acquire(&[stranger], Deadline::now()).map(|_| ()),
        Err(RegistryError::UnknownDevice(stranger))
    );
    let elsewhere = DeviceId {
        platform: PlatformKind::Rocm,
        ..wanted
    };
    let why = registry.acquire(&[elsewhere], Deadline::now()).unwrap_err();
    let other = RegistryError::OtherPlatform {
        device: elsewhere,
        registry: PlatformKind::Simulated,
    };
    assert_eq!(why, other);
    assert!(
        why.to_string()
            .starts_with("the GPU registry has devices of simulated, and rocm:GPU-"),
        "{why}"
    );
}

#[test]
fn a_sick_device_drains_and_comes_back() {
    let (simulated, platforms) = platforms(&[4096; 2]);
    let folder = tempfile::tempdir().unwrap();
    let registry = GpuRegistry::new();
    let (sick, well) = (simulated.devices()[0].id, simulated.devices()[1].id);
    assert_eq!(
        registry.quarantine(&sick, "early"),
        Err(RegistryError::NotInitialized)
    );
    registry
        .initialize(&configuration(&folder, 1), &platforms)
        .unwrap();
    let held = registry.acquire(&[sick], Deadline::now()).unwrap();
    registry.quarantine(&sick, "XID 79").unwrap();
    let why = "XID 79".to_owned();
    let health = Health::Quarantined { why: why.clone() };
    assert_eq!(registry.status().unwrap().devices[0].health, health);
    assert_eq!(
        registry.acquire(&[], Deadline::now()).unwrap().device(),
        well
    );
    drop(held);
    let refused = RegistryError::Quarantined { device: sick, why };
    assert_eq!(
        registry.acquire(&[sick], Deadline::now()).map(|_| ()),
        Err(refused.clone())
    );
    registry.readmit(&sick).unwrap();
    let held = registry.acquire(&[sick], Deadline::now()).unwrap();
    // Who waits hears of it, too.
    thread::scope(|scope| {
        let waits = scope.spawn(|| registry.acquire(&[sick], Deadline::never()).map(|_| ()));
        registry.quarantine(&sick, "XID 79").unwrap();
        assert_eq!(waits.join().unwrap(), Err(refused));
    });
    drop(held);
}

#[test]
fn what_is_reported_can_be_written_as_json() {
    let (_, platforms) = platforms(&[4096, 8192]);
    let manager = DeviceManager::new(&platforms, Preference::Auto);
    let found = serde_json::to_value(manager.available_devices()).unwrap();
    assert_eq!(found["recommended_device"], "simulated:1");
    assert_eq!(found["devices"][1]["info"]["total_bytes"], 8192);
    assert_eq!(
        found["devices"][1]["info"]["id"],
        manager.platforms().devices()[1].id.to_string()
    );
    let memory = serde_json::to_value(manager.memory_info()).unwrap();
    assert_eq!(memory["devices"][0]["free_bytes"], 4096);
    let registry = GpuRegistry::new();
    let status = registry.initialize(&Configuration::default(), &platforms);
    let status = serde_json::to_value(status.unwrap()).unwrap();
    assert_eq!(status["platform"], "simulated");
    let instead = manager.resolve_device("cuda:0", Fallback::Cpu).unwrap();
    let instead = serde_json::to_value(instead).unwrap();
    assert_eq!(instead["name"], "cpu");
    assert!(
        instead["instead"]
            .as_str()
            .unwrap()
            .starts_with("cuda cannot be used")
    );
}

#[test]
fn a_device_is_opened_anew_for_who_asks_and_a_lost_one_says_so() {
    let (simulated, platforms) = platforms(&[1 << 20]);
    let manager = DeviceManager::new(&platforms, Preference::Auto);
    let id = platforms.devices()[0].id;
    let first = manager.open(&id).unwrap();
    assert!(Arc::ptr_eq(&first, &manager.open(&id).unwrap()), "shared");
    let second = manager.reopen(&id).unwrap();
    assert!(!Arc::ptr_eq(&first, &second));
    assert!(
        Arc::ptr_eq(&second, &manager.open(&id).unwrap()),
        "from now on"
    );
    simulated.machine.lose(0, gpu_sim::Code(700));
    let lost = manager.reopen(&id).unwrap_err();
    assert!(lost.is_lost(), "{lost}");
}

#[test]
fn the_registry_and_a_gpu_share_the_slots_of_a_device() {
    let (_, platforms) = platforms(&[64 << 20; 3]);
    let folder = tempfile::tempdir().unwrap();
    let configuration = Configuration {
        configured_num_workers: Some(4),
        slot_directory: folder.path().join("slots"),
        ..Configuration::default()
    };
    let registry = GpuRegistry::new();
    registry.initialize(&configuration, &platforms).unwrap();
    let open = || {
        let options = core_gpu::Gpu::options().platforms(&platforms);
        options
            .configuration(configuration.clone())
            .device("simulated:0")
            .wait(Deadline::now())
            .open()
    };
    let gpu = open().unwrap();
    let id = gpu.driver().info().id;
    let slot = registry.acquire(&[id], Deadline::now()).unwrap();
    let busy = open().unwrap_err();
    assert_eq!(busy.kind(), core_gpu::ErrorKind::Busy, "{busy}");
    drop(slot);
    gpu.close().unwrap();
    assert_eq!(open().unwrap().claimed_slot().1, id);
}
