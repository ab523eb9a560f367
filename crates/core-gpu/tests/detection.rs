//! Detection on machines that have nothing, something, or something broken: through the libraries
//! that a program looks for, simulated, each case in a process of its own.
#![cfg(all(target_os = "linux", feature = "cuda", feature = "rocm"))]
#![expect(clippy::unwrap_used, reason = "a test may end")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use core_gpu::{
    devices::DeviceManager,
    driver::{PlatformKind, cuda},
    platform::{
        CpuPlatform, CudaPlatform, Fallback, MetalPlatform, Platform, Platforms, Preference,
        RocmPlatform, SelectError, Unavailable,
    },
    registry::GpuRegistry,
    warning,
};
use gpu_sim::case::Case;

/// A context that is made hangs: what detects without one does not notice.
const CONTEXTS_HANG: &str = "cuDevicePrimaryCtxRetain:1:hang,cuCtxSetCurrent:1:hang";
/// Longer than anything takes, and shorter than a case may.
const PATIENCE: Duration = Duration::from_secs(20);
/// For those that hang.
const SHORT: Duration = Duration::from_millis(200);

fn platforms(deadline: Duration) -> Arc<Platforms> {
    Arc::new(Platforms::from_environment(deadline))
}

fn why(kind: PlatformKind) -> Unavailable {
    platforms(PATIENCE).probe(kind).unwrap_err().clone()
}

#[test]
fn machines_of_several_sizes() {
    for devices in [0_usize, 1, 2, 8] {
        let bytes = vec!["1048576"; devices].join(",");
        let bytes = if devices == 0 { "none" } else { &bytes };
        Case::new("machines_of_several_sizes")
            .variable("GPU_SIM_DEVICES", bytes)
            .variable("GPU_SIM_FAULTS", CONTEXTS_HANG)
            .variable("DEVICES", &devices.to_string())
            .run(|| machine_of(env::var("DEVICES").unwrap().parse().unwrap()));
    }
}

fn machine_of(devices: usize) {
    let platforms = platforms(PATIENCE);
    let chosen = platforms.select(Preference::Auto, Fallback::Error).unwrap();
    let wanted = if devices == 0 {
        PlatformKind::Host
    } else {
        PlatformKind::Cuda
    };
    assert_eq!(chosen.kind(), wanted);
    assert_eq!(chosen.found().devices.len(), devices.max(1));
    let manager = DeviceManager::new(&platforms, Preference::Auto);
    let available = manager.available_devices();
    assert_eq!(available.devices.len(), devices + 1);
    let recommended = if devices == 0 { "cpu" } else { "cuda:0" };
    assert_eq!(available.recommended_device.to_string(), recommended);
    assert_eq!(manager.memory_info().devices.len(), devices);
    let configuration = core_gpu::configuration::Configuration {
        configured_num_workers: Some(9),
        ..Default::default()
    };
    let status = GpuRegistry::new().initialize(&configuration, &platforms);
    let pipelines = status.unwrap().max_pipelines as usize;
    assert_eq!(pipelines, 9_usize.div_ceil(devices.max(1)));
}

#[test]
fn each_library_missing() {
    Case::new("each_library_missing")
        .without_library("sim_cuda")
        .variable("MISSING", "cuda")
        .run(|| {
            let why = why(PlatformKind::Cuda);
            assert!(matches!(why, Unavailable::Library { .. }), "{why}");
            assert!(why.to_string().starts_with("no library: tried libcuda.so"));
        });
    Case::new("each_library_missing")
        .without_library("sim_hip")
        .variable("MISSING", "hip")
        .run(|| {
            let why = why(PlatformKind::Rocm);
            assert!(matches!(why, Unavailable::Library { .. }), "{why}");
            assert!(platforms(PATIENCE).probe(PlatformKind::Cuda).is_ok());
        });
    Case::new("each_library_missing")
        .without_library("sim_cuda")
        .without_library("sim_hip")
        .without_library("sim_management")
        .run(|| {
            let platforms = platforms(PATIENCE);
            let chosen = platforms.select(Preference::Auto, Fallback::Error);
            assert_eq!(chosen.unwrap().kind(), PlatformKind::Host);
            assert_eq!(warning::count(), 0, "nobody misses what is not installed");
        });
}

#[test]
fn each_symbol_missing() {
    for symbol in cuda::SYMBOLS.iter().chain(&["hipRuntimeGetVersion"]) {
        Case::new("each_symbol_missing")
            .without_symbol(symbol)
            .variable("MISSING", symbol)
            .run(|| {
                let missing = env::var("MISSING").unwrap();
                let (kind, library) = if missing.starts_with("hip") {
                    (PlatformKind::Rocm, "libamdhip64")
                } else {
                    (PlatformKind::Cuda, "libcuda")
                };
                let wanted = format!("{library} has no function {missing}: the driver is too old");
                assert_eq!(why(kind).to_string(), wanted);
            });
    }
}

#[test]
fn what_is_broken_is_a_warning_once() {
    Case::new("what_is_broken_is_a_warning_once")
        .without_symbol("cuMemAlloc_v2")
        .run(|| {
            let platforms = platforms(PATIENCE);
            for _ in 0..3 {
                let chosen = platforms.select(Preference::Auto, Fallback::Error);
                assert_eq!(chosen.unwrap().kind(), PlatformKind::Host);
            }
            assert_eq!(warning::count(), 1);
        });
}

#[test]
fn a_fallback_is_a_warning_once_and_says_why() {
    static HEARD: AtomicU64 = AtomicU64::new(0);
    Case::new("a_fallback_is_a_warning_once_and_says_why")
        .variable("GPU_SIM_DRIVER_VERSION", "10020")
        .run(|| {
            warning::set_hook(|warning| {
                assert_eq!(
                    warning.to_string(),
                    "cuda cannot be used, cpu is used instead: the driver has version 10020, and \
                     11040 is the oldest that works"
                );
                HEARD.fetch_add(1, SeqCst);
            });
            let platforms = platforms(PATIENCE);
            let cuda = Preference::Platform(PlatformKind::Cuda);
            let too_old = Unavailable::DriverTooOld {
                found: 10_020,
                needed: 11_040,
            };
            for _ in 0..3 {
                let chosen = platforms.select(cuda, Fallback::Cpu).unwrap();
                assert_eq!(chosen.kind(), PlatformKind::Host);
                assert_eq!(chosen.instead_of(), Some((PlatformKind::Cuda, &too_old)));
            }
            assert_eq!(HEARD.load(SeqCst), 1);
            let error = platforms.select(cuda, Fallback::Error).unwrap_err();
            let wanted = SelectError {
                platform: PlatformKind::Cuda,
                why: too_old,
            };
            assert_eq!(error, wanted);
        });
}

#[test]
fn a_hang_ends_with_the_deadline_and_is_not_tried_again() {
    for function in [
        "cuDriverGetVersion",
        "cuInit",
        "cuDeviceGetCount",
        "cuDeviceGetName",
    ] {
        Case::new("a_hang_ends_with_the_deadline_and_is_not_tried_again")
            .variable("GPU_SIM_FAULTS", &format!("{function}:1:hang"))
            .run(|| {
                let platforms = platforms(SHORT);
                let start = Instant::now();
                let hung = Unavailable::Hung { after: SHORT };
                assert_eq!(platforms.probe(PlatformKind::Cuda), Err(&hung));
                assert!(start.elapsed() < PATIENCE);
                assert_eq!(
                    hung.to_string(),
                    "no answer within 200 ms; it is not asked again in this process"
                );
                let threads = threads();
                for _ in 0..100 {
                    let chosen = platforms.select(Preference::Auto, Fallback::Error);
                    assert_eq!(chosen.unwrap().kind(), PlatformKind::Host);
                }
                assert_eq!(
                    threads_settle(threads),
                    threads,
                    "no further thread is stuck"
                );
            });
    }
}

#[test]
fn a_healthy_probe_leaves_no_thread() {
    Case::new("a_healthy_probe_leaves_no_thread").run(|| {
        let before = threads();
        assert!(platforms(PATIENCE).probe(PlatformKind::Cuda).is_ok());
        assert_eq!(threads_settle(before), before);
    });
}

/// The threads of this process.
fn threads() -> usize {
    fs::read_dir("/proc/self/task").unwrap().count()
}

/// The kernel counts a thread for a moment after it was joined.
fn threads_settle(wanted: usize) -> usize {
    let end = Instant::now() + Duration::from_secs(5);
    while threads() != wanted && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(1));
    }
    threads()
}

#[test]
fn failing_calls_are_told_with_their_code() {
    let cases = [
        (
            "cuDriverGetVersion:1:before:999",
            "cuDriverGetVersion failed with code 999",
        ),
        ("cuInit:1:before:999", "cuInit failed with code 999"),
        ("cuInit:1:before:803", "cuInit failed with code 803"),
        (
            "cuDeviceGetCount:1:before:3",
            "cuDeviceGetCount failed with code 3",
        ),
        (
            "cuDeviceGetName:2:before:46",
            "cuDeviceGetName failed with code 46",
        ),
    ];
    for (fault, message) in cases {
        Case::new("failing_calls_are_told_with_their_code")
            .variable("GPU_SIM_FAULTS", fault)
            .variable("GPU_SIM_DEVICES", "1048576,1048576")
            .variable("MESSAGE", message)
            .run(|| {
                assert_eq!(
                    why(PlatformKind::Cuda).to_string(),
                    env::var("MESSAGE").unwrap()
                )
            });
    }
    // A device that is lost while it is asked.
    Case::new("failing_calls_are_told_with_their_code")
        .variable("GPU_SIM_FAULTS", "cuDeviceTotalMem:1:before:700")
        .run(|| {
            let why = why(PlatformKind::Cuda);
            assert!(why.to_string().ends_with("is lost (code 700)"), "{why}");
            assert_eq!(why.code(), "failed");
        });
}

#[test]
fn a_variable_that_hides_everything_is_named() {
    Case::new("a_variable_that_hides_everything_is_named")
        .variable("GPU_SIM_DEVICES", "none")
        .variable("CUDA_VISIBLE_DEVICES", "-1")
        .run(|| {
            let why = why(PlatformKind::Cuda);
            let wanted = "CUDA_VISIBLE_DEVICES=-1 leaves no device: the driver shows none";
            assert_eq!(why.to_string(), wanted);
        });
    Case::new("a_variable_that_hides_everything_is_named")
        .variable("GPU_SIM_DEVICES", "none")
        .run(|| assert_eq!(why(PlatformKind::Cuda), Unavailable::NoDevice));
}

#[test]
fn devices_open_share_and_fill_up() {
    Case::new("devices_open_share_and_fill_up")
        .variable("GPU_SIM_DEVICES", "1073741824,4194304")
        .run(|| {
            let platforms = platforms(PATIENCE);
            let manager = DeviceManager::new(&platforms, Preference::Auto);
            let small = manager.resolve_device("cuda:1", Fallback::Error).unwrap();
            let free = |manager: &DeviceManager| manager.memory_info().devices[1].free_bytes;
            let driver = manager.open(&small.info.id).unwrap();
            assert!(Arc::ptr_eq(&driver, &manager.open(&small.info.id).unwrap()));
            assert_eq!(free(&manager), Some(4 << 20));
            let pool = core_gpu::memory::Pool::new(&driver);
            let stream =
                core_gpu::driver::Stream::new(&driver, core_gpu::driver::StreamKind::NonBlocking);
            let stream = stream.unwrap();
            let by = core_gpu::memory::Source::named("test");
            let buffer = pool.allocate::<u8>(1 << 20, &stream, by).unwrap();
            let report = manager.memory_info();
            let memory = &report.devices[1];
            assert_eq!(memory.allocated_bytes, Some(1 << 20));
            assert!(memory.reserved_bytes >= memory.allocated_bytes);
            assert_eq!(memory.others_bytes(), Some(0));
            assert!(pool.allocate::<u8>(64 << 20, &stream, by).is_err());
            drop((buffer, stream, pool, driver));
        });
}

/// Files below a root that make the kernel's list of two devices.
fn topology(root: &Path) {
    let nodes = root.join("sys/class/kfd/kfd/topology/nodes");
    for (node, unique) in [(1, 171), (2, 205)] {
        let folder = nodes.join(node.to_string());
        fs::create_dir_all(&folder).unwrap();
        let properties = format!(
            "simd_count 440\nunique_id {unique}\ngfx_target_version 90010\nlocation_id {}\n\
             domain 0\n",
            node << 8
        );
        fs::write(folder.join("properties"), properties).unwrap();
        fs::write(folder.join("name"), format!("card {node}\n")).unwrap();
        let card = root.join(format!("sys/bus/pci/devices/0000:{node:02x}:00.0"));
        fs::create_dir_all(&card).unwrap();
        fs::write(card.join("mem_info_vram_total"), "1048576\n").unwrap();
        fs::write(card.join("mem_info_vram_used"), "4096\n").unwrap();
    }
}

#[test]
fn rocm_devices_are_hidden_and_numbered_by_variables() {
    Case::new("rocm_devices_are_hidden_and_numbered_by_variables").run(|| {
        let root = tempfile::tempdir().unwrap();
        topology(root.path());
        // The variables, and the names of the devices that are left, or why there is none.
        type Variables<'a> = &'a [(&'a str, &'a str)];
        let cases: &[(Variables<'_>, Result<&[&str], &str>)] = &[
            (&[], Ok(&["card 1", "card 2"])),
            (&[("HIP_VISIBLE_DEVICES", "1")], Ok(&["card 2"])),
            (&[("HIP_VISIBLE_DEVICES", "1,0")], Ok(&["card 2", "card 1"])),
            (&[("CUDA_VISIBLE_DEVICES", "1")], Ok(&["card 2"])),
            (
                &[("HIP_VISIBLE_DEVICES", "0"), ("CUDA_VISIBLE_DEVICES", "1")],
                Ok(&["card 1"]),
            ),
            (
                &[("ROCR_VISIBLE_DEVICES", "1"), ("HIP_VISIBLE_DEVICES", "0")],
                Ok(&["card 2"]),
            ),
            (
                &[("ROCR_VISIBLE_DEVICES", "GPU-00000000000000cd")],
                Ok(&["card 2"]),
            ),
            (
                &[("HIP_VISIBLE_DEVICES", "")],
                Err("HIP_VISIBLE_DEVICES= leaves no device: it is empty"),
            ),
            (
                &[("HIP_VISIBLE_DEVICES", "5")],
                Err("HIP_VISIBLE_DEVICES=5 leaves no device: there is no device `5`"),
            ),
        ];
        for (variables, wanted) in cases {
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            let platform = RocmPlatform::new(root.path().to_owned(), variable);
            let found = platform.probe().map_err(|why| why.to_string());
            let names = found.as_ref().map(|found| {
                let names = found.devices.iter().map(|device| device.name.as_str());
                names.collect::<Vec<_>>()
            });
            let wanted = wanted.map(<[_]>::to_vec).map_err(str::to_owned);
            assert_eq!(names.map_err(Clone::clone), wanted, "{variables:?}");
        }
        let report = detecting(root.path()).memory_info();
        assert_eq!(report.devices[1].name.to_string(), "rocm:1");
        assert_eq!(report.devices[1].free_bytes, Some(1_044_480));
    });
}

/// ROCm's devices below another root, and the processor.
fn detecting(root: &Path) -> DeviceManager {
    let rocm = Arc::new(RocmPlatform::new(PathBuf::from(root), |_| None));
    let platforms = Platforms::new(vec![rocm, Arc::new(CpuPlatform)], PATIENCE);
    DeviceManager::new(&Arc::new(platforms), Preference::Auto)
}

#[test]
fn rocm_devices_open_through_hip_by_their_place() {
    Case::new("rocm_devices_open_through_hip_by_their_place")
        // The kernel's files have the second and third.
        .variable("GPU_SIM_HIP_DEVICES", "3")
        .variable("GPU_SIM_HIP_BYTES", "4194304")
        .run(|| {
            let root = tempfile::tempdir().unwrap();
            topology(root.path());
            let manager = detecting(root.path());
            let (device, driver) = manager.open_device("hip:1", Fallback::Error).unwrap();
            assert_eq!(driver.info().id, device.info.id);
            assert_eq!(driver.info().name, device.info.name);
            let stream = core_gpu::driver::Stream::new(&driver, Default::default()).unwrap();
            let pool = core_gpu::memory::Pool::new(&driver);
            let by = core_gpu::memory::Source::named("rocm");
            let mut buffer = pool.allocate::<u32>(3, &stream, by).unwrap();
            buffer.upload(&[1, 2, 3], &stream).unwrap();
            assert_eq!(buffer.download(&stream).unwrap(), [1, 2, 3]);
        });
    // Detected, and the library does not show it.
    Case::new("rocm_devices_open_through_hip_by_their_place").run(|| {
        let root = tempfile::tempdir().unwrap();
        topology(root.path());
        let manager = detecting(root.path());
        let refused = manager.open_device("hip:1", Fallback::Error).unwrap_err();
        assert!(
            refused
                .to_string()
                .starts_with("rocm:1 cannot be opened: no such device")
        );
        let (device, driver) = manager.open_device("hip:1", Fallback::Cpu).unwrap();
        assert_eq!(driver.info().id.platform, PlatformKind::Host);
        assert!(device.instead.is_some());
    });
}

#[test]
fn devices_of_other_systems_are_not_opened() {
    let id = core_gpu::driver::DeviceId {
        platform: PlatformKind::Metal,
        uuid: [1; 16],
    };
    let why = MetalPlatform.open(&id).unwrap_err().to_string();
    let wanted = if cfg!(feature = "metal") {
        "Metal is not on this system"
    } else {
        "built without the feature `metal`"
    };
    assert_eq!(why, wanted);
}

#[test]
fn a_topology_without_a_runtime_is_no_platform() {
    Case::new("a_topology_without_a_runtime_is_no_platform")
        .without_library("sim_hip")
        .run(|| {
            let root = tempfile::tempdir().unwrap();
            topology(root.path());
            let platform = RocmPlatform::new(root.path().to_owned(), |_| None);
            let why = platform.probe().unwrap_err();
            assert!(matches!(why, Unavailable::Library { .. }), "{why}");
        });
}

#[test]
fn a_platform_of_ones_own_is_asked_once() {
    let cuda: Arc<dyn Platform> = Arc::new(CudaPlatform::default());
    let platforms = Platforms::new(vec![cuda], PATIENCE);
    let kinds: Vec<_> = platforms.all().iter().map(|status| status.kind).collect();
    assert_eq!(kinds, [PlatformKind::Cuda, PlatformKind::Host]);
    assert_eq!(
        platforms.probe(PlatformKind::Metal),
        Err(&Unavailable::Unknown)
    );
}

#[test]
fn memory_is_told_without_a_context_in_time() {
    // What goes wrong, and what is known of the first device: the library has another order.
    let cases = [
        (CONTEXTS_HANG, Some(2 << 20)),
        ("nvmlInit:1:before:999", None),
        ("nvmlInit:1:hang", None),
        ("nvmlDeviceGetMemoryInfo:1:before:15", None),
        ("nvmlDeviceGetMemoryInfo:1:hang", None),
    ];
    for (fault, free) in cases {
        Case::new("memory_is_told_without_a_context_in_time")
            .variable("GPU_SIM_DEVICES", "3145728,1048576")
            .variable("GPU_SIM_USED", "1048576")
            .variable("GPU_SIM_FAULTS", fault)
            .variable("FREE", &format!("{free:?}"))
            .run(|| {
                let manager = DeviceManager::new(&platforms(SHORT), Preference::Auto);
                let start = Instant::now();
                let memory = manager.memory_info();
                let free = format!("{:?}", memory.devices[0].free_bytes);
                assert_eq!(free, env::var("FREE").unwrap());
                assert_eq!(memory.devices[0].total_bytes, Some(3 << 20));
                assert!(start.elapsed() < PATIENCE);
            });
    }
}

#[test]
fn processes_on_devices_are_listed_where_they_are_told() {
    let cases = [
        ("", "[]"),
        ("7:4096,8", "[(7, Some(4096)), (8, None)]"),
        // More than there is room for at first.
        (&"1:2,".repeat(100), ""),
    ];
    for (processes, wanted) in cases {
        Case::new("processes_on_devices_are_listed_where_they_are_told")
            .variable("GPU_SIM_PROCESSES", processes)
            .variable("WANTED", wanted)
            .run(|| {
                let manager = DeviceManager::new(&platforms(PATIENCE), Preference::Auto);
                let processes = manager.processes();
                let of_first = processes.values().next().unwrap();
                let pairs = of_first.iter().map(|one| (one.process, one.used_bytes));
                let pairs: Vec<_> = pairs.collect();
                match env::var("WANTED").unwrap().as_str() {
                    "" => assert_eq!(pairs, vec![(1, Some(2)); 100]),
                    wanted => assert_eq!(format!("{pairs:?}"), wanted),
                }
            });
    }
    Case::new("processes_on_devices_are_listed_where_they_are_told")
        .without_symbol("nvmlDeviceGetComputeRunningProcesses_v3")
        .run(|| {
            let manager = DeviceManager::new(&platforms(PATIENCE), Preference::Auto);
            assert!(manager.processes().is_empty());
            assert!(manager.memory_info().devices[0].free_bytes.is_some());
        });
}

#[test]
fn what_cannot_be_opened_is_the_processor() {
    // A full or lost device: the context cannot be made.
    for code in ["2", "214", "46"] {
        Case::new("what_cannot_be_opened_is_the_processor")
            .variable(
                "GPU_SIM_FAULTS",
                &format!("cuDevicePrimaryCtxRetain:1:before:{code}"),
            )
            .run(|| {
                let manager = DeviceManager::new(&platforms(PATIENCE), Preference::Auto);
                let (device, driver) = manager.open_device("auto", Fallback::Cpu).unwrap();
                assert_eq!(device.name.to_string(), "cpu");
                assert_eq!(driver.info().id.platform, PlatformKind::Host);
                let why = device.instead.unwrap().to_string();
                assert!(why.starts_with("cuda:0 cannot be opened: "), "{why}");
                assert_eq!(warning::count(), 1);
                // The fault was for the first call alone, unless the device is lost with it.
                match manager.open_device("auto", Fallback::Error) {
                    Ok((device, _)) => assert_eq!(device.name.to_string(), "cuda:0"),
                    Err(error) => assert!(error.to_string().ends_with("is lost (code 214)")),
                }
            });
    }
    Case::new("what_cannot_be_opened_is_the_processor")
        .variable("GPU_SIM_FAULTS", "cuDevicePrimaryCtxRetain:1:before:2")
        .variable("FALLBACK", "none")
        .run(|| {
            let manager = DeviceManager::new(&platforms(PATIENCE), Preference::Auto);
            let error = manager.open_device("cuda:0", Fallback::Error).unwrap_err();
            let wanted = "cuda:0 cannot be opened: the device is out of memory";
            assert_eq!(error.to_string(), wanted);
        });
}

#[test]
fn a_slice_has_its_memory_its_health_and_its_old_name() {
    use core_gpu::monitor::{HealthSource as _, SystemSource};
    Case::new("a_slice_has_its_memory_its_health_and_its_old_name")
        .variable("GPU_SIM_DEVICES", "1048576,2097152")
        .variable("GPU_SIM_SLICES", "1")
        .variable("GPU_SIM_USED", "4096")
        .run(|| {
            let manager = DeviceManager::new(&platforms(PATIENCE), Preference::Auto);
            let free: Vec<_> = manager.memory_info().devices;
            assert_eq!(free[0].free_bytes, Some(1_048_576 - 4096));
            let mut looked = SystemSource::open().unwrap();
            let seen = looked.look().iter().map(|(id, _)| *id).collect::<Vec<_>>();
            assert!(seen.contains(&free[0].id) && seen.contains(&free[1].id));
            let old = "cuda:MIG-GPU-77686f6c-6520-6465-7669-636520202020";
            for (name, wanted) in [
                (format!("{old}/1/0"), Some("cuda:1")),
                (format!("{old}/5/0"), None),
                ("cuda:MIG-GPU-77686f6c/1/0".to_owned(), None),
            ] {
                let found = manager.resolve_device(&name, Fallback::Error).ok();
                let found = found.map(|device| device.name.to_string());
                assert_eq!(found.as_deref(), wanted, "{name}");
            }
        });
}

#[test]
fn a_fallback_is_told_once_however_often_it_is_met() {
    Case::new("a_fallback_is_told_once_however_often_it_is_met")
        .without_library("sim_cuda")
        .run(|| {
            for _ in 0..3 {
                // Other managers, other platforms: it is the same process.
                let manager = DeviceManager::new(&platforms(PATIENCE), Preference::Auto);
                for _ in 0..3 {
                    let device = manager.resolve_device("cuda:0", Fallback::Cpu).unwrap();
                    assert_eq!(device.name.to_string(), "cpu");
                    assert!(device.instead.is_some(), "the answer says so each time");
                }
            }
            assert_eq!(warning::count(), 1);
            let manager = DeviceManager::new(&platforms(PATIENCE), Preference::Auto);
            manager.resolve_device("cuda:1", Fallback::Cpu).unwrap();
            assert_eq!(warning::count(), 2, "another device is another fallback");
        });
}

#[test]
fn the_processor_is_one_device_however_often_it_is_opened() {
    let open = || {
        let manager = DeviceManager::new(&platforms(PATIENCE), Preference::CPU);
        manager.open_device("cpu", Fallback::Error).unwrap().1
    };
    let (one, other) = (open(), open());
    assert!(Arc::ptr_eq(&one, &other));
}
