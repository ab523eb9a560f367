//! A cudarc program on our memory: cudarc's safe interface, unmodified, on the simulated driver
//! library; and on a card where there is one.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    unsafe_code,
    reason = "a test that fails says where; launching a kernel is unsafe"
)]

use std::sync::Arc;

use core_gpu_driver::{CaptureMode, CudaDriver, Driver, cuda};
use core_gpu_memory::{AllocError, Pool, Source, interop::CudarcBuffer};
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

/// The default streams of all contexts have one handle.
#[test]
fn default_streams_of_two_devices_are_two_streams() {
    Case::new("default_streams_of_two_devices_are_two_streams")
        .variable("GPU_SIM_DEVICES", "67108864,67108864")
        .variable("GPU_SIM_SCHEDULE", "latest")
        .run(|| {
            let driver = driver();
            let [home, away] =
                [0, 1].map(|device| CudaContext::new(device).unwrap().default_stream());
            let pool = Pool::new(&driver);
            let mut buffer = pool
                .allocate_cudarc::<u8>(4096, &home, Source::UNNAMED)
                .unwrap();
            home.memcpy_htod(&[7; 4096], &mut buffer).unwrap();
            assert_eq!(away.clone_dtoh(&buffer).unwrap(), [7; 4096]);
            drop(buffer);
            pool.shutdown().unwrap();
            drop((pool, driver));
            verify();
        });
}

/// How often a function of the simulated driver was called.
fn calls(function: &str) -> u64 {
    let name = std::ffi::CString::new(function).unwrap();
    // SAFETY: it is loaded already, and this is the function's type.
    unsafe {
        let library = libloading::Library::new("libcuda.so.1").unwrap();
        let calls = *library
            .get::<extern "C" fn(*const std::ffi::c_char) -> u64>(b"gpu_sim_calls")
            .unwrap();
        std::mem::forget(library);
        calls(name.as_ptr())
    }
}

/// A block of most of the device goes from a stream that still works on it to another.
fn handover(by_kernel: bool, keeps_stream: bool) {
    let (driver, context) = (driver(), CudaContext::new(0).unwrap());
    let (one, two) = (context.new_stream().unwrap(), context.new_stream().unwrap());
    let module = context
        .load_module(cudarc::nvrtc::Ptx::from_src(""))
        .unwrap();
    let add = module.load_function("sim_add_f32").unwrap();
    let (pool, by) = (Pool::new(&driver), Source::named("cudarc"));
    let elements = 10 << 20;
    let mut first = pool.allocate_cudarc::<f32>(elements, &one, by).unwrap();
    if by_kernel {
        let count = 64_u64;
        let mut launch = one.launch_builder(&add);
        launch.arg(&first).arg(&first).arg(&first).arg(&count);
        // SAFETY: the arguments are those of the kernel.
        unsafe { launch.launch(LaunchConfig::for_num_elems(64)) }.unwrap();
    } else {
        one.memset_zeros(&mut first).unwrap();
    }
    let address = first.buffer().address();
    drop(first);
    let kept = keeps_stream.then_some(one);
    let mut second = pool.allocate_cudarc::<f32>(elements, &two, by).unwrap();
    assert_eq!(second.buffer().address(), address, "there is room for one");
    two.memset_zeros(&mut second).unwrap();
    two.synchronize().unwrap();
    drop((second, kept));
}

#[test]
fn a_block_goes_to_another_stream_behind_the_work_of_the_first() {
    for schedule in ["latest", "eager", "seed:1", "late:0"] {
        for (by_kernel, keeps_stream) in
            [(false, true), (true, true), (false, false), (true, false)]
        {
            Case::new("a_block_goes_to_another_stream_behind_the_work_of_the_first")
                .variable("GPU_SIM_SCHEDULE", schedule)
                .variable("GPU_SIM_DEVICES", "67108864")
                .variable("BY_KERNEL", &by_kernel.to_string())
                .variable("KEEPS_STREAM", &keeps_stream.to_string())
                .run(|| {
                    let told = |name| std::env::var(name).unwrap() == "true";
                    handover(told("BY_KERNEL"), told("KEEPS_STREAM"));
                    verify();
                });
        }
    }
}

/// All driver calls that an allocation and its drop could make, for each of so many.
fn calls_for_each(what: &str, mut step: impl FnMut()) -> f64 {
    const CALLS: [&str; 15] = [
        "cuCtxGetCurrent",
        "cuCtxSetCurrent",
        "cuDeviceGetUuid",
        "cuStreamIsCapturing",
        "cuStreamQuery",
        "cuEventCreate",
        "cuEventRecord",
        "cuEventDestroy",
        "cuEventQuery",
        "cuStreamWaitEvent",
        "cuMemAlloc",
        "cuMemAllocAsync",
        "cuMemFreeAsync",
        "cuMemFree",
        "cuCtxSynchronize",
    ];
    const ROUNDS: u32 = 1_000;
    // What is done once is not for each.
    (0..10).for_each(|_| step());
    let before = CALLS.map(calls);
    (0..ROUNDS).for_each(|_| step());
    let made = CALLS.map(calls).into_iter().zip(before);
    let each: Vec<_> = made
        .map(|(after, before)| (after - before) as f64 / f64::from(ROUNDS))
        .collect();
    let named: Vec<_> = CALLS
        .iter()
        .zip(&each)
        .filter(|(_, each)| **each > 0.0)
        .collect();
    println!("{what}: {named:?}");
    each.iter().sum()
}

/// What an allocation and its drop cost with the pool and with cudarc, by itself and as the `&CudaSlice`
/// that code names; binding the context counts.
fn costs(mode: &str) {
    let (driver, context) = (driver(), CudaContext::new(0).unwrap());
    let stream = match mode {
        "one stream" => context.default_stream(),
        _ => context.new_stream().unwrap(),
    };
    if mode == "not tracked" {
        // SAFETY: everything here is on one stream.
        unsafe { context.disable_event_tracking() };
    }
    let (pool, by) = (Pool::new(&driver), Source::named("cudarc"));
    let allocate = |len| pool.allocate_cudarc::<f32>(len, &stream, by).unwrap();
    println!("{mode}");
    let ours = calls_for_each("the pool", || drop(allocate(1_000)));
    let large = calls_for_each("the pool, 4 MB", || drop(allocate(1_000_000)));
    let promised = Pool::builder(&driver).never_captured().build().unwrap();
    let least = calls_for_each("the pool, never captured", || {
        drop(promised.allocate_cudarc::<f32>(1_000, &stream, by).unwrap());
    });
    let named = calls_for_each("the pool, as a slice", || {
        let _ = allocate(1_000).as_slice();
    });
    let theirs = calls_for_each("cudarc", || {
        // SAFETY: the contents are not read.
        drop(unsafe { stream.alloc::<f32>(1_000) }.unwrap());
    });
    assert!(ours <= 2.0 && large <= 2.0, "{ours} and {large}");
    assert!(ours < theirs && least < 0.01, "{least}, {ours}, {theirs}");
    // What makes a slice more than that: docs/cudarc.md.
    let at_most = match mode {
        "not tracked" => ours,
        "one stream" => theirs,
        _ => theirs + 5.0,
    };
    assert!(named <= at_most, "{named} and {theirs}");
}

#[test]
fn an_allocation_costs_fewer_calls_than_cudarc_s_own() {
    for mode in ["several streams", "one stream", "not tracked"] {
        Case::new("an_allocation_costs_fewer_calls_than_cudarc_s_own")
            .variable("GPU_SIM_DEVICES", "1073741824")
            .variable("MODE", mode)
            .run(|| costs(&std::env::var("MODE").unwrap()));
    }
}

/// Code that names `CudaSlice` and its views, unchanged.
fn scaled_sum(
    stream: &Arc<cudarc::driver::CudaStream>,
    add: &cudarc::driver::CudaFunction,
    from: &cudarc::driver::CudaSlice<f32>,
    to: &mut cudarc::driver::CudaViewMut<'_, f32>,
) {
    let count = to.len() as u64;
    let half = from.slice(..to.len());
    let mut launch = stream.launch_builder(add);
    launch.arg(to).arg(&half).arg(&half).arg(&count);
    // SAFETY: the arguments are those of the kernel.
    unsafe { launch.launch(LaunchConfig::for_num_elems(count as u32)) }.unwrap();
}

fn named_slices() {
    let (driver, context) = (driver(), CudaContext::new(0).unwrap());
    let (one, two) = (context.new_stream().unwrap(), context.new_stream().unwrap());
    let module = context
        .load_module(cudarc::nvrtc::Ptx::from_src(""))
        .unwrap();
    let add = module.load_function("sim_add_f32").unwrap();
    let (pool, by) = (Pool::new(&driver), Source::named("cudarc"));
    let mut from = pool.allocate_cudarc::<f32>(128, &one, by).unwrap();
    let mut to = pool.allocate_cudarc::<f32>(64, &two, by).unwrap();
    two.memcpy_htod(&[1.5_f32; 128], &mut from).unwrap();
    scaled_sum(&two, &add, from.as_slice(), &mut to.view_mut());
    assert_eq!(one.clone_dtoh(&to).unwrap(), [3.0; 64]);
    let part = to.as_slice().slice(3..5);
    assert_eq!(one.clone_dtoh(&part).unwrap(), [3.0; 2]);
    drop((from, to));
    let again = pool.allocate_cudarc::<f32>(128, &one, by).unwrap();
    one.clone_dtoh(&again).unwrap();
}

#[test]
fn code_that_names_cudarc_s_slices_takes_our_memory() {
    for schedule in ["latest", "eager", "seed:3"] {
        Case::new("code_that_names_cudarc_s_slices_takes_our_memory")
            .variable("GPU_SIM_SCHEDULE", schedule)
            .run(|| {
                named_slices();
                verify();
            });
    }
}

/// Kernels of cudarc's on a captured stream, with memory that belongs to the graph.
fn captured() {
    let (driver, context) = (driver(), CudaContext::new(0).unwrap());
    let theirs = context.new_stream().unwrap();
    let module = context
        .load_module(cudarc::nvrtc::Ptx::from_src(""))
        .unwrap();
    let add = module.load_function("sim_add_f32").unwrap();
    let (pool, by) = (Pool::new(&driver), Source::named("cudarc"));
    let mut input = pool.allocate_cudarc::<f32>(64, &theirs, by).unwrap();
    let stream = cuda::stream_of(&driver, &theirs).unwrap();
    let capture = pool.begin_capture(&stream, CaptureMode::Global).unwrap();
    let count = 64_u64;
    let sum = |one: &CudarcBuffer<f32>| {
        let to = pool.allocate_cudarc::<f32>(64, &theirs, by).unwrap();
        let mut launch = theirs.launch_builder(&add);
        launch.arg(&to).arg(one).arg(one).arg(&count);
        // SAFETY: the arguments are those of the kernel.
        unsafe { launch.launch(LaunchConfig::for_num_elems(64)) }.unwrap();
        to
    };
    // The one between goes, and stays the graph's.
    let output = sum(&sum(&input));
    let graph = capture.end().unwrap();
    for value in [1.0_f32, 2.5] {
        theirs.memcpy_htod(&[value; 64], &mut input).unwrap();
        let other = pool.allocate_cudarc::<f32>(64, &theirs, by).unwrap();
        // SAFETY: the graph has its memory; input and output are here.
        unsafe { graph.graph().launch(&stream).unwrap() };
        assert_eq!(theirs.clone_dtoh(&output).unwrap(), [value * 4.0; 64]);
        drop(other);
    }
    // A capture that cudarc begins is seen too, whatever is cached.
    let mode = cudarc::driver::sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    theirs.begin_capture(mode).unwrap();
    let refused = pool.allocate_cudarc::<f32>(64, &theirs, by);
    assert!(matches!(refused, Err(AllocError::Capturing)), "{refused:?}");
    drop(stream.end_capture());
}

#[test]
fn kernels_are_captured_with_memory_of_the_graph() {
    for schedule in ["latest", "eager", "seed:9"] {
        Case::new("kernels_are_captured_with_memory_of_the_graph")
            .variable("GPU_SIM_SCHEDULE", schedule)
            .run(|| {
                captured();
                verify();
            });
    }
}

#[expect(dead_code, reason = "its `main` is for who runs it by itself")]
#[path = "../examples/10-cudarc-transformer.rs"]
mod transformer;

/// The same numbers with the pool's memory as with cudarc's, and nothing raced.
#[test]
fn a_transformer_runs_on_our_memory() {
    for schedule in ["latest", "eager", "seed:5"] {
        Case::new("a_transformer_runs_on_our_memory")
            .variable("GPU_SIM_SCHEDULE", schedule)
            .run(|| {
                let (expected, found) = transformer::run().unwrap();
                assert_eq!(expected, found);
                assert!(found.iter().all(|number| number.is_finite()));
                verify();
            });
    }
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
