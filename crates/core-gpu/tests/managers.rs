//! Managers, accelerated work and the monitor, on the host and on simulated machines.

use std::sync::Arc;

use core_gpu::{
    accelerate::{NoGpu, accelerated_with},
    driver::{Driver, DriverError, HostDriver},
    managers::GpuManager,
    memory::{Hold, MemoryConfig, Source},
    profiler::{profile_with_memory, profiler},
};

#[test]
fn a_manager_has_memory_a_cache_and_the_profiler() {
    let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 24));
    let manager = GpuManager::on(&driver, &MemoryConfig::default()).unwrap();
    assert!(!manager.is_gpu());
    assert_eq!(manager.device().to_string(), "cpu");
    manager.profiler().enable();
    let buffer = {
        let _span = profile_with_memory("a manager's step");
        manager
            .memory()
            .allocate(4096, Source::named("test"))
            .unwrap()
    };
    let memory = profiler().stats()["a manager's step"].memory.unwrap();
    assert_eq!(
        memory.change, 4096,
        "the profiler sees the manager's memory"
    );
    manager.memory().deallocate(buffer).unwrap();
    let stream = manager.memory().stream().clone();
    let upload = || Ok::<_, DriverError>(vec![7_u8; 100]);
    for _ in 0..2 {
        manager
            .cache()
            .get_or_upload("key", 1.0, &stream, upload)
            .unwrap();
    }
    assert!(manager.cache().set_hold("key", Hold::default()));
    let statistics = manager.cache().statistics();
    assert_eq!((statistics.hits, statistics.misses), (1, 1));
}

#[test]
fn without_a_gpu_the_other_way_is_taken_and_the_answer_says_why() {
    let done = accelerated_with(|| Err(NoGpu::None), |_| Ok::<_, DriverError>(1), || 2);
    assert_eq!((done.value, done.ran_on.to_string()), (2, "cpu".to_owned()));
    assert_eq!(done.instead.as_deref(), Some("there is no GPU"));
}

#[cfg(feature = "cuda")]
mod simulated {
    //! On the simulated libraries, in processes of their own.

    use std::time::Duration;

    use core_gpu::{
        accelerate::{accelerated, is_gpu_available, require_gpu},
        configuration::Configuration,
        devices::DeviceManager,
        driver::DriverError,
        managers::{BatchRequest, ManagerError, SplitBy, gpu_manager, multi_gpu_manager},
        memory::Source,
        monitor::{Condition, HealthLimits, Monitor, SystemSource},
        platform::Platforms,
        registry::{Health, registry},
        strategies::candidates,
    };
    use gpu_sim::case::Case;

    const MIB: u64 = 1 << 20;

    fn case(name: &str, devices: &str) -> Case {
        Case::new(&format!("simulated::{name}"))
            .variable("GPU_SIM_DEVICES", devices)
            .variable("TMPDIR", &std::env::temp_dir().to_string_lossy())
    }

    /// Whoever is asked first, both answer with the same memory.
    #[test]
    fn the_process_has_one_memory_in_either_order() {
        use core_gpu::{managers::gpu_memory, memory::memory_manager};
        let name = "the_process_has_one_memory_in_either_order";
        // The devices, a variable, the kind of the memory or that both refuse.
        let cases = [
            ("none", ("X", ""), Some("host")),
            ("1048576", ("X", ""), Some("cuda")),
            ("1048576,67108864", ("X", ""), Some("cuda")),
            ("1048576", ("GPU_BACKEND", "cpu"), Some("host")),
            ("1048576", ("USE_CUDA", "0"), Some("host")),
            (
                "1048576",
                ("COALESCE_GPU_BACKEND_ENABLED", "no"),
                Some("host"),
            ),
            ("none", ("COALESCE_GPU_BACKEND_DEVICE", "cuda"), None),
            ("1048576", ("COALESCE_GPU_BACKEND_DEVICE", "cuda:1"), None),
        ];
        for (devices, (variable, value), wanted) in cases {
            for first in ["gpu_memory", "memory_manager"] {
                let case = case(name, devices).variable(variable, value);
                let case = case.variable("FIRST", first).variable("DEVICES", devices);
                let case = match (devices, value) {
                    ("none", "") => case.without_library("sim_cuda"),
                    _ => case,
                };
                case.run(|| {
                    let told = |name: &str| std::env::var(name).unwrap_or_default();
                    if (told("FIRST"), told("DEVICES"), told(variable))
                        != (first.to_owned(), devices.to_owned(), value.to_owned())
                    {
                        return;
                    }
                    let before = (first == "memory_manager").then(memory_manager);
                    let managed = gpu_memory();
                    let plain = before.unwrap_or_else(memory_manager);
                    let kind = |found: &core_gpu::memory::MemoryManager| {
                        let info = found.driver().info().clone();
                        (info.id.platform.name(), info.total_bytes)
                    };
                    match (managed, plain, wanted) {
                        (Ok(one), Ok(other), Some(wanted)) => {
                            assert!(std::ptr::eq(one, other));
                            assert_eq!(kind(one).0, wanted);
                            if devices.contains(',') {
                                assert_eq!(kind(one).1, 67_108_864, "the one with more");
                            }
                        }
                        (Err(_), Err(_), None) => {}
                        (one, other, _) => panic!("{one:?}\n{other:?}"),
                    }
                });
            }
        }
    }

    #[test]
    fn machines_of_none_one_two_and_eight() {
        let name = "machines_of_none_one_two_and_eight";
        for count in [0_usize, 1, 2, 8] {
            let devices = match count {
                0 => "none".to_owned(),
                count => vec!["1048576"; count].join(","),
            };
            case(name, &devices)
                .variable("GPU_SIM_USED", "1024")
                .variable(
                    "GPU_SIM_UTILIZATION",
                    if count == 8 {
                        "40,30,20,10,10,20,30,40"
                    } else {
                        "5"
                    },
                )
                .run(|| {
                    if std::env::var("GPU_SIM_DEVICES").as_ref() != Ok(&devices) {
                        return;
                    }
                    let manager = multi_gpu_manager().unwrap();
                    assert_eq!(manager.available().len(), count);
                    assert_eq!(manager.usage().len(), count);
                    assert_eq!(is_gpu_available(), count > 0);
                    let counted = candidates(&DeviceManager::from_environment().unwrap());
                    assert_eq!(counted.len(), count);
                    assert!(counted.iter().all(|one| one.free_bytes.is_some()));
                    let shares = manager.split(17, SplitBy::FreeMemory);
                    match count {
                        0 => {
                            assert!(manager.least_loaded().is_none());
                            assert!(matches!(shares, Err(ManagerError::NoDevice)));
                            assert!(require_gpu().is_err());
                            assert!(!gpu_manager().unwrap().is_gpu());
                        }
                        _ => {
                            let given = shares.unwrap();
                            assert_eq!(
                                given.iter().map(|share| share.items.len()).sum::<usize>(),
                                17
                            );
                            assert!(gpu_manager().unwrap().is_gpu());
                        }
                    }
                    if count == 8 {
                        let least = manager.least_loaded().unwrap();
                        assert_eq!(least.utilization_percent, Some(10));
                        assert_eq!(least.name.to_string(), "cuda:3");
                    }
                });
        }
    }

    #[test]
    fn what_others_hold_counts_for_batches_and_parts() {
        let name = "what_others_hold_counts_for_batches_and_parts";
        case(name, "1048576,1048576")
            .variable("GPU_SIM_USED", "524288,0")
            .run(|| {
                let manager = multi_gpu_manager().unwrap();
                let ids: Vec<_> = manager.available().iter().map(|info| info.id).collect();
                let mut request = BatchRequest::of_bytes(1024);
                request.margin = 0.0;
                let size = |index: usize, request: &BatchRequest| {
                    manager.optimal_batch_size(&ids[index], request)
                };
                assert_eq!(size(0, &request).unwrap(), 512);
                assert_eq!(size(1, &request).unwrap(), 1024);
                request.fixed_bytes = MIB - 100 * 1024;
                request.multiple_of = 32;
                assert_eq!(size(1, &request).unwrap(), 96);
                assert!(matches!(
                    size(0, &request),
                    Err(ManagerError::NoRoom { .. })
                ));
                request.at_most = 40;
                assert_eq!(size(1, &request).unwrap(), 32);
                request.margin = 1.0;
                assert!(matches!(
                    size(1, &request),
                    Err(ManagerError::Setting { .. })
                ));
                let by = |by| {
                    let shares = manager.split(9, by).unwrap();
                    shares
                        .into_iter()
                        .map(|share| share.items)
                        .collect::<Vec<_>>()
                };
                assert_eq!(by(SplitBy::FreeMemory), [0..3, 3..9]);
                assert_eq!(by(SplitBy::Capacity), [0..5, 5..9]);
                assert_eq!(manager.least_loaded().unwrap().id, ids[1]);
                assert!(manager.peer_access(&ids[0], &ids[1]).unwrap());
                let mut other = ids[0];
                other.uuid = [9; 16];
                assert!(matches!(
                    manager.peer_access(&ids[0], &other),
                    Err(ManagerError::UnknownDevice(_))
                ));
                // The pool's own reserve is free for items.
                let own = gpu_manager().unwrap();
                drop(own.memory().allocate(4096, Source::UNNAMED).unwrap());
                assert!(own.memory().pool().reserved_bytes() > 0);
                assert!(size(0, &BatchRequest::of_bytes(1)).is_ok());
            });
    }

    #[test]
    fn a_device_that_tells_no_memory_is_not_an_empty_one() {
        let name = "a_device_that_tells_no_memory_is_not_an_empty_one";
        case(name, "1048576")
            .without_library("sim_management")
            .run(|| {
                let manager = multi_gpu_manager().unwrap();
                let usage = &manager.usage()[0];
                assert_eq!((usage.free_bytes, usage.utilization_percent), (None, None));
                let size = manager.optimal_batch_size(&usage.id, &BatchRequest::of_bytes(1));
                assert!(matches!(size, Err(ManagerError::UnknownMemory { .. })));
                assert!(manager.split(3, SplitBy::FreeMemory).is_err());
                assert_eq!(manager.split(3, SplitBy::Capacity).unwrap()[0].items, 0..3);
                let source = SystemSource::open().unwrap_err();
                assert!(source.to_string().contains("libnvidia-ml.so.1"), "{source}");
            });
    }

    #[test]
    fn accelerated_work_runs_on_the_device_or_says_why_not() {
        let name = "accelerated_work_runs_on_the_device_or_says_why_not";
        case(name, "1048576").run(|| {
            let work = |scope: &core_gpu::accelerate::GpuScope| {
                let buffer = scope.to_gpu(&[1_u32, 2, 3], Source::UNNAMED)?;
                let back = scope.to_cpu(&buffer)?;
                drop(buffer);
                Ok::<u32, core_gpu::memory::AllocError>(back.iter().sum())
            };
            let done = accelerated(work, || 0);
            assert_eq!(
                (done.value, done.ran_on.to_string()),
                (6, "cuda:0".to_owned())
            );
            let done = accelerated(|_| Err::<u32, _>(DriverError::OutOfMemory), || 9);
            assert_eq!((done.value, done.ran_on.to_string()), (9, "cpu".to_owned()));
            assert_eq!(done.instead.as_deref(), Some("the device is out of memory"));
        });
    }

    #[test]
    fn work_falls_back_when_the_driver_fails() {
        let name = "work_falls_back_when_the_driver_fails";
        let faults = [
            "cuDevicePrimaryCtxRetain:1:before:2",
            "cuStreamCreate:1:before:999",
            "cuInit:1:before:999",
        ];
        for fault in faults {
            case(name, "1048576")
                .variable("GPU_SIM_FAULTS", fault)
                .run(|| {
                    let done = accelerated(|_| Ok::<_, DriverError>(1), || 2);
                    assert_eq!(done.value, 2, "{:?}", done.instead);
                    assert!(done.instead.is_some());
                });
        }
    }

    /// XID 79 while a program runs: out of use with the first look, nobody gets a slot.
    #[test]
    fn a_device_off_the_bus_is_taken_out_of_use() {
        let name = "a_device_off_the_bus_is_taken_out_of_use";
        case(name, "1048576,1048576")
            .variable("GPU_SIM_EVENTS", "1:8:79")
            .run(|| {
                let directory = std::env::temp_dir().join(format!("slots-{}", std::process::id()));
                let configuration = Configuration::builder()
                    .slot_directory(&directory)
                    .build()
                    .unwrap();
                let status = registry()
                    .initialize(&configuration, Platforms::system())
                    .unwrap();
                let (well, sick) = (status.devices[0].info.id, status.devices[1].info.id);
                let source = SystemSource::open().unwrap();
                source.hears_errors().unwrap();
                let mut monitor = Monitor::new(
                    source,
                    std::sync::Arc::new(registry()),
                    HealthLimits::default(),
                );
                let health = monitor.look(Duration::from_millis(200)).clone();
                assert!(health[&sick].quarantined, "{health:?}");
                assert!(
                    health[&sick]
                        .conditions
                        .contains(&Condition::Critical { xid: 79 })
                );
                assert!(!health[&well].quarantined);
                let status = registry().status().unwrap();
                let Health::Quarantined { why } = &status.devices[1].health else {
                    panic!("it is used")
                };
                assert!(why.contains("fallen off the bus"), "{why}");
                let slot = registry().acquire_any().unwrap();
                assert_eq!(slot.device(), well);
                drop(slot);
                std::fs::remove_dir_all(directory).unwrap();
            });
    }

    #[test]
    fn the_figures_of_a_device_are_read() {
        let name = "the_figures_of_a_device_are_read";
        case(name, "1048576,2097152")
            .variable("GPU_SIM_TEMPERATURE", "40,95")
            .variable("GPU_SIM_TEMPERATURE_SLOWDOWN", "90")
            .variable("GPU_SIM_POWER", "100000,200000")
            .variable("GPU_SIM_ROWS_FAILED", "1,0")
            .run(|| {
                use core_gpu::monitor::HealthSource as _;
                let mut source = SystemSource::open().unwrap();
                let looks = source.look();
                let devices = core_gpu::driver::cuda::devices().unwrap();
                let of = |index: usize| {
                    let found = looks.iter().find(|(id, _)| *id == devices[index].id);
                    match &found.unwrap().1 {
                        core_gpu::monitor::Look::Vital(vital) => vital.clone(),
                        look => panic!("{look:?}"),
                    }
                };
                let (one, two) = (of(0), of(1));
                assert_eq!(one.temperature_celsius, Some(40), "told apart by identity");
                assert_eq!(two.temperature_celsius, Some(95));
                assert_eq!(two.total_bytes, Some(2 * MIB));
                assert_eq!(two.power_milliwatts, Some(200_000));
                assert_eq!(one.row_remap_failed, Some(true));
            });
    }

    #[test]
    fn missing_functions_are_missing_figures() {
        let name = "missing_functions_are_missing_figures";
        let cases: &[(&str, bool)] = &[
            ("nvmlDeviceGetTemperature", true),
            ("nvmlDeviceGetRemappedRows", true),
            ("nvmlEventSetCreate", true),
            ("nvmlDeviceGetCount_v2", false),
        ];
        for (symbol, works) in cases {
            case(name, "1048576")
                .without_symbol(symbol)
                .variable("SYMBOL", symbol)
                .run(|| {
                    if std::env::var("SYMBOL").as_deref() != Ok(*symbol) {
                        return;
                    }
                    use core_gpu::monitor::HealthSource as _;
                    match SystemSource::open() {
                        Ok(mut source) => {
                            assert!(*works);
                            assert_eq!(source.look().len(), 1);
                            let hears = *symbol != "nvmlEventSetCreate";
                            assert_eq!(source.hears_errors().is_ok(), hears);
                        }
                        Err(error) => {
                            assert!(!works);
                            assert!(error.to_string().contains(symbol), "{error}");
                        }
                    }
                });
        }
    }

    /// The management library hangs: figures are missing, everything else goes on, and it is not
    /// asked a second time.
    #[test]
    fn a_library_that_hangs_holds_nobody_up_twice() {
        let name = "a_library_that_hangs_holds_nobody_up_twice";
        let fault = "nvmlInit:1:hang";
        case(name, "1048576")
            .variable("GPU_SIM_FAULTS", fault)
            .run(|| {
                let manager = multi_gpu_manager().unwrap();
                let start = std::time::Instant::now();
                assert_eq!(manager.usage()[0].free_bytes, None);
                assert!(start.elapsed() < Duration::from_secs(8));
                let start = std::time::Instant::now();
                for _ in 0..100 {
                    assert_eq!(manager.usage().len(), 1);
                }
                let error = SystemSource::open().unwrap_err();
                assert!(error.to_string().contains("does not answer"), "{error}");
                assert!(
                    start.elapsed() < Duration::from_secs(1),
                    "it was not asked again"
                );
                let counted = candidates(&DeviceManager::from_environment().unwrap());
                assert_eq!(counted[0].free_bytes, None);
            });
    }

    #[test]
    fn a_monitor_whose_library_hangs_is_dropped_all_the_same() {
        let name = "a_monitor_whose_library_hangs_is_dropped_all_the_same";
        let fault = "nvmlDeviceGetTemperature:2:hang";
        case(name, "1048576")
            .variable("GPU_SIM_FAULTS", fault)
            .run(|| {
                let source = SystemSource::open().unwrap();
                let monitor =
                    Monitor::new(source, std::sync::Arc::new(Nobody), HealthLimits::default());
                let thread = monitor.watch(Duration::from_millis(5)).unwrap();
                while thread.report().looks == 0 {
                    std::thread::sleep(Duration::from_millis(5));
                }
                std::thread::sleep(Duration::from_millis(600));
                let report = thread.report();
                assert_eq!(report.looks, 1);
                assert!(
                    report.age.unwrap() >= Duration::from_millis(500),
                    "it shows that it is old"
                );
                let start = std::time::Instant::now();
                drop(thread);
                assert!(start.elapsed() < Duration::from_secs(8));
            });
    }

    /// Takes nobody out of use.
    struct Nobody;

    impl core_gpu::monitor::Quarantine for Nobody {
        fn quarantine(&self, _: &core_gpu::driver::DeviceId, _: &str) -> Result<(), String> {
            Err("not allowed".to_owned())
        }

        fn readmit(&self, _: &core_gpu::driver::DeviceId) -> Result<(), String> {
            Ok(())
        }
    }

    #[test]
    fn a_monitor_looks_by_itself_until_it_is_dropped() {
        let name = "a_monitor_looks_by_itself_until_it_is_dropped";
        case(name, "1048576").run(|| {
            let monitor = Monitor::new(
                SystemSource::open().unwrap(),
                std::sync::Arc::new(Nobody),
                HealthLimits::default(),
            );
            let thread = monitor.watch(Duration::from_millis(5)).unwrap();
            while thread.report().looks < 3 {
                std::thread::sleep(Duration::from_millis(5));
            }
            assert_eq!(thread.report().devices.len(), 1);
            assert!(thread.report().age.is_some());
        });
    }
}
