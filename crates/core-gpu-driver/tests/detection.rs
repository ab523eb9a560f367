//! Detection where there is nothing, and ROCm's topology as files.
#![cfg(all(feature = "cuda", feature = "rocm"))]
#![expect(clippy::unwrap_used, reason = "a test may end")]

use std::{fs, path::Path};

use core_gpu_driver::{Absent, DeviceId, DriverError, PlatformKind, cuda, rocm};

/// Writes files below a root.
fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

const NODES: &str = "sys/class/kfd/kfd/topology/nodes";

#[test]
fn a_topology_gives_its_devices_and_not_its_processors() {
    let root = tempfile::tempdir().unwrap();
    let node = |rest: &str| format!("{NODES}/{rest}");
    let (cpu, name) = (node("0/properties"), node("1/name"));
    let (properties, bank) = (node("1/properties"), node("1/mem_banks/0/properties"));
    write(
        root.path(),
        &[
            (&cpu, "cpu_cores_count 32\nsimd_count 0\n"),
            (&name, "aldebaran\n"),
            (
                &properties,
                "simd_count 440\nunique_id 81985529216486895\ngfx_target_version 90010\n\
                 location_id 49664\ndomain 0\n",
            ),
            (&bank, "heap_type 1\nsize_in_bytes 68702699520\nflags 0\n"),
        ],
    );
    let devices = rocm::devices(root.path());
    let [device] = devices.as_slice() else {
        panic!("one device, not {devices:?}");
    };
    assert_eq!(device.name, "aldebaran");
    assert_eq!(device.total_bytes, 68_702_699_520);
    assert_eq!(device.compute_capability, (9, 0));
    assert_eq!(device.bus_address.as_deref(), Some("0000:c2:00.0"));
    assert_eq!(device.id.platform, PlatformKind::Rocm);
    assert_eq!(
        device.id.uuid[..8],
        81_985_529_216_486_895_u64.to_be_bytes()
    );

    let memory = "sys/bus/pci/devices/0000:c2:00.0/mem_info_vram_total";
    write(root.path(), &[(memory, "68700000000\n")]);
    let devices = rocm::devices(root.path());
    assert_eq!(
        devices.first().map(|device| device.total_bytes),
        Some(68_700_000_000)
    );
}

#[test]
fn no_topology_is_no_device() {
    let root = tempfile::tempdir().unwrap();
    assert_eq!(rocm::devices(root.path()), []);
}

#[test]
fn asking_for_what_is_not_there_answers_and_does_not_panic() {
    // Where there is a card this still holds: no device has this identity.
    let id = DeviceId {
        platform: PlatformKind::Cuda,
        uuid: [0xee; 16],
    };
    let absent = cuda::CudaDriver::open(&id).map(|_| ()).unwrap_err();
    assert!(
        matches!(
            absent,
            DriverError::Absent(
                Absent::Library { .. } | Absent::Device { .. } | Absent::Symbol { .. }
            )
        ),
        "{absent:?}"
    );
    let _found = rocm::detect();
}
