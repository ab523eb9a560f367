//! What looking for platforms and taking a slot costs:
//! `cargo bench -p core-gpu --features cuda,rocm,metal --bench platforms`.
//!
//! A cold probe can be measured once in a process, since what a driver says is kept: this program
//! starts itself for each. Everything else is the best of several rounds.

use std::{env, hint::black_box, process::Command, sync::Arc, time::Instant};

use core_gpu::{
    driver::{DeviceId, PlatformKind},
    platform::{Deadline, Fallback, Platforms, Preference},
    slots::{FileSlots, Request, SlotGuard, SlotStore},
};

const COLD: &str = "--cold";
const PROCESSES: usize = 20;
const ROUNDS: usize = 15;

fn main() {
    if env::args().any(|argument| argument == COLD) {
        cold();
        return;
    }
    let mut times: Vec<u64> = (0..PROCESSES).filter_map(|_| cold_elsewhere()).collect();
    times.sort_unstable();
    let at = |place: usize| times.get(place).copied().unwrap_or(0) as f64 / 1e6;
    println!(
        "cold auto probe: median {:.3} ms, worst of {PROCESSES} {:.3} ms",
        at(times.len() / 2),
        at(times.len().saturating_sub(1)),
    );
    for status in Platforms::system().all() {
        match status.answer {
            Ok(found) => println!("  {}: {} devices", status.kind, found.devices.len()),
            Err(why) => println!("  {}: {why}", status.kind),
        }
    }
    let platforms = Platforms::system();
    let select = best(1 << 20, || {
        drop(black_box(
            platforms.select(black_box(Preference::Auto), Fallback::Cpu),
        ));
    });
    println!("cached auto probe: {select:.2} ns");
    slots();
}

/// One cold probe; prints its nanoseconds.
fn cold() {
    let start = Instant::now();
    let chosen = Platforms::system().select(Preference::Auto, Fallback::Cpu);
    let time = start.elapsed().as_nanos();
    drop(chosen);
    println!("{time}");
}

fn cold_elsewhere() -> Option<u64> {
    let output = Command::new(env::current_exe().ok()?).arg(COLD).output();
    String::from_utf8(output.ok()?.stdout)
        .ok()?
        .trim()
        .parse()
        .ok()
}

/// Nanoseconds of each, in the best round.
fn best(operations: u32, mut each: impl FnMut()) -> f64 {
    let round = |_| {
        let start = Instant::now();
        for _ in 0..operations {
            each();
        }
        start.elapsed().as_nanos() as f64 / f64::from(operations)
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}

fn slots() {
    let folder = env::temp_dir().join(format!("core-gpu-bench-{}", std::process::id()));
    let store: Arc<dyn SlotStore> = Arc::new(FileSlots::new(&folder));
    let device = DeviceId {
        platform: PlatformKind::Simulated,
        uuid: [1; 16],
    };
    let request = Request::on(device, 4);
    let take = || SlotGuard::acquire(&store, &request, Deadline::never());
    let free = best(2000, || drop(black_box(take())));
    println!("a slot, taken and given back: {:.1} us", free / 1e3);
    let held: Vec<_> = (0..3).map(|_| take()).collect();
    let last = best(2000, || drop(black_box(take())));
    println!("the last of four: {:.1} us", last / 1e3);
    drop(held);
    // What stays lies in the system's temporary folder.
    let _ = std::fs::remove_dir_all(folder);
}
