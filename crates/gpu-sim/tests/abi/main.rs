//! The C interface, as a program sees it that looks for a driver: detection, the CUDA adapter on
//! it, missing symbols and libraries, faults. Each case is a process of its own.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    unsafe_code,
    reason = "a test that fails says where; libraries are pointers"
)]

mod collectives;
mod hip;
mod management;

use std::{ffi::CString, sync::Arc};

use core_gpu_driver::{Absent, CudaDriver, Driver, DriverError, HostDriver, cuda, rocm};
use gpu_sim::{Machine, SimDriver, case::Case, conformance};

/// Asks a control function for a number.
pub(crate) fn ask(function: &str, argument: Option<&str>) -> u64 {
    // SAFETY: loading the simulated library runs nothing of interest.
    let library = unsafe { libloading::Library::new("libcuda.so.1") }.unwrap();
    let argument = argument.map(|text| CString::new(text).unwrap());
    let pointer = argument
        .as_ref()
        .map_or(std::ptr::null(), |text| text.as_ptr());
    // SAFETY: this is what all control functions that are asked here look like; those without an
    // argument do not read it.
    let found = unsafe {
        library.get::<extern "C" fn(*const std::ffi::c_char) -> u64>(function.as_bytes())
    };
    let answer = found.unwrap()(pointer);
    // Closing it would end the machine.
    std::mem::forget(library);
    answer
}

fn verify() {
    // The machine that is asked is the one that was used.
    assert!(ask("gpu_sim_calls", Some("cuInit")) > 0);
    assert_eq!(ask("gpu_sim_verify", None) as u32, 0);
}

pub(crate) fn open(number: usize) -> Arc<dyn Driver> {
    let devices = cuda::devices().unwrap();
    CudaDriver::open(&devices[number].id).unwrap()
}

#[test]
fn rules_hold_behind_the_c_interface() {
    for schedule in ["latest", "eager", "late:1", "seed:1", "seed:2", "seed:3"] {
        Case::new("rules_hold_behind_the_c_interface")
            .variable("GPU_SIM_SCHEDULE", schedule)
            .run(|| {
                let driver = open(0);
                assert_eq!(conformance::broken_rules(&driver), Vec::<String>::new());
                drop(driver);
                verify();
                assert_eq!(ask("gpu_sim_contexts", None), 0);
            });
    }
}

#[test]
fn rules_hold_in_the_process_and_on_the_host() {
    let machine = Machine::with_bytes(64 << 20);
    let simulated: Arc<dyn Driver> = SimDriver::open(&machine, 0).unwrap();
    let host: Arc<dyn Driver> = Arc::new(HostDriver::new(64 << 20));
    for driver in [simulated, host] {
        assert_eq!(
            conformance::broken_rules(&driver),
            Vec::<String>::new(),
            "{:?}",
            driver.info().id
        );
    }
    machine.verify().unwrap();
}

/// The same on a card, where there is one.
#[test]
fn rules_hold_on_a_real_card() {
    if std::env::var("COALESCE_DRIVER").as_deref() == Ok("sim") {
        println!("skipped: a simulated driver is wanted");
        return;
    }
    let found = cuda::devices().unwrap_or_default();
    let Some(first) = found.first() else {
        println!("skipped: no GPU");
        return;
    };
    let driver: Arc<dyn Driver> = CudaDriver::open(&first.id).unwrap();
    assert_eq!(conformance::broken_rules(&driver), Vec::<String>::new());
}

#[test]
fn detection_makes_no_context() {
    Case::new("detection_makes_no_context")
        .variable("GPU_SIM_DEVICES", "1073741824,4194304")
        .variable("GPU_SIM_DRIVER_VERSION", "12040")
        .run(|| {
            let devices = cuda::devices().unwrap();
            let bytes: Vec<_> = devices.iter().map(|device| device.total_bytes).collect();
            assert_eq!(bytes, [1 << 30, 4 << 20]);
            assert_eq!(devices[1].driver_version, 12_040);
            assert_eq!(devices[1].bus_address.as_deref(), Some("0000:01:00.0"));
            assert_ne!(devices[0].id, devices[1].id);
            verify();
            assert_eq!(ask("gpu_sim_contexts", None), 0);
        });
}

#[test]
fn hidden_devices_are_not_found_and_keep_their_place() {
    Case::new("hidden_devices_are_not_found_and_keep_their_place")
        .variable("GPU_SIM_DEVICES", "1048576,2097152,4194304")
        .variable("CUDA_VISIBLE_DEVICES", "2,0")
        .run(|| {
            let devices = cuda::devices().unwrap();
            let found: Vec<_> = devices
                .iter()
                .map(|device| (device.total_bytes, device.bus_address.as_deref()))
                .collect();
            let wanted = [
                (4 << 20, Some("0000:02:00.0")),
                (1 << 20, Some("0000:00:00.0")),
            ];
            assert_eq!(found, wanted);
        });
}

#[test]
fn no_devices_are_no_error() {
    Case::new("no_devices_are_no_error")
        .variable("GPU_SIM_DEVICES", "none")
        .run(|| assert!(cuda::devices().unwrap().is_empty()));
}

#[test]
fn each_missing_symbol_is_named() {
    for symbol in cuda::SYMBOLS {
        Case::new("each_missing_symbol_is_named")
            .without_symbol(symbol)
            .variable("MISSING", symbol)
            .run(|| {
                let missing = std::env::var("MISSING").unwrap();
                match cuda::devices().unwrap_err() {
                    DriverError::Absent(Absent::Symbol { symbol, .. }) => {
                        assert_eq!(symbol, missing)
                    }
                    other => panic!("{other}"),
                }
            });
    }
}

#[test]
fn a_missing_library_is_named() {
    Case::new("a_missing_library_is_named")
        .without_library("sim_cuda")
        .run(|| {
            let absent = cuda::devices().unwrap_err();
            assert!(
                matches!(absent, DriverError::Absent(Absent::Library { .. })),
                "{absent}"
            );
        });
}

#[test]
fn a_real_driver_is_not_replaced() {
    Case::new("a_real_driver_is_not_replaced")
        .variable("COALESCE_DRIVER", "real")
        .run(|| assert!(cuda::devices().is_err()));
}

#[test]
fn the_adapter_survives_every_fault() {
    let functions = [
        "cuInit",
        "cuDeviceGetCount",
        "cuDeviceGet",
        "cuDeviceGetName",
        "cuDeviceGetUuid",
        "cuDeviceTotalMem",
        "cuDevicePrimaryCtxRetain",
        "cuCtxSetCurrent",
        "cuMemAlloc",
        "cuMemFree",
        "cuMemHostAlloc",
        "cuMemFreeHost",
        "cuMemcpyAsync",
        "cuMemsetD8Async",
        "cuStreamCreate",
        "cuStreamDestroy",
        "cuStreamSynchronize",
        "cuEventCreate",
        "cuEventRecord",
        "cuEventQuery",
        "cuEventElapsedTime",
        "cuCtxSynchronize",
    ];
    for function in functions {
        for fault in ["1:before:2", "1:after:1", "2:before:700", "1:earlier:719"] {
            Case::new("the_adapter_survives_every_fault")
                .variable("GPU_SIM_FAULTS", &format!("{function}:{fault}"))
                .run(|| {
                    let found = cuda::devices().unwrap_or_default();
                    if let Some(first) = found.first()
                        && let Ok(driver) = CudaDriver::open(&first.id)
                    {
                        let driver: Arc<dyn Driver> = driver;
                        // Whatever breaks is an error and no crash.
                        let _broken = conformance::broken_rules(&driver);
                    }
                });
        }
    }
}

#[test]
fn a_hang_is_the_cases_failure() {
    let hangs = || {
        Case::new("a_hang_is_the_cases_failure")
            .variable("GPU_SIM_FAULTS", "cuInit:1:hang")
            .deadline(std::time::Duration::from_millis(300))
            .run(|| drop(cuda::devices()));
    };
    if std::env::var_os("GPU_SIM_CASE").is_some() {
        hangs();
        return;
    }
    let failed = std::panic::catch_unwind(hangs).unwrap_err();
    let words = failed.downcast_ref::<String>().unwrap();
    assert!(words.contains("did not end within"), "{words}");
}

#[test]
fn the_hip_runtime_has_a_version() {
    Case::new("the_hip_runtime_has_a_version")
        .variable("GPU_SIM_HIP_VERSION", "60200123")
        .run(|| assert_eq!(rocm::detect().runtime, Ok(60_200_123)));
    Case::new("the_hip_runtime_has_a_version")
        .without_symbol("hipRuntimeGetVersion")
        .run(|| assert!(matches!(rocm::detect().runtime, Err(Absent::Symbol { .. }))));
}

#[test]
fn the_hip_library_names_its_devices() {
    Case::new("the_hip_library_names_its_devices")
        .variable("GPU_SIM_HIP_DEVICES", "3")
        .variable("GPU_SIM_HIP_BYTES", "4096")
        .variable("HIP_VISIBLE_DEVICES", "2,1")
        .run(|| {
            let devices = rocm::runtime_devices().unwrap();
            let found: Vec<_> = devices
                .iter()
                .map(|device| (device.total_bytes, device.bus_address.as_str()))
                .collect();
            assert_eq!(found, [(4096, "0000:02:00.0"), (4096, "0000:01:00.0")]);
            assert_eq!(devices[0].name, "Simulated GPU");
        });
    Case::new("the_hip_library_names_its_devices").run(|| {
        assert_eq!(rocm::runtime_devices(), Ok(Vec::new()));
    });
    Case::new("the_hip_library_names_its_devices")
        .variable("GPU_SIM_HIP_DEVICES", "1")
        .variable("GPU_SIM_FAULTS", "hipDeviceTotalMem:1:before:999")
        .run(|| {
            let failed = rocm::runtime_devices().unwrap_err();
            assert!(failed.to_string().contains("hipDeviceTotalMem"), "{failed}");
        });
    for symbol in rocm::SYMBOLS {
        Case::new("the_hip_library_names_its_devices")
            .without_symbol(symbol)
            .variable("MISSING", symbol)
            .run(|| {
                let missing = std::env::var("MISSING").unwrap();
                let failed = rocm::runtime_devices().unwrap_err();
                assert!(failed.to_string().contains(&missing), "{failed}");
            });
    }
}

#[test]
fn the_kernels_files_show_what_the_machine_has() {
    let root = tempfile::tempdir().unwrap();
    let shown: Vec<_> = gpu_sim::Config::with_devices(&[1 << 30, 4 << 30])
        .devices
        .into_iter()
        .map(|device| (device, gpu_sim::sysfs::Shown::default()))
        .collect();
    gpu_sim::sysfs::write(root.path(), &shown).unwrap();
    let found = rocm::detect_below(root.path()).devices;
    assert_eq!(found.len(), 2);
    assert_ne!(found[0].id, found[1].id);
    assert_eq!((found[1].total_bytes, found[1].ordinal), (4 << 30, 1));
    assert_eq!(found[1].bus_address.as_deref(), Some("0000:01:00.0"));
    assert_eq!(found[1].compute_capability, (9, 4));
}

#[test]
fn a_thread_without_a_context_is_refused() {
    Case::new("a_thread_without_a_context_is_refused").run(|| {
        let driver = open(0);
        // SAFETY: loading the simulated library runs nothing of interest.
        let library = unsafe { libloading::Library::new("libcuda.so.1") }.unwrap();
        // SAFETY: this is the function's documented type.
        let allocate =
            unsafe { library.get::<extern "C" fn(*mut u64, usize) -> i32>(b"cuMemAlloc_v2") };
        let allocate = *allocate.unwrap();
        let raw = move || {
            let mut address = 0;
            (allocate(&raw mut address, 256), address)
        };
        assert_eq!(
            std::thread::spawn(raw).join().unwrap(),
            (201, 0),
            "invalid context"
        );
        // Ours binds it first, on any thread.
        let bound = move || driver.memory_info().is_ok() && raw().0 == 0;
        assert!(std::thread::spawn(bound).join().unwrap());
        std::mem::forget(library);
    });
}
