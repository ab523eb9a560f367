//! Several processes: one for each device that there is, or for each thread of the processor.

#[cfg(unix)]
use core_gpu::prelude::*;

#[cfg(unix)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let work = |number: u32| -> core_gpu::Result<String> {
        let gpu = Gpu::open_best()?;
        let process = std::process::id();
        Ok(format!("{number}: {} in {process}", gpu.name()))
    };
    run_if_worker(&TaskRegistry::new().task("where", work));
    let mut strategy = auto_select_strategy(StrategyConfig::from_environment()?)?;
    let pool = strategy.start_workers(WorkerPool::builder(WorkerCommand::this_program()?))?;
    for answer in pool.ordered((0..4_u32).map(|number| TaskCall::new("where", &number))) {
        println!("{}", String::from_utf8_lossy(&answer?));
    }
    Ok(strategy.cleanup()?)
}

#[cfg(not(unix))]
fn main() {
    println!("worker pools are for systems of the Unix family");
}
