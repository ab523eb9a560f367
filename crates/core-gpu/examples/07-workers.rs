//! Tasks in processes of their own: in order, with a deadline, and with a crash that costs one task
//! and nothing else.

#[cfg(unix)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::time::Duration;

    use core_gpu::workers::{
        Retry, TaskCall, TaskRegistry, WorkerCommand, WorkerPool, run_if_worker,
    };

    let registry = TaskRegistry::new()
        .task("square", |number: u64| {
            number.checked_mul(number).ok_or("too large")
        })
        .task("crash", |(): ()| -> Result<(), String> {
            std::process::abort()
        });
    // A worker goes no further than this.
    run_if_worker(&registry);

    let pool = WorkerPool::builder(WorkerCommand::this_program()?)
        .workers(2)
        .deadline(Duration::from_secs(30))
        .build()?;
    let crash = pool.submit(TaskCall::new("crash", &())?.retry(Retry::Once))?;
    for result in pool.ordered((1..=5_u64).map(|number| TaskCall::new("square", &number))) {
        let square: u64 = serde_json::from_slice(&result?)?;
        println!("{square}");
    }
    if let Err(error) = crash.wait() {
        println!("{error}");
    }
    pool.finish();
    Ok(())
}

#[cfg(not(unix))]
fn main() {
    println!("worker pools are for systems of the Unix family");
}
