//! Workers as real processes: this test program is its own worker.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test's failure")]

use std::{
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use core_gpu::workers::{
    Retry, StartError, SubmitError, TaskCall, TaskError, TaskRegistry, WorkerCommand, WorkerPool,
    WorkerPoolBuilder, run_if_worker,
};

fn registry() -> TaskRegistry {
    TaskRegistry::new()
        .task("double", |number: u64| {
            number.checked_mul(2).ok_or("too large")
        })
        .bytes("echo", |input| Ok(input.to_vec()))
        .bytes("large", |input| {
            let count = String::from_utf8_lossy(input).parse().unwrap_or(0);
            Ok(vec![7; count])
        })
        .task("sleep", |milliseconds: u64| {
            std::thread::sleep(Duration::from_millis(milliseconds));
            Ok::<_, String>(milliseconds)
        })
        .task("process", |(): ()| Ok::<_, String>(std::process::id()))
        .task("variable", |name: String| {
            std::env::var(name).map_err(|error| error.to_string())
        })
        .task("panic", |text: String| -> Result<(), String> {
            panic!("{text}")
        })
        .task("abort", |(): ()| -> Result<(), String> {
            std::process::abort()
        })
        .task("die the first time", |mark: String| {
            if std::fs::exists(&mark).unwrap() {
                return Ok::<_, String>("second");
            }
            std::fs::write(&mark, "").map_err(|error| error.to_string())?;
            std::process::exit(9)
        })
        .task("a child that sleeps", |report: String| {
            let child = Command::new("sleep")
                .arg("1000")
                .stdin(Stdio::null())
                .spawn();
            let child = child.map_err(|error| error.to_string())?;
            std::fs::write(report, child.id().to_string()).map_err(|error| error.to_string())?;
            std::thread::sleep(Duration::from_secs(1000));
            Ok::<_, String>(())
        })
        .task("standard input", |(): ()| {
            let mut text = String::new();
            std::io::Read::read_to_string(&mut std::io::stdin(), &mut text)
                .map_err(|error| error.to_string())?;
            Ok::<_, String>(text)
        })
}

/// What the workers are: this program, told to run this test alone, which then serves.
#[test]
fn serve() {
    run_if_worker(&registry());
}

fn command() -> WorkerCommand {
    WorkerCommand::this_program()
        .unwrap()
        .argument("serve")
        .argument("--exact")
        .argument("--nocapture")
}

fn pool() -> WorkerPoolBuilder {
    WorkerPool::builder(command())
}

fn double(number: u64) -> TaskCall {
    TaskCall::new("double", &number).unwrap()
}

fn sleep(milliseconds: u64) -> TaskCall {
    TaskCall::new("sleep", &milliseconds).unwrap()
}

/// Whether a process runs; one that has ended and is not collected does not.
fn runs(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat"));
    status.is_ok_and(|status| !status.rsplit(')').next().unwrap().trim().starts_with('Z'))
}

fn eventually(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(20), "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn tasks_run_in_other_processes_and_answer() {
    let pool = pool().workers(2).build().unwrap();
    let job = pool.submit(double(21)).unwrap();
    assert_eq!(job.value::<u64>().unwrap(), 42);
    let job = pool.submit(TaskCall::new("process", &()).unwrap()).unwrap();
    let process: u32 = job.value().unwrap();
    assert_ne!(process, std::process::id());
    assert!(pool.processes().contains(&Some(process)));
    drop(pool);
    eventually("the worker ends with its pool", || !runs(process));
}

#[test]
fn results_come_in_the_order_of_the_calls() {
    let pool = pool().workers(3).build().unwrap();
    let calls = (0..60_u64).map(|number| {
        // Early ones take longer than late ones.
        if number % 5 == 0 {
            TaskCall::new("sleep", &20)
        } else {
            TaskCall::new("double", &number)
        }
    });
    let results: Vec<u64> = pool
        .ordered(calls)
        .map(|result| serde_json::from_slice(&result.unwrap()).unwrap())
        .collect();
    let wanted: Vec<u64> = (0..60)
        .map(|number| if number % 5 == 0 { 20 } else { 2 * number })
        .collect();
    assert_eq!(results, wanted);
    pool.finish();
}

#[test]
fn failures_say_what_happened_and_the_pool_goes_on() {
    let pool = pool().most_bytes(1 << 16).build().unwrap();
    let text = |call: TaskCall| pool.submit(call).unwrap().wait().unwrap_err().to_string();
    let cases = [
        (double(u64::MAX), "task `double` failed: too large"),
        (
            TaskCall::bytes("double", *b"no number"),
            "task `double` failed: the input is not what the task takes",
        ),
        (TaskCall::bytes("none", []), "the worker has no task `none`"),
        (
            TaskCall::new("panic", &"the reason").unwrap(),
            "task `panic` panicked: the reason",
        ),
        (
            TaskCall::new("abort", &()).unwrap(),
            "the worker of task `abort` died: signal: 6 (SIGABRT)",
        ),
        (
            TaskCall::bytes("large", *b"65537"),
            "more than the 65536 that a frame may have",
        ),
    ];
    for (call, wanted) in cases {
        let said = text(call);
        assert!(said.contains(wanted), "{said}");
        let after = pool.submit(double(1)).unwrap();
        assert_eq!(after.value::<u64>().unwrap(), 2);
    }
    let too_large = pool.submit(TaskCall::bytes("echo", vec![0; 1 << 16]));
    assert!(matches!(too_large, Err(TaskError::TooLarge { .. })));
    let wrong = pool.submit(double(1)).unwrap().value::<String>();
    assert!(matches!(wrong, Err(TaskError::Value { .. })));
}

#[test]
fn large_inputs_and_outputs_pass() {
    let pool = pool().build().unwrap();
    let bytes: Vec<u8> = (0..8_000_000_u32).map(|at| (at % 251) as u8).collect();
    let job = pool.submit(TaskCall::bytes("echo", bytes.clone())).unwrap();
    assert!(job.wait().unwrap() == bytes);
}

#[test]
fn a_deadline_kills_the_whole_group() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("child");
    let pool = pool().build().unwrap();
    let call = TaskCall::new("a child that sleeps", &report).unwrap();
    let limit = Duration::from_millis(1500);
    let start = Instant::now();
    let job = pool
        .submit(call.deadline(limit).retry(Retry::Once))
        .unwrap();
    let error = job.wait().unwrap_err();
    assert!(matches!(error, TaskError::Deadline { .. }), "{error}");
    assert!(start.elapsed() < Duration::from_secs(10));
    let child = std::fs::read_to_string(&report).unwrap().parse().unwrap();
    eventually("the worker's child is killed", || !runs(child));
    let (started, retries) = pool.counts();
    assert_eq!((started, retries), (1, 0), "a deadline is not tried again");
    assert_eq!(pool.submit(double(2)).unwrap().value::<u64>().unwrap(), 4);
}

#[test]
fn a_task_is_tried_again_only_where_it_may_be() {
    let folder = tempfile::tempdir().unwrap();
    for (retry, name) in [(Retry::Never, "never"), (Retry::Once, "once")] {
        let pool = pool().build().unwrap();
        let mark = folder.path().join(name);
        let call = TaskCall::new("die the first time", &mark).unwrap();
        let result = pool.submit(call.retry(retry)).unwrap().value::<String>();
        match retry {
            Retry::Never => {
                let how = "exit status: 9".to_owned();
                let task = "die the first time".to_owned();
                assert_eq!(result, Err(TaskError::Died { task, how }));
            }
            Retry::Once => assert_eq!(result.unwrap(), "second"),
        }
    }
    let pool = pool().build().unwrap();
    let call = TaskCall::new("abort", &()).unwrap().retry(Retry::Once);
    let error = pool.submit(call).unwrap().wait().unwrap_err();
    assert!(matches!(error, TaskError::Died { .. }), "{error}");
    assert_eq!(pool.counts(), (2, 1));
}

#[test]
fn a_killed_worker_costs_its_task_and_no_other() {
    let pool = pool().workers(2).build().unwrap();
    let calls: Vec<_> = (0..4).map(|_| pool.submit(sleep(300)).unwrap()).collect();
    eventually("a worker runs", || {
        pool.processes().iter().all(Option::is_some)
    });
    let process = pool.processes()[0].unwrap();
    let kill = Command::new("kill")
        .args(["-9", &process.to_string()])
        .status();
    assert!(kill.unwrap().success());
    let results: Vec<_> = calls.into_iter().map(|job| job.wait()).collect();
    // It had the task, or was just about to greet.
    let died = results.iter().filter_map(|result| result.as_ref().err());
    let how: Vec<_> = died.map(ToString::to_string).collect();
    assert!(
        matches!(&how[..], [how] if how.contains("signal: 9")),
        "{results:?}"
    );
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 3);
}

/// Workers are killed at random while many tasks run: each task has one answer, and it is its own.
#[test]
fn under_random_kills_each_task_has_its_own_answer() {
    let pool = pool().workers(4).build().unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    let results: Vec<_> = std::thread::scope(|scope| {
        scope.spawn(|| kill_now_and_then(&pool, &done));
        let calls = (0..300_u64).map(|number| {
            let input = number.to_le_bytes();
            Ok(TaskCall::bytes("echo", input).retry(Retry::Once))
        });
        let results = pool.ordered(calls).collect();
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        results
    });
    assert_eq!(results.len(), 300);
    for (number, result) in (0_u64..).zip(&results) {
        match result {
            Ok(output) => assert_eq!(**output, number.to_le_bytes()),
            Err(error) => assert!(
                matches!(error, TaskError::Died { .. } | TaskError::Start { .. }),
                "{error}"
            ),
        }
    }
    let answered = results.iter().filter(|result| result.is_ok()).count();
    assert!(answered > 200, "{answered} of 300");
}

fn kill_now_and_then(pool: &WorkerPool, done: &std::sync::atomic::AtomicBool) {
    let mut seed = 12_345_u32;
    while !done.load(std::sync::atomic::Ordering::Relaxed) {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        std::thread::sleep(Duration::from_millis(u64::from(seed >> 27) + 5));
        let processes = pool.processes();
        let victim = processes.get((seed >> 16) as usize % processes.len());
        if let Some(Some(process)) = victim {
            // It may have ended meanwhile.
            let _ = Command::new("kill")
                .args(["-9", &process.to_string()])
                .stderr(Stdio::null())
                .status();
        }
    }
}

#[test]
fn giving_waits_or_says_that_it_would() {
    let pool = pool().workers(1).waiting(2).build().unwrap();
    let running = pool.submit(sleep(400)).unwrap();
    eventually("it runs", || pool.processes()[0].is_some());
    let waiting: Vec<_> = (0..2)
        .map(|_| pool.try_submit(double(1)).unwrap())
        .collect();
    let full = pool.try_submit(double(1));
    assert!(matches!(full, Err(SubmitError::Full { waiting: 2 })));
    let start = Instant::now();
    let last = pool.submit(double(3)).unwrap();
    assert!(start.elapsed() > Duration::from_millis(50), "it waited");
    assert!(running.is_done());
    assert_eq!(last.value::<u64>().unwrap(), 6);
    assert!(waiting.into_iter().all(|job| job.wait().is_ok()));
}

#[test]
fn cancelling_ends_what_waits_and_what_runs() {
    let pool = pool().workers(1).waiting(8).build().unwrap();
    let running = pool.submit(sleep(100_000)).unwrap();
    let waiting = pool.submit(double(1)).unwrap();
    let other = pool.submit(double(2)).unwrap();
    eventually("it runs", || pool.processes()[0].is_some());
    let process = pool.processes()[0].unwrap();
    waiting.cancel();
    let error = waiting.wait().unwrap_err();
    assert!(matches!(error, TaskError::Cancelled { .. }), "{error}");
    running.cancel();
    let error = running.wait().unwrap_err();
    assert!(matches!(error, TaskError::Cancelled { .. }), "{error}");
    eventually("its worker is killed", || !runs(process));
    assert_eq!(other.value::<u64>().unwrap(), 4);
    let done = pool.submit(double(5)).unwrap();
    eventually("it is done", || done.is_done());
    done.cancel();
    assert_eq!(done.value::<u64>().unwrap(), 10, "too late to cancel");
}

/// The worker is killed after it has answered: it must not be the next task's.
#[test]
fn cancelling_a_task_as_it_ends_is_not_told_to_the_next() {
    let pool = pool().workers(1).waiting(8).build().unwrap();
    for round in 0..200 {
        let ending = pool.submit(double(1)).unwrap();
        std::thread::sleep(Duration::from_micros(round % 40 * 10));
        ending.cancel();
        let _ = ending.wait();
        let next = pool.submit(double(round)).unwrap();
        assert_eq!(next.value::<u64>().unwrap(), 2 * round);
    }
}

#[test]
fn waiting_may_have_an_end() {
    let pool = pool().build().unwrap();
    let job = pool.submit(sleep(500)).unwrap();
    let job = job.wait_for(Duration::from_millis(5)).unwrap_err();
    assert!(job.wait_for(Duration::from_secs(60)).unwrap().is_ok());
}

#[test]
fn dropping_a_pool_ends_everything_at_once() {
    let pool = pool().workers(1).waiting(8).build().unwrap();
    let running = pool.submit(sleep(100_000)).unwrap();
    let waiting = pool.submit(double(1)).unwrap();
    eventually("it runs", || pool.processes()[0].is_some());
    let start = Instant::now();
    drop(pool);
    assert!(start.elapsed() < Duration::from_secs(10));
    assert!(running.wait().is_err());
    let error = waiting.wait().unwrap_err();
    assert!(matches!(error, TaskError::Closed { .. }), "{error}");
}

#[test]
fn programs_that_are_no_workers_are_found_out() {
    let limit = Duration::from_millis(400);
    type Fits = fn(&StartError) -> bool;
    let cases: [(WorkerCommand, Fits); 5] = [
        (WorkerCommand::new("/nonexistent/program"), |error| {
            matches!(error, StartError::Spawn { .. })
        }),
        (
            WorkerCommand::new("true"),
            |error| matches!(error, StartError::Silent { why, .. } if why == "exit status: 0"),
        ),
        (
            WorkerCommand::new("sleep").argument("100"),
            |error| matches!(error, StartError::Silent { why, .. } if why.contains("in time")),
        ),
        (WorkerCommand::new("cat"), |error| {
            // It says what it hears, and has no process number.
            matches!(error, StartError::Silent { .. })
        }),
        (
            command().build_id("of another day"),
            |error| matches!(error, StartError::Build { ours, .. } if ours == "of another day"),
        ),
    ];
    for (command, fits) in cases {
        let pool = WorkerPool::builder(command.clone())
            .greeting_limit(if fits_slowly(&command) {
                Duration::from_secs(30)
            } else {
                limit
            })
            .build()
            .unwrap();
        let error = pool.submit(double(1)).unwrap().wait().unwrap_err();
        let TaskError::Start { error, .. } = error else {
            panic!("{error}")
        };
        assert!(fits(&error), "{error}");
    }
}

/// This program takes a while to start in a debug build.
fn fits_slowly(command: &WorkerCommand) -> bool {
    format!("{command:?}").contains("another day")
}

#[test]
fn each_worker_has_its_variables_and_no_input() {
    let pool = pool()
        .workers(2)
        .variables(|worker| vec![("DEVICE_OF_WORKER".to_owned(), format!("device {worker}"))])
        .build()
        .unwrap();
    let call = || TaskCall::new("variable", &"DEVICE_OF_WORKER").unwrap();
    let said: Vec<String> = (0..2)
        .map(|_| pool.submit(call()).unwrap().value().unwrap())
        .collect();
    assert!(said.iter().all(|text| text.starts_with("device ")));
    let call = TaskCall::new("standard input", &()).unwrap();
    assert_eq!(pool.submit(call).unwrap().value::<String>().unwrap(), "");
}

/// The variable alone makes nobody a worker: it is inherited by a worker's own children.
#[test]
fn a_workers_child_is_no_worker() {
    let call = format!("1:0:{}", 1);
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["serve", "--exact"])
        .env("CORE_GPU_WORKER", call)
        .env("CORE_GPU_WORKER_MOST_BYTES", "1000")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    assert!(
        status.unwrap().success(),
        "it runs its test and nothing else"
    );
}

/// In a process of its own: a pool with a worker that sleeps, until somebody kills the process.
#[test]
fn parent_to_be_killed() {
    let Ok(report) = std::env::var("REPORT_WORKER_TO") else {
        return;
    };
    let pool = pool().build().unwrap();
    let _job = pool.submit(sleep(1_000_000)).unwrap();
    eventually("it runs", || pool.processes()[0].is_some());
    std::fs::write(&report, pool.processes()[0].unwrap().to_string()).unwrap();
    std::thread::sleep(Duration::from_secs(1000));
}

#[cfg(target_os = "linux")]
#[test]
fn workers_die_with_their_parent() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("worker");
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["parent_to_be_killed", "--exact", "--nocapture"])
        .env("REPORT_WORKER_TO", &report)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let read = || {
        std::fs::read_to_string(&report)
            .unwrap_or_default()
            .parse::<u32>()
    };
    eventually("the worker is known", || read().is_ok());
    let worker = read().unwrap();
    assert!(runs(worker));
    parent.kill().unwrap();
    parent.wait().unwrap();
    eventually("the worker dies", || !runs(worker));
}

#[test]
fn a_worker_in_python_works_for_a_pool() {
    let python = Command::new("python3")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    if !python.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no python3");
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/worker.py");
    let command = WorkerCommand::new("python3").argument(script);
    let pool = WorkerPool::builder(command)
        .workers(2)
        .variables(|worker| vec![("CUDA_VISIBLE_DEVICES".to_owned(), worker.to_string())])
        .build()
        .unwrap();
    let call = TaskCall::new("mean", &[1, 2, 6]).unwrap();
    assert_eq!(pool.submit(call).unwrap().value::<f64>().unwrap(), 3.0);
    let call = TaskCall::new("environment", &"CUDA_VISIBLE_DEVICES").unwrap();
    let device: String = pool.submit(call).unwrap().value().unwrap();
    assert!(["0", "1"].contains(&device.as_str()));
    let call = TaskCall::new("mean", &[0; 0]).unwrap();
    let error = pool.submit(call).unwrap().wait().unwrap_err();
    assert!(error.to_string().contains("ZeroDivisionError"), "{error}");
    let call = TaskCall::bytes("none", *b"null");
    let error = pool.submit(call).unwrap().wait().unwrap_err();
    assert!(matches!(error, TaskError::Unknown { .. }), "{error}");
}
