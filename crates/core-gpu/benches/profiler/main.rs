//! What a span costs: `cargo bench -p core-gpu --bench profiler`. The best of several rounds, in
//! nanoseconds, beside what cannot be cheaper: two readings of the clock, two events recorded.

use std::{hint::black_box, sync::Arc, time::Instant};

use core_gpu::{
    driver::{Driver, Event, EventKind, HostDriver, Stream, StreamKind, ticks},
    memory::{Pool, Source},
    profiler::{MemoryWatch, Work, profile, profile_on, profile_with_memory, profiler},
};

const ROUNDS: usize = 15;
/// Spans whose ends are looked at together.
const GATHERED: usize = 512;
/// Events of spans that are not read yet, and those that wait for spans to come.
const LIVE_EVENTS: usize = 4 * GATHERED + 129;
const OPERATIONS: u64 = 1 << 17;

fn best(mut each: impl FnMut()) -> f64 {
    let round = |_| {
        let start = Instant::now();
        for _ in 0..OPERATIONS {
            each();
        }
        start.elapsed().as_nanos() as f64 / OPERATIONS as f64
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}

fn print(name: &str, nanoseconds: f64, remark: &str) {
    println!("{name:<44} {nanoseconds:>8.2} ns  {remark}");
}

fn main() {
    println!("best of {ROUNDS} rounds of {OPERATIONS} spans");
    host();
    device();
    memory();
}

fn host() {
    profiler().disable();
    let nothing = best(|| {
        black_box(0);
    });
    let off = best(|| drop(black_box(profile("off"))));
    print("host span, off", off - nothing, "beside an empty loop");
    profiler().enable();
    let clock = best(|| {
        black_box(ticks::now());
        black_box(ticks::now());
    });
    print("two readings of the clock", clock, "");
    let instant = best(|| {
        black_box(Instant::now());
        black_box(Instant::now());
    });
    print("two of `Instant`", instant, "");
    let span = best(|| drop(profile("host span")));
    print("host span", span, "");
    let nested = best(|| {
        let _outer = profile("outer");
        let _inner = profile("inner");
    });
    print("host span in a span", nested / 2.0, "each of two");
    profiler().reset();
}

fn device() {
    let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 20));
    // As many as the spans below have in all: a driver looks them up.
    let events: Result<Vec<_>, _> = (0..LIVE_EVENTS)
        .map(|_| Event::new(&driver, EventKind::Timed))
        .collect();
    let (Ok(stream), Ok(events)) = (Stream::new(&driver, StreamKind::NonBlocking), events) else {
        println!("the host's driver failed");
        return;
    };
    let records = (0..ROUNDS * 4)
        .map(|_| {
            let start = Instant::now();
            for at in 0..2 * GATHERED {
                // In no order, as events are that were used before.
                let _ = black_box(stream.record(&events[at * 389 % events.len()]));
            }
            start.elapsed().as_nanos() as f64 / GATHERED as f64
        })
        .fold(f64::INFINITY, f64::min);
    drop(events);
    print("two event records", records, "host driver");
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS * 4 {
        // What gathers is read outside of the time: it is the report's business.
        let start = Instant::now();
        for _ in 0..GATHERED {
            drop(profile_on("device span", &stream, Work::Compute));
        }
        least = least.min(start.elapsed().as_nanos() as f64 / GATHERED as f64);
        // As many again, and the profiler looks which are over.
        for _ in 0..GATHERED {
            drop(profile_on("device span", &stream, Work::Compute));
        }
    }
    print("device span, giving out work", least, "");
    print("  beside its two records", least - records, "");
    let whole = best(|| drop(profile_on("device span", &stream, Work::Compute)));
    print("device span", whole, "with its share of reading them");
    profiler().reset();
}

fn memory() {
    let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(1 << 24));
    let watched = Pool::builder(&driver).observer(Arc::new(MemoryWatch::new()));
    let (Ok(stream), Ok(pool)) = (
        Stream::new(&driver, StreamKind::NonBlocking),
        watched.build(),
    ) else {
        println!("the host's driver failed");
        return;
    };
    print(
        "host span that watches memory",
        best(|| drop(profile_with_memory("watching"))),
        "",
    );
    let bare = Pool::new(&driver);
    let pair = |pool: &Pool| {
        best(|| {
            drop(black_box(pool.allocate::<u8>(
                4096,
                &stream,
                Source::UNNAMED,
            )))
        })
    };
    let (with, without) = (pair(&pool), pair(&bare));
    print(
        "a watched allocation and free",
        with - without,
        "beside one that is not",
    );
}
