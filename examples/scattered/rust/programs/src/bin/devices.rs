//! Prints what there is.

use optimization_gpu::{DEFAULT_DEVICE, GpuManager, check_gpu_available};

fn line(manager: &GpuManager) -> String {
    let kind = if manager.is_gpu() { "a GPU" } else { "no GPU" };
    format!("{DEFAULT_DEVICE} is {}, {kind}", manager.device())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{}", line(optimization_gpu::get_gpu_manager()?));
    println!(
        "backends: {}",
        optimization_gpu::detect_gpu_backends().join(", ")
    );
    for usage in optimization_gpu::get_multi_gpu_manager()?.usage() {
        println!("{}: {:?} bytes free", usage.name, usage.free_bytes);
    }
    assert_eq!(
        check_gpu_available(),
        optimization_gpu_wrapper::check_gpu_available()
    );
    Ok(())
}
