//! ROCm devices behind the simulated HIP library: the same rules and faults as CUDA's.

use std::sync::Arc;

use core_gpu_driver::{Absent, DeviceInfo, Driver, DriverError, RocmDriver, rocm};
use gpu_sim::{case::Case, conformance};

/// What the kernel's files would say of a device of the simulated library.
fn detected(bus: u8) -> DeviceInfo {
    let folder = tempfile::tempdir().unwrap();
    let shown: Vec<_> = gpu_sim::Config::with_devices(&[64 << 20; 3])
        .devices
        .into_iter()
        .map(|device| (device, gpu_sim::sysfs::Shown::default()))
        .collect();
    gpu_sim::sysfs::write(folder.path(), &shown).unwrap();
    rocm::devices(folder.path()).swap_remove(usize::from(bus))
}

fn open(bus: u8) -> Result<Arc<dyn Driver>, DriverError> {
    let driver: Arc<dyn Driver> = RocmDriver::open(&detected(bus))?;
    Ok(driver)
}

fn case(name: &str) -> Case {
    Case::new(&format!("hip::{name}"))
        .variable("GPU_SIM_HIP_DEVICES", "3")
        .variable("GPU_SIM_HIP_BYTES", "67108864")
}

fn verify() {
    // SAFETY: loading the simulated library runs nothing of interest.
    let library = unsafe { libloading::Library::new("libamdhip64.so.6") }.unwrap();
    // SAFETY: this is what the control function looks like.
    let function = unsafe { library.get::<extern "C" fn() -> i32>(b"gpu_sim_hip_verify") };
    assert_eq!(function.unwrap()(), 0);
    // Closing it would end the machine.
    std::mem::forget(library);
}

#[test]
fn rules_hold_behind_the_hip_library() {
    for schedule in ["latest", "eager", "late:1", "seed:1", "seed:2", "seed:3"] {
        case("rules_hold_behind_the_hip_library")
            .variable("GPU_SIM_SCHEDULE", schedule)
            .run(|| {
                let driver = open(0).unwrap();
                assert!(driver.info().capabilities.stream_ordered_allocation);
                assert_eq!(conformance::broken_rules(&driver), Vec::<String>::new());
                drop(driver);
                verify();
            });
    }
}

#[test]
fn a_device_is_found_by_its_place_whatever_its_number() {
    case("a_device_is_found_by_its_place_whatever_its_number")
        .variable("HIP_VISIBLE_DEVICES", "2,1")
        .run(|| {
            for bus in [1, 2] {
                assert_eq!(open(bus).unwrap().info().id, detected(bus).id);
            }
            let hidden = open(0).unwrap_err();
            assert!(matches!(hidden, DriverError::Absent(Absent::Device { .. })));
        });
}

#[test]
fn each_missing_symbol_of_hip_is_named_or_done_without() {
    for symbol in rocm::REQUIRED_SYMBOLS {
        case("each_missing_symbol_of_hip_is_named_or_done_without")
            .without_symbol(symbol)
            .variable("MISSING", symbol)
            .run(|| {
                let missing = std::env::var("MISSING").unwrap();
                let absent = open(0).unwrap_err().to_string();
                assert!(absent.contains(&missing), "{absent}");
            });
    }
    for symbol in rocm::OPTIONAL_SYMBOLS {
        case("each_missing_symbol_of_hip_is_named_or_done_without")
            .without_symbol(symbol)
            .run(|| {
                let driver = open(0).unwrap();
                assert_eq!(conformance::broken_rules(&driver), Vec::<String>::new());
            });
    }
}

#[test]
fn the_hip_adapter_survives_every_fault() {
    let symbols = rocm::REQUIRED_SYMBOLS.iter().chain(rocm::OPTIONAL_SYMBOLS);
    // Calls are counted under the names that errors have.
    let names = symbols.map(|symbol| symbol.strip_suffix("WithFlags").unwrap_or(symbol));
    for function in names.chain(["hipInit", "hipGetDeviceCount", "hipDeviceGetPCIBusId"]) {
        for fault in ["1:before:2", "2:before:700", "1:before:999"] {
            case("the_hip_adapter_survives_every_fault")
                .variable("GPU_SIM_FAULTS", &format!("{function}:{fault}"))
                .run(|| {
                    if let Ok(driver) = open(0) {
                        // Whatever breaks is an error and no crash.
                        let _broken = conformance::broken_rules(&driver);
                    }
                });
        }
    }
}
