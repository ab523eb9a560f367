//! What a card shows, in minutes and as JSON: rules of the driver, the pool under a kernel that keeps
//! streams busy, costs, bandwidth, overlap, and peers where the machine has them. `cargo xtask device`
//! packs it for a machine with a card; on one without it runs on the simulated libraries, whose times
//! are no measurement.
//!
//! `--out FILE` writes the JSON there as well, `--limit SECONDS` ends it in time (480 unless told): what
//! is not begun by then is not run, and says so.

mod outside;
mod pool;
mod time;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use core_gpu::{
    devices::DeviceManager,
    driver::{Driver, DriverError, PlatformKind, cuda::trial::Trial},
    platform::{Platforms, Preference},
};
use serde_json::{Map, Value, json};

/// How long all of it may take unless it is said.
const LIMIT: Duration = Duration::from_secs(480);

/// What a part found, or why it did not look.
enum Outcome {
    /// Figures; each is said in its own name what it is in.
    Found(Value),
    /// Something that has to hold does not.
    Failed(String),
    /// It needs what is not there.
    NotRun(String),
}

/// Why a part could not go on.
type Stopped = Box<dyn std::error::Error + Send + Sync>;
/// A part of the trial.
type Part = fn(&Context) -> Result<Outcome, Stopped>;

/// What the parts work on.
struct Context {
    driver: Arc<dyn Driver>,
    trial: Trial,
    /// Times are of a clock that nobody measured.
    simulated: bool,
    /// Where the archive was unpacked: what lies beside this program.
    folder: PathBuf,
}

impl Context {
    /// Bytes on a card, fewer where each is kept in books.
    fn bytes(&self, on_a_card: usize) -> usize {
        if self.simulated {
            on_a_card / 64
        } else {
            on_a_card
        }
    }
}

/// The parts, the most important first.
const PARTS: &[(&str, Part)] = &[
    ("rules of the driver", pool::rules),
    ("pool traces with owner canaries", pool::canaries),
    ("capture", pool::capture),
    ("costs of events and allocations", pool::costs),
    ("pinned bandwidth", time::bandwidth),
    ("two streams overlap", time::overlap),
    ("accuracy of device spans", time::spans),
    ("spill and promote", pool::spill),
    ("cudaMallocAsync on the same trace", pool::stream_ordered),
    ("card tests", outside::tests),
    ("PyTorch and CuPy on the same trace", outside::python),
    ("compute-sanitizer over the examples", outside::sanitizer),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    // Cargo's own word for benchmarks.
    let value = |name: &str| {
        let at = words.iter().position(|word| word == name)?;
        words.get(at + 1).cloned()
    };
    let limit = value("--limit").and_then(|text| text.parse().ok());
    let limit = limit.map_or(LIMIT, Duration::from_secs);
    let report = report(limit);
    let text = serde_json::to_string_pretty(&report).unwrap_or_default();
    println!("{text}");
    if let Some(path) = value("--out")
        && let Err(error) = std::fs::write(&path, format!("{text}\n"))
    {
        eprintln!("{path}: {error}");
        return ExitCode::FAILURE;
    }
    match report["failed"].as_array().map_or(0, Vec::len) {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn report(limit: Duration) -> Value {
    let start = Instant::now();
    let context = open();
    let mut parts = Map::new();
    let mut failed = Vec::new();
    for (name, part) in PARTS {
        let begin = Instant::now();
        let outcome = match &context {
            Err(why) => Outcome::NotRun(why.clone()),
            Ok(_) if start.elapsed() >= limit => Outcome::NotRun("the time is over".to_owned()),
            Ok(context) => run(*part, context),
        };
        let seconds = begin.elapsed().as_secs_f64();
        eprintln!("{seconds:7.1} s  {name}");
        let said = match outcome {
            Outcome::Found(figures) => json!({ "status": "passed", "figures": figures }),
            Outcome::NotRun(why) => json!({ "status": format!("not run: {why}") }),
            Outcome::Failed(why) => {
                failed.push(Value::from(*name));
                json!({ "status": format!("failed: {why}") })
            }
        };
        parts.insert((*name).to_owned(), said);
    }
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "detected": detected(),
        "device": context.as_ref().ok().map(|context| context.driver.info()),
        "simulated": context.as_ref().ok().map(|context| context.simulated),
        "seconds": start.elapsed().as_secs_f64(),
        "failed": failed,
        "parts": parts,
    })
}

/// A part that panics has failed, and the next one runs.
fn run(part: Part, context: &Context) -> Outcome {
    match catch_unwind(AssertUnwindSafe(|| part(context))) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(stopped)) => Outcome::Failed(stopped.to_string()),
        Err(_) => Outcome::Failed("it panicked".to_owned()),
    }
}

fn detected() -> Value {
    let manager = DeviceManager::new(Platforms::system(), Preference::Auto);
    json!({
        "devices": manager.available_devices(),
        "memory": manager.memory_info(),
    })
}

/// The first CUDA device, or why there is none.
fn open() -> Result<Context, String> {
    let platforms = Platforms::system();
    let found = platforms.probe(PlatformKind::Cuda);
    let found = found.map_err(|why| format!("no CUDA device: {why}"))?;
    let info = found.devices.first().ok_or("no CUDA device")?;
    let words = |error: DriverError| format!("{} cannot be opened: {error}", info.name);
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    Ok(Context {
        driver: platforms.open(&info.id).map_err(words)?,
        trial: Trial::open(&info.id).map_err(words)?,
        simulated: info.name.starts_with("Simulated"),
        folder: program.parent().map(PathBuf::from).unwrap_or_default(),
    })
}
