//! The programs answer the same before and after they were moved to another runtime.

use std::process::Command;

use lidar_tools::{TILES, above, is_for_now, moved};
use optimization_gpu::{GpuBackend, MultiGpuManager, get_multi_gpu_manager};
use optimization_gpu_memory::GpuMemoryError;
use optimization_gpu_profiler::OperationKind;
use optimization_gpu_wrapper::{GpuRequiredError, require_gpu};

fn said(program: &str) -> String {
    let output = Command::new(program).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn devices_are_told() {
    let text = said(env!("CARGO_BIN_EXE_devices"));
    assert!(text.starts_with("auto is "), "{text}");
    assert!(text.contains("cpu"), "{text}");
}

#[test]
fn heights_are_filtered() {
    let text = said(env!("CARGO_BIN_EXE_filter"));
    let mut lines = text.lines();
    assert!(
        lines
            .next()
            .is_some_and(|line| line.starts_with("10 of 1000 on cpu"))
    );
    assert_eq!(lines.next(), Some("0 bytes in use, 0 copies"));
    assert_eq!(lines.next(), Some("0 bytes given back"));
    assert_eq!(lines.next(), Some("filtered 1 time"));
}

#[test]
fn what_the_library_says_holds() {
    assert_eq!(above(&[1.0, 2.0], 1.5).value, [2.0]);
    assert_eq!(TILES.entries, 16);
    assert!(is_for_now(&GpuMemoryError::Capturing));
    assert_eq!(moved(OperationKind::Upload { bytes: 4 }), 4);
    assert_eq!(moved(OperationKind::default()), 0);
    assert_ne!(GpuBackend::Cuda, GpuBackend::Host);
}

#[test]
fn there_is_one_manager_and_a_gpu_or_a_reason() {
    let one: &MultiGpuManager = get_multi_gpu_manager().unwrap();
    assert!(std::ptr::eq(one, get_multi_gpu_manager().unwrap()));
    if let Err(why) = require_gpu() {
        let _: &GpuRequiredError = &why;
        assert!(!why.to_string().is_empty());
    }
}
