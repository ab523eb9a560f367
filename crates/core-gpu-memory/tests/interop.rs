//! A cudarc program on our memory: cudarc's safe interface, unmodified, on the simulated driver
//! library; and on a card where there is one.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    unsafe_code,
    reason = "a test that fails says where; launching a kernel is unsafe"
)]

use std::sync::Arc;

use core_gpu_driver::{CudaDriver, Driver, cuda};
use core_gpu_memory::{Pool, Source};
use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use gpu_sim::case::Case;

fn driver() -> Arc<dyn Driver> {
    let devices = cuda::devices().unwrap();
    CudaDriver::open(&devices[0].id).unwrap()
}

/// The simulated library has nothing against what was done: all is given back, nothing raced.
fn verify() {
    // SAFETY: it is loaded already, and this is the function's type.
    let complaints = unsafe {
        let library = libloading::Library::new("libcuda.so.1").unwrap();
        let verify = *library
            .get::<extern "C" fn() -> i32>(b"gpu_sim_verify")
            .unwrap();
        std::mem::forget(library);
        verify()
    };
    assert_eq!(complaints, 0);
}

/// Copies on two streams; nothing here knows that it is not cudarc's slice.
fn copies() {
    let (driver, context) = (driver(), CudaContext::new(0).unwrap());
    let (one, two) = (context.new_stream().unwrap(), context.new_stream().unwrap());
    let pool = Pool::new(&driver);
    let by = Source::named("cudarc");
    for round in 0..5_u32 {
        let values: Vec<u32> = (0..1000).map(|at| at * 7 + round).collect();
        let mut from = pool.allocate_cudarc::<u32>(1000, &one, by).unwrap();
        let mut to = pool.allocate_cudarc::<u32>(1000, &two, by).unwrap();
        one.memcpy_htod(&values, &mut from).unwrap();
        two.memcpy_dtod(&from, &mut to).unwrap();
        drop(from);
        // The block that was read on the other stream is used again at once.
        let mut again = pool.allocate_cudarc::<u32>(1000, &one, by).unwrap();
        one.memset_zeros(&mut again).unwrap();
        assert_eq!(two.clone_dtoh(&to).unwrap(), values);
    }
    assert_eq!(pool.statistics().bytes_in_use, 0);
    pool.shutdown().unwrap();
}

#[test]
fn cudarc_copies_go_through_our_memory() {
    for schedule in ["latest", "eager", "seed:1", "seed:2", "late:1"] {
        Case::new("cudarc_copies_go_through_our_memory")
            .variable("GPU_SIM_SCHEDULE", schedule)
            .run(|| {
                copies();
                verify();
            });
    }
}

#[test]
fn kernels_take_our_buffers() {
    Case::new("kernels_take_our_buffers").run(|| {
        let (driver, context) = (driver(), CudaContext::new(0).unwrap());
        let stream = context.new_stream().unwrap();
        let module = context
            .load_module(cudarc::nvrtc::Ptx::from_src(""))
            .unwrap();
        let add = module.load_function("sim_add_f32").unwrap();
        let pool = Pool::new(&driver);
        let by = Source::named("cudarc");
        let mut one = pool.allocate_cudarc::<f32>(64, &stream, by).unwrap();
        let sum = pool.allocate_cudarc::<f32>(64, &stream, by).unwrap();
        stream.memcpy_htod(&[1.5_f32; 64], &mut one).unwrap();
        let count = 64_u64;
        let mut launch = stream.launch_builder(&add);
        launch.arg(&sum).arg(&one).arg(&one).arg(&count);
        // SAFETY: the arguments are those of the kernel.
        unsafe { launch.launch(LaunchConfig::for_num_elems(64)) }.unwrap();
        assert_eq!(stream.clone_dtoh(&sum).unwrap(), [3.0; 64]);
    });
}

#[test]
fn streams_of_other_devices_are_refused() {
    Case::new("streams_of_other_devices_are_refused")
        .variable("GPU_SIM_DEVICES", "67108864,67108864")
        .run(|| {
            let (driver, other) = (driver(), CudaContext::new(1).unwrap());
            let stream = other.new_stream().unwrap();
            let pool = Pool::new(&driver);
            assert!(
                pool.allocate_cudarc::<u8>(1, &stream, Source::UNNAMED)
                    .is_err()
            );
        });
}

/// The copies on a card, where there is one.
#[test]
fn copies_on_a_real_card() {
    if cuda::devices().unwrap_or_default().is_empty() {
        println!("skipped: no GPU");
        return;
    }
    copies();
}
